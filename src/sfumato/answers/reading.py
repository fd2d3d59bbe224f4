"""From the cells of a published column to slots: every different cell is read once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.labels import Labels
from sfumato.answers.number_line import NumberLine, Ticks
from sfumato.answers.slots import Ints, Ranges, Slots
from sfumato.errors import ReleaseDamaged
from sfumato.release import AttributeEntry, Bounds
from sfumato.release.cells import Cell, Exact, Node, Null, Range, Star, ValueSet, parse
from sfumato.schema.attribute import RESERVED_SUFFIX, Kind
from sfumato.schema.distinct import distinct
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.kinds import is_number, is_text
from sfumato.schema.text import from_texts

Codes = npt.NDArray[np.int32]

# Atoms that get their number only once all values are known; the gap after listed value j is
# `_FIRST_GAP - j`.
_UNKNOWN, _MISSING, _FIRST_GAP = -1, -2, -3


def read_slots(table: pa.Table, entry: AttributeEntry, hierarchy: Hierarchy | None) -> Slots:
    """Return the slots of one attribute of a table of records.

    Refuses (ReleaseDamaged) cells that do not read as what the manifest says they are.
    """
    cells = distinct(table[entry.name], entry.name)
    buckets = _buckets(table, entry.name)
    hidden = cells.codes[buckets >= 0]
    contents = _Contents(entry, hierarchy)
    try:
        if is_text(cells.values.type):
            texts = cells.values.to_pylist()
            for text in texts:
                contents.add(parse(text, contents.inner_labels))
            exact = np.full(len(texts) + 1, _MISSING, np.int64)
            for code in np.unique(hidden[hidden < len(texts)]).tolist():
                exact[code] = contents.exact_atom(parse(texts[code]))
            values = from_texts(pa.array(contents.texts, pa.string()), entry.dtype)
        else:
            values = cells.values
            exact = np.append(np.arange(len(values)), _MISSING)
            contents = _Contents.of_values(entry, len(values))
        contents.add(Null())  # the slot of a missing cell
        return contents.slots(values, cells.codes, buckets, exact[hidden])
    except (ValueError, KeyError, pa.ArrowException):
        raise ReleaseDamaged(
            f"attribute '{entry.name}' has cells that do not read as values of its type"
        ) from None


def open_slots(table: pa.Table, entry: AttributeEntry) -> Slots:
    """Return the slots of an attribute whose cells are nobody's value: means of groups.

    What stands behind a cell may be any number of the domain, which such an attribute has only if
    the policy states it, and without one any number at all. It is missing where the cell is.
    """
    missing = table[entry.name].is_null().combine_chunks().to_numpy(zero_copy_only=False)
    contents = _Contents(entry, None)
    contents.add_any_number()
    contents.add(Null())
    none = np.full(table.num_rows, -1, np.int32)
    values = pa.nulls(0, entry.dtype)
    return contents.slots(values, missing.astype(np.int32), none, np.zeros(0, np.int64))


def _buckets(table: pa.Table, name: str) -> Codes:
    """Return the bucket of each row, -1 for none."""
    column = name + RESERVED_SUFFIX
    if column not in table.column_names:
        return np.full(table.num_rows, -1, np.int32)
    ids = table[column].combine_chunks().fill_null(0).to_numpy(zero_copy_only=False)
    return np.asarray(ids - 1, dtype=np.int32)


@dataclass(slots=True)
class _Entries:
    """Slots, atoms and weights as they are found."""

    slot: list[int] = field(default_factory=list)
    atom: list[int] = field(default_factory=list)
    weight: list[int] = field(default_factory=list)

    def add(self, slot: int, atom: int, weight: int = 1) -> None:
        self.slot.append(slot)
        self.atom.append(atom)
        self.weight.append(weight)


class _Contents:
    """What each different cell may hold, cell by cell as they are added."""

    def __init__(self, entry: AttributeEntry, hierarchy: Hierarchy | None) -> None:
        self._entry = entry
        self._labels = None if hierarchy is None else Labels.of(hierarchy, entry.dtype)
        self.inner_labels = frozenset() if self._labels is None else self._labels.inner
        is_line = entry.kind is Kind.NUMERIC and is_number(entry.dtype)
        self._line = NumberLine(entry.dtype) if is_line else None
        bounds = entry.domain if isinstance(entry.domain, Bounds) else None
        self._domain = None
        if self._line is not None and bounds is not None:
            self._domain = self._line.first_at(bounds.min), self._line.last_at(bounds.max)
        self.texts = [] if bounds or entry.domain is None else list(entry.domain)
        self._named = len(self.texts)
        self._listed = self._named if entry.kind is Kind.ORDINAL else 0
        self._atoms = {text: atom for atom, text in enumerate(self.texts)}
        self._count = 0
        self._entries = _Entries()
        self._spelled: list[tuple[int, str, str]] = []  # ranges by the texts of their ends
        self._ranges: list[tuple[int, int, int]] = []
        self._open: list[int] = []  # slots that may hold anything

    @classmethod
    def of_values(cls, entry: AttributeEntry, count: int) -> _Contents:
        """Return the contents of a column that has so many different values, all of them exact."""
        contents = cls(entry, None)
        contents._listed = 0
        every = list(range(count))
        contents._entries = _Entries(every, every.copy(), [1] * count)
        contents._count = count
        return contents

    def add(self, cell: Cell) -> None:
        """Take the next cell."""
        slot = self._count
        self._count += 1
        match cell:
            case Exact(text):
                self._entries.add(slot, self._atom(text))
            case Null():
                self._entries.add(slot, _MISSING)
            case ValueSet(texts, with_null):
                self._add_values(slot, texts)
                if with_null:
                    self._entries.add(slot, _MISSING)
            case Range(low, high, with_null):
                self._add_range(slot, low, high)
                if with_null:
                    # one value more; beside endlessly many it has no weight
                    is_endless = self._line is not None and not self._line.is_grid
                    self._entries.add(slot, _MISSING, weight=0 if is_endless else 1)
            case Node(label):
                self._add_node(slot, label)
            case Star():
                self._add_anything(slot)
                self._entries.add(slot, _MISSING, weight=0)

    def add_any_number(self) -> None:
        """Take a cell that may be any number of the domain, and is not missing."""
        slot = self._count
        self._count += 1
        if self._domain is None:
            self._entries.add(slot, _UNKNOWN, weight=0)
        else:
            self._ranges.append((slot, *self._domain))

    def exact_atom(self, cell: Cell) -> int:
        """Return the atom of a cell in a bucket, which must be exact."""
        if not isinstance(cell, Exact):
            raise ReleaseDamaged(
                f"attribute '{self._entry.name}' has cells in buckets that are not exact"
            )
        return self._atom(cell.text)

    def slots(self, values: pa.Array, codes: Codes, buckets: Codes, hidden: Ints) -> Slots:
        """Return the slots; `hidden` are the atoms of the cells that are in buckets."""
        self._add_named_elsewhere()
        first_bucket = self._count
        in_bucket = buckets >= 0
        unknown = len(values) + max(self._listed - 1, 0)

        def numbered(atoms: Ints) -> Ints:
            atoms = np.where(atoms <= _FIRST_GAP, len(values) + _FIRST_GAP - atoms, atoms)
            return np.where(atoms < 0, unknown + (atoms == _MISSING), atoms)

        keys = buckets[in_bucket] * np.int64(unknown + 2) + numbered(hidden)
        keys, held = np.unique(keys, return_counts=True)
        own = np.array([self._entries.slot, self._entries.atom, self._entries.weight], np.int64)
        order = None
        if self._entry.kind is Kind.ORDINAL and isinstance(self._entry.domain, tuple):
            order = from_texts(pa.array(self._entry.domain, pa.string()), self._entry.dtype)
        return Slots(
            self._entry,
            values,
            order,
            self._listed,
            first_bucket + int(buckets.max(initial=-1)) + 1,
            first_bucket,
            np.where(in_bucket, first_bucket + buckets, codes).astype(np.int32),
            np.concatenate([own[0], first_bucket + keys // (unknown + 2)]).astype(np.int32),
            np.concatenate([numbered(own[1]), keys % (unknown + 2)]).astype(np.int32),
            np.concatenate([own[2], held]).astype(np.int32),
            self._all_ranges(),
            self._line,
        )

    def _atom(self, text: str) -> int:
        if text not in self._atoms:
            self._atoms[text] = len(self.texts)
            self.texts.append(text)
        return self._atoms[text]

    def _add_values(self, slot: int, texts: tuple[str, ...]) -> None:
        for text in texts:
            self._entries.add(slot, self._atom(text))

    def _add_range(self, slot: int, low: str, high: str) -> None:
        if self._line is not None:
            self._spelled.append((slot, low, high))
            return
        first, last = self._atoms[low], self._atoms[high]
        if not first < last < self._listed:
            raise ValueError("a range whose ends are not in the order")
        for atom in range(first, last + 1):
            self._entries.add(slot, atom)
        for gap in range(first, last):
            self._entries.add(slot, _FIRST_GAP - gap, weight=0)

    def _add_node(self, slot: int, label: str) -> None:
        assert self._labels is not None
        if self._line is not None:
            interval = self._labels.interval(label, self._line, self._domain)
            if interval is not None:
                low, high, is_open = interval
                self._ranges.append((slot, low, high))
                if is_open:
                    self._entries.add(slot, _UNKNOWN, weight=0)
                return
        # A hierarchy that was built from the data is published without the values that only
        # generalised cells have, and nothing tells it from one that is whole.
        self._add_values(slot, self._labels.leaves[label])
        self._entries.add(slot, _UNKNOWN, weight=0)

    def _add_anything(self, slot: int) -> None:
        """Let a withheld cell hold any value of the domain, and any other: a domain that comes
        from the data is that of the cells that are told."""
        if self._domain is not None:
            self._ranges.append((slot, *self._domain))
        for atom in range(self._named):
            self._entries.add(slot, atom)
        self._entries.add(slot, _UNKNOWN, weight=0)
        self._open.append(slot)

    def _add_named_elsewhere(self) -> None:
        """Let withheld cells hold what other cells name and no domain lists: that has an atom."""
        if self._domain is None:
            for slot in self._open:
                for atom in range(self._named, len(self.texts)):
                    self._entries.add(slot, atom, weight=0)

    def _all_ranges(self) -> Ranges:
        slots, lows, highs = zip(*self._spelled, strict=True) if self._spelled else ((), (), ())
        if self._line is None:
            none: Ticks = np.zeros(0, np.int64)
            return Ranges(none, none, none)
        ends = [
            self._line.ticks(from_texts(pa.array(each, pa.string()), self._entry.dtype))
            for each in (lows, highs)
        ]
        more = np.array(self._ranges, ends[0].dtype).reshape(-1, 3)
        return Ranges(
            np.concatenate([np.array(slots, np.int64), more[:, 0].astype(np.int64)]),
            np.concatenate([ends[0], more[:, 1]]),
            np.concatenate([ends[1], more[:, 2]]),
        )
