"""Random sets on the US Census of 1990: `python -m benchmarks.sets_scale [--rows N] [--out FILE]`.

The sample of the census, resampled to the 2,458,285 rows and 68 attributes of the sensitive-QID
paper, with l = 5 (an attribute with fewer values gets one less than it has, as in the paper). The
kernel alone; from a Parquet file to a written and audited release (`sfumato anonymize`); and cross
tables of up to four attributes from that release.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import yaml

from benchmarks.lgb_scale import timed
from benchmarks.machine import load_average, machine_facts, shared_folder
from sfumato.answers import reconstruct
from sfumato.jobs.anonymize import anonymize
from sfumato.methods import Rating, SensitiveQID
from sfumato.methods.sensitive_qid import SetProtection
from sfumato.papers.sensitive_qid_people import CENSUS_ROWS, People, resampled
from sfumato.publish.set_kernels import random_sets
from sfumato.randomness import Randomness, split
from sfumato.release import Release
from sfumato.table import encode

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "sets_scale.json"
L = 5
QUERIES = 3  # of each number of attributes
RATED = 10  # attributes for the comparison with Rating
_WARM_ROWS = 2_000

Say = Callable[[str], None]


def measure(data: People, folder: Path, say: Say = lambda _: None) -> dict[str, Any]:
    """Return all measurements; files are written into the folder and left there."""
    few = People(data.rows.slice(0, _WARM_ROWS))
    _publish(*_files(few, folder / "warm"))
    _, kernel, processor = timed(lambda: _draw(data))
    say(f"kernel: {kernel:.1f} s ({processor:.1f} s of processor)")
    files = _files(data, folder / "all")
    run, seconds, _ = timed(lambda: _publish(*files))
    say(f"from file to release: {seconds:.1f} s: {run['timings']}")
    release, loading, _ = timed(lambda: Release.load(folder / "all" / "release"))
    reconstruct(Release.load(folder / "warm" / "release"), few.rows.column_names[:2])
    return {
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load": load_average(),
        "rows": data.rows.num_rows,
        "attributes": data.rows.num_columns,
        "l": L,
        "kernel_seconds": kernel,
        "kernel_processor_seconds": processor,
        "file_to_release_seconds": seconds,
        "stages": run["timings"],
        "input_bytes": run["input_bytes"],
        "release_bytes": run["release_bytes"],
        "loading_seconds": loading,
        "reconstruction": _reconstruct(data, release, say),
        "rating": _rating(data, say),
    }


def _l(data: People, name: str) -> int:
    return max(1, min(L, data.size(name) - 1))


def _draw(data: People) -> int:
    """Draw all sets, and return how many bytes they take."""
    names = data.rows.column_names
    rngs = split(Randomness.fresh().generator("kernel"), len(names))
    # strings end at the door: what the kernel gets are codes
    columns = [data.rows[name].combine_chunks() for name in names]

    def drawn(place: int) -> int:
        codes = columns[place].indices.to_numpy().astype(np.int32)
        size = len(columns[place].dictionary)
        eta = max(1, min(L, size - 1))
        sets = random_sets(codes, p=1.0, eta=eta, d=size, rng=rngs[place], dtype=np.uint8)
        return int(sets.nbytes)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return sum(threads.map(drawn, range(len(names))))


def _files(data: People, folder: Path) -> tuple[Path, Path, Path]:
    """Return where the table and its policy were written, and where the release will be."""
    folder.mkdir(parents=True)
    source, policy = folder / "census.parquet", folder / "policy.yaml"
    pq.write_table(data.rows, source)
    attributes = {
        name: {"role": "sensitive-quasi-identifier", "l": _l(data, name)}
        for name in data.rows.column_names
    }
    text = yaml.safe_dump({"attributes": attributes, "method": {"name": "sensitive-qid"}})
    policy.write_text(text, encoding="utf-8")
    return source, policy, folder / "release"


def _publish(source: Path, policy: Path, out: Path) -> dict[str, Any]:
    publication = anonymize(source, policy, out)
    return {
        "timings": {name: round(each, 2) for name, each in publication.timings.items()},
        "input_bytes": source.stat().st_size,
        "release_bytes": sum(path.stat().st_size for path in out.rglob("*") if path.is_file()),
    }


def _rating(data: People, say: Say) -> dict[str, float]:
    """Return the seconds of both publishing methods in memory, on a few attributes."""
    names = [name for name in data.rows.column_names if data.size(name) > L][:RATED]
    table = encode(data.rows.select(names), data.schema(names))
    protection = {name: SetProtection(l=L) for name in names}
    methods = {
        "sensitive_qid_seconds": SensitiveQID(protection=protection),
        "rating_seconds": Rating(protection=protection, left_over="repeat"),
    }
    found = {"attributes": float(len(names))}
    for name, method in methods.items():
        method.release(encode(data.rows.select(names)[:_WARM_ROWS], data.schema(names)), _fresh())
        found[name] = timed(lambda m=method: m.release(table, _fresh()))[1]
    say(f"both methods on {len(names)} attributes: {found}")
    return found


def _fresh() -> Randomness:
    return Randomness.fresh()


def _reconstruct(data: People, release: Release, say: Say) -> list[dict[str, Any]]:
    found = []
    for width in (1, 2, 3, 4):
        for names in data.chosen(width, QUERIES):
            result, seconds, _ = timed(lambda names=names: reconstruct(release, names))
            found.append(
                {
                    "attributes": width,
                    "cells": result.counts.size,
                    "steps": result.steps,
                    "seconds": seconds,
                }
            )
            say(f"{width} attributes, {result.counts.size} cells: {seconds:.1f} s")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, print, and write down the numbers."""
    shared = shared_folder()
    parser = argparse.ArgumentParser(prog="benchmarks.sets_scale", description=__doc__)
    parser.add_argument("--folder", type=Path, default=shared / "data", help="where the data lie")
    parser.add_argument("--rows", type=int, default=CENSUS_ROWS)
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        sample = pq.read_table(options.folder / "uscensus1990_sample.parquet")
        results = measure(People(resampled(sample, options.rows)), Path(scratch), print)
    print(f"kernel in seconds: {'yes' if results['kernel_seconds'] < 10 else 'no'}")
    end_to_end = results["file_to_release_seconds"]
    print(f"from file to release within a minute: {'yes' if end_to_end < 60 else 'no'}")
    slowest = max(each["seconds"] for each in results["reconstruction"])
    print(f"four attributes reconstructed in seconds: {'yes' if slowest < 10 else 'no'}")
    out = options.out or (RESULTS if options.rows >= CENSUS_ROWS else None)
    if out is not None:
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
