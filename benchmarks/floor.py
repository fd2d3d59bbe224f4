"""The least that a run can take: `python -m benchmarks.floor INPUT RELEASE OUT`.

Polars reads the input and writes the tables of the release, which it has read before, to the folder
OUT. Prints the seconds and the seconds of processor as JSON. A process of its own, since one that
has just published has memory at hand.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import polars as pl


def measure(source: Path, release: Path, out: Path) -> dict[str, float]:
    """Return the seconds, and those of processor, of reading the one and writing the other."""
    tables = [pl.read_parquet(file) for file in sorted(release.glob("*.parquet"))]
    start, processor = time.perf_counter(), time.process_time()
    data = pl.read_parquet(source)
    for number, table in enumerate(tables):
        table.write_parquet(out / f"{number}.parquet", compression="zstd")
    found = {
        "floor_seconds": time.perf_counter() - start,
        "floor_processor_seconds": time.process_time() - processor,
    }
    del data
    return found


if __name__ == "__main__":
    print(json.dumps(measure(*map(Path, sys.argv[1:]))))
