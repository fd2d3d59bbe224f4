"""One measured run in a process of its own, so that its memory peak is its own.

    python -m benchmarks.child CASE INPUT.parquet OUT

prints one line of JSON. CASE is a method of `cases.py` or `floor`: reading the input and writing
as many cells again with Polars, the least that any pipeline step costs.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from benchmarks.cases import CASES, synthetic_schema
from benchmarks.machine import resident_bytes
from benchmarks.stages import Stages
from sfumato.randomness import Randomness
from sfumato.table import Table, encode

FLOOR = "floor"
_WARM_ROWS = 2_000  # enough to load or compile every kernel
_CODE_BYTES = 4


def measure(name: str, source: Path, out: Path) -> dict[str, Any]:
    """Return the measurements of one run from a Parquet file to a saved release."""
    return _floor(source, out) if name == FLOOR else _pipeline(name, source, out)


def _pipeline(name: str, source: Path, out: Path) -> dict[str, Any]:
    _warm(name, source)
    before = resident_bytes()
    stages = Stages()
    case = CASES[name]
    with stages.stage("read"):
        data = pq.read_table(source)
    after_reading = resident_bytes()
    with stages.stage("encode"):
        table = encode(data, synthetic_schema())
    with stages.inside(case.module, case.stage_of):
        release = case.method.release(table, Randomness.fresh())
    with stages.stage("save"):
        release.save(out)
    coded = coded_bytes(table)
    peak = max(stages.peak_bytes.values())
    return {
        "case": name,
        "rows": table.rows,
        "seconds": stages.seconds,
        "processor_seconds": stages.processor_seconds,
        "total_seconds": sum(stages.seconds.values()),
        "memory": {
            "coded_bytes": coded,
            "input_bytes": data.nbytes,
            "output_bytes": sum(content.nbytes for content in release.tables.values()),
            "peak_bytes": peak - before,
            "stage_peak_bytes": {stage: at - before for stage, at in stages.peak_bytes.items()},
            "peak_over_coded": (peak - before) / coded,
            "added_over_coded": (peak - after_reading) / coded,
        },
    }


def _floor(source: Path, out: Path) -> dict[str, Any]:
    published = [a.name for a in synthetic_schema() if a.is_published]
    stages = Stages()
    pl.read_parquet(source, n_rows=_WARM_ROWS)
    with stages.stage("read"):
        data = pl.read_parquet(source)
    rows = data.height
    numbers = data.select(published).with_row_index("group")
    with stages.stage("save"):
        numbers.write_parquet(out, compression="zstd")
    return {
        "case": FLOOR,
        "rows": rows,
        "seconds": stages.seconds,
        "processor_seconds": stages.processor_seconds,
        "total_seconds": sum(stages.seconds.values()),
    }


def _warm(name: str, source: Path) -> None:
    few = next(pq.ParquetFile(source).iter_batches(_WARM_ROWS))
    folder = Path(tempfile.mkdtemp())
    try:
        release = CASES[name].method.publish(few, synthetic_schema())
        release.save(folder / "release")
    finally:
        shutil.rmtree(folder)


def coded_bytes(table: Table) -> int:
    """Return the size of the coded table: four bytes a cell."""
    return table.rows * len(table.columns) * _CODE_BYTES


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
