"""Ours, peers and naive versions side by side, from file to release: part of `make bench`.

    python -m benchmarks.side_by_side [--quick] [--rows N ...] [--keep] [--check] [--show]

All runs are children of this process, one at a time and in turn (every method, every peer; then
the next round), so that whatever else the machine does falls on all alike. Ratios count: to the
floor (reading the same file and writing the tables of the release with Polars, three times right
after the run), to the naive version of the same paper, to peers. `--check` compares ratios with
the committed ones and fails where one grew. `--keep` leaves the committed runs of other cases and
tables as they are; each run says which modules it was of.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import tables
from benchmarks.machine import ROOT, load_average, machine_facts, shared_folder, source_digest
from benchmarks.report import write_json

RESULTS = ROOT / "benchmarks" / "results" / "side_by_side.json"
QUICK = RESULTS.with_name("side_by_side_quick.json")  # never committed
PEER_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PEER_SCRIPT = ROOT / "benchmarks" / "peer_run.py"
SIZES = (100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (20_000,)
NAIVE_ROWS = 20_000  # the naive versions take minutes beyond
PEER_SECONDS = 300  # no peer is waited for longer
# Bars hold from here on (rows without a salary are left out), on the synthetic table: what they are
# exceeded by elsewhere is told as well.
BAR_ROWS = 900_000
PEERS = ("anonypy", "pycanon")
FLOOR_LIMITS = {"mondrian": 5, "anatomy": 5, "arp": 5, "slppa": 5} | dict.fromkeys(
    ("lgb", "merging", "slicing", "sensitive_qid"), 15
)
GROWTH_LIMITS = dict.fromkeys(tables.METHODS, 1.1) | {"top_down": 1.2}
MEMORY_LIMIT = 3.0
JUDGE_LIMIT = 5.0
WIDTH = 215  # of what is printed: no column of it is left out
REGRESSION = 1.5  # a ratio that grew by more is a regression; less is the machine

_TIMES = ("total_seconds", "processor_seconds", "floor_seconds", "floor_processor_seconds")

Say = Callable[[str], None]
Run = dict[str, Any]


def run(
    wanted: Sequence[tuple[str, int | None]],
    *,
    rounds: int,
    cases: Sequence[str] = tuple(tables.METHODS),
    peer_python: Path | None,
    judges: bool = True,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """Return all results on the wanted tables, each a name and a number of rows (None: all)."""
    before, source = load_average(), source_digest()
    found: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        written = [
            tables.write(name, rows, Path(folder) / f"{name}-{rows}") for name, rows in wanted
        ]
        for files in written:
            found += _table_runs(files, rounds, cases, peer_python, judges, say)
    return {
        "format": "sfumato-side-by-side/1",
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load": [before, load_average()],
        "runs": [each | {"source": source} for each in found],
        "growth": growth(found),
    }


def _table_runs(
    files: tables.Files,
    rounds: int,
    cases: Sequence[str],
    peer_python: Path | None,
    judges: bool,
    say: Say,
) -> list[Run]:
    kept: dict[str, list[Run]] = {}
    small = files.rows <= NAIVE_ROWS * 3
    for number in range(1 if files.rows >= tables.LARGE else rounds):
        for case in cases:
            say(f"{files.name}, {files.rows:,} rows: {case}, round {number + 1}")
            kept.setdefault(case, []).append(_ours(case, files, judges and number == 0))
        if peer_python is not None and number == 0 and small:
            for case in (*PEERS, *cases):
                say(f"{files.name}, {files.rows:,} rows: {case} of others")
                kept[f"naive {case}" if case in cases else case] = [
                    _theirs(peer_python, case, files)
                ]
    return _with_ratios([_median(same) | {"table": files.name} for same in kept.values()], kept)


def _ours(case: str, files: tables.Files, judged: bool) -> Run:
    options = ["--judged"] if judged else []
    module = "benchmarks.end_to_end"
    command = [sys.executable, "-m", "benchmarks.settled", module, case, files.folder, *options]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode != 0:
        return {"case": case, "rows": files.rows, "failed": answer.returncode}
    result: Run = json.loads(answer.stdout)
    return result


def _theirs(python: Path, case: str, files: tables.Files) -> Run:
    command = [python, PEER_SCRIPT, case, files.folder / "data.csv", files.folder / "plan.json"]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PEER_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"case": case, "rows": files.rows, "failed": f"over {PEER_SECONDS} s"}
    if answer.returncode != 0:
        return {"case": case, "rows": files.rows, "failed": answer.returncode}
    result: Run = json.loads(answer.stdout)
    return result


def _median(same: list[Run]) -> Run:
    """Return the first run with the medians of its times."""
    done = [each for each in same if "failed" not in each]
    if not done:
        return same[0]
    times = [key for key in _TIMES if key in done[0]]
    return done[0] | {key: median(each[key] for each in done) for key in times}


def _with_ratios(runs: list[Run], kept: dict[str, list[Run]]) -> list[Run]:
    by_name = dict(zip(kept, runs, strict=True))
    for name, each in by_name.items():
        each["case"] = name
        if "floor_seconds" not in each:  # failed, or made by others
            continue
        # processor seconds beside seconds: other work on the machine stretches the latter
        each["over_floor"] = each["total_seconds"] / each["floor_seconds"]
        used, floor = each["processor_seconds"], each["floor_processor_seconds"]
        each["over_floor_processor"] = used / floor
        each["memory_ratio"] = each["peak_bytes"] / each["coded_and_output_bytes"]
        for other in (f"naive {name}", *(("anonypy",) if name == "mondrian" else ())):
            if other in by_name and "failed" not in by_name[other]:
                ratio = by_name[other]["processor_seconds"] / each["processor_seconds"]
                each.setdefault("times_faster", {})[other] = ratio
        each["judges_over_anonymisation"] = {
            step: None if seconds is None else seconds / each["processor_seconds"]
            for step, seconds in _judges(each).items()
        }
    return runs


def _judges(run: Run) -> dict[str, float | None]:
    """Return the processor seconds of every judge of a run, all attacks together and each alone."""
    alone = run.get("attack_processor_seconds", {})
    return run.get("judge_processor_seconds", {}) | {f"attack {k}": v for k, v in alone.items()}


def kept(results: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """Return the earlier results, the runs that were made again in the place of theirs.

    Refuses (ValueError) results of another machine: ratios are not told apart by machines.
    """
    if results["machine"] != earlier["machine"]:
        raise ValueError("the committed results are of another machine; run all cases again")

    def place(run: Run) -> tuple[Any, ...]:
        return run["table"], run["rows"], run["case"]

    now = {place(each): each for each in results["runs"]}
    runs = [now.pop(place(each), each) for each in earlier["runs"]]
    runs += now.values()
    return earlier | {"runs": runs, "growth": growth(runs)}


def growth(runs: Sequence[Run]) -> dict[str, float]:
    """Return the exponent of processor time between the smallest and largest synthetic tables."""
    found = {}
    for case in tables.METHODS:
        sizes = sorted(
            (
                each
                for each in runs
                if each["case"] == case
                and each["table"] == tables.SYNTHETIC
                and "failed" not in each
            ),
            key=lambda each: each["rows"],
        )
        if len(sizes) > 1:
            small, large = sizes[0], sizes[-1]
            times = log(large["processor_seconds"] / small["processor_seconds"])
            found[case] = times / log(large["rows"] / small["rows"])
    return found


def misses(results: dict[str, Any]) -> list[str]:
    """Return what the bars of the project are missed by."""
    found = []
    for each in results["runs"]:
        if "failed" in each:
            found.append(f"{_where(each)}: failed")
        elif has_bars(each):
            found += _exceeded(each)
    for case, reached in results["growth"].items():
        if reached > GROWTH_LIMITS[case]:
            found.append(f"{case}: grows with n^{reached:.2f}, bar {GROWTH_LIMITS[case]}")
    return found


def elsewhere(results: dict[str, Any]) -> list[str]:
    """Return what the bars are exceeded by on tables for which they were not set."""
    runs = [each for each in results["runs"] if "failed" not in each and not has_bars(each)]
    return [line for each in runs for line in _exceeded(each)]


def has_bars(run: Run) -> bool:
    """Return whether the bars were set for a run's table."""
    return bool(run["table"] == tables.SYNTHETIC and run["rows"] >= BAR_ROWS)


