"""How strongly two categorical attributes go together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

# Up to so many cells a cross table is counted in place; beyond, only the cells that occur are.
_DENSE_CELLS = 1 << 22


def phi_squared(one: Codes, other: Codes, counts: Ints | None = None) -> float:
    """Return the mean-square contingency of two columns of codes: 0 independent, 1 determined.

    It is chi-square over the rows, divided by its largest value, one less than the smaller number
    of values that occur; 0 where a column is constant. Each line is a row, or `counts` of them.

    *Source*: Cramér 1948, as used by the slicing, refining-partition and SLPPA papers.

    >>> phi_squared(np.array([0, 0, 1, 1], np.int32), np.array([2, 2, 5, 5], np.int32))
    1.0
    >>> phi_squared(np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32))
    0.0
    """
    if len(one) == 0:
        return 0.0
    width = int(other.max()) + 1
    keys = one.astype(np.int64) * width + other
    span = (int(one.max()) + 1) * width
    if span <= _DENSE_CELLS:
        table = np.bincount(keys, counts, minlength=span)
        cells = np.flatnonzero(table)
        joint = table[cells]
    elif counts is None:
        cells, joint = np.unique(keys, return_counts=True)
    else:
        cells, line = np.unique(keys, return_inverse=True)
        joint = np.bincount(line, counts)
    rows, columns = np.bincount(one, counts), np.bincount(other, counts)
    smaller = min(np.count_nonzero(rows), np.count_nonzero(columns))
    if smaller < 2:
        return 0.0
    expected = rows[cells // width].astype(np.float64) * columns[cells % width]
    return max(float((joint.astype(np.float64) ** 2 / expected).sum()) - 1.0, 0.0) / (smaller - 1)
