"""Averages, from what a release tells of the sum and of the count."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import inf, isfinite, nan, nextafter

from sfumato.answers.deviations import with_number
from sfumato.answers.estimate import Count, Estimate, Sum
from sfumato.answers.published import Published
from sfumato.answers.randomized import Engine, Followable, shows_everybody
from sfumato.predicates.expression import Predicate

# An end of an average is searched for until it is known up to this share of its distance from the
# estimate, or for so many steps.
_CLOSE = 0.02
_STEPS = 8


def average(
    engine: Engine,
    cells: Published,
    attribute: str,
    predicate: Predicate | None,
    *,
    least_row: float = 1.0,
) -> Estimate:
    """Return the mean of an attribute's numbers over the rows that satisfy a predicate.

    The estimate is the expected sum through the expected number of rows that have a number. The
    bounds hold for every original that has such a row: those of sum and count put together, within
    what a cell may hold at all, and drawn closer where the layout's sums can be followed. Where
    people are in no published row, an average may be anything. NaN where no original has such a
    row. A row counts as `least_row` at least: weighted ones may be next to nothing.
    """
    counted = with_number(attribute, predicate) if cells.may_miss(attribute) else predicate
    total = engine.answer(Sum(attribute), predicate)
    count = engine.answer(Count(), counted)
    low, high = _quotients(total, count, least_row)
    if shows_everybody(engine, attribute):
        least, greatest = cells.ends(attribute, predicate)
        low, high = max(low, least), min(high, greatest)
    if count.high <= 0 or count.high < least_row or low > high:
        return Estimate(nan, nan, nan)
    if count.value <= 0:
        return Estimate(nan, low, high)
    value = min(max(total.value / count.value, low), high)
    if low < high and isinstance(engine, Followable):
        limits = cache(engine.limits(attribute, with_number(attribute, predicate)))
        low = max(low, _raised(lambda about: limits(about)[0], low, value, count))
        high = min(high, -_raised(lambda about: -limits(-about)[1], -high, -value, count))
        value = min(max(value, low), high)
    spread = engine.deviation(attribute, value, counted)
    return Estimate(value, low, high, None if spread is None else spread / count.value)


def _raised(least: Callable[[float], float], low: float, value: float, count: Estimate) -> float:
    """Return a lower bound of the average that is closer than `low`, and at most `value`.

    `least(c)` is a lower bound of SUM(x - c). So the average is at least c + least(c) / n, with the
    most rows for n where that is above c, and the fewest where it is below; and no more than this,
    with the other n, can be shown in this way.
    """
    fewest, most = max(count.low, 0.0), count.high
    about, beyond = value, value
    for _ in range(_STEPS):
        found = least(about)
        if found >= 0:
            low = max(low, nextafter(about + found / most, -inf))
        elif isfinite(found):
            if fewest > 0:
                low = max(low, nextafter(about + found / fewest, -inf))
            beyond = min(beyond, about + found / most)
        about = low / 2 + beyond / 2  # of which the sum may be beyond floats
        if not beyond - low > _CLOSE * (value - low):
            break
    return low


def _quotients(total: Estimate, count: Estimate, least_row: float) -> tuple[float, float]:
    """Return the least and greatest sum through count, whatever they are within their bounds."""
    if total.low == total.high and count.low == count.high >= 1:
        return total.low / count.low, total.low / count.low
    fewest, most = max(count.low, least_row), max(count.high, least_row)
    low = _through(total.low, most if total.low >= 0 else fewest, -inf)
    high = _through(total.high, fewest if total.high >= 0 else most, inf)
    return low, high


def _through(total: float, count: float, towards: float) -> float:
    """Return the quotient, rounded in one direction."""
    if not isfinite(total):
        return total
    if not isfinite(count):
        return 0.0
    if count == 0:  # next to nothing, so that the quotient may be anything on this side of 0
        return towards if total else 0.0
    quotient = total / count
    exact = Fraction(total) / Fraction(count)
    is_beyond = quotient > exact if towards < 0 else quotient < exact
    return nextafter(quotient, towards) if is_beyond else quotient
