"""One attribute over all releases and originals: its values in a row, its cells as stretches.

Numbers and moments come in their order, texts after them in any. Ranks are even, so that an end
that does not belong to its interval falls between two of them. What a label stands for is what the
hierarchies of all releases together say: one release may list values that another withholds. A
label without any value is listed as a value of its own, as hierarchies are published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, auto
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.labels import Labels
from sfumato.attacks.below import may_be_below
from sfumato.attacks.reach import MISSING, Reach
from sfumato.attacks.values import Comparison, Key
from sfumato.errors import ReleaseDamaged
from sfumato.release import AttributeEntry
from sfumato.release.cells import Cell, Exact, Node, Null, Range, Star, ValueSet, parse
from sfumato.schema.attribute import Kind
from sfumato.schema.hierarchy import ROOT, Hierarchy
from sfumato.schema.intervals import Interval, read_interval
from sfumato.schema.kinds import is_number, is_text
from sfumato.schema.text import to_texts

Ints = npt.NDArray[np.int64]


class _End(Enum):
    """Where the row of values begins and ends, and where its numbers end."""

    FIRST = auto()
    LAST_NUMBER = auto()
    LAST = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """The distinct cells of an attribute in one release; the last but one code is a missing cell,
    the last one a cell that tells nothing."""

    entry: AttributeEntry
    hierarchy: Hierarchy | None
    cells: pa.Array


def parsed(release: Published) -> list[Cell]:
    """Return what the distinct cells say; (ReleaseDamaged) if they do not follow the grammar."""
    texts = to_texts(release.cells).to_pylist()
    if not is_text(release.cells.type):
        return [Exact(text) for text in texts]
    inner: frozenset[str] = frozenset()
    if release.hierarchy is not None:
        inner = Labels.of(release.hierarchy, release.entry.dtype).inner
    return [parse(text, inner) for text in texts]


@dataclass(slots=True)
class _Stretches:
    """What the cells of one release cover, in places and not yet in ranks."""

    count: int = 0
    cell: list[int] = field(default_factory=list)
    low: list[Key | _End] = field(default_factory=list)
    high: list[Key | _End] = field(default_factory=list)
    shift: list[tuple[int, int]] = field(default_factory=list)
    nulls: list[bool] = field(default_factory=list)

    def add(self, low: Key | _End, high: Key | _End, shift: tuple[int, int] = (0, 0)) -> None:
        self.cell.append(self.count)
        self.low.append(low)
        self.high.append(high)
        self.shift.append(shift)

    def close(self, null: bool = False) -> None:
        """End the cell."""
        self.nulls.append(null)
        self.count += 1


class Axis:
    """The values of one attribute in a row.

    `releases` are its cells in each release that has it, `originals` its distinct values in each
    original table. `reaches` and `ranks` have the same in ranks; `texts` are those of all values.

    Refuses (ReleaseDamaged) cells that do not read as what the manifest says they are.
    """

    def __init__(self, releases: Sequence[Published], originals: Sequence[pa.Array] = ()) -> None:
        self._ends: dict[_End, int] = {}
        types = [each.entry.dtype for each in releases] + [each.type for each in originals]
        self._compare = Comparison.of(types)
        self._texts: dict[Key, str] = {}
        self._named: dict[tuple[pa.DataType, str], Key] = {}
        values = [self._places(to_texts(each).to_pylist(), each.type) for each in originals]
        self._below = self._hierarchies(releases)
        told = [parsed(each) for each in releases]
        for release, cells in zip(releases, told, strict=True):
            self._name(release, cells)
        self._listed = frozenset(place for below in self._below.values() for place in below)
        self._nodes: dict[str, list[Key]] = {}
        found = [
            self._stretches(release, cells) for release, cells in zip(releases, told, strict=True)
        ]
        self._rank = self._ranked(found)
        self.reaches = [self._reach(each) for each in found]
        self.ranks = [np.array([*map(self._rank.get, each), MISSING], np.int64) for each in values]

    @property
    def values(self) -> dict[int, str]:
        """The ranks of all values that are named somewhere, and their texts."""
        return {self._rank[place]: text for place, text in self._texts.items()}

    def _places(self, texts: Sequence[str], dtype: pa.DataType) -> list[Key]:
        """Return the places of values, which are named thereby."""
        keys = self._compare.keys(texts, dtype)
        for key, text in zip(keys, texts, strict=True):
            self._texts.setdefault(key, text)
            self._named[dtype, text] = key
        return list(keys)

    def _place(self, text: str, dtype: pa.DataType) -> Key:
        """Return the place of a value that cells or the domain name."""
        return self._named[dtype, text]

    def _hierarchies(self, releases: Sequence[Published]) -> Mapping[str, dict[Key, None]]:
        """Return the values that all hierarchies together put below each label."""
        below: dict[str, dict[Key, None]] = {}
        for release in releases:
            if release.hierarchy is None:
                continue
            inner = Labels.of(release.hierarchy, release.entry.dtype).inner
            rows = release.hierarchy.rows()
            for row, leaf in zip(
                rows, self._places([row[0] for row in rows], release.entry.dtype), strict=True
            ):
                for label in row:
                    if label in inner and label != ROOT:
                        below.setdefault(label, {})[leaf] = None
        return below

    def _name(self, release: Published, cells: Iterable[Cell]) -> None:
        """Take note of all values that cells and the domain name."""
        texts: list[str] = []
        for cell in cells:
            match cell:
                case Exact(text):
                    texts.append(text)
                case ValueSet(members):
                    texts += members
                case Range(low, high):
                    texts += (low, high)
        if release.entry.kind is Kind.ORDINAL and isinstance(release.entry.domain, tuple):
            texts += release.entry.listed
        self._places(list(dict.fromkeys(texts)), release.entry.dtype)

    def _stretches(self, release: Published, cells: Iterable[Cell]) -> _Stretches:
        entry, dtype = release.entry, release.entry.dtype
        found = _Stretches()
        order = self._order(entry)
        for cell in cells:
            match cell:
                case Exact(text):
                    self._add_values(found, (text,), dtype)
                    found.close()
                case Null():
                    found.close(null=True)
                case ValueSet(texts, with_null):
                    self._add_values(found, texts, dtype)
                    found.close(with_null)
                case Range(low, high, with_null):
                    ends = self._place(low, dtype), self._place(high, dtype)
                    if entry.kind is Kind.NUMERIC and is_number(dtype):
                        found.add(ends[0], ends[1])
                    else:
                        self._add_ordinal(found, order, ends, entry)
                    found.close(with_null)
                case Node(label):
                    self._add_node(found, label)
                    found.close()
                case Star():
                    found.add(_End.FIRST, _End.LAST)
                    found.close(null=True)
        found.close(null=True)  # a missing cell
        found.add(_End.FIRST, _End.LAST)  # one that tells nothing
        found.close(null=True)
        return found

    def _add_values(self, found: _Stretches, texts: Sequence[str], dtype: pa.DataType) -> None:
        for text in texts:
            key = self._place(text, dtype)
            found.add(key, key)

    def _order(self, entry: AttributeEntry) -> dict[Key, int]:
        if entry.kind is not Kind.ORDINAL or not isinstance(entry.domain, tuple):
            return {}
        dtype = entry.dtype
        return {self._place(text, dtype): i for i, text in enumerate(entry.listed)}

    def _add_ordinal(
        self,
        found: _Stretches,
        order: Mapping[Key, int],
        ends: Sequence[Key],
        entry: AttributeEntry,
    ) -> None:
        """Add the listed values from one end to the other, and all that are listed nowhere: the
        domain need not list what only generalised cells have."""
        if ends[0] not in order or ends[1] not in order:
            raise ReleaseDamaged(f"attribute '{entry.name}' has ranges that are not in its order")
        first, last = order[ends[0]], order[ends[1]]
        for place in self._texts:
            if first <= order.get(place, first) <= last:
                found.add(place, place)

    def _add_node(self, found: _Stretches, label: str) -> None:
        interval = self._interval(label)
        if interval is not None:
            low = _End.FIRST if interval.low is None else interval.low
            high = _End.LAST_NUMBER if interval.high is None else interval.high
            found.add(low, high, (0 if interval.has_low else 1, 0 if interval.has_high else -1))
            return
        if label not in self._nodes:
            unlisted = [place for place in self._texts if place not in self._listed]
            texts = pa.array([self._texts[place] for place in unlisted], pa.string())
            may = may_be_below(label, texts, self._compare.line)
            more = [unlisted[place] for place in np.flatnonzero(may)]
            self._nodes[label] = [*self._below[label], *more]
        for place in self._nodes[label]:
            found.add(place, place)

    def _interval(self, label: str) -> Interval | None:
        """Return the interval that a label of numbers reads as, None if values below deny it."""
        line = self._compare.line
        if line is None or pa.types.is_temporal(line):
            return None
        interval = read_interval(label)
        numbers = [place for place in self._below[label] if isinstance(place, Decimal)]
        if interval is None or not all(number in interval for number in numbers):
            return None
        return interval

    def _ranked(self, found: Iterable[_Stretches]) -> dict[Key, int]:
        """Return the rank of every place: numbers in their order, then all others."""
        places: dict[Key, None] = dict.fromkeys(self._texts)
        for each in found:
            places.update(dict.fromkeys(p for p in each.low if not isinstance(p, _End)))
            places.update(dict.fromkeys(p for p in each.high if not isinstance(p, _End)))
        numbers = sorted(p for p in places if isinstance(p, Decimal | Fraction))
        others = [place for place in places if not isinstance(place, Decimal | Fraction)]
        self._ends = {
            _End.FIRST: -1,
            _End.LAST_NUMBER: 2 * len(numbers) - 1,
            _End.LAST: 2 * len(places),
        }
        return {place: 2 * number for number, place in enumerate([*numbers, *others])}

    def _reach(self, found: _Stretches) -> Reach:
        def ranked(places: Iterable[Key | _End]) -> list[int]:
            return [
                self._ends[place] if isinstance(place, _End) else self._rank[place]
                for place in places
            ]

        shift = np.array(found.shift, np.int64).reshape(-1, 2)
        return Reach(
            np.array(found.cell, np.int64),
            np.array(ranked(found.low), np.int64) + shift[:, 0],
            np.array(ranked(found.high), np.int64) + shift[:, 1],
            np.array(found.nulls, np.bool_),
        )
