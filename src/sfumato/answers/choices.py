"""The values that the different cells of a published column may hold, ready to be drawn from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.labels import Labels, days_of, ends_of
from sfumato.answers.number_line import NumberLine, Ticks
from sfumato.errors import ReleaseDamaged
from sfumato.release import AttributeEntry, Bounds
from sfumato.release.cells import Cell, Exact, Node, Null, Range, Star, ValueSet, parse
from sfumato.schema.attribute import Kind
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.intervals import read_interval, read_number
from sfumato.schema.kinds import is_number
from sfumato.schema.text import from_texts

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Span = tuple[int, int]

MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """What each cell may hold: one of some named values, or a number of a range.

    Cell j may hold the values `option[first[j]:first[j + 1]]` (numbers of `values`, or MISSING) if
    it is no range; else the ticks `low[j]` to `high[j]`, and a missing value where `with_null`.
    `is_anything` tells the cells that say nothing; what they may hold is the domain.
    """

    values: pa.Array
    first: Ints
    option: Ints
    is_range: Flags
    low: Ticks
    high: Ticks
    with_null: Flags
    is_anything: Flags


class CellReader:
    """Reads cells of one attribute, each different one once.

    Refuses (ReleaseDamaged) cells that do not read as what the manifest says they are.
    """

    def __init__(self, entry: AttributeEntry, hierarchy: Hierarchy | None) -> None:
        self._entry = entry
        self._labels = Labels({}) if hierarchy is None else Labels.of(hierarchy, entry.dtype)
        is_line = entry.kind is Kind.NUMERIC and is_number(entry.dtype)
        self.line = NumberLine(entry.dtype) if is_line else None
        self._listed: tuple[str, ...] = ()
        self._domain: Span | None = None
        if isinstance(entry.domain, tuple):
            self._listed = entry.listed
        elif isinstance(entry.domain, Bounds) and self.line is not None:
            bounds = entry.domain
            self._domain = self.line.first_at(bounds.min), self.line.last_at(bounds.max)
        self._texts: dict[str, int] = {}
        self._options: list[list[int]] = []
        self._spans: dict[int, Span | Range] = {}
        self._with_null: set[int] = set()
        self._anything: set[int] = set()

    def read(self, texts: Iterable[str], exact: Iterable[str] = ()) -> Choices:
        """Return the choices of the cells, of a missing one, and of exact ones (in buckets)."""
        try:
            for text in texts:
                self._add(parse(text, self._labels.inner))
            self._add(Null())
            for text in exact:
                cell = parse(text)
                if not isinstance(cell, Exact):
                    raise ValueError("a generalised cell in a bucket")
                self._add(cell)
            return self._choices()
        except (ValueError, KeyError, pa.ArrowException):
            raise ReleaseDamaged(
                f"attribute '{self._entry.name}' has cells that do not read as values of its type"
            ) from None

    def _add(self, cell: Cell) -> None:
        slot = len(self._options)
        options: list[int] = []
        self._options.append(options)
        match cell:
            case Exact(text):
                options.append(self._number(text))
            case ValueSet(texts, with_null):
                options += map(self._number, texts)
                options += [MISSING] * with_null
            case Range(low, high, with_null) if self.line is None:
                options += map(self._number, self._between(low, high))
                options += [MISSING] * with_null
            case Range():
                self._spans[slot] = cell
                if cell.with_null:
                    self._with_null.add(slot)
            case Node(label):
                span = self._span(label)
                if span is not None:
                    self._spans[slot] = span
                else:
                    options += map(self._number, self._labels.leaves[label])
            case Star():
                self._anything.add(slot)
                if self._domain is not None and self._domain[0] <= self._domain[1]:
                    self._spans[slot] = self._domain
                else:
                    options += map(self._number, self._listed)
        if not options:  # a missing cell, or a node under which the release names no value
            options.append(MISSING)

    def _number(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _between(self, low: str, high: str) -> tuple[str, ...]:
        """Return the values that an ordinal attribute lists from low to high."""
        first, last = self._listed.index(low), self._listed.index(high)
        if not first < last:
            raise ValueError("a range whose ends are not in the order")
        return self._listed[first : last + 1]

    def _span(self, label: str) -> Span | None:
        """Return the ends of a label that reads as an interval or a part of a year.

        None where it does not, and where it does not hold the values below it: what it says cannot
        be trusted.
        """
        if self.line is None:
            return None
        leaves = self._labels.leaves[label]
        if pa.types.is_temporal(self._entry.dtype):
            return days_of(label, leaves, self.line)
        interval = read_interval(label)
        if interval is None:
            return None
        numbers = map(read_number, leaves)
        if not all(number is not None and number in interval for number in numbers):
            return None
        low, high = ends_of(interval, self.line)
        known = [end for end in (low, high, *(self._domain or ())) if end is not None]
        span = min(known) if low is None else low, max(known) if high is None else high
        return span if span[0] <= span[1] else None

    def _choices(self) -> Choices:
        count = len(self._options)
        named = from_texts(pa.array(list(self._texts), pa.string()), self._entry.dtype)
        with_null, anything = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        with_null[list(self._with_null)] = True
        anything[list(self._anything)] = True
        is_range = np.zeros(count, np.bool_)
        is_range[list(self._spans)] = True
        low, high = self._ends(count)
        if (low > high).any():
            raise ValueError("a range that ends before it begins")
        return Choices(
            named,
            np.append(0, np.cumsum([len(each) for each in self._options])),
            np.array([option for each in self._options for option in each], np.int64),
            is_range,
            low,
            high,
            with_null,
            anything,
        )

    def _ends(self, count: int) -> tuple[Ticks, Ticks]:
        """Return the ends of all ranges by cell, 0 for cells that are none."""
        spelled = {slot: span for slot, span in self._spans.items() if isinstance(span, Range)}
        told = {slot: span for slot, span in self._spans.items() if not isinstance(span, Range)}
        both: list[Ticks] = []
        for side in (0, 1):
            ends: Ticks = np.zeros(count, object)
            if self.line is not None and spelled:
                texts = [(span.low, span.high)[side] for span in spelled.values()]
                values = from_texts(pa.array(texts, pa.string()), self._entry.dtype)
                ends[list(spelled)] = self.line.ticks(values).astype(object)
            for slot, span in told.items():
                ends[slot] = span[side]
            both.append(ends)
        return both[0], both[1]
