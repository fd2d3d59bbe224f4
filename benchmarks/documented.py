"""The tables of docs/performance.md, made of the committed results.

    python -m benchmarks.documented

Each stands between two comments, `<!-- begin NAME -->` and `<!-- end NAME -->`, and is written
anew; a test fails where the page and the results differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks import side_by_side, start_up, tables
from benchmarks.machine import ROOT

PAGE = ROOT / "docs" / "performance.md"
_BLOCK = re.compile(r"(<!-- begin (?P<name>[a-z-]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)
_STEPS = ("audit", "utility", "attack", "query")
_SHOWN_STAGES = 3

Results = dict[str, Any]
Run = dict[str, Any]


def machine(results: Results, begun: Results) -> str:
    """Return where and when the results come from."""
    facts = results["machine"]
    libraries = ", ".join(f"{name} {version}" for name, version in facts["libraries"].items())
    modules = {
        source: sorted(
            {_called(each["case"]) for each in results["runs"] if each["source"] == source}
        )
        for source in dict.fromkeys(each["source"] for each in results["runs"])
    }
    main, *later = modules
    ran = main + "".join(f" ({', '.join(modules[each])}: {each})" for each in later)
    return (
        f"{facts['cores']} cores ({facts['processor']}), {facts['memory_gib']} GiB, "
        f"{facts['system']}, Python {facts['python']}, {libraries}. Side by side: "
        f"{results['created']}, load {results['load'][0]} before and {results['load'][1]} after, "
        f"modules {ran}; start-up: {begun['created']}, load {begun['load'][0]} and "
        f"{begun['load'][1]}, modules {begun['source']}.\n"
    )


def floors(results: Results, _: Results) -> str:
    """Return what runs with a bar take, in seconds and floors, and for what."""
    header = (
        *("", "rows", "s", "processor s", "floors", "of processor", "bar", "memory"),
        "most of the time",
    )
    return _table(header, (_floor_line(each) for each in _barred(results)))


def _floor_line(run: Run) -> list[str]:
    stages = sorted(run["stages"].items(), key=lambda stage: -stage[1])[:_SHOWN_STAGES]
    shares = (f"{name} {seconds / run['total_seconds']:.0%}" for name, seconds in stages)
    return [
        _called(run["case"]),
        f"{run['rows']:,}",
        *(f"{run[key]:.2f}" for key in ("total_seconds", "processor_seconds")),
        *(f"{run[key]:.2f}" for key in ("over_floor", "over_floor_processor")),
        str(side_by_side.FLOOR_LIMITS.get(run["case"], "")),
        f"{run['memory_ratio']:.1f}",
        ", ".join(shares),
    ]


def elsewhere(results: Results, _: Results) -> str:
    """Return the floors of tables for which no bar was set."""
    return _by_case(
        [
            each
            for each in results["runs"]
            if "over_floor" in each and not side_by_side.has_bars(each)
        ],
        lambda run: f"{run['over_floor']:.1f} / {run['over_floor_processor']:.1f}",
    )


def utility(results: Results, _: Results) -> str:
    """Return how many times the anonymisation utility takes."""
    return _by_case(_judged(results), lambda run: _times(run, "utility"))


def attacks(results: Results, _: Results) -> str:
    """Return how many times the anonymisation all attacks take, and the longest of them."""

    def shown(run: Run) -> str:
        ratios = run["judges_over_anonymisation"]
        alone = [ratio for step, ratio in ratios.items() if step not in _STEPS and ratio]
        return " / ".join([_times(run, "attack"), *([f"{max(alone):.1f}"] if alone else [])])

    return _by_case(_judged(results), shown)


def others(results: Results, _: Results) -> str:
    """Return how many times the least of audits and queries, and the greatest, take."""
    lines = []
    for step in ("audit", "query"):
        ratios = [each["judges_over_anonymisation"][step] for each in _judged(results)]
        known = [ratio for ratio in ratios if ratio is not None]
        lines.append(f"{step} {min(known):.1f} to {max(known):.1f}")
    return f"Times the anonymisation, over all tables and methods: {', '.join(lines)}.\n"


def faster(results: Results, _: Results) -> str:
    """Return how many times less processor time we take than others."""
    runs = [each for each in results["runs"] if each.get("times_faster")]
    return _by_case(
        runs,
        lambda run: ", ".join(
            f"{times:.0f} ({'naive' if name.startswith('naive') else name})"
            for name, times in run["times_faster"].items()
        ),
    )


def growth(results: Results, _: Results) -> str:
    """Return the exponents of growth."""
    header = ("", "exponent", "bar")
    lines = (
        [_called(case), f"{reached:.2f}", str(side_by_side.GROWTH_LIMITS[case])]
        for case, reached in results["growth"].items()
    )
    return _table(header, lines)


def missed(results: Results, begun: Results) -> str:
    """Return which bars are missed, and where other tables exceed them."""
    own = [*side_by_side.misses(results), *start_up.misses(begun)]
    told = [f"* missed: {line}" for line in own] or ["Every bar is kept."]
    beyond = side_by_side.elsewhere(results)
    if beyond:
        told += [
            "",
            f"Tables for which they were not set exceed them {len(beyond)} times, which "
            "`python -m benchmarks.side_by_side --show` lists.",
        ]
    return "\n".join(told) + "\n"


def first_runs(_: Results, begun: Results) -> str:
    """Return what start-up takes."""
    header = ("", "first run", "next run", "loading kernels", "start-up")
    keys = ("first", "next", "loading", "start-up")
    lines = ([_called(each["case"]), *(f"{each[k]:.2f}" for k in keys)] for each in begun["runs"])
    return f"`sfumato --help`: {begun['help_seconds']:.2f} s.\n\n" + _table(header, lines)


BLOCKS: dict[str, Callable[[Results, Results], str]] = {
    "machine": machine,
    "missed": missed,
    "floors": floors,
    "growth": growth,
    "elsewhere": elsewhere,
    "judges": others,
    "utility": utility,
    "attacks": attacks,
    "faster": faster,
    "first-runs": first_runs,
}


def documented(page: str, results: Results, begun: Results) -> str:
    """Return the page with all of its blocks made anew."""
    return _BLOCK.sub(
        lambda found: f"{found[1]}{BLOCKS[found['name']](results, begun)}{found[3]}", page
    )


def committed() -> tuple[Results, Results]:
    """Return the committed results: side by side, and of start-up."""
    side, begun = (
        json.loads(path.read_text(encoding="utf-8"))
        for path in (side_by_side.RESULTS, start_up.RESULTS)
    )
    return side, begun


def _barred(results: Results) -> list[Run]:
    return [
        each for each in results["runs"] if "over_floor" in each and side_by_side.has_bars(each)
    ]


def _judged(results: Results) -> list[Run]:
    return [each for each in results["runs"] if each.get("judge_processor_seconds")]


def _times(run: Run, step: str) -> str:
    ratio = run["judges_over_anonymisation"].get(step)
    return "" if ratio is None else f"{ratio:.1f}"


def _by_case(runs: Sequence[Run], shown: Callable[[Run], str]) -> str:
    """Return a line a table, a column a method."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in runs:
        # fakes make a row or two more of it
        rows = min(other["rows"] for other in runs if _is_alike(other, each))
        found.setdefault((each["table"], f"{rows:,}"), {})[each["case"]] = shown(each)
    cases = [case for case in tables.METHODS if any(case in own for own in found.values())]
    lines = (
        [f"{name}, {rows}", *(own.get(case, "") for case in cases)]
        for (name, rows), own in found.items()
    )
    return _table(("", *map(_called, cases)), lines)


def _is_alike(one: Run, other: Run) -> bool:
    return bool(one["table"] == other["table"] and abs(one["rows"] - other["rows"]) < 100)


def _called(case: str) -> str:
    return case.replace("_", "-")


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in header[1:])]
    return "".join(f"| {' | '.join(each)} |\n" for each in (header, rule, *lines))


if __name__ == "__main__":
    PAGE.write_text(documented(PAGE.read_text(encoding="utf-8"), *committed()), encoding="utf-8")
