"""ARP (refining a partition): rows ordered by the attributes most associated with the sensitive
one, cut into groups that can be split, and each refined into l-unique blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.naive.anatomy import groups_of


def association(one: pd.Series, other: pd.Series) -> float:
    """Return the mean-square contingency of two columns."""
    table = pd.crosstab(one, other).to_numpy(float)
    table /= table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float((((table - expected) ** 2) / expected).sum() / (min(table.shape) - 1))


def publish(data: pd.DataFrame, quasi_identifiers: list[str], sensitive: str) -> list[pd.DataFrame]:
    """Return the blocks; l = 5."""
    coarse = pd.cut(data[sensitive], 20) if data[sensitive].nunique() > 50 else data[sensitive]
    order = sorted(quasi_identifiers, key=lambda name: -association(data[name], coarse))
    blocks: list[pd.DataFrame] = []
    waiting: list[pd.DataFrame] = []
    counts = pd.Series(dtype=float)
    for _, rows in data.groupby(order, sort=True):
        waiting.append(rows)
        counts = counts.add(rows[sensitive].value_counts(), fill_value=0)
        if counts.max() * 5 <= counts.sum():
            group = pd.concat(waiting)
            blocks += [group.loc[each] for each in groups_of(group, sensitive, 5)]
            waiting, counts = [], counts[:0]
    if waiting and blocks:  # what is left over joins the last block
        blocks[-1] = pd.concat([blocks[-1], *waiting])
    return blocks
