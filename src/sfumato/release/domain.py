"""Domain ends that come from the data, rounded outward so that they are nobody's exact value.

The step is the smallest of 1, 2, 5, 10, 20, 50, … that is at least a twentieth of the range: the
ends stay useful (the range grows by a quarter at most), and the oldest person's age is not given
away. A constant column is rounded on the scale of its value. Integers never use a step below 1, so
a short scale such as 1 to 16 keeps its ends. Dates and timestamps go to whole years, times of day
to whole hours. An end may lie outside what the data type can hold (127 becomes 130).
"""

from __future__ import annotations

import sys
from datetime import date, datetime, time
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from sfumato.errors import ParameterError

# Shares of the range: a step is at least this part of it.
_STEPS = 20
# Enough digits for any 256-bit decimal, so that no step of the arithmetic rounds.
_EXACT = Context(prec=400)
_LARGEST = sys.float_info.max


def round_outward(minimum: Any, maximum: Any) -> tuple[Any, Any]:
    """Return a round value at or below the minimum, and one at or above the maximum.

    Takes and gives ints, floats, decimals, dates, datetimes or times.

    >>> round_outward(17, 90)
    (15, 90)
    >>> round_outward(0.13, 0.97)
    (0.1, 1.0)
    >>> round_outward(date(1931, 4, 2), date(2008, 12, 31))
    (datetime.date(1931, 1, 1), datetime.date(2008, 12, 31))
    """
    match minimum:
        case int():
            low, high = _outward(Decimal(minimum), Decimal(maximum), least_step=Decimal(1))
            return int(low), int(high)
        case float():
            low, high = _outward(Decimal(repr(minimum)), Decimal(repr(maximum)))
            # the next round number may be beyond all floats
            return max(float(low), -_LARGEST), min(float(high), _LARGEST)
        case Decimal():
            return _outward(minimum, maximum)
        case datetime():
            return _start_of_year(minimum), _end_of_year(maximum)
        case date():
            return minimum.replace(month=1, day=1), maximum.replace(month=12, day=31)
        case time():
            return _start_of_hour(minimum), _end_of_hour(maximum)
    raise ParameterError(f"values of type {type(minimum).__name__} have no ends to round")


def _outward(
    low: Decimal, high: Decimal, least_step: Decimal = Decimal(0)
) -> tuple[Decimal, Decimal]:
    span = _EXACT.subtract(high, low) or max(abs(low), abs(high))
    if not span:
        return low, high
    least = _EXACT.divide(span, Decimal(_STEPS))
    tens = Decimal(1).scaleb(least.adjusted())
    step = max(least_step, next(tens * n for n in (1, 2, 5, 10) if tens * n >= least))
    return _multiple(low, step, ROUND_FLOOR), _multiple(high, step, ROUND_CEILING)


def _multiple(value: Decimal, step: Decimal, rounding: str) -> Decimal:
    steps = _EXACT.divide(value, step).to_integral_value(rounding=rounding)
    return _EXACT.multiply(steps, step)


def _start_of_year(moment: datetime) -> datetime:
    return moment.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)


def _end_of_year(moment: datetime) -> datetime:
    start = _start_of_year(moment)
    if moment == start:
        return moment
    # The last year of the calendar has no next one.
    return start.replace(year=start.year + 1) if start.year < datetime.max.year else moment


def _start_of_hour(moment: time) -> time:
    return moment.replace(minute=0, second=0, microsecond=0)


def _end_of_hour(moment: time) -> time:
    start = _start_of_hour(moment)
    if moment == start:
        return moment
    if start.hour < time.max.hour:
        return start.replace(hour=start.hour + 1)
    return start.replace(minute=59, second=59, microsecond=999_999 if moment.microsecond else 0)
