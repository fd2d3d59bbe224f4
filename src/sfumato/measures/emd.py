"""Earth mover's distance between a group and the whole table, in closed form.

All three ground distances run from 0 to 1: *equal* (any two values are 1 apart: total variation),
*ordered* (ranks, |i - j| / (d - 1)) and *hierarchical* (the level at which two leaves meet over
the number of levels). A group is given sparsely: the codes that occur, ascending, with counts;
so the cost follows the group's size, not the domain's.

Source: Li, Li, Venkatasubramanian, "t-Closeness", ICDE 2007, section 5.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def equal_distance(codes: Counts, counts: Counts, total: int, shares: Shares) -> float:
    """Return the total variation distance of a group from the `shares` of the whole.

    >>> float(equal_distance(np.array([0]), np.array([4]), 4, np.array([0.25, 0.75])))
    0.75
    """
    surplus = 0.0
    for i in range(len(codes)):
        difference = counts[i] / total - shares[codes[i]]
        if difference > 0.0:
            surplus += difference
    return surplus


def ordered_reference(shares: Shares) -> Shares:
    """Return what `ordered_distance` needs of the whole: cumulative shares and their prefix sums.

    Laid end to end: d cumulative shares, then the d + 1 prefix sums of these.
    """
    cumulative = np.cumsum(shares)
    return np.concatenate([cumulative, [0.0], np.cumsum(cumulative)])


@numba.njit(cache=True, nogil=True)
def _gap(level: float, first: int, last: int, reference: Shares, size: int) -> float:
    """Sum |level - cumulative[i]| for first <= i < last, by one search since it ascends."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if reference[middle] < level:
            low = middle + 1
        else:
            high = middle
    below = level * (low - first) - (reference[size + low] - reference[size + first])
    above = (reference[size + last] - reference[size + low]) - level * (last - low)
    return float(below + above)


@numba.njit(cache=True, nogil=True)
def ordered_distance(
    codes: Counts, counts: Counts, total: int, reference: Shares, size: int
) -> float:
    """Return the ordered distance of a group from the whole; `size` is the number of values.

    >>> whole = ordered_reference(np.full(9, 1 / 9))
    >>> round(float(ordered_distance(np.array([0, 1, 2]), np.array([1, 1, 1]), 3, whole, 9)), 3)
    0.375
    """
    if size < 2:
        return 0.0
    cost = 0.0
    seen = 0
    position = int(np.int64(0))  # a literal would have a twin of `_gap` compiled
    for i in range(len(codes)):
        cost += _gap(seen / total, position, codes[i], reference, size)
        seen += counts[i]
        position = codes[i]
    cost += _gap(seen / total, position, size, reference, size)
    return max(0.0, cost) / (size - 1)


@numba.njit(cache=True, nogil=True)
def hierarchical_distance(
    codes: Counts,
    counts: Counts,
    total: int,
    shares: Shares,
    parents: Counts,
    levels: Counts,
) -> float:
    """Return the hierarchical distance of a group from the whole.

    Nodes are numbered leaves first and children before parents; the last one is the root.
    `shares` are those of the leaves in the whole, `levels` the steps from a node to its leaves.
    """
    nodes = len(parents)
    extra = np.zeros(nodes)
    surplus = np.zeros(nodes)
    for leaf in range(len(shares)):
        extra[leaf] = -shares[leaf]
    for i in range(len(codes)):
        extra[codes[i]] += counts[i] / total
    cost = 0.0
    for node in range(nodes - 1):
        if levels[node] > 0:
            cost += levels[node] * min(surplus[node], surplus[node] - extra[node])
        parent = parents[node]
        extra[parent] += extra[node]
        if extra[node] > 0.0:
            surplus[parent] += extra[node]
    root = nodes - 1
    cost += levels[root] * min(surplus[root], surplus[root] - extra[root])
    return float(max(0.0, cost) / levels[root]) if levels[root] > 0 else 0.0
