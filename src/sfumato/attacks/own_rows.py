"""Which groups and rows of a release belong to people of the original, as far as can be told.

Who owns a release can look people up in it by all values they have, secrets as well. Where several
groups or rows fit equally, one is drawn: never by its number or place, which are to be judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.axis import Axis, Published
from sfumato.attacks.controls import GIVEN
from sfumato.attacks.fit_kernels import take_largest
from sfumato.attacks.fits import Fits
from sfumato.attacks.reach import MISSING, Reach
from sfumato.attacks.stage import ByCode
from sfumato.attacks.targets import draw
from sfumato.randomness import random_shares
from sfumato.release import Release
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.distinct import Distinct, DistinctColumns, count_codes
from sfumato.table.groups import sorted_rows, spread, starts_of

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A published column beside the original's: each row's cell, what cells reach, people's ranks.

    `buckets` are those of the rows' cells, -1 for none; None where the column has no buckets.
    """

    cells: Codes
    reach: Reach
    people: ByCode
    buckets: Ints | None

    @property
    def is_exact(self) -> bool:
        """Whether every cell in use is one value."""
        used = count_codes(self.cells, self.reach.count) > 0
        own = used[self.reach.cell]
        size = np.bincount(self.reach.cell[own], minlength=self.reach.count)
        plain = bool((self.reach.low[own] == self.reach.high[own]).all() and (size <= 1).all())
        return plain and not (self.reach.nulls & (size > 0) & used).any()

    @property
    def middles(self) -> Reals:
        """The rank in the middle of each row's cell; NaN where it is missing."""
        weight = np.bincount(self.reach.cell, minlength=self.reach.count).astype(np.float64)
        total = np.bincount(
            self.reach.cell, (self.reach.low + self.reach.high) / 2, minlength=self.reach.count
        )
        weight[weight == 0] = np.nan
        return np.asarray((total / weight)[self.cells])

    def covers(self, rows: Ints, people: Ints, pair: Ints) -> Bools:
        """Return for each row whether its cell covers the value of its person: `people[pair]`."""
        cell, rank = self.cells[rows], self.people[people][pair]
        start = starts_of(self.reach.cell, self.reach.count)
        # most cells are one stretch; of others, all stretches are looked at
        first = np.minimum(start[:-1], max(len(self.reach.cell) - 1, 0))
        some = np.diff(start) > 0
        low = np.where(some, self.reach.low[first] if some.any() else 0, 1)
        high = np.where(some, self.reach.high[first] if some.any() else 0, 0)
        found = (low[cell] <= rank) & (rank <= high[cell])
        several = np.diff(start) > 1
        if several.any():
            more = np.flatnonzero(several[cell])
            of, place = spread(start[cell[more]], start[cell[more] + 1])
            of = more[of]
            inside = (self.reach.low[place] <= rank[of]) & (rank[of] <= self.reach.high[place])
            found[of[inside]] = True
        missing = rank == MISSING
        if missing.any():
            found[missing] = self.reach.nulls[cell[missing]]
        return np.asarray(found)


