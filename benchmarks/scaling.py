"""Rows a second and memory of `sfumato anonymize` at large sizes, by method.

    python -m benchmarks.scaling --rows 1000000 10000000 50000000 --folder DIR

makes the data sets of `big_data.py` in DIR where they are missing, publishes each by every method
in a process of its own, and keeps what was measured in `results/scaling.json`, run by run: a run
that is repeated replaces its older self. `--table` prints them. Kernels are compiled, or loaded,
before the clock starts. A busy machine makes seconds long; processor seconds tell the work.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.big_data import DATA, METHODS, write_data, write_policies
from benchmarks.machine import load_average, machine_facts, peak_bytes, source_digest
from sfumato.io.read import open_table
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.peak_memory import forget_peak
from sfumato.randomness import Randomness

RESULTS = Path(__file__).resolve().parent / "results" / "scaling.json"
SIZES = (1_000_000, 10_000_000, 50_000_000)
ENGINE = "local"
_WARM_ROWS = 20_000  # enough to load or compile every kernel


class StagePeaks:
    """The memory peak of every stage, in bytes: told when each begins, and once at the end."""

    def __init__(self) -> None:
        self.peaks: dict[str, int] = {}
        self._current: str | None = None

    def stage(self, name: str) -> None:
        """Take note that a stage begins, and another ends."""
        self.end()
        self._current = name
        forget_peak()

    def end(self) -> None:
        """Take note that the last stage is over."""
        if self._current is not None:
            self.peaks[self._current] = max(self.peaks.get(self._current, 0), peak_bytes())


def measure(method: str, folder: Path) -> dict[str, Any]:
    """Return what publishing a data set by a method takes, stage by stage."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        small = Path(scratch) / "small"
        write_data(_WARM_ROWS, small / DATA)
        write_policies(small)
        _publish(method, small, Path(scratch) / "warm", StagePeaks())
        stages = StagePeaks()
        processor, start = time.process_time(), time.perf_counter()
        made = _publish(method, folder, Path(scratch) / "release", stages)
        seconds = time.perf_counter() - start
        used = time.process_time() - processor
    stages.end()
    rows = open_table(folder / DATA).num_rows
    return {
        "engine": ENGINE,
        "method": method,
        "rows": rows,
        "seconds": round(seconds, 1),
        "processor_seconds": round(used, 1),
        "rows_a_second": round(rows / seconds),
        "peak_bytes": max(stages.peaks.values()),
        "stage_seconds": dict(made.timings),
        "stage_peak_bytes": stages.peaks,
        "groups": made.groups,
        "ncp_mean": None if made.ncp is None else made.ncp.mean,
        "created": datetime.now(UTC).date().isoformat(),
        "load": load_average(),
        "source": source_digest(),
    }


def _publish(method: str, folder: Path, out: Path, stages: StagePeaks) -> Any:
    return anonymize(
        folder / DATA,
        folder / f"{method}.yaml",
        out,
        randomness=Randomness.test(1),
        progress=stages,
    )


def keep(run: dict[str, Any], path: Path) -> None:
    """Write a run to the results, in the place of an older one of the same kind."""
    known = json.loads(path.read_text()) if path.exists() else {"runs": []}

    def kind(each: dict[str, Any]) -> tuple[Any, ...]:
        return each["engine"], each["rows"], each["method"]

    others = [each for each in known["runs"] if kind(each) != kind(run)]
    runs = sorted([*others, run], key=kind)
    found = {**known, "machine": machine_facts(), "runs": runs}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


def run_all(
    sizes: Iterable[int], methods: Sequence[str], folder: Path, out: Path, least_free: float
) -> None:
    """Measure every size and method, one after the other, each in a process of its own."""
    for rows in sizes:
        place = folder / str(rows)
        if not (place / DATA).exists():
            write_data(rows, place / DATA)
        write_policies(place)
        for method in methods:
            if _free_gib() < least_free:
                print(f"{method}, {rows} rows: not run, {_free_gib():.0f} GiB are free", flush=True)
                continue
            command = [
                sys.executable,
                "-m",
                "benchmarks.settled",
                "benchmarks.scaling",
                "--child",
                method,
                str(place),
            ]
            done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                print(f"{method}, {rows} rows: failed", flush=True)
                continue
            run = json.loads(done.stdout.splitlines()[-1])
            keep(run, out)
            print(
                f"{method}, {rows} rows: {run['seconds']} s ({run['processor_seconds']} s of "
                f"processor), {run['peak_bytes'] / 1e9:.2f} GB",
                flush=True,
            )


def table_of(path: Path, engine: str = ENGINE) -> list[str]:
    """Return what was measured as the lines of a table in Markdown."""
    runs = [run for run in json.loads(path.read_text("utf-8"))["runs"] if run["engine"] == engine]
    lines = [
        "| rows | method | seconds | of processor | rows a second of processor | peak, GB | load |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    for run in sorted(runs, key=lambda run: (run["rows"], run["method"])):
        cells = (
            f"{run['rows'] / 1e6:,.0f} million",
            run["method"],
            f"{run['seconds']:,.0f}",
            f"{run['processor_seconds']:,.0f}",
            f"{run['rows'] / max(run['processor_seconds'], 0.1):,.0f}",
            f"{run['peak_bytes'] / 1e9:.1f}",
            f"{run['load']}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _free_gib() -> float:
    """Return the memory that can be had without swapping, of Linux; elsewhere more than enough."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    (available,) = (line for line in lines if line.startswith("MemAvailable:"))
    return int(available.split()[1]) / 2**20


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements, or one of them as a child."""
    parser = argparse.ArgumentParser(prog="benchmarks.scaling", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--least-free", type=float, default=0.0, help="GiB, or a run is left out")
    parser.add_argument("--child", nargs=2, metavar=("METHOD", "FOLDER"))
    parser.add_argument("--table", action="store_true", help="print what is known, run nothing")
    given = parser.parse_args(arguments)
    if given.table:
        print("\n".join(table_of(given.out)))
        return
    if given.child is not None:
        print(json.dumps(measure(given.child[0], Path(given.child[1]))))
        return
    folder = given.folder or Path(tempfile.mkdtemp())
    try:
        run_all(given.rows, given.methods, folder, given.out, given.least_free)
    finally:
        if given.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
