"""Sets that chance does not draw: what the counts of values, and of pairs of them, refute.

Every row's set is drawn for itself, so counts over rows stay near their means: by Hoeffding's
inequality, or Bernstein's where its bound is the smaller, they leave the margins here once in
10**12 releases. A margin follows from p, eta, d and the number of rows, never from the data.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.set_randomization import Masses, Randomization

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_ONCE_IN = 10**12
# Pairs are counted in so many rows at most, and in fewer where a set has more pairs than one of 16.
_ROWS = 200_000
_PAIRS = _ROWS * math.comb(16, 2)
# Of a larger domain, pairs of its commonest values alone are counted.
_VALUES = 1_000


def oddity(sets: Codes, how: Randomization, masses: Masses | None = None) -> str | None:
    """Return what the stated draw all but never gives; None where nothing speaks against it.

    `sets` has a line a row, the places of its values in the domain in ascending order. Pairs are
    counted in the first rows, which may be any where rows are in random order.

    >>> how = Randomization(1.0, 2, 5)
    >>> oddity(np.array([[0, 1], [2, 4]] * 3, np.int32), how) is None
    True
    >>> oddity(np.array([[0, 1], [2, 4]] * 300, np.int32), how)
    'has sets that were not drawn with the stated p and eta'
    """
    held = np.bincount(sets.reshape(-1), minlength=how.d)
    if _is_odd_count(held, len(sets), how):
        return "has sets that were not drawn with the stated p and eta"
    if _has_odd_pair(sets, held, how):
        return "has sets whose values were not drawn independently of each other"
    if masses is not None and _refutes(held, len(sets), how, masses):
        return "has sets that had other masses than the stated ones"
    return None


def _is_odd_count(held: Ints, rows: int, how: Randomization) -> bool:
    """Whether a value is in more sets, or in fewer, than it can be by chance.

    A set has a value with one of two chances, whatever the original.
    """
    margin = _margin_of_values(rows, how)
    low, high = rows * how.contains_other - margin, rows * how.contains_own + margin
    return bool(held.min() < low or held.max() > high)


def _refutes(held: Ints, rows: int, how: Randomization, masses: Masses) -> bool:
    """Whether the shares of values that the sets show are beyond the stated masses.

    A value's count is a mean of its own share, up to a margin; of eta values that makes eta
    margins, or as many as values are left, since all counts together are known.
    """
    if how.eta == how.d:
        return False
    margin = min(how.eta, how.d - how.eta) * _margin_of_values(rows, how)
    gain = how.telling
    low, high = (rows * (how.eta * how.contains_other + end * gain) for end in masses)
    ordered = np.sort(held)
    least, most = int(ordered[: how.eta].sum()), int(ordered[-how.eta :].sum())
    return least < low - margin or most > high + margin


def _has_odd_pair(sets: Codes, held: Ints, how: Randomization) -> bool:
    """Whether two values are in more sets together, or in fewer, than chance puts there.

    Let Z be 1 for a set with both values, less a = (eta - 1)/(d - 2) for each of the two it has.
    Its mean is the same for all rows: a set with the own value has both with the chance
    (eta - 1)/(d - 1) where that is one of them, else (eta - 1)(eta - 2)/((d - 1)(d - 2)), which is
    less by a times what the one chance to have a value exceeds the other. So no shares are needed.
    """
    p, eta, d = float(how.p), how.eta, how.d
    if not 2 <= eta < d:
        return False
    rows = min(len(sets), _ROWS, max(_PAIRS // math.comb(eta, 2), 1))
    by_chance = (1 - p) * eta * (eta - 1) / (d * (d - 1))
    either = p * (eta - 1) / (d - 1) + by_chance
    neither = p * (eta - 1) * (eta - 2) / ((d - 1) * (d - 2)) + by_chance
    a = (eta - 1) / (d - 2)
    mean = neither - 2 * a * how.contains_other
    singles = (how.contains_own + how.contains_other, 2 * how.contains_other)
    squares = [
        both * (1 - 2 * a) ** 2 + (single - 2 * both) * a**2
        for both, single in zip((either, neither), singles, strict=True)
    ]
    width = max(1 - 2 * a, 0) - min(1 - 2 * a, -a)
    margin = _margin(rows, width, max(squares), math.comb(d, 2))
    counts = _pairs(sets[:rows], held)
    alone = a * np.diagonal(counts)
    off = np.abs(counts - alone[:, None] - alone[None, :] - rows * mean)
    return bool(np.triu(off, 1).max() > margin)


def _pairs(sets: Codes, held: Ints) -> Ints:
    """Return how many sets have both of two values, above the diagonal, and on it each value."""
    watched = np.sort(np.argsort(held, kind="stable")[-_VALUES:])
    place_of = np.full(len(held), -1, np.int32)
    place_of[watched] = np.arange(len(watched))
    counts = np.zeros((len(watched), len(watched)), np.int64)
    _count_pairs(sets, place_of, counts)
    return counts


@numba.njit(cache=True, nogil=True)
def _count_pairs(sets: Codes, place_of: Codes, counts: Any) -> None:
    rows, size = sets.shape
    for i in range(rows):
        for j in range(size):
            one = place_of[sets[i, j]]
            if one < 0:
                continue
            for k in range(j, size):
                other = place_of[sets[i, k]]
                if other >= 0:
                    counts[one, other] += 1


def _margin_of_values(rows: int, how: Randomization) -> float:
    chances = (how.contains_own, how.contains_other)
    return _margin(rows, 1.0, max(chance * (1 - chance) for chance in chances), how.d)


def _margin(rows: int, width: float, variance: float, counts: int) -> float:
    """Return how far any of so many sums over rows may lie off its mean, on either side.

    Each row adds something of an interval of that width, and of that variance at most.
    """
    level = math.log(2 * counts * _ONCE_IN)
    first = width * level / 3
    bernstein = first + math.sqrt(first * first + 2 * rows * variance * level)
    return min(width * math.sqrt(rows / 2 * level), bernstein)
