"""One end-to-end run in a process of its own: what `sfumato anonymize` does, from file to release.

    python -m benchmarks.settled benchmarks.end_to_end CASE FOLDER [--judged]

prints one line of JSON. FOLDER is one of `tables.write`, CASE one of its policies; the floor of the
run is measured beside it (`benchmarks.floor`). Kernels are loaded before, by a run on a few rows;
starting Python is aside. With `--judged`, the release is audited, measured, attacked and asked as
well, each step timed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.judged import COUNT_QUERIES, judge_seconds
from benchmarks.machine import ROOT, peak_bytes, resident_bytes
from benchmarks.tables import LARGE
from sfumato.answers import recq
from sfumato.errors import SfumatoError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.peak_memory import forget_peak
from sfumato.jobs.policy import Policy
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema.attribute import Kind
from sfumato.schema.distinct import count_codes
from sfumato.table import Table, encode
from sfumato.table.permutation import permutation
from sfumato.utility import discernibility, glp

_SEED = 1
_FLOORS = 3  # fresh memory makes single ones differ by half
_JUDGED = 3
_MANY = 300_000  # rows that NumPy leaves to kernels


def measure(case: str, folder: Path, judged: bool = False) -> dict[str, Any]:
    """Return the measurements of one run."""
    source = folder / "data.parquet"
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        policy = folder / f"{case}.yaml"
        randomness = Randomness.test(_SEED)
        anonymize(folder / "few.parquet", policy, out / "warm", randomness=randomness)
        # what few rows do not need
        permutation(randomness.generator("warm"), _MANY)
        count_codes(np.zeros(_MANY, np.int32), 1)
        before = resident_bytes()
        forget_peak()
        start, processor = time.perf_counter(), time.process_time()
        made = anonymize(source, policy, out / "release", randomness=randomness)
        total, used = time.perf_counter() - start, time.process_time() - processor
        peak = peak_bytes() - before
        release = Release.load(out / "release")
        rows, columns = made.manifest.rows, len(pq.read_schema(source).names)
        output = sum(content.nbytes for content in release.tables.values())
        found = {
            "case": case,
            "rows": rows,
            "total_seconds": total,
            "processor_seconds": used,
            "stages": dict(made.timings),
            "peak_bytes": peak,
            "coded_and_output_bytes": rows * columns * 4 + output,
            "ncp": None if made.ncp is None else made.ncp.mean,
            **_floor(source, out / "release", out),
        }
        if judged:
            # kernels of judges are loaded before, too
            judge_seconds(out / "warm", folder / "few.parquet", pq.read_schema(source).names[0])
            found |= _judged(release, out / "release", source, policy)
        return found


def _floor(source: Path, release: Path, out: Path) -> dict[str, float]:
    """Return the medians of several floors."""
    command = [sys.executable, "-m", "benchmarks.floor", source, release, out]
    found: list[dict[str, float]] = [
        json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
        for _ in range(_FLOORS)
    ]
    return {key: median(each[key] for each in found) for key in found[0]}


def _judged(release: Release, path: Path, source: Path, policy: Path) -> dict[str, Any]:
    rules = Policy.load(policy)
    table = encode(pq.read_table(source), rules.schema())
    names = [column.name for column in table.columns]
    is_large = table.rows >= LARGE
    seconds, by_attack = judge_seconds(
        path, source, names[0], times=1 if is_large else _JUDGED, each=not is_large
    )
    predicates = _predicates(table)
    measures: dict[str, Callable[[], float]] = {
        "c_dm": lambda: float(discernibility(release)),
        "glp": lambda: glp(release, table),
        "recq": lambda: fmean(recq(release, table, each) for each in predicates),
    }
    metrics: dict[str, float | None] = {}
    for metric, value in measures.items():
        try:
            metrics[metric] = value()
        except SfumatoError:
            metrics[metric] = None
    return {
        "judge_processor_seconds": seconds,
        "attack_processor_seconds": by_attack,
        "metrics": metrics,
    }


def _predicates(table: Table) -> list[str]:
    """Return questions on the first attribute and the last, which is secret, together."""
    known, hidden = table.columns[0], table.columns[-1]
    commonest = hidden.counts[:-1].argmax()  # the last are missing
    sign = "=" if hidden.kind is Kind.CATEGORICAL else "<="
    asked = f'"{hidden.name}" {sign} {_literal(hidden.values[int(commonest)].as_py())}'
    values = known.values
    ends = [values[len(values) * n // (COUNT_QUERIES + 1)] for n in range(1, COUNT_QUERIES + 1)]
    return [f'"{known.name}" <= {_literal(each.as_py())} AND {asked}' for each in ends]


def _literal(value: Any) -> str:
    return repr(value) if not isinstance(value, str) else "'" + value.replace("'", "''") + "'"


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]), "--judged" in sys.argv)))
