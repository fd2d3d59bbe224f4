"""Results as tables for people, as JSON for later, and as answers to what was promised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.growth import over_floor

FASTER_THAN_ANJANA = 50.0
SECONDS_FOR_A_MILLION = 5.0
ADDED_OVER_CODED = 4.0
COLD_START_SECONDS = 12.0
LARGE_ENOUGH = 1_000_000  # below this the libraries' own memory outweighs the tables
_STAGES = ("read", "encode", "partition", "publish", "save")


def promises(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what was promised, what was reached, and whether that is enough."""
    found: list[dict[str, Any]] = []
    if results.get("cold_start"):
        found.append(
            _promise(
                "cold start, mondrian: processor seconds",
                results["cold_start"]["runs"]["mondrian"]["processor_seconds"],
                at_most=COLD_START_SECONDS,
            )
        )
    adult = results.get("adult") or {"runs": []}
    for run in adult["runs"]:
        if "times_faster" in run:
            found.append(
                _promise(
                    f"Adult, {run['name']}: times faster than {adult['peer']}",
                    run["times_faster"],
                    at_least=FASTER_THAN_ANJANA,
                )
            )
    synthetic = results["synthetic"]
    for run in synthetic["runs"]:
        if run["case"] == "mondrian":
            if run["rows"] == 1_000_000:
                found.append(
                    _promise(
                        "1 million rows, mondrian: seconds from encode to publish",
                        sum(run["seconds"][stage] for stage in ("encode", "partition", "publish")),
                        at_most=SECONDS_FOR_A_MILLION,
                    )
                )
            if run["rows"] >= LARGE_ENOUGH:
                found.append(
                    _promise(
                        f"{run['rows']:,} rows, mondrian: memory added, in coded tables",
                        run["memory"]["added_over_coded"],
                        at_most=ADDED_OVER_CODED,
                    )
                )
    in_all = {step["case"]: step for step in synthetic["growth"]}
    for step in in_all.values():
        found.append(
            _promise(
                # of processor time, which other work on the machine does not stretch
                f"{step['case']} from {step['from']:,} to {step['to']:,} rows: growth exponent",
                step["processor"],
                at_most=step["limit"],
            )
        )
    return found


def _promise(
    what: str, reached: float, *, at_least: float | None = None, at_most: float | None = None
) -> dict[str, Any]:
    limit = at_least if at_least is not None else at_most
    assert limit is not None
    kept = reached >= limit if at_least is not None else reached <= limit
    return {
        "what": what,
        "reached": reached,
        "limit": limit,
        "rule": "at least" if at_least is not None else "at most",
        "kept": kept,
    }


def write_json(results: Mapping[str, Any], path: Path) -> None:
    """Write the results, numbers to four digits, so that a rerun changes no more than it must."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_short(results), indent=1, ensure_ascii=False) + "\n")


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def show(results: Mapping[str, Any], console: Console) -> None:
    """Print the results."""
    machine = results["machine"]
    console.print(
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB, "
        f"Python {machine['python']}, load {results['load_before']} before and "
        f"{results['load_after']} after, source {results['source']['sha256']}"
    )
    if results["source"]["changed_during_run"]:
        console.print("[red]The source was changed during the run: these runs differ.[/red]")
    if results.get("cold_start"):
        console.print(_cold_table(results["cold_start"]))
    if results.get("adult"):
        console.print(_adult_table(results["adult"]))
    console.print(_stage_table(results["synthetic"]))
    if results["synthetic"]["growth"]:
        console.print(_growth_table(results["synthetic"]["growth"]))
    console.print(_memory_table(results["synthetic"]))
    console.print(_promise_table(results["promises"]))


def _cold_table(cold: Mapping[str, Any]) -> Table:
    table = _table(f"Cold start: {cold['functions']} functions compiled", ("", "processor seconds"))
    for name, run in cold["runs"].items():
        table.add_row(f"first {name}", f"{run['processor_seconds']:.1f}")
    for name, seconds in cold["by_function"].items():
        table.add_row(f"  {name}", f"{seconds:.2f}")
    return table


def _adult_table(adult: Mapping[str, Any]) -> Table:
    table = _table(
        f"Adult, {adult['rows']:,} complete rows, k = {adult['k']}",
        (
            "",
            "seconds",
            "processor",
            "times faster",
            "processor ratio",
            "smallest class",
            "withheld",
            "mean NCP",
        ),
    )
    for run in adult["runs"]:
        faster, less = run.get("times_faster"), run.get("times_less_processor")
        table.add_row(
            run["name"],
            f"{run['seconds']:.3f}",
            f"{run['processor_seconds']:.3f}",
            "" if faster is None else f"{faster:.0f}",
            "" if less is None else f"{less:.0f}",
            f"{run['k']}",
            f"{run['withheld']:,}",
            f"{run['ncp']:.4f}",
        )
    return table


def _stage_table(synthetic: Mapping[str, Any]) -> Table:
    table = _table(
        "Synthetic census, 8 quasi-identifiers: seconds",
        ("", "rows", *_STAGES, "total", "times the floor", "cores used"),
    )
    ratio = over_floor(synthetic["runs"])
    for run in synthetic["runs"]:
        seconds = run["seconds"]
        times = ratio.get((run["case"], run["rows"]))
        table.add_row(
            run["case"],
            f"{run['rows']:,}",
            *(f"{seconds[stage]:.2f}" if stage in seconds else "" for stage in _STAGES),
            f"{run['total_seconds']:.2f}",
            "" if times is None else f"{times:.1f}",
            f"{sum(run['processor_seconds'].values()) / run['total_seconds']:.2f}",
        )
    return table


def _growth_table(steps: list[dict[str, Any]]) -> Table:
    table = _table(
        "Growth: exponent of the rows between two sizes",
        ("", "from", "to", "partition", "total", "processor", "n log n, with tolerance"),
    )
    for step in steps:
        table.add_row(
            step["case"],
            f"{step['from']:,}",
            f"{step['to']:,}",
            *(f"{step[part]:.3f}" for part in ("partition", "total", "processor", "limit")),
        )
    return table


def _memory_table(synthetic: Mapping[str, Any]) -> Table:
    table = _table(
        "Memory: MB, and as multiples of the coded table",
        ("", "rows", "coded", "input", "output", "peak", "peak / coded", "added / coded"),
    )
    for run in synthetic["runs"]:
        if "memory" not in run:
            continue
        memory = run["memory"]
        table.add_row(
            run["case"],
            f"{run['rows']:,}",
            *(f"{memory[f'{part}_bytes'] / 1e6:,.0f}" for part in ("coded", "input", "output")),
            f"{memory['peak_bytes'] / 1e6:,.0f}",
            f"{memory['peak_over_coded']:.1f}",
            f"{memory['added_over_coded']:.1f}",
        )
    return table


def _promise_table(promised: list[dict[str, Any]]) -> Table:
    table = _table("What was promised", ("", "reached", "limit", ""))
    for promise in promised:
        table.add_row(
            promise["what"],
            f"{promise['reached']:.3g}",
            f"{promise['rule']} {promise['limit']:.3g}",
            "kept" if promise["kept"] else "[red]missed[/red]",
        )
    return table


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left")
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right", no_wrap=True)
    return table
