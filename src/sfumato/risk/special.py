"""Logarithms of the gamma function and its derivative, in the differences that risk needs."""

from __future__ import annotations

import math

_LARGE = 12.0
# Of the asymptotic series of digamma: the Bernoulli numbers over 2j.
_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


def digamma(x: float) -> float:
    """Return the derivative of log Γ at x > 0.

    >>> round(digamma(1.0), 12)  # minus Euler's constant
    -0.577215664902
    """
    shift = 0.0
    while x < _LARGE:
        shift -= 1 / x
        x += 1
    inverse = 1 / (x * x)
    tail, power = 0.0, inverse
    for term in _SERIES:
        tail += term * power
        power *= inverse
    return shift + math.log(x) - 0.5 / x - tail


def harmonic(start: float, count: int) -> float:
    """Return 1/(start + 1) + ... + 1/(start + count), for start > -1, to all digits.

    The difference of two digammas, taken term by term: both are nearly equal if start is large.

    >>> harmonic(0.0, 3) == 1 + 1 / 2 + 1 / 3
    True
    """
    few = min(count, max(0, math.ceil(_LARGE - start)))
    first = math.fsum(1 / (start + i) for i in range(1, few + 1))
    if few == count:
        return first
    low, high = start + few + 1, start + count + 1
    total = math.log1p((high - low) / low) + 0.5 * (high - low) / (high * low)
    for power, term in enumerate(_SERIES, 1):
        total += term * (low ** (-2 * power) - high ** (-2 * power))
    return first + total


def log_rising(start: float, count: int) -> float:
    """Return the logarithm of start (start + 1) ... (start + count - 1), for start > 0.

    >>> round(math.exp(log_rising(2.0, 3)), 9)
    24.0
    """
    return math.lgamma(start + count) - math.lgamma(start)


def log_choose(n: int, k: int) -> float:
    """Return the logarithm of "n choose k", minus infinity where there is no way.

    >>> log_choose(3, 5)
    -inf
    """
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
