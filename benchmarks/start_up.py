"""Start-up: `sfumato --help`, a machine's first run of every method, and the next: of `make bench`.

    python -m benchmarks.start_up [--rows N] [--cases CASE ...] [--show]

First runs are those of the command line, each with an empty cache of kernels of its own; the next
ones find it filled. What loading kernels takes is what the first release of a process takes longer
than its second; start-up is all of a next run but what its release takes once they are loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import tables
from benchmarks.machine import ROOT, load_average, machine_facts, source_digest
from benchmarks.report import write_json
from sfumato.jobs.anonymize import anonymize
from sfumato.randomness import Randomness

RESULTS = ROOT / "benchmarks" / "results" / "start_up.json"
ROWS = 20_000
LIMITS = {"first": 20.0, "loading": 1.0, "start-up": 2.0}  # seconds
HELP_LIMIT = 0.3
_TIMES = 5
_NEXT = 3
_COMMAND = [Path(sys.executable).with_name("sfumato")]

Environment = dict[str, str]
Say = Callable[[str], None]


def run(rows: int, cases: Sequence[str], say: Say = lambda _: None) -> dict[str, Any]:
    """Return all results on a synthetic table of so many rows."""
    before = load_average()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = tables.write(tables.SYNTHETIC, rows, folder / "table")
        runs = []
        for case in cases:
            say(f"{case}, first run")
            runs.append(_of_case(case, files, folder / case))
    return {
        "format": "sfumato-start-up/1",
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load": [before, load_average()],
        "source": source_digest(),
        "rows": files.rows,
        "help_seconds": median(_seconds([*_COMMAND, "--help"]) for _ in range(_TIMES)),
        "runs": runs,
    }


def _of_case(case: str, files: tables.Files, out: Path) -> dict[str, Any]:
    out.mkdir()
    cache = os.environ | {"NUMBA_CACHE_DIR": str(out / "kernels")}
    command = [*_COMMAND, "anonymize", files.source, "--policy", files.policy(case), "--out"]
    first = _seconds([*command, out / "first"], cache)
    following = median(_seconds([*command, out / f"next-{i}"], cache) for i in range(_NEXT))
    module = ["-m", "benchmarks.settled", "benchmarks.start_up", "--loaded", case, files.folder]
    answer = subprocess.run(
        [sys.executable, *module], cwd=ROOT, env=cache, stdout=subprocess.PIPE, check=True
    )
    cold, warm = json.loads(answer.stdout)
    return {
        "case": case,
        "first": first,
        "next": following,
        "loading": cold - warm,
        "start-up": following - warm,
    }


def _seconds(command: Sequence[str | Path], environment: Environment | None = None) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    return time.perf_counter() - start


def loaded(case: str, folder: Path) -> tuple[float, float]:
    """Return the seconds of this process's first release, and of its second."""
    seconds = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(2):
            out = Path(name) / str(number)
            start = time.perf_counter()
            anonymize(
                folder / "data.parquet",
                folder / f"{case}.yaml",
                out,
                randomness=Randomness.test(1),
            )
            seconds.append(time.perf_counter() - start)
    return seconds[0], seconds[1]


def misses(results: dict[str, Any]) -> list[str]:
    """Return what the bars of the project are missed by."""
    found = []
    if results["help_seconds"] > HELP_LIMIT:
        found.append(f"--help takes {results['help_seconds']:.2f} s, bar {HELP_LIMIT:g}")
    for each in results["runs"]:
        for what, limit in LIMITS.items():
            if each[what] > limit:
                found.append(f"{each['case']}: {what} takes {each[what]:.2f} s, bar {limit:g}")
    return found


def show(results: dict[str, Any], console: Console) -> None:
    """Print the results, and which bars are missed."""
    table = Table(title=f"Start-up, {results['rows']:,} rows: seconds", title_justify="left")
    for column in ("", "first run", "next run", "of it loading kernels", "start-up"):
        table.add_column(column, no_wrap=True)
    for each in results["runs"]:
        numbers = (each[key] for key in ("first", "next", "loading", "start-up"))
        table.add_row(each["case"], *(f"{number:.2f}" for number in numbers))
    console.print(table)
    console.print(f"sfumato --help: {results['help_seconds']:.2f} s")
    for line in misses(results):
        console.print(f"missed: {line}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print; what was measured in whole is written down."""
    parser = argparse.ArgumentParser(prog="benchmarks.start_up", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Anatomy alone")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cases", nargs="+", default=list(tables.METHODS))
    parser.add_argument("--show", action="store_true", help="print the committed results again")
    parser.add_argument("--loaded", nargs=2, metavar=("CASE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.loaded:
        print(json.dumps(loaded(options.loaded[0], Path(options.loaded[1]))))
        return
    if options.show:
        show(json.loads(RESULTS.read_text(encoding="utf-8")), Console())
        return
    results = run(
        options.rows, ["anatomy"] if options.quick else options.cases, Console(stderr=True).print
    )
    show(results, Console())
    if not options.quick and options.cases == list(tables.METHODS) and options.rows == ROWS:
        write_json(results, RESULTS)


if __name__ == "__main__":
    main()
