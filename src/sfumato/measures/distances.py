"""Distances between a table of counts and its reconstruction, in records and not in shares.

Source: Sei, Okumura, Takenouchi, Ohsuga (sensitive quasi-identifiers), Definitions 7 to 9.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Counts = npt.ArrayLike


def l1(one: Counts, other: Counts) -> float:
    """Return the sum of the differences of all cells.

    >>> l1([10, 100], [10, 80])
    20.0
    """
    return float(np.abs(_difference(one, other)).sum())


def l2(one: Counts, other: Counts) -> float:
    """Return the root of the summed squares of the differences of all cells.

    >>> l2([10, 100], [13, 96])
    5.0
    """
    return float(np.sqrt(np.square(_difference(one, other)).sum()))


def hellinger(one: Counts, other: Counts) -> float:
    """Return the L2 distance of the square roots, over the root of 2; no count may be below 0.

    >>> round(hellinger([10, 25], [10, 5]), 2)
    1.95
    """
    roots = [np.sqrt(np.asarray(each, dtype=np.float64)) for each in (one, other)]
    return l2(*roots) / math.sqrt(2)


def _difference(one: Counts, other: Counts) -> npt.NDArray[np.float64]:
    first, second = (np.asarray(each, dtype=np.float64) for each in (one, other))
    if first.shape != second.shape:  # they would be stretched to one shape
        raise ValueError("only tables of one shape can be compared")
    return np.asarray(first - second)
