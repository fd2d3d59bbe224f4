"""Points: the values of a table, whatever their text or Python form, made comparable.

Equal values become equal points. Numbers, dates and times become fractions (a date its day number,
a time its seconds), all others strings; a missing value is None.
"""

from __future__ import annotations

import datetime
import math
import re
import struct
from decimal import Decimal
from fractions import Fraction
from typing import Any

Point = Fraction | str
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class NoPoint(Exception):  # noqa: N818 -- says what is the matter
    """A text that does not read as a value of its type."""


def point_of_text(text: str, type: str) -> Point:
    """Return the point that a value's text stands for.

    >>> point_of_text("33.0", "double") == point_of_text("33", "double")
    True
    >>> point_of_text("33.0", "string")
    '33.0'
    """
    inner = re.match(r"dictionary<values=([^,]+),", type)
    if inner:
        return point_of_text(text, inner.group(1))
    try:
        if re.match(r"u?int", type):
            if not re.fullmatch(r"-?\d+", text):
                raise ValueError
            return Fraction(int(text))
        if type.startswith("decimal"):
            return Fraction(Decimal(text))
        if re.match(r"float|double|half", type):
            return _float_point(text, type)
        if type.startswith("date"):
            return Fraction(datetime.date.fromisoformat(text).toordinal())
        if type.startswith("timestamp"):
            return _instant(text)
        if type.startswith("time"):
            return _seconds(text)
        if type.startswith("duration"):
            unit = re.search(r"\[(\w+)\]", type)
            return Fraction(int(text), _UNITS[unit.group(1)] if unit else 1)
    except (ValueError, ArithmeticError, struct.error):
        raise NoPoint(f"a cell does not read as {type}") from None
    if type == "bool" and text not in ("true", "false"):
        raise NoPoint("a cell does not read as bool")
    return text


def _float_point(text: str, type: str) -> Fraction:
    number = float(text)
    if type in ("float", "float32"):  # the shortest text of a narrow float is not exact
        number = struct.unpack("f", struct.pack("f", number))[0]
    elif type in ("halffloat", "float16"):
        number = struct.unpack("e", struct.pack("e", number))[0]
    return Fraction(number)


def _fraction_of_second(text: str) -> tuple[str, Fraction]:
    """Split `12:30:00.123456789Z` into what the library reads and the part it would cut."""
    parts = re.fullmatch(r"(.*?)(\.\d+)?(Z|[+-]\d\d:?\d\d)?", text)
    if parts is None:
        raise ValueError
    whole, fraction, zone = parts.groups()
    return whole + (zone or ""), Fraction("0" + fraction) if fraction else Fraction(0)


def _instant(text: str) -> Fraction:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        whole, rest = text, Fraction(0)
    else:
        whole, rest = _fraction_of_second(text)
    moment = datetime.datetime.fromisoformat(whole)
    return _since_epoch(moment) + rest


def _since_epoch(moment: datetime.datetime) -> Fraction:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    gone = moment - _EPOCH
    return Fraction(gone.days * 86400 + gone.seconds) + Fraction(gone.microseconds, 10**6)


def _seconds(text: str) -> Fraction:
    whole, rest = _fraction_of_second(text)
    return _clock(datetime.time.fromisoformat(whole)) + rest


def _clock(time: datetime.time) -> Fraction:
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return Fraction(seconds) + Fraction(time.microsecond, 10**6)


def point_of_value(value: Any) -> Point | None:
    """Return the point of a Python value (of an original table, or a typed Parquet column).

    >>> point_of_value(33) == point_of_text("33", "int32")
    True
    >>> point_of_value(datetime.date(2026, 1, 31)) == point_of_text("2026-01-31", "date32[day]")
    True
    """
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return None if math.isnan(value) else Fraction(value)
        case int() | Decimal() | Fraction():
            return Fraction(value)
        case datetime.datetime():
            return _since_epoch(value) + Fraction(getattr(value, "nanosecond", 0), 10**9)
        case datetime.date():
            return Fraction(value.toordinal())
        case datetime.time():
            return _clock(value)
        case datetime.timedelta():
            seconds = Fraction(value.days * 86400 + value.seconds)
            nanoseconds = value.microseconds * 1000 + getattr(value, "nanoseconds", 0)
            return seconds + Fraction(nanoseconds, 10**9)
        case str():
            return value
    raise TypeError(f"no point for a {type(value).__name__}")