@dataclass(frozen=True, slots=True, eq=False)
class OwnRows:
    """People of an original, and the group that each is in; read the columns that are asked for."""

    release: Release
    original: pa.Table
    person: Ints
    group: Ints
    rng: np.random.Generator
    _adversary: Adversary
    _given: DistinctColumns
    _columns: dict[tuple[str, str], Column] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        adversary: Adversary,
        original: pa.Table,
        sample: int,
        rng: np.random.Generator,
        given: DistinctColumns,
    ) -> OwnRows:
        """Return a sample of people with the group that fits each best; `given` are the columns of
        the original."""
        people = draw(original.num_rows, sample, rng)
        own = np.full(len(people), -1)
        for part, fits, kind in adversary.fits_of_kinds(people):
            own[part] = _drawn_group(fits, kind, rng)
        found = own >= 0
        return cls(
            *(adversary.release, original, people[found], own[found], rng),
            *(adversary, given),
        )

    def groups(self, table: str) -> Ints:
        """Return the group of each row of a table, from 0 on."""
        ids = self.release.tables[table]["group"].to_numpy()
        return np.asarray(ids, np.int64) - 1

    def has(self, name: str) -> bool:
        """Return whether the original has the attribute."""
        return name in self.original.column_names

    def column(self, table: str, name: str) -> Column:
        """Return a column of a table; its name is one of the original's."""
        if (table, name) not in self._columns:
            content = self.release.tables[table]
            cells = self._adversary.columns[table][name]
            reach, people = self._on_axis(name, cells)
            buckets = None
            if name + RESERVED_SUFFIX in content.column_names:
                ids = content[name + RESERVED_SUFFIX].combine_chunks().fill_null(0)
                buckets = np.asarray(ids.to_numpy(zero_copy_only=False), np.int64) - 1
            self._columns[table, name] = Column(cells.codes, reach, people, buckets)
        return self._columns[table, name]

    def _on_axis(self, name: str, cells: Distinct) -> tuple[Reach, ByCode]:
        """Return what the cells of an attribute reach, and people's ranks.

        As the adversary has them of what is known of people, where the axis is the same: of values
        of the original alone, in the order in which both read them.
        """
        eyes, plain = self._adversary, not pa.types.is_dictionary(self.original[name].type)
        if name in eyes.known and eyes.controls_are != GIVEN and plain:
            return eyes.side.reaches[name], eyes.side.people[name]
        manifest, values = self.release.manifest, self._given[name]
        hierarchy = self.release.hierarchies.get(name)
        axis = Axis([Published(manifest.attribute(name), hierarchy, cells.values)], [values.values])
        return axis.reaches[0], ByCode(axis.ranks[0], values.codes)

    def rows(self, table: str, names: Iterable[str]) -> Ints:
        """Return a row of each person's group that fits most of the named attributes, drawn among
        equals; one row has one person at most, and -1 says that a person has none.

        Cells in buckets say nothing of their row.
        """
        of_row = self.groups(table)
        drawn = random_shares(self.rng, len(of_row))
        asked = np.zeros(int(of_row.max(initial=-1)) + 1, np.bool_)
        asked[self.group] = True
        order = np.flatnonzero(asked[of_row])
        order = order[np.argsort(drawn[order], kind="stable")]
        sizes = np.bincount(of_row[order], minlength=len(asked))
        order = sorted_rows(order, of_row.astype(np.int32), len(asked))
        last = np.cumsum(sizes)[self.group]
        first = last - sizes[self.group]
        # a group of thousands tells little of its rows: look at some of them
        pair, place = spread(first, np.minimum(last, first + _MOST))
        row = order[place]
        score = random_shares(self.rng, len(pair))
        for name in names:
            column = self.column(table, name)
            told = column.covers(row, self.person, pair)
            if column.buckets is not None:
                told &= column.buckets[row] < 0
            score += told
        found = np.full(len(self.person), -1)
        begin = np.flatnonzero(np.diff(pair, prepend=-1))
        found[pair[begin]] = row[_largest(score, begin)]
        # of those who have the same row, one keeps it
        shuffled = self.rng.permutation(len(found))
        _, kept = np.unique(found[shuffled], return_index=True)
        alone = np.full(len(found), -1)
        alone[shuffled[kept]] = found[shuffled[kept]]
        return alone


_MOST = 256
_NEARLY = 0.999  # what draws between equals leave at least of a weight
_DRAWN = 1 << 18  # numbers at a time, which stay in the cache


def _drawn_group(fits: Fits, kind: Ints, rng: np.random.Generator) -> Ints:
    """Return the group of the largest weight of each person, who has the fits of a kind; a number
    that is drawn for every person and group decides between equals. -1: there is none."""
    found = np.full(len(kind), -1)
    ends = np.cumsum(np.diff(fits.start)[kind])
    at, done = 0, 0
    while at < len(kind):
        stop = max(int(np.searchsorted(ends, done + _DRAWN, "right")), at + 1)
        drawn = random_shares(rng, int(ends[stop - 1]) - done)
        drawn *= 1.0 - _NEARLY
        drawn += _NEARLY
        take_largest(kind[at:stop], fits.start, fits.group, fits.weight, drawn, found[at:stop])
        at, done = stop, int(ends[stop - 1])
    return found


def _largest(values: Reals, begin: Ints) -> Ints:
    """Return where the largest value of each stretch is, of equal ones the last; each stretch ends
    where the next begins, and none is empty."""
    if not len(begin):
        return begin
    sizes = np.diff(begin, append=len(values))
    top = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, begin), sizes))
    return np.asarray(top[np.searchsorted(top, begin + sizes) - 1])


def attributes_of(release: Release) -> Mapping[str, tuple[str, ...]]:
    """Return the attributes of each table of a release; tables of people have none."""
    return {entry.name: entry.attributes for entry in release.manifest.tables if entry.attributes}
