"""Intervals for shares that were counted."""

from __future__ import annotations

from math import sqrt

_Z = 1.959963984540054  # of the standard normal distribution, 2.5 % lie above


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; (0, 1) where nothing was tried.

    >>> low, high = wilson(5, 100)
    >>> f"{low:.4f} {high:.4f}"
    '0.0215 0.1118'
    """
    if trials == 0:
        return 0.0, 1.0
    share, square = successes / trials, _Z * _Z
    centre = share + square / (2 * trials)
    spread = _Z * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    low, high = ((centre + sign * spread) / (1 + square / trials) for sign in (-1, 1))
    # at the ends themselves the formula is exact, and its floating point is not
    return (0.0 if successes == 0 else low), (1.0 if successes == trials else high)
