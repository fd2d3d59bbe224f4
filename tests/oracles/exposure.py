"""Worst-case risks counted literally in the published files of a release: cells as they stand."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq


def worst_cases(folder: Path, quasi: list[str], secret: str) -> tuple[Fraction, Fraction]:
    """Return the highest chance to recognise anybody, and to conclude anybody's secret."""
    tables = {path.stem: pq.read_table(path).to_pylist() for path in folder.glob("*.parquet")}
    if "records" in tables:
        rows = tables["records"]
        alike = Counter(tuple(str(row[name]) for name in quasi) for row in rows)
        place = f"{secret}.bucket" if f"{secret}.bucket" in rows[0] else "group"
        values: dict[object, Counter[object]] = defaultdict(Counter)
        for row in rows:
            if row[secret] is not None:
                values[row[place]][row[secret]] += 1
        recognised = Fraction(1, min(alike.values()))
    else:
        recognised = Fraction(1)  # exact combinations, each of which shows itself
        values = defaultdict(Counter)
        for row in tables["sensitive_1"]:
            if row[secret] is not None:
                values[row["group"]][row[secret]] += row["count"]
    shares = (Fraction(max(each.values()), sum(each.values())) for each in values.values())
    return recognised, max(shares)
