"""The top-down greedy (NCP): a group is halved around the two rows that lie farthest apart."""

from __future__ import annotations

import random

import pandas as pd


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the groups; k = 10."""
    coded = data[quasi_identifiers].copy()
    for name in quasi_identifiers:
        if not pd.api.types.is_numeric_dtype(data[name]):
            coded[name] = data[name].astype("category").cat.codes
    extent = (coded.max() - coded.min()).clip(lower=1)
    groups, pending = [], [coded]

    def far(rows: pd.DataFrame, from_row: int) -> int:
        return ((rows - rows.loc[from_row]).abs() / extent).sum(axis=1).idxmax()

    while pending:
        rows = pending.pop()
        if len(rows) >= 20:
            one = random.choice(list(rows.index))
            for _ in range(3):
                one, other = far(rows, one), one
            near_one = ((rows - rows.loc[one]).abs() / extent).sum(axis=1)
            near_other = ((rows - rows.loc[other]).abs() / extent).sum(axis=1)
            left, right = rows[near_one < near_other], rows[near_one >= near_other]
            if len(left) >= 10 and len(right) >= 10:
                pending += [left, right]
                continue
        groups.append(data.loc[rows.index])
    return groups
