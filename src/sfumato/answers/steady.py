"""Sums whose numbers lie far from 0, or are so large that their squares are beyond floats.

*Far from 0.* The variance of a sum is what is left of squares that all but cancel, if numbers are
like 1,000,000,000 and a bit: nothing but rounding is left then. With c for their mean and N for how
many of them count,

    SUM(x) = SUM(x - c) + c N, so Var = Var SUM(x - c) + 2 c Cov(SUM(x - c), N) + c² Var N

of which nothing cancels: the first and last are what the layout says of differences and of counts,
and where N is certain only the first is left. The covariance follows from the variances of
SUM(x - c) + s N and SUM(x - c) - s N, which are those of SUM(x - (c - s)) and SUM(x - (c + s)).

*Large.* Above LARGEST there is no standard error. A sum that a float does not hold has no value
(NaN), and bounds that rounding took beyond what floats hold are none: whatever was lost, they hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan, sqrt
from sys import float_info

import numpy as np

from sfumato.answers.deviations import Limits, with_number
from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum
from sfumato.answers.published import Published
from sfumato.answers.randomized import Followable
from sfumato.predicates.expression import Predicate

# The square of this, times all rows, is still a float.
LARGEST = 1e145
# An error of at least this share of the sum is not what rounding left of squares.
_FAR_ABOVE_ROUNDING = 1e-4
# A variance of counts that is this share of the count is what rounding left of none.
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Steady:
    """Answers of an engine, whose sums stay right wherever their numbers lie."""

    engine: Followable
    cells: Published

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        if not isinstance(aggregate, Sum):
            return self.engine.answer(aggregate, predicate)
        found = _finite(self.engine.answer(aggregate, predicate))
        if found.se is None or found.low == found.high:
            return found
        return replace(found, se=self._error(aggregate.attribute, predicate, found))

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return the standard error of SUM(attribute - about) over rows that have a number."""
        if self.cells.largest(attribute) > LARGEST:
            return None
        return self.engine.deviation(attribute, about, predicate)

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about); no number may be missing."""
        found = self.engine.limits(attribute, predicate)
        return lambda about: _outward(*found(about))

    def _error(self, name: str, predicate: Predicate | None, found: Estimate) -> float | None:
        """Return the standard error of a sum, centred where little is left of its squares."""
        if self.cells.largest(name) > LARGEST:
            return None
        if found.se is None or found.se > _FAR_ABOVE_ROUNDING * abs(found.value):
            return found.se
        count = self.engine.answer(Count(), with_number(name, predicate))
        if count.se is None or count.value <= 0:
            return found.se
        centre = found.value / count.value
        apart = self.engine.deviation(name, centre, predicate)
        if apart is None or count.se**2 <= _NOTHING * count.high:
            return apart
        together = 0.0
        if apart > 0:
            step = apart / count.se  # of which the two sums below are made alike
            more, less = (
                self.engine.deviation(name, centre - each, predicate) for each in (step, -step)
            )
            if more is None or less is None:
                return None
            together = (more**2 - less**2) / (4.0 * step)
        variance = apart**2 + 2.0 * centre * together + (centre * count.se) ** 2
        return sqrt(max(variance, 0.0))


def _finite(found: Estimate) -> Estimate:
    """Return a sum without what floats do not hold."""
    low, high = _outward(found.low, found.high)
    value = found.value if isfinite(found.value) else nan
    se = found.se if found.se is None or isfinite(found.se) else None
    return Estimate(value, low, high, se)


def _outward(low: float, high: float) -> tuple[float, float]:
    """Return bounds of which none is lost: no number is none, and a float is below infinity."""
    low = -inf if isnan(low) else min(low, float_info.max)
    high = inf if isnan(high) else max(high, -float_info.max)
    return low, high


def beyond_floats() -> np.errstate:
    """Return what keeps numpy from warning of what `Steady` puts right."""
    return np.errstate(over="ignore", invalid="ignore")


def large_numbers(cells: Published, name: str) -> tuple[str, ...]:
    """Return what to say of sums and averages of an attribute whose numbers are that large."""
    with beyond_floats():
        if cells.largest(name) <= LARGEST:
            return ()
    return (
        f"numbers of column '{name}' are so large that there are no standard errors; sums that are "
        "beyond what floats hold have no value, and no bounds",
    )
