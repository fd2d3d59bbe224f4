"""What a sampled class is expected to be in the population, by a fitted Pitman model.

Given the sample, what else a class of f has in the population is beta-binomial, of the m other
records with a = f - alpha and b = theta + n - f + alpha. Its risk is the mean of 1 / (f + X).
"""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

from sfumato.risk.pitman import Pitman

_TERMS = 2_000  # summed one by one; beyond, the sum is an integral over the logarithm of x
_PIECES = 2_000
_LARGE = 200  # classes of as many are taken at their mean, with its variance


def pitman_risks(
    sizes: npt.NDArray[np.int64], model: Pitman, population: int
) -> npt.NDArray[np.float64]:
    """Return the expected 1/F of every class, F being its people in the population.

    Exact to about four digits, for large classes by two moments.
    """
    found, places = np.unique(sizes, return_inverse=True)
    rest = population - model.sample
    return _mean_inverses(found, model.alpha, model.theta + model.sample, rest)[places]


@numba.njit(cache=True, nogil=True)
def _mean_inverses(
    sizes: npt.NDArray[np.int64], alpha: float, total: float, rest: int
) -> npt.NDArray[np.float64]:
    found = np.empty(len(sizes), np.float64)
    for i in range(len(sizes)):
        a = sizes[i] - alpha
        if sizes[i] >= _LARGE:
            mean = sizes[i] + rest * a / total
            share = a / total
            spread = rest * share * (1 - share) * (total + rest) / (total + 1)
            found[i] = (1 + spread / (mean * mean)) / mean
        else:
            found[i] = _mean_inverse(sizes[i], a, total - a, rest)
    return found


@numba.njit(cache=True, nogil=True)
def _mean_inverse(size: int, a: float, b: float, rest: int) -> float:
    norm = math.lgamma(b + rest) - math.lgamma(b)
    chance = math.exp(norm - (math.lgamma(a + b + rest) - math.lgamma(a + b)))
    total = 0.0
    for x in range(min(rest + 1, _TERMS)):
        total += chance / (size + x)
        if x < rest:
            chance *= (rest - x) * (a + x) / ((x + 1) * (b + rest - x - 1))
    if rest < _TERMS:
        return total
    constant = (
        math.lgamma(rest + 1.0)
        + math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        - math.lgamma(a + b + rest)
    )
    low, high = math.log(_TERMS - 0.5), math.log(rest + 0.5)
    step = (high - low) / _PIECES
    beyond = 0.0
    for i in range(_PIECES):  # the middle of every piece
        y = math.exp(low + (i + 0.5) * step)
        log = constant + math.lgamma(a + y) - math.lgamma(y + 1)
        log += math.lgamma(b + rest - y) - math.lgamma(rest - y + 1)
        beyond += math.exp(log) * y / (size + y)
    return total + beyond * step
