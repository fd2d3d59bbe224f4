"""LGB (Li, He, Sun): flagged cells in l-unique buckets of their values, the rest by partition."""

from __future__ import annotations

import pandas as pd

from benchmarks.naive import mondrian
from benchmarks.naive.anatomy import groups_of

FLAGGED = 3  # attributes of which a fifth of the cells is sensitive


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the generalised groups, flagged cells being numbers of buckets; k = 10, l = 5."""
    published = pd.concat(mondrian.publish(data, quasi_identifiers, sensitive)).astype(object)
    for name in [*quasi_identifiers[:FLAGGED], sensitive]:
        cells = data if name == sensitive else data.sample(frac=0.2)
        if cells[name].nunique() < 5:
            continue
        for number, rows in enumerate(groups_of(cells, name, 5)):
            published.loc[rows, name] = f"bucket {number}"
    return [published]
