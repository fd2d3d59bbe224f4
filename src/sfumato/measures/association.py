"""How strongly two categorical attributes go together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

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
    height, width = int(one.max()) + 1, int(other.max()) + 1
    if height * width <= _DENSE_CELLS:
        table = np.zeros((height, width), np.int64)
        each = np.ones(1, np.int64) if counts is None else counts
        _count_pairs(_read_only(one), _read_only(other), each, table)
        cells = np.flatnonzero(table)
        joint = table.ravel()[cells]
        rows, columns = table.sum(axis=1), table.sum(axis=0)
    else:
        keys = one.astype(np.int64) * width + other
        cells, line = np.unique(keys, return_inverse=True)
        joint = np.bincount(line, counts)
        rows, columns = np.bincount(one, counts), np.bincount(other, counts)
    smaller = min(np.count_nonzero(rows), np.count_nonzero(columns))
    if smaller < 2:
        return 0.0
    expected = rows[cells // width].astype(np.float64) * columns[cells % width]
    return max(float((joint.astype(np.float64) ** 2 / expected).sum()) - 1.0, 0.0) / (smaller - 1)


def _read_only(codes: Codes) -> Codes:
    """Return the codes so that they cannot be changed: a loop is compiled once for such arrays."""
    codes = codes.view()
    codes.flags.writeable = False
    return codes


@loop
def _count_pairs(one: Codes, other: Codes, counts: Ints, table: Ints) -> None:
    """Add the count of every line to the cell of its two codes; a single count is that of all."""
    step = 1 if len(counts) == len(one) else 0
    for i in range(len(one)):
        table[one[i], other[i]] += counts[i * step]
