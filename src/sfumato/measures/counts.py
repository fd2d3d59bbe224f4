"""Sums and maxima of counts for compiled loops.

NumPy's own (`counts.sum()`) bring a dozen functions of Numba's with them, each compiled once for
every kind of array: seconds of a first run.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop


@loop
def total_of(counts: npt.NDArray[np.int64]) -> int:
    """Return the sum of the counts.

    >>> total_of(np.array([2, 5, 3]))
    10
    """
    total = 0
    for i in range(len(counts)):
        total += counts[i]
    return total


@loop
def largest_of(counts: npt.NDArray[np.int64]) -> int:
    """Return the largest count, 0 without any.

    >>> largest_of(np.array([2, 5, 3])), largest_of(np.array([], np.int64))
    (5, 0)
    """
    largest = 0
    for i in range(len(counts)):
        largest = max(largest, counts[i])
    return largest
