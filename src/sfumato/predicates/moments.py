"""Dates, moments and times of day as exact counts of nanoseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_DAY = r"(\d{4})-(\d{2})-(\d{2})"
_CLOCK = r"(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?"
_OFFSET = r"(?:(Z)|([+-])(\d{2})(?::?(\d{2}))?)"
_MOMENT = re.compile(rf"{_DAY}(?:[ T]{_CLOCK}{_OFFSET}?)?", re.ASCII)
_TIME = re.compile(_CLOCK, re.ASCII)

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
DAY = 24 * 60 * 60 * 10**9


@dataclass(frozen=True, slots=True)
class Moment:
    """Nanoseconds since the beginning of 1970: in UTC if `fixed`, else by a clock on the wall."""

    nanoseconds: int
    fixed: bool = False

    @classmethod
    def of(cls, value: date) -> Moment:
        """Return the moment of a date (its first) or of a datetime.

        >>> Moment.of(date(1970, 1, 2)).nanoseconds == DAY
        True
        """
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        fixed = value.tzinfo is not None
        # The clock is subtracted as a difference: in UTC it may lie outside the calendar.
        offset = value.utcoffset() or timedelta()
        since = value.replace(tzinfo=None) - _EPOCH - offset
        return cls(since // _MICROSECOND * 1000, fixed)


def read_moment(text: str) -> Moment:
    """Return the moment that an ISO text stands for; ValueError where it stands for none.

    >>> read_moment("1970-01-01 00:00:00.000000001").nanoseconds
    1
    >>> read_moment("1970-01-01T01:00:00+01:00")
    Moment(nanoseconds=0, fixed=True)
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError("not an ISO date or timestamp")
    year, month, day, *clock, utc, sign, hours, minutes = found.groups()
    midnight = Moment.of(date(int(year), int(month), int(day))).nanoseconds
    offset = _since_midnight(hours, minutes, None, None) * (-1 if sign == "-" else 1)
    fixed = utc is not None or sign is not None
    return Moment(midnight + _since_midnight(*clock) - offset, fixed)


def read_datetime(text: str) -> datetime:
    """Return the datetime that an ISO text stands for; ValueError where none is that exact.

    >>> read_datetime("2026-01-31 12:00+00:00")
    datetime.datetime(2026, 1, 31, 12, 0, tzinfo=datetime.timezone.utc)
    """
    moment = read_moment(text)
    microseconds, rest = divmod(moment.nanoseconds, 1000)
    if rest:
        raise ValueError("finer than microseconds")
    try:
        found = _EPOCH + microseconds * _MICROSECOND
    except OverflowError:
        raise ValueError("outside the calendar") from None
    return found.replace(tzinfo=UTC) if moment.fixed else found


def read_date(text: str) -> date:
    """Return the date that an ISO text stands for; ValueError where it stands for none."""
    if not re.fullmatch(_DAY, text, re.ASCII):
        raise ValueError("not an ISO date")
    return read_datetime(text).date()


def read_time(text: str) -> int:
    """Return the nanoseconds since midnight; ValueError where the text is no time of day.

    >>> read_time("00:01") == 60 * NANOSECONDS["s"]
    True
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError("not a time of day")
    return _since_midnight(*found.groups())


def _since_midnight(
    hour: str | None, minute: str | None, second: str | None, fraction: str | None
) -> int:
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError("not a time of day")
    whole = (hours * 60 + minutes) * 60 + seconds
    return whole * 10**9 + int((fraction or "").ljust(9, "0"))
