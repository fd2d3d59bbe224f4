"""Recoding steps as a steward would do them by hand, one cell at a time."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Any


def top(value: Any, bound: Any) -> Any:
    return bound if value is not None and value > bound else value


def bottom(value: Any, bound: Any) -> Any:
    return bound if value is not None and value < bound else value


def rounded(value: Any, step: Any) -> Fraction | None:
    """Return the nearest multiple, of two equally near ones the even; numbers as written."""
    if value is None:
        return None
    number, width = Fraction(str(value)), Fraction(str(step))
    below = number // width
    near, far = number - below * width, (below + 1) * width - number
    if near < far or (near == far and below % 2 == 0):
        return below * width
    return (below + 1) * width


def bin_of(value: Any, edges: list[Any]) -> int | None:
    """Return the number of the interval, None for a missing value; -1 outside all."""
    if value is None:
        return None
    number = Fraction(str(value))
    last = len(edges) - 2
    for place in range(last + 1):
        low, high = edges[place], edges[place + 1]
        above = low is None or number >= Fraction(str(low))
        below = high is None or number < Fraction(str(high))
        if place == last and high is not None and number == Fraction(str(high)):
            below = True
        if above and below:
            return place
    return -1


def truncated(value: Any, unit: str) -> Any:
    """Return the first instant of the unit that a date or naive moment is in."""
    if value is None:
        return None
    day = dt.date(value.year, value.month, value.day)
    match unit:
        case "week":
            day -= dt.timedelta(days=day.weekday())
        case "month":
            day = day.replace(day=1)
        case "quarter":
            day = dt.date(day.year, {1: 1, 2: 4, 3: 7, 4: 10}[(day.month + 2) // 3], 1)
        case "year":
            day = dt.date(day.year, 1, 1)
    if not isinstance(value, dt.datetime):
        return day
    clock = dt.time()
    match unit:
        case "second":
            clock = dt.time(value.hour, value.minute, value.second)
        case "minute":
            clock = dt.time(value.hour, value.minute)
        case "hour":
            clock = dt.time(value.hour)
    return dt.datetime.combine(day, clock)


def masked(value: str | None, keep: int) -> str | None:
    if value is None or value == "":
        return value
    return "".join(list(value)[:keep]) + "*"


def mapped(value: str | None, pairs: dict[str, Any], otherwise: Any = ...) -> Any:
    if value is None:
        return None
    if value in pairs:
        return pairs[value]
    return value if otherwise is ... else otherwise
