"""What cells reach: stretches of the ranks that an axis gives to values.

An `Axis` puts all values of an attribute that anybody names in a row. A cell then is a few closed
stretches of ranks, and perhaps a missing value; a value is one rank. Whether a cell covers a value
and whether two cells have a value in common is arithmetic on whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MISSING: Final = -10  # the rank of a missing value, which no stretch has
NO_POINT: Final = -100  # below all ranks
_BLOCK = 1 << 23  # truth values that are worked on at a time


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Cell `cell[j]` covers the ranks from `low[j]` to `high[j]`; `nulls` says who may be missing.

    Entries are in the order of their cells.
    """

    cell: Ints
    low: Ints
    high: Ints
    nulls: Bools

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.nulls)

    def take(self, cells: Ints) -> Reach:
        """Return the reach of some cells, ascending, as cells 0, 1, …"""
        place = np.full(self.count, -1)
        place[cells] = np.arange(len(cells))
        kept = place[self.cell] >= 0
        return Reach(place[self.cell[kept]], self.low[kept], self.high[kept], self.nulls[cells])

    @property
    def is_plain(self) -> bool:
        """Whether every cell is one stretch."""
        return len(self.cell) == self.count and bool((self.cell == np.arange(self.count)).all())


def covers(ranks: Ints, reach: Reach) -> Bools:
    """Return for each of some ascending ranks which cells cover it.

    >>> reach = Reach(np.array([0, 1]), np.array([0, 4]), np.array([2, 4]), np.array([True, False]))
    >>> covers(np.array([MISSING, 2, 4]), reach).astype(int).tolist()
    [[1, 0], [1, 0], [0, 1]]
    """
    first = np.searchsorted(ranks, reach.low, "left")
    last = np.searchsorted(ranks, reach.high, "right")
    found = np.zeros((len(ranks), reach.count), np.bool_)
    step = max(1, _BLOCK // max(reach.count, 1))
    for start in range(0, len(ranks), step):
        end = min(start + step, len(ranks))
        begins, ends = np.clip(first, start, end) - start, np.clip(last, start, end) - start
        some = begins < ends
        change = np.zeros((end - start + 1, reach.count), np.int32)
        np.add.at(change, (begins[some], reach.cell[some]), 1)
        np.add.at(change, (ends[some], reach.cell[some]), -1)
        found[start:end] = np.cumsum(change, axis=0)[:-1] > 0
    found[ranks == MISSING] = reach.nulls
    return found


def covered_by(ranks: Ints, reach: Reach, cell: int) -> Bools:
    """Return which of some ranks, in any order, one cell covers.

    >>> reach = Reach(np.array([0, 1]), np.array([0, 4]), np.array([2, 4]), np.array([True, False]))
    >>> covered_by(np.array([4, MISSING, 1]), reach, 0).astype(int).tolist()
    [0, 1, 1]
    """
    own = reach.take(np.array([cell]))
    if own.is_plain:
        inside = (ranks >= own.low[0]) & (ranks <= own.high[0])
        return np.asarray(inside | ((ranks == MISSING) & own.nulls[0]))
    distinct, at = np.unique(ranks, return_inverse=True)
    return np.asarray(covers(distinct, own)[:, 0][at])


def points(reach: Reach) -> Ints:
    """Return the one rank that each cell covers, and no point for cells that may be several.

    >>> reach = Reach(np.array([0, 1]), np.array([0, 4]), np.array([2, 4]), np.zeros(3, np.bool_))
    >>> reach.nulls[2] = True
    >>> points(reach).tolist() == [NO_POINT, 4, MISSING]
    True
    """
    count = np.bincount(reach.cell, minlength=reach.count)
    single = np.flatnonzero((count[reach.cell] == 1) & (reach.low == reach.high))
    found = np.full(reach.count, NO_POINT, np.int64)
    found[reach.cell[single]] = reach.low[single]
    found[reach.nulls] = np.where(count[reach.nulls] > 0, NO_POINT, MISSING)
    return found


def overlaps(one: Reach, other: Reach) -> Bools:
    """Return which cells of the one may hold a value that cells of the other may hold, too.

    >>> ends = np.array([0, 3]), np.array([2, 9])
    >>> reach = Reach(np.array([0, 1]), *ends, np.array([False, False]))
    >>> overlaps(reach, reach).astype(int).tolist()
    [[1, 0], [0, 1]]
    """
    both_missing = one.nulls[:, None] & other.nulls
    if one.is_plain and other.is_plain:
        found = (one.low[:, None] <= other.high) & (other.low <= one.high[:, None])
        return np.asarray(found | both_missing)
    # stretches that meet, meet where one of them begins
    ranks = np.unique(np.concatenate([one.low, other.low]))
    found = covers(ranks, one).T.astype(np.float32) @ covers(ranks, other).astype(np.float32) > 0
    return np.asarray(found | both_missing)
