"""Population uniques if class sizes follow a negative binomial distribution from 1 on.

A class has 1 + X records, X negative binomial: P(X = j) = C(a + j - 1, j) (1 - b)^j b^a. A sample
takes each record with the sampling fraction p. With K classes, three expectations are matched: the
classes of one and of two in the sample, and the size of the population. Uniques are then K b^a.

Given a, the ratio of the first two is a quadratic equation in r = q / (1 - q w), with q = 1 - b
and w = 1 - p; so one equation in a is left.

Source: Chen and Keller-McNulty, Estimation of identification disclosure risk in microdata (1998).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.risk.estimate import Estimate, estimated, no_estimate

NAME = "slide-negative-binomial"
# Where solutions are looked for; steps of a tenth of the exponent find any two that matter.
_LOWEST, _HIGHEST, _GRID = -14.0, 14.0, 280
_STEPS = 100


@dataclass(frozen=True, slots=True)
class _Fit:
    """The model that matches both counts of the sample, for one shape."""

    shape: float
    log_b: float
    log_classes: float
    log_population: float

    @property
    def uniques(self) -> float:
        return math.exp(self.log_classes + self.shape * self.log_b)


def slide_negative_binomial(counts: Mapping[int, int], population: int) -> Estimate:
    """Return the estimate from the sizes of a sample's classes; none if no or many models match."""
    sample = sum(size * count for size, count in counts.items())
    singles, pairs = counts.get(1, 0), counts.get(2, 0)
    if not singles or not pairs:
        return no_estimate(NAME, "the sample needs classes of one record and of two")
    if sample == population:
        return estimated(NAME, float(singles), sample, population)
    goal = math.log(population)

    def excess(log_shape: float) -> float | None:
        fit = _matching(math.exp(log_shape), singles, pairs, sample / population)
        return None if fit is None else fit.log_population - goal

    steps = [_LOWEST + (_HIGHEST - _LOWEST) * i / _GRID for i in range(_GRID + 1)]
    values = [excess(step) for step in steps]
    roots = []
    for i in range(_GRID):
        first, second = values[i], values[i + 1]
        if first is not None and second is not None and (first > 0) != (second > 0):
            roots.append((steps[i], steps[i + 1], first > 0))
    if not roots:
        return no_estimate(NAME, "no negative binomial distribution matches the sample")
    if len(roots) > 1:
        return no_estimate(NAME, f"{len(roots)} negative binomial distributions match the sample")
    low, high, starts_above = roots[0]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        value = excess(middle)
        if value is not None and (value > 0) == starts_above:
            low = middle
        else:
            high = middle
    fit = _matching(math.exp(low), singles, pairs, sample / population)
    assert fit is not None
    return estimated(
        *(NAME, fit.uniques, sample, population),
        shape=fit.shape,
        probability=math.exp(fit.log_b),
        classes=math.exp(fit.log_classes),
    )


def _matching(shape: float, singles: int, pairs: int, fraction: float) -> _Fit | None:
    """Return the model of this shape that expects so many classes of one and of two, if any."""
    out = 1 - fraction
    ratio = pairs / (singles * fraction)
    square, linear = out * shape * (shape + 1) / 2, shape * (1 - ratio * out)
    # the only positive root, in the form that does not subtract near numbers
    root = math.sqrt(linear * linear + 4 * square * ratio)
    r = 2 * ratio / (linear + root) if linear > 0 else (root - linear) / (2 * square)
    q = r / (1 + r * out)
    if not 0 < q < 1:
        return None
    log_b = math.log1p(-q)
    log_share = shape * (log_b - math.log1p(-q * out))
    log_one = math.log(fraction) + log_share + math.log1p(out * shape * r)
    log_classes = math.log(singles) - log_one
    mean = 1 + shape * q / (1 - q)
    return _Fit(shape, log_b, log_classes, log_classes + math.log(mean))
