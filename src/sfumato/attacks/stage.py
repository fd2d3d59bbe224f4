"""What an adversary has on the table: views of all releases, and perhaps the people behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.axis import Axis
from sfumato.attacks.bits import Bits, groups_of_people, overlapping_groups, set_places
from sfumato.attacks.reach import MISSING, Reach
from sfumato.attacks.view import Block, Held, View, summed
from sfumato.errors import ParameterError
from sfumato.predicates.expression import unknown_column
from sfumato.schema.distinct import Distinct, count_codes, distinct
from sfumato.table.groups import spread, starts_of

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_CELLS = 1 << 17  # of a megabyte together


@dataclass(frozen=True, slots=True, eq=False)
class ByCode:
    """A number for every row, by its code: looked up for the rows that are asked for.

    Attacks look at some thousands of people; numbers of all would be most of what is held.

    >>> ByCode(np.array([30, 10]), np.array([1, 0, 1], np.int32))[1:].tolist()
    [30, 10]
    """

    numbers: Ints
    codes: npt.NDArray[np.integer[Any]]

    def __getitem__(self, rows: Ints | slice) -> Ints:
        """Return the numbers of some rows."""
        return np.asarray(self.numbers[self.codes[rows]])

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One release on the axes that it shares with the others; `people` are the original's ranks
    by attribute (none without an original)."""

    view: View
    reaches: Mapping[str, Reach]
    people: Mapping[str, ByCode]
    original: pa.Table | None

    def groups_of(self, rows: Ints, classes: Ints | None = None) -> Bits:
        """Return the groups (of some classes) that the people of some rows may be in."""
        people = {name: self.people[name][rows] for name in self.view.known}
        blocks, groups = self.only(classes)
        return groups_of_people(blocks, groups, self.reaches, people)

    def only(self, classes: Ints | None) -> tuple[Sequence[Block], int]:
        """Return the blocks of some classes, and how many these are."""
        if classes is None or len(classes) == self.view.groups:
            return self.view.blocks, self.view.groups
        return [block.only(classes) for block in self.view.blocks], len(classes)

    def overlaps(self, other: Side, own: Ints, theirs: Ints) -> Bits:
        """Return which of some of the other's classes each of some own classes overlaps."""
        blocks, groups = other.only(theirs)
        return overlapping_groups(self.only(own)[0], blocks, groups, self.reaches, other.reaches)


def set_stage(views: Sequence[View], originals: Sequence[pa.Table] | None) -> list[Side]:
    """Return the releases on common axes.

    Refuses (ParameterError) originals that lack a quasi-identifier of their release.
    """
    tables: Sequence[pa.Table | None] = originals if originals is not None else [None] * len(views)
    reaches: list[dict[str, Reach]] = [{} for _ in views]
    people: list[dict[str, ByCode]] = [{} for _ in views]
    for name in dict.fromkeys(name for view in views for name in view.known):
        having = [i for i, view in enumerate(views) if name in view.known]
        cells = [views[i].published[name] for i in having]
        columns = [read(tables[i], name) for i in having if tables[i] is not None]
        axis = Axis(cells, [column.values for column in columns])
        for place, i in enumerate(having):
            reaches[i][name] = axis.reaches[place]
            if columns:
                people[i][name] = ByCode(axis.ranks[place], columns[place].codes)
    return [Side(*each) for each in zip(views, reaches, people, tables, strict=True)]


def read(original: pa.Table, name: str) -> Distinct:
    """Return the distinct values of an original's column; ParameterError where it has none."""
    if name not in original.column_names:
        raise ParameterError(f"an original: {unknown_column(name, original.column_names)}")
    return distinct(original[name], name)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The sensitive values of a release's groups: `weight` people of group g have `value`.

    Entries of group g run from `start[g]` to before `start[g + 1]`. `truth` are the values of the
    original's rows.
    """

    start: Ints
    value: Ints
    weight: Reals
    truth: ByCode

    def of_people(self, groups: Bits, values: int) -> Reals:
        """Return the weight of every value for people who may be in these groups."""
        person, group = set_places(groups)
        of, place = spread(self.start[group], self.start[group + 1])
        keys = person[of] * values + self.value[place]
        shape = len(groups), values
        found = np.bincount(keys, self.weight[place], minlength=shape[0] * shape[1])
        return np.asarray(found, np.float64).reshape(shape)

    def of_classes(self, classes: Ints, values: int) -> Reals:
        """Return the weight of every value in some groups."""
        of, place = spread(self.start[classes], self.start[classes + 1])
        weights = np.zeros((len(classes), values))
        weights[of, self.value[place]] = self.weight[place]
        return weights


@dataclass(frozen=True, slots=True, eq=False)
class Secret:
    """A sensitive attribute over all releases: the texts of its values (a missing one comes last,
    without a text) and each release's candidates."""

    name: str
    texts: Sequence[str]
    dtype: pa.DataType
    sides: Sequence[Candidates]

    @property
    def count(self) -> int:
        """The number of values, a missing one among them."""
        return len(self.texts) + 1

    @classmethod
    def of(cls, name: str, sides: Sequence[Side]) -> Secret:
        """Return the sensitive attribute of this name."""
        originals = [side.original for side in sides if side.original is not None]
        columns = [read(original, name) for original in originals]
        cells = [side.view.published[name] for side in sides]
        axis = Axis(cells, [column.values for column in columns])
        texts = axis.values
        ranks = np.array(sorted(texts), np.int64)
        found = []
        for place, side in enumerate(sides):
            truth = ByCode(np.zeros(0, np.int64), np.zeros(0, np.int32))
            if columns:
                own = axis.ranks[place]
                values = np.where(own == MISSING, len(ranks), np.searchsorted(ranks, own))
                truth = ByCode(values, columns[place].codes)
            entries = _values(side.view.held[name], axis.reaches[place], ranks)
            start = starts_of(entries[0], side.view.groups)
            found.append(Candidates(start, *entries[1:], truth))
        return cls(name, [texts[rank] for rank in ranks.tolist()], cells[0].entry.dtype, found)


def _values(held: Held, reach: Reach, ranks: Ints) -> tuple[Ints, Ints, Reals]:
    """Return groups, values and weights; the values that a cell may be are equally likely."""
    of, value = spread(
        np.searchsorted(ranks, reach.low, "left"), np.searchsorted(ranks, reach.high, "right")
    )
    missing = np.flatnonzero(reach.nulls)
    cell = np.concatenate([reach.cell[of], missing])
    value = np.concatenate([value, np.full(len(missing), len(ranks))])
    order = np.argsort(cell, kind="stable")
    size = np.bincount(cell, minlength=reach.count)
    start = np.cumsum(size) - size
    used = np.flatnonzero(count_codes(held.cell, reach.count))
    if (size[used] == 1).all() and (np.diff(value[order][start[used]]) > 0).all():
        # each is a value of its own, in the same order
        own = np.zeros(reach.count, np.int64)
        own[used] = value[order][start[used]]
        return held.group, own[held.cell], held.weight
    of, place = spread(start[held.cell], start[held.cell] + size[held.cell])
    weight = held.weight[of] / size[held.cell[of]]
    return summed(held.group[of], value[order][place], weight)


def parts(count: int, width: int) -> Iterator[slice]:
    """Return slices of `count` rows whose cells, so many a row, stay in the cache; one at least."""
    step = max(16, _CELLS // max(width, 1))
    return (slice(at, min(at + step, count)) for at in range(0, max(count, 1), step))
