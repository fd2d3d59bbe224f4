"""Suppression from above: attributes are shown one by one, where enough rows share a value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def reveal(codes: Codes, weights: Reals, k: int) -> Ints:
    """Return a group for each of at least k rows; of k rows or more, each sharing some cells.

    In a part of the rows the attribute is shown that saves most: values that k rows share become
    parts of their own, the rest goes on without the attribute; if the rest has fewer than k rows,
    the smallest of the new parts stays with it.

    >>> reveal(np.array([[1, 5], [1, 6], [2, 7], [2, 7]], np.int32), np.ones(2), 2).tolist()
    [1, 1, 0, 0]
    """
    rows, attributes = codes.shape
    found = np.empty(rows, np.int64)
    count = 0
    waiting = [(np.arange(rows), list(range(attributes)))]
    while waiting:
        part, hidden = waiting.pop()
        parts = _parted(codes, part, hidden, weights, k) if len(part) >= k else []
        if not parts:
            found[part] = count
            count += 1
        waiting += parts
    return found


def _parted(
    codes: Codes, part: Ints, hidden: list[int], weights: Reals, k: int
) -> list[tuple[Ints, list[int]]]:
    """Return the parts that showing one more attribute makes, and what is hidden in each.

    Nothing where no attribute has a value that k rows share.
    """
    best, chosen = 0.0, -1
    for a in hidden:
        _, counts = np.unique(codes[part, a], return_counts=True)
        saved = float(weights[a]) * int(_shown(counts, k).sum())
        if saved > best:
            best, chosen = saved, a
    if chosen < 0:
        return []
    _, at, counts = np.unique(codes[part, chosen], return_inverse=True, return_counts=True)
    shown = _shown(counts, k) > 0
    left = [a for a in hidden if a != chosen]
    found = [(part[at == value], left) for value in np.flatnonzero(shown)]
    rest = part[~shown[at]]
    return [*found, (rest, left)] if len(rest) else found


def _shown(counts: Ints, k: int) -> Ints:
    """Return the counts of values that are shown, 0 for the others: these are k rows, or none."""
    shown = np.where(counts >= k, counts, 0)
    hidden = int(counts.sum() - shown.sum())
    if 0 < hidden < k and shown.any():
        shown[np.argmin(np.where(shown > 0, shown, np.iinfo(np.int64).max))] = 0
    return shown
