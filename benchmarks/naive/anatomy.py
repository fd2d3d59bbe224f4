"""Anatomy (Xiao, Tao 2006): one row each from the l largest buckets, until fewer are left."""

from __future__ import annotations

import random

import pandas as pd


def groups_of(data: pd.DataFrame, sensitive: str, l: int) -> list[list[int]]:  # noqa: E741
    """Return the rows of every group; left-over rows join a group without their value."""
    buckets: dict[object, list[int]] = {}
    for row, value in data[sensitive].items():
        buckets.setdefault(value, []).append(row)
    for rows in buckets.values():
        random.shuffle(rows)
    groups: list[list[int]] = []
    values: list[set[object]] = []
    while sum(1 for rows in buckets.values() if rows) >= l:
        largest = sorted(buckets, key=lambda value: -len(buckets[value]))[:l]
        groups.append([buckets[value].pop() for value in largest])
        values.append(set(largest))
    for value, rows in buckets.items():
        for row in rows:
            fitting = [i for i in range(len(groups)) if value not in values[i]]
            if fitting:
                chosen = random.choice(fitting)
                groups[chosen].append(row)
                values[chosen].add(value)
    return groups


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the groups; l = 5."""
    return [data.loc[rows] for rows in groups_of(data, sensitive, 5)]
