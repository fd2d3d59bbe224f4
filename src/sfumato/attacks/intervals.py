"""Intervals for shares that were counted."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

CONFIDENCE = 0.95
_Z = 1.959963984540054  # of the standard normal distribution, 2.5 % lie above


def wilson(successes: float, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's interval of a share, 95 % unless told; (0, 1) where nothing was tried.

    Successes may be expected ones: a sum of chances varies less than a count does.

    >>> low, high = wilson(5, 100)
    >>> f"{low:.4f} {high:.4f}"
    '0.0215 0.1118'
    """
    if trials == 0:
        return 0.0, 1.0
    z = _Z if confidence == CONFIDENCE else NormalDist().inv_cdf((1 + confidence) / 2)
    share, square = min(successes / trials, 1.0), z * z
    centre = share + square / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    low, high = ((centre + sign * spread) / (1 + square / trials) for sign in (-1, 1))
    # at the ends themselves the formula is exact, and its floating point is not
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)
