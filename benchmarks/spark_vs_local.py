"""Spark beside the local engine: `python -m benchmarks.spark_vs_local FOLDER [--methods ...]`.

FOLDER holds `data` (Parquet) and a policy `<method>.yaml` for each method, as
`python -m benchmarks.big_data FOLDER --rows 1000000` writes them. Each method publishes the same
rows by both engines; what is lost (NCP, GLP) and how far answers to the same random counts are from
the truth is compared. The bar: no more than 5 % apart. Both releases are audited whole.

What a method draws at random may decide more of an error than who publishes. `--draws 30` publishes
so many times and compares the means of errors, with the standard error of their ratio: unsplit, and
in shards in this process (`engines/in_shards.py`, whose releases equal Spark's byte for byte).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import load_average, machine_facts
from sfumato.answers import Answerer
from sfumato.audit import audit
from sfumato.engines.in_shards import release_in_shards
from sfumato.engines.spark.anonymize import SHARD_ROWS
from sfumato.engines.spark.anonymize import anonymize as by_spark
from sfumato.engines.spark.session import spark_session
from sfumato.errors import ParameterError, SchemaError
from sfumato.io.read import read_table
from sfumato.jobs.anonymize import anonymize as by_local
from sfumato.jobs.policy import Policy
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.table import Table, encode
from sfumato.utility.correspondence import glp
from sfumato.utility.ncp import has_ncp, ncp
from sfumato.utility.original import coded_original
from sfumato.utility.query_errors import query_errors
from sfumato.utility.workload import workload

RESULTS = Path(__file__).resolve().parent / "results" / "spark_vs_local.json"
METHODS = ("mondrian", "anatomy", "arp", "slppa", "merging", "lgb", "sensitive-qid")
QUERIES, CONDITIONS, SELECTIVITY = 200, 2, 0.05
SEEDS = (b"a secret of the local engine", b"a secret of the Spark engine")


def measure(
    folder: Path,
    methods: Sequence[str],
    master: str,
    shard_rows: int,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return all measurements."""
    runs = []
    with tempfile.TemporaryDirectory() as scratch, spark_session(master):
        for method in methods:
            policy = folder / f"{method}.yaml"
            made = {}
            for engine, seed in zip(("local", "spark"), SEEDS, strict=True):
                start = time.perf_counter()
                out = Path(scratch, f"{method}-{engine}")
                randomness = Randomness.secret(seed)
                if engine == "local":
                    by_local(folder / "data", policy, out, randomness=randomness)
                else:
                    by_spark(
                        folder / "data", policy, out, randomness=randomness, shard_rows=shard_rows
                    )
                spent = time.perf_counter() - start
                made[engine] = {"seconds": round(spent, 1), **_judged(folder, policy, out)}
                say(f"{method} {engine}: {made[engine]}")
            runs.append({"method": method, **made, "apart": _apart(made["local"], made["spark"])})
            say(f"{method}: apart {runs[-1]['apart']}")
    return {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load": load_average(),
        "master": master,
        "shard_rows": shard_rows,
        "runs": runs,
    }


def drawn(
    folder: Path, method: str, shard_rows: int, draws: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """Return the mean error of counts over several draws, unsplit and in shards."""
    rules, raw = Policy.load(folder / f"{method}.yaml"), read_table(folder / "data")
    schema = rules.schema().aligned(raw.column_names)
    table, maker = flagged(encode(raw, schema), raw), rules.method()
    errors: dict[str, list[float]] = {"local": [], "shards": []}
    for draw in range(draws):
        for kind, found in errors.items():
            randomness = Randomness.secret(f"draw {draw} of the {kind} engine".encode())
            if kind == "local":
                release = maker.release(table, randomness)
            else:
                release = release_in_shards(maker, table, randomness, shard_rows=shard_rows).release
            error = _query_error(release, coded_original(raw, release, schema))
            assert error is not None
            found.append(error)
            say(f"{method} {kind} {draw}: {error:.5f}")
    local, shards = (np.array(each) for each in errors.values())
    ratio = shards.mean() / local.mean()
    spread = [each.std(ddof=1) / each.mean() / sqrt(draws) for each in (local, shards)]
    return {
        "method": method,
        "draws": draws,
        "shard_rows": shard_rows,
        "local": round(float(local.mean()), 6),
        "shards": round(float(shards.mean()), 6),
        "apart": round(float(ratio - 1), 4),
        "standard_error": round(float(ratio * np.hypot(*spread)), 4),
    }


def _judged(folder: Path, policy: Path, out: Path) -> dict[str, Any]:
    """Return what a release has lost, and whether its claims stand."""
    release = Release.load(out)
    table = coded_original(read_table(folder / "data"), release, Policy.load(policy).schema())
    report = audit(release)
    parts = list((out / f"{release.manifest.tables[0].name}.parquet").glob("*.parquet"))
    return {
        "rows": release.manifest.rows,
        "parts": max(len(parts), 1),
        "audited": report.ok,
        "guarantees": [verdict.to_json() for verdict in report.guarantees],
        "ncp": ncp(release, table).mean if has_ncp(release) else None,
        "glp": _glp(release, table),
        "query_error": _query_error(release, table),
    }


def _glp(release: Release, table: Table) -> float | None:
    try:
        return float(glp(release, table))
    except (ParameterError, SchemaError):
        return None


def _query_error(release: Release, table: Table) -> float | None:
    """Return the mean relative error of counts, the same of every release of a table."""
    asked = workload(
        table,
        [entry.name for entry in release.manifest.attributes],
        queries=QUERIES,
        dimension=CONDITIONS,
        selectivity=SELECTIVITY,
        nonzero=True,
        rng=repeatable(1),
    )
    return query_errors(Answerer(release), table, asked).mean


def _apart(local: dict[str, Any], spark: dict[str, Any]) -> dict[str, float]:
    """Return by how much of the local engine's numbers Spark's are larger."""
    return {
        key: round(spark[key] / local[key] - 1, 4)
        for key in ("ncp", "glp", "query_error")
        if local[key] and spark[key] is not None
    }


def main() -> None:
    """Run the comparison and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--shard-rows", type=int, default=SHARD_ROWS)
    parser.add_argument("--draws", type=int, help="compare means over so many, in shards here")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    if asked.draws:
        for method in asked.methods:
            print(json.dumps(drawn(asked.folder, method, asked.shard_rows, asked.draws, print)))
        return
    found = measure(asked.folder, asked.methods, asked.master, asked.shard_rows, print)
    asked.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
