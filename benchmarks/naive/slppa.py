"""SLPPA: columns divided into tables by association, rows into groups of the commonest values."""

from __future__ import annotations

import pandas as pd

from benchmarks.naive.anatomy import groups_of
from benchmarks.naive.arp import association


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the groups with three tables of columns permuted; 1 / beta = 5."""
    tables: list[list[str]] = [[name] for name in quasi_identifiers]
    strength = {
        (a, b): association(data[a], data[b])
        for a in quasi_identifiers
        for b in quasi_identifiers
        if a < b
    }
    while len(tables) > 3:
        pairs = [(i, j) for i in range(len(tables)) for j in range(i)]
        i, j = max(
            pairs,
            key=lambda p: max(
                strength[min(a, b), max(a, b)] for a in tables[p[0]] for b in tables[p[1]]
            ),
        )
        tables[j] += tables.pop(i)
    published = []
    for rows in groups_of(data, sensitive, 5):
        group = data.loc[rows]
        blocks = [*tables, [sensitive]]
        published.append(
            pd.concat([group[b].sample(frac=1).reset_index(drop=True) for b in blocks], axis=1)
        )
    return published