def _where(run: Run) -> str:
    return f"{run['case']} on {run['rows']:,} rows of {run['table']}"


def _exceeded(run: Run) -> list[str]:
    """Return the bars that a run exceeds."""
    found = []
    limit = FLOOR_LIMITS.get(run["case"])
    for ratio, unit in (("over_floor", "seconds"), ("over_floor_processor", "processor")):
        if limit and run.get(ratio, 0) > limit:
            found.append(f"{_where(run)}: {run[ratio]:.1f} floors of {unit}, bar {limit}")
    if run.get("memory_ratio", 0) > MEMORY_LIMIT:
        found.append(f"{_where(run)}: memory {run['memory_ratio']:.1f}, bar {MEMORY_LIMIT:g}")
    for step, ratio in run.get("judges_over_anonymisation", {}).items():
        if ratio is not None and ratio > JUDGE_LIMIT:
            seconds = _judges(run).get(step) or ratio * run.get("processor_seconds", 0.0)
            what = "all attacks together" if step == "attack" else step
            found.append(
                f"{_where(run)}: {what} takes {ratio:.1f} times as long as the anonymisation, "
                f"{seconds:.2f} s of processor, bar {JUDGE_LIMIT:g}"
            )
    return found


def regressions(now: dict[str, Any], earlier: dict[str, Any]) -> list[str]:
    """Return the ratios that have grown since earlier results, for runs that both have.

    >>> run = {"case": "arp", "table": "adult", "rows": 9, "over_floor_processor": 4.0}
    >>> slower = run | {"over_floor_processor": 8.0}
    >>> regressions({"runs": [slower]}, {"runs": [run]})
    ['arp on 9 rows of adult: over_floor_processor went from 4.0 to 8.0']
    """
    then = {(each["table"], each["case"], each["rows"]): each for each in earlier["runs"]}
    found = []
    for each in now["runs"]:
        old = then.get((each["table"], each["case"], each["rows"]), {})
        for key in ("over_floor_processor", "memory_ratio"):
            if key in each and key in old and each[key] > REGRESSION * old[key]:
                found.append(
                    f"{each['case']} on {each['rows']:,} rows of {each['table']}: {key} went from "
                    f"{old[key]:.1f} to {each[key]:.1f}"
                )
    return found


