"""Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): the widest attribute, cut at its median."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

Allowed = Callable[[pd.DataFrame], bool]


def partition(
    data: pd.DataFrame, quasi_identifiers: list[str], allowed: Allowed
) -> list[pd.DataFrame]:
    """Return the groups: rows are cut while both sides are allowed."""
    coded = data.copy()
    for name in quasi_identifiers:
        if not pd.api.types.is_numeric_dtype(data[name]):
            coded[name] = data[name].astype("category").cat.codes
    extent = {name: max(coded[name].max() - coded[name].min(), 1) for name in quasi_identifiers}
    groups, pending = [], [coded]
    while pending:
        rows = pending.pop()
        width = {n: (rows[n].max() - rows[n].min()) / extent[n] for n in quasi_identifiers}
        for name in sorted(quasi_identifiers, key=lambda n: -width[n]):
            middle = rows[name].median()
            left, right = rows[rows[name] <= middle], rows[rows[name] > middle]
            if len(left) and len(right) and allowed(left) and allowed(right):
                pending += [left, right]
                break
        else:
            groups.append(data.loc[rows.index])
    return groups


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the groups with ranges and sets for their quasi-identifiers; k = 10."""
    groups = partition(data, quasi_identifiers, lambda rows: len(rows) >= 10)
    published = []
    for group in groups:
        cells = group.copy()
        for name in quasi_identifiers:
            if pd.api.types.is_numeric_dtype(data[name]):
                cells[name] = f"[{group[name].min()}, {group[name].max()}]"
            else:
                cells[name] = "{" + ", ".join(sorted(group[name].astype(str).unique())) + "}"
        published.append(cells)
    return published
