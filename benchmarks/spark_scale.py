"""The Spark engine on large tables: `python -m benchmarks.spark_scale FOLDER --method mondrian`.

FOLDER holds `data` (Parquet) and `<method>.yaml`, as `python -m benchmarks.big_data` writes them.
With `--workers 2` a standalone cluster of so many worker processes, of one core each, is started
for the run. Executors get the memory that is asked for and no more: the heap of their Java
processes and the address space of their Python workers are limited by Spark. What their processes
had resident at most, together and added up at one moment, is measured beside it, and the driver's
apart.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import load_average, machine_facts
from sfumato.engines.spark.anonymize import SHARD_ROWS, anonymize
from sfumato.randomness import Randomness
from tests.engines.spark.cluster import cluster

RESULTS = Path(__file__).resolve().parent / "results" / "spark_scale.json"
_PAGE = os.sysconf("SC_PAGE_SIZE")
_EXECUTOR = b"CoarseGrainedExecutorBackend"


class Watch(threading.Thread):
    """Adds up the resident memory of executors (and all below them) and of the driver."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.executors = self.driver = 0
        self.processor: dict[int, int] = {}
        self._done = threading.Event()

    def run(self) -> None:
        """Look a few times a second."""
        while not self._done.wait(0.25):
            inside, outside, ticks = _resident(os.getpid())
            self.processor |= ticks
            self.executors, self.driver = max(self.executors, inside), max(self.driver, outside)

    @property
    def processor_seconds(self) -> float:
        """Those of all processes that were seen, executors' and the driver's: what load hides."""
        return sum(self.processor.values()) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Look no longer."""
        self._done.set()
        self.join()


def _resident(root: int) -> tuple[int, int, dict[int, int]]:
    """Return the bytes of executors below a process, those of all others, and all their ticks."""
    parents: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(status[1]), []).append(int(entry.name))
            sizes[int(entry.name)] = int(status[21]) * _PAGE
            ticks[int(entry.name)] = int(status[11]) + int(status[12])
    inside = outside = 0
    seen: dict[int, int] = {}
    pending = [(root, False)]
    while pending:
        pid, is_executor = pending.pop()
        seen[pid] = ticks.get(pid, 0)
        is_executor = is_executor or _EXECUTOR in _command(pid)
        inside += sizes.get(pid, 0) if is_executor else 0
        outside += 0 if is_executor else sizes.get(pid, 0)
        pending += [(child, is_executor) for child in parents.get(pid, [])]
    return inside, outside, seen


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def measure(
    folder: Path,
    method: str,
    master: str,
    shard_rows: int,
    heap: str,
    python: str | None,
    workers: int = 0,
) -> dict[str, Any]:
    """Return the measurements of one run; `workers` wins over `master`."""
    settings = {"spark.executor.memory": heap, "spark.driver.memory": "1g"}
    if python is not None:
        settings["spark.executor.pyspark.memory"] = python
    watch, load = Watch(), load_average()
    watch.start()
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as ends:
        if workers:
            settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
            place = Path(scratch, "cluster")
            place.mkdir()
            master, _ = ends.enter_context(cluster(workers, place, memory="3g"))
        start = time.perf_counter()
        made = anonymize(
            folder / "data",
            folder / f"{method}.yaml",
            Path(scratch, "release"),
            master=master,
            settings=settings,
            shard_rows=shard_rows,
            randomness=Randomness.fresh(),
        )
        spent = time.perf_counter() - start
        written = sum(f.stat().st_size for f in Path(scratch, "release").rglob("*") if f.is_file())
        tables = Path(scratch, "release", f"{made.manifest.tables[0].name}.parquet")
        parts = len(list(tables.iterdir()))
    watch.stop()
    return {
        "measured": datetime.now(UTC).date().isoformat(),
        "method": method,
        "master": f"standalone, {workers} workers" if workers else master,
        "rows": made.manifest.rows,
        "shard_rows": shard_rows,
        "parts": parts,
        "groups": made.groups,
        "ncp": None if made.ncp is None else made.ncp.mean,
        "seconds": round(spent, 1),
        "processor_seconds": round(watch.processor_seconds),
        "rows_a_second": round(made.manifest.rows / spent),
        "stages": dict(made.timings),
        "executor_heap": heap,
        "python_limit": python,
        "executors_peak_bytes": watch.executors,
        "driver_peak_bytes": watch.driver,
        "release_bytes": written,
        "load": load,
        "load_after": load_average(),
    }


def table_of(path: Path) -> list[str]:
    """Return what was measured as the lines of a table in Markdown."""
    lines = [
        "| rows | method | where | parts | seconds | of processor | rows a second of processor | "
        "executors, GB | driver, GB | load |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    runs = json.loads(path.read_text("utf-8"))["runs"]
    for run in sorted(runs, key=_kind):
        cells = (
            f"{run['rows'] / 1e6:,.0f} million",
            run["method"],
            run["master"],
            f"{run['parts']}",
            f"{run['seconds']:,.0f}",
            f"{run['processor_seconds']:,.0f}",
            f"{run['rows'] / max(run['processor_seconds'], 1):,.0f}",
            # inside one process executors cannot be told from the driver
            f"{run['executors_peak_bytes'] / 1e9:.1f}" if run["executors_peak_bytes"] else "-",
            f"{run['driver_peak_bytes'] / 1e9:.1f}",
            f"{run['load_after']}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _kind(run: dict[str, Any]) -> tuple[int, str, str]:
    return run["rows"], run["method"], run["master"]


def main() -> None:
    """Run once and keep what was measured in the place of an older run; or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--table", action="store_true", help="print what is known, run nothing")
    parser.add_argument("--method", default="mondrian")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--workers", type=int, default=0, help="of a standalone cluster")
    parser.add_argument("--shard-rows", type=int, default=SHARD_ROWS)
    parser.add_argument("--heap", default="512m", help="of each executor's Java process")
    parser.add_argument("--python", help="of the Python workers of each executor")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    if asked.table:
        print("\n".join(table_of(asked.out)))
        return
    if asked.folder is None:
        parser.error("FOLDER is missing")
    found = measure(
        asked.folder,
        asked.method,
        asked.master,
        asked.shard_rows,
        asked.heap,
        asked.python,
        asked.workers,
    )
    print(json.dumps(found))
    runs = json.loads(asked.out.read_text())["runs"] if asked.out.exists() else []
    others = [each for each in runs if _kind(each) != _kind(found)]
    content = {"machine": machine_facts(), "runs": sorted([*others, found], key=_kind)}
    asked.out.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