def show(results: dict[str, Any], console: Console) -> None:
    """Print the results as one table, and which bars are missed."""
    table = Table(title="Side by side, from file to release", title_justify="left")
    columns = ("", "rows", "case", "s", "processor s", "/ floor", "processor / floor")
    measured = ("NCP", "C_DM", "GLP", "RECQ")
    for column in (*columns, "MB", "/ (coded + output)", "times faster", *measured):
        table.add_column(column, no_wrap=True)
    for each in results["runs"]:
        if "failed" in each:
            table.add_row(each["table"], f"{each['rows']:,}", each["case"], "failed")
            continue
        metrics = {key: each.get(key) for key in ("ncp", "c_dm")} | each.get("metrics", {})
        table.add_row(
            each["table"],
            f"{each['rows']:,}",
            each["case"],
            *(_number(each.get(key)) for key in ("total_seconds", "processor_seconds")),
            *(_number(each.get(key)) for key in ("over_floor", "over_floor_processor")),
            f"{each['peak_bytes'] / 1e6:.0f}" if "peak_bytes" in each else "",
            _number(each.get("memory_ratio")),
            ", ".join(f"{v:.0f} ({k})" for k, v in each.get("times_faster", {}).items()),
            *(_number(metrics.get(key.lower())) for key in measured),
        )
    console.print(table)
    console.print(_judge_table(results["runs"]))
    for case, reached in results["growth"].items():
        console.print(f"{case}: n^{reached:.2f}")
    for line in misses(results):
        console.print(f"missed: {line}")
    for line in elsewhere(results):
        console.print(f"elsewhere: {line}")


def _judge_table(runs: Sequence[Run]) -> Table:
    """Return what judges cost: seconds of processor, and how many times the anonymisation's."""
    title = "Judges: processor s (times the anonymisation)"
    table = Table(title=title, title_justify="left")
    steps = ("audit", "utility", "attack", "query")
    for column in ("", "rows", "case", "anonymisation", *steps, "longest attack"):
        table.add_column(column, no_wrap=True)
    for each in runs:
        seconds = _judges(each)
        if not seconds:
            continue
        ratios = each["judges_over_anonymisation"]
        said = {
            step: "" if used is None else f"{used:.2f} ({ratios[step]:.1f})"
            for step, used in seconds.items()
        }
        alone = {step: used or 0.0 for step, used in seconds.items() if step not in steps}
        longest = max(alone, key=alone.__getitem__, default="")
        table.add_row(
            *(each["table"], f"{each['rows']:,}", each["case"]),
            _number(each["processor_seconds"]),
            *(said.get(step, "") for step in steps),
            f"{longest.removeprefix('attack ')} {said[longest]}" if longest else "",
        )
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, write down or check; return 1 where a ratio has grown."""
    parser = argparse.ArgumentParser(prog="benchmarks.side_by_side", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Adult and 20,000 rows, one round")
    parser.add_argument("--rows", type=int, nargs="+", help="synthetic sizes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", nargs="+", default=list(tables.METHODS))
    parser.add_argument("--no-real", action="store_true", help="synthetic tables only")
    parser.add_argument("--no-peer", action="store_true", help="our own runs only")
    parser.add_argument("--no-judges", action="store_true", help="no audits, attacks, queries")
    parser.add_argument("--check", action="store_true", help="compare with the committed ratios")
    parser.add_argument("--show", action="store_true", help="print the committed results again")
    parser.add_argument("--keep", action="store_true", help="keep the committed runs of others")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    notes, console = Console(stderr=True), Console(width=WIDTH)
    if options.show:
        show(json.loads(RESULTS.read_text(encoding="utf-8")), console)
        return 0
    real = [] if options.no_real else list(tables.REAL)[: 1 if options.quick else None]
    if real and not (shared_folder() / "data").is_dir():
        notes.print("real tables are left out: no shared data beside this checkout")
        real = []
    sizes = options.rows or (QUICK_SIZES if options.quick else SIZES)
    has_peers = PEER_PYTHON.exists() and not options.no_peer
    results = run(
        [*((name, None) for name in real), *((tables.SYNTHETIC, rows) for rows in sizes)],
        rounds=1 if options.quick else options.rounds,
        cases=options.cases,
        peer_python=PEER_PYTHON if has_peers else None,
        judges=not options.no_judges,
        say=notes.print,
    )
    if options.keep:
        results = kept(results, json.loads(RESULTS.read_text(encoding="utf-8")))
    show(results, console)
    if options.check:
        grown = regressions(results, json.loads(RESULTS.read_text(encoding="utf-8")))
        for line in grown:
            console.print(f"regression: {line}")
        return 1 if grown else 0
    write_json(results, options.out or (QUICK if options.quick else RESULTS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
