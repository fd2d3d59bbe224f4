"""What the labels of a published hierarchy stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import pyarrow as pa

from sfumato.answers.number_line import NumberLine
from sfumato.schema.hierarchy import ROOT, Hierarchy
from sfumato.schema.intervals import Interval, read_interval, read_number
from sfumato.schema.kinds import is_text
from sfumato.schema.text import from_texts

_ONE_DAY = timedelta(days=1)
# What the parts of a date are called in hierarchies of dates: a day, month, quarter or year.
_PART_OF_YEAR = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|-Q([1-4]))?")


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of inner nodes, and the values below each that the hierarchy names.

    In a hierarchy that was cut down for publishing an inner node may stand as a leaf of its own;
    it counts as a value only if it reads as one.
    """

    leaves: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, hierarchy: Hierarchy, dtype: pa.DataType) -> Labels:
        """Return the labels of a hierarchy over values of the type."""
        leaves: dict[str, list[str]] = {}
        for leaf, path in zip(hierarchy.leaves, hierarchy.paths, strict=True):
            is_value = path[0] != leaf or _reads_as(leaf, dtype)
            for label in dict.fromkeys(path):
                # a number under its own label is that number, while a text may be a node, too
                if label == ROOT or (label == leaf and is_value and not is_text(dtype)):
                    continue
                below = leaves.setdefault(label, [])
                if is_value:
                    below.append(leaf)
        return cls({label: tuple(below) for label, below in leaves.items()})

    @property
    def inner(self) -> frozenset[str]:
        """All labels that stand for more than a value."""
        return frozenset(self.leaves)

    def interval(
        self, label: str, line: NumberLine, domain: tuple[int, int] | None
    ) -> tuple[int, int, bool] | None:
        """Return the ends (ticks) of a label that reads as an interval or a part of a year.

        And whether one end is open.

        An open end is put at that of the domain. None for other labels, and for one that does not
        hold the values below it: what it says cannot be trusted.
        """
        if pa.types.is_temporal(line.dtype):
            days = days_of(label, self.leaves[label], line)
            return None if days is None else (*days, False)
        interval = read_interval(label)
        if interval is None:
            return None
        for leaf in self.leaves[label]:
            number = read_number(leaf)
            if number is None or number not in interval:
                return None
        low, high = ends_of(interval, line)
        if low is None or high is None:
            known = [end for end in (low, high, *(domain or ())) if end is not None]
            low = min(known) if low is None else low
            high = max(known) if high is None else high
            return (low, high, True) if low <= high else None
        return (low, high, False) if low <= high else None


def ends_of(interval: Interval, line: NumberLine) -> tuple[int | None, int | None]:
    """Return the first and last tick of an interval, None at an open end.

    An end that the interval does not hold lies one tick outside: `[15, 20[` of whole numbers is
    15 to 19.
    """
    low = high = None
    if interval.low is not None:
        low = line.first_at(interval.low)
        low = low if interval.has_low else line.last_at(interval.low) + 1
    if interval.high is not None:
        high = line.last_at(interval.high)
        high = high if interval.has_high else line.first_at(interval.high) - 1
    return low, high


def _reads_as(text: str, dtype: pa.DataType) -> bool:
    try:
        from_texts(pa.array([text]), dtype)
    except (ValueError, pa.ArrowException):
        return False
    return True


def days_of(label: str, leaves: tuple[str, ...], line: NumberLine) -> tuple[int, int] | None:
    """Return the first and last tick of a part of a year, None where the label is none.

    A hierarchy of dates names its values by day, so that every leaf begins with one.
    """
    found = _PART_OF_YEAR.fullmatch(label)
    if found is None or pa.types.is_time(line.dtype) or pa.types.is_duration(line.dtype):
        return None
    year, month, day, quarter = (int(part) if part else 0 for part in found.groups())
    try:
        first = date(year, month or 3 * max(quarter - 1, 0) + 1, day or 1)
        if day:
            end = first + _ONE_DAY
        else:
            months = 1 if month else 3 if quarter else 12
            after = first.month - 1 + months
            end = date(year + after // 12, after % 12 + 1, 1)
        if not all(first <= date.fromisoformat(leaf.partition("T")[0]) < end for leaf in leaves):
            return None
        hour = "T00:00:00Z" if getattr(line.dtype, "tz", None) else ""
        texts = pa.array([f"{each.isoformat()}{hour}" for each in (first, end)])
        low, after_high = (int(tick) for tick in line.ticks(from_texts(texts, line.dtype)))
    except (ValueError, OverflowError, pa.ArrowException):  # beyond the calendar, or no date
        return None
    return low, after_high - 1
