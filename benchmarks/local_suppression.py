"""Suppressed cells on Adult and Census-Income: `python -m benchmarks.local_suppression`.

How many cells are withheld, beside the plain greedy that lends no rows, and how long it takes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.lgb_scale import timed
from benchmarks.machine import load_average, machine_facts, shared_folder
from sfumato.methods import LocalSuppression
from sfumato.randomness import Randomness, repeatable
from sfumato.rows.local_suppression import MaskLists, plain_greedy
from sfumato.rows.suppression_kernel import Rows
from sfumato.schema import Schema
from sfumato.table import encode

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "local_suppression.json"
ADULT = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary-class",
)
K = 5

Say = Callable[[str], None]


def measure(tables: dict[str, pa.Table], say: Say = lambda _: None) -> dict[str, Any]:
    """Return all measurements of tables whose columns are all quasi-identifiers."""
    first = next(iter(tables.values())).slice(0, 200)
    LocalSuppression(K).publish(first, _schema(first))  # compiles
    runs = []
    for name, data in tables.items():
        schema = _schema(data)
        release, seconds, _ = timed(
            lambda data=data, schema=schema: LocalSuppression(K).publish(
                data, schema, randomness=Randomness.test(1)
            )
        )
        cells: Any = release.manifest.parameters["suppressed_cells"]
        plain = plain_cells(data)
        runs.append(
            {
                "table": name,
                "rows": data.num_rows,
                "attributes": data.num_columns,
                "cells": cells["total"],
                "share": cells["total"] / (data.num_rows * data.num_columns),
                "plain_greedy_cells": plain,
                "seconds": seconds,
            }
        )
        say(f"{name}: {cells['total']} cells (plain greedy {plain}) in {seconds:.1f} s")
    return {
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load": load_average(),
        "k": K,
        "runs": runs,
    }


def plain_cells(data: pa.Table) -> int:
    """Return how many cells the plain greedy withholds."""
    columns = encode(data, _schema(data)).quasi_identifiers
    codes = np.stack([column.codes for column in columns], axis=1)
    codes = np.ascontiguousarray(codes[np.lexsort(codes.T[::-1])])
    rows = Rows.marked(codes, np.ones(len(columns)), repeatable(1))
    return int(plain_greedy(rows, K, MaskLists.of(rows, K))[1])


def _schema(data: pa.Table) -> Schema:
    return Schema.of(dict.fromkeys(data.column_names, "quasi-identifier"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the results."""
    shared = shared_folder()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=shared / "data")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    adult = pq.read_table(given.data / "adult.parquet", columns=list(ADULT))
    census = pq.read_table(given.data / "census_income.parquet")
    tables = {"Adult": adult}
    for count in (10, 15):
        tables[f"Census-Income, {count} attributes"] = census.select(census.column_names[:count])
    found = measure(tables, say=print)
    given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
