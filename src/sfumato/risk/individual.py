"""The risk of one record when the population is not at hand.

Given f sampled people of a class, the people F of it in the population are taken to be negative
binomial: P(F = h | f) = C(h - 1, f - 1) p^f (1 - p)^(h - f), with p estimated as f over the sum of
the class's weights, which is the sampling fraction where all weights are equal. The risk of a
record is the posterior mean of 1 / F.

With q = 1 - p it is p J_f, where J_f, the integral of (1 - s)^(f - 1) / (1 - q s) over 0 to 1, has
J_1 = -log(p) / q and J_(f+1) = (1/f - p J_f) / q. Going up loses no digits while p < q; otherwise,
and for large f, the hypergeometric series f J_f = 1 + q/(f+1) + 2 q²/((f+1)(f+2)) + ... is short.

Source: Benedetti and Franconi, Statistical and technological solutions for controlled data
dissemination (1998).
"""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

_SERIES_FROM = 30
_ENOUGH = 1e-17


@numba.njit(cache=True, nogil=True)
def _mean_inverse(size: int, p: float) -> float:
    q = 1.0 - p
    if p < 0.5 and size < _SERIES_FROM:
        integral = -math.log(p) / q
        for f in range(1, size):
            integral = (1.0 / f - p * integral) / q
        return p * integral
    term, total, m = 1.0, 1.0, 0
    while term > _ENOUGH * total:
        term *= q * (m + 1) / (size + 1 + m)
        total += term
        m += 1
    return p * total / size


@numba.njit(cache=True, nogil=True)
def _below(size: int, p: float, k: int) -> float:
    chance, total = p**size, 0.0
    for h in range(size, k):
        total += chance
        chance *= (1.0 - p) * h / (h - size + 1)
    return min(total, 1.0)


@numba.njit(cache=True, nogil=True)
def mean_inverse(
    sizes: npt.NDArray[np.int64], p: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the posterior mean of 1/F of every class, from its people and its estimated p.

    >>> mean_inverse(np.array([1, 4]), np.array([1.0, 1.0])).tolist()
    [1.0, 0.25]
    """
    found = np.empty(len(sizes), np.float64)
    for i in range(len(sizes)):
        found[i] = _mean_inverse(sizes[i], p[i])
    return found


@numba.njit(cache=True, nogil=True)
def chance_below(
    sizes: npt.NDArray[np.int64], p: npt.NDArray[np.float64], k: int
) -> npt.NDArray[np.float64]:
    """Return the posterior chance that F < k of every class.

    >>> chance_below(np.array([1, 3]), np.array([0.25, 0.25]), 2).tolist()
    [0.25, 0.0]
    """
    found = np.empty(len(sizes), np.float64)
    for i in range(len(sizes)):
        found[i] = _below(sizes[i], p[i], k)
    return found


def inclusion(
    sizes: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int64],
    *,
    fraction: float,
    weights: npt.NDArray[np.float64] | None,
) -> npt.NDArray[np.float64]:
    """Return p of every class: its people over their weights, or else the sampling fraction.

    A class whose weights add up to less than its people is taken to be sampled whole.
    """
    if weights is None:
        return np.full(len(sizes), fraction)
    totals = np.bincount(ids, weights, minlength=len(sizes))
    return np.minimum(1.0, sizes / totals)
