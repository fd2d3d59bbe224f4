"""Blocks of columns that go together: k-medoids on the distance 1 - φ²."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.columns.association import association
from sfumato.errors import ParameterError
from sfumato.table import Column
from sfumato.table.whole import Whole

Distances = npt.NDArray[np.float64]


def column_blocks(
    columns: Sequence[Column], blocks: int, whole: Whole | None = None
) -> list[list[Column]]:
    """Return the columns in so many blocks, each around the column that is nearest to all of it.

    Blocks are in the order of their first columns, and columns in their own order. Where there are
    no more columns than blocks, each is a block of its own. Where columns are those of a part of a
    table, the `whole` tells how they go together.

    *Refuses* (ParameterError): a number of blocks that is not a whole number from 1.
    *Source*: Li, Li, Zhang, Molloy, "Slicing", TKDE 2012, section 4.2. Departs from the paper: all
    columns are clustered here; which of them are sensitive is the caller's to know.
    """
    if isinstance(blocks, bool) or not isinstance(blocks, int) or blocks < 1:
        raise ParameterError("columns are put into a whole number of blocks, at least 1")
    if len(columns) <= blocks:
        return [[column] for column in columns]
    distances = _column_distances(columns, whole)
    chosen = medoids(distances, blocks)
    nearest = distances[:, chosen].argmin(axis=1)
    nearest[chosen] = np.arange(blocks)  # a medoid stays with itself, however near another is
    found: dict[int, list[Column]] = {}
    for column, block in zip(columns, nearest.tolist(), strict=True):
        found.setdefault(block, []).append(column)
    return list(found.values())


def medoids(distances: Distances, count: int) -> list[int]:
    """Return `count` points, ascending, such that exchanging none of them brings all others nearer.

    PAM: BUILD adds the point that lessens the sum of distances to the nearest medoid most, SWAP
    exchanges a medoid for another point as long as that sum gets less, the best exchange first. Of
    equally good points, or exchanges, the one of the lowest numbers is taken. The result is a local
    optimum, not always the best set.

    *Source*: Kaufman and Rousseeuw, "Finding Groups in Data", 1990, chapter 2.

    >>> medoids(np.abs(np.subtract.outer([0.0, 1.0, 2.0, 9.0], [0.0, 1.0, 2.0, 9.0])), 2)
    [1, 3]
    """
    points = len(distances)
    if not 1 <= count <= points:
        raise ParameterError(f"{points} points have no {count} medoids")
    chosen: list[int] = []
    while len(chosen) < count:
        chosen.append(min(_costs(distances, chosen))[1])
    chosen.sort()
    cost = math.fsum(distances[:, chosen].min(axis=1))
    while True:
        swaps = (
            (best, medoid, point)
            for medoid in chosen
            for best, point in _costs(distances, [c for c in chosen if c != medoid])
            if point not in chosen
        )
        best, medoid, point = min(swaps, default=(cost, -1, -1))
        if best >= cost:
            return chosen
        chosen = sorted({*chosen, point} - {medoid})
        cost = best


def _costs(distances: Distances, chosen: list[int]) -> list[tuple[float, int]]:
    """Return, for each point that is no medoid, the sum of distances if it were one too.

    Sums are rounded once (`fsum`), so that sets of the same distances tie whatever their order.
    """
    others = [point for point in range(len(distances)) if point not in chosen]
    nearest = distances[:, chosen].min(axis=1, initial=np.inf)
    with_each = np.minimum(nearest[:, None], distances[:, others])
    return [(math.fsum(with_each[:, i]), point) for i, point in enumerate(others)]


def _column_distances(columns: Sequence[Column], whole: Whole | None) -> Distances:
    """Return 1 - φ² of every pair: 0 where one determines the other, 1 where they are unrelated."""
    strength = association(columns, whole)
    distances = np.zeros((len(columns), len(columns)))
    for i, j in zip(*np.triu_indices(len(columns), 1), strict=True):
        # rounding may take φ² a little beyond 1
        distances[i, j] = distances[j, i] = max(1.0 - strength(columns[i], columns[j]), 0.0)
    return distances
