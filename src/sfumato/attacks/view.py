"""What a release shows of its groups, whatever its layout.

Attributes that stay together in a release are a *block*: all quasi-identifiers of a generalised
release, one table `qi_i` of an anatomised one, one block of columns of a sliced one. A group shows
some combinations of cells of every block; who fits a combination of each may be in the group. Cells
of semi-sensitive attributes count among the quasi-identifiers where they are in no bucket, and
among what people keep secret where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.axis import Published
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.schema.attribute import RESERVED_SUFFIX, Role
from sfumato.schema.chunks import one_array
from sfumato.schema.distinct import DistinctColumns, distinct
from sfumato.table.groups import packed, spread, starts_of
from sfumato.table.sorting import sorted_by

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]
Width = TypeVar("Width", bound=np.integer[Any])

_BITS = 63  # of a number; its sign is not used

KNOWN = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The combinations of cells of some attributes: each once a group, in the order of groups.

    So many records of the group (`count`) have the combination. `cells` has a column an attribute,
    and each column in one piece: they are mostly looked at one by one. Cells are as wide as the
    codes of a column: of millions of rows, they are most of what an adversary holds.
    """

    names: tuple[str, ...]
    group: Ints
    cells: Codes
    count: Ints

    @classmethod
    def of(
        cls, names: Sequence[str], group: Ints, cells: Sequence[Codes], count: Ints | None = None
    ) -> Block:
        """Return the block of combinations that may be repeated and in any order.

        Cells are given attribute by attribute.
        """
        found = _combinations(group, cells, count)
        if found is not None:
            group, combinations, counts = found
            return cls(tuple(names), group, combinations.T, counts)
        columns: list[npt.NDArray[np.integer[Any]]] = [group, *cells]
        keys, order = packed(columns), sorted_by(columns)
        begin = np.flatnonzero(np.diff(keys[order], prepend=-1))
        first = order[begin]
        if count is None or not len(begin):
            counts = np.diff(begin, append=len(order))
        else:
            counts = np.add.reduceat(count[order], begin)
        combinations = np.empty((len(cells), len(first)), np.int32)
        for line, own in zip(combinations, cells, strict=True):
            line[:] = own[first]
        return cls(tuple(names), group[first], combinations.T, counts)

    def project(self, names: Sequence[str]) -> Block:
        """Return the combinations of some of the attributes."""
        if tuple(names) == self.names:
            return self
        columns = [self.cells[:, self.names.index(name)] for name in names]
        return Block.of(names, self.group, columns, self.count)

    def only(self, groups: Ints) -> Block:
        """Return the combinations of some groups, ascending, which become groups 0, 1, …"""
        place = np.searchsorted(groups, self.group)
        kept = groups[np.minimum(place, len(groups) - 1)] == self.group
        return Block(self.names, place[kept], self.cells[kept], self.count[kept])


def _combinations(
    group: Ints, cells: Sequence[npt.NDArray[np.integer[Any]]], count: Ints | None
) -> tuple[Ints, Codes, Ints] | None:
    """Return the combinations of a group and cells that occur, in order, and how often each does.

    Their groups come first, then a line for each column of cells. They are sorted as numbers that
    say all there is; None where these would be too large.
    """
    if count is not None and count.min(initial=0) < 0:
        return None
    parts = [group, *cells, np.zeros(1, np.int64) if count is None else count]
    bits = [int(part.max(initial=0)).bit_length() for part in parts]
    if sum(bits) > _BITS:
        return None
    keys = np.zeros(len(group), np.int64)
    for part, width in zip(parts, bits, strict=True):
        keys <<= width
        keys |= part
    keys.sort()
    combination = keys >> bits[-1]
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(combination[1:], combination[:-1], out=is_first[1:])
    counts = keys  # whose room serves
    if count is None:
        counts.fill(1)
    else:
        counts &= (1 << bits[-1]) - 1
    if not is_first.all():
        begin = np.flatnonzero(is_first)
        combination, counts = combination[begin], np.add.reduceat(counts, begin)
    found = np.empty((len(cells), len(combination)), np.int32)
    for line, width in zip(found[::-1], reversed(bits[1:-1]), strict=True):
        np.bitwise_and(combination, (1 << width) - 1, out=line, casting="unsafe")
        combination >>= width
    return combination, found, counts  # what is left are the groups


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """How likely the people of a group have each sensitive cell: entries in order of groups.

    `weight` is the expected number of the group's people with the cell.
    """

    group: Ints
    cell: Codes
    weight: Reals


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A release as its groups show it; `published` has the distinct cells of each attribute."""

    groups: int
    blocks: tuple[Block, ...]
    held: Mapping[str, Held]
    published: Mapping[str, Published]

    @property
    def known(self) -> tuple[str, ...]:
        """The attributes that an adversary may know of a person."""
        return tuple(name for block in self.blocks for name in block.names)

    def of_one_who_knows(self, names: Container[str]) -> View:
        """Return the view of an adversary who knows no other attributes of people."""
        blocks = []
        for block in self.blocks:
            own = [name for name in block.names if name in names]
            if own:
                blocks.append(block.project(own))
        return replace(self, blocks=tuple(blocks))

    @classmethod
    def of(
        cls,
        release: Release,
        *,
        with_means: bool = False,
        columns: Mapping[str, DistinctColumns] | None = None,
    ) -> View:
        """Return the view of a release; cells that are means of groups only if `with_means`.

        Distinct cells of tables are taken from `columns`, and kept there, if these are given.

        Refuses (ParameterError) layouts that have no such view, and releases without records.
        """
        layout = release.manifest.layout
        if layout not in _TOGETHER:
            raise ParameterError(f"releases of the layout '{layout}' cannot be composed")
        if not with_means and microaggregated(release.manifest):
            raise ParameterError(
                "a release of means of groups cannot be composed: its cells are nobody's values, "
                "and exclude nothing"
            )
        if is_randomised(release.manifest):
            raise ParameterError(
                "a release whose cells were replaced at random cannot be composed: its cells are "
                "not to be read one by one, and exclude nothing"
            )
        if release.manifest.rows == 0:
            raise ParameterError("a release without records cannot be composed")
        reader = _Reader(release, columns)
        blocks = []
        for table, names in _TOGETHER[layout](release):
            cells = [reader.cells(table, name) for name in names]
            group, count = reader.group(table), reader.count(table)
            blocks.append(Block.of(names, group, cells, count))
        held = {
            entry.name: reader.held(entry.name)
            for entry in release.manifest.attributes
            if entry.role in (Role.SENSITIVE, Role.SEMI_SENSITIVE)
        }
        groups = {int(block.group[-1]) + 1 for block in blocks}
        groups |= {int(held[name].group[-1]) + 1 for name in _names(release, Role.SENSITIVE)}
        if len(groups) > 1:
            raise ReleaseDamaged("the tables of the release do not have the same groups")
        return cls(max(groups, default=0), tuple(blocks), held, reader.published)


def columns_of(release: Release) -> Mapping[str, DistinctColumns]:
    """Return the distinct cells of the columns of each table, found when they are asked for."""
    return {name: DistinctColumns(content) for name, content in release.tables.items()}


class _Reader:
    """Reads the tables of one release, every column once."""

    def __init__(self, release: Release, columns: Mapping[str, DistinctColumns] | None) -> None:
        self._release = release
        self._columns = columns
        self.published: dict[str, Published] = {}

    def group(self, table: str) -> Ints:
        """Return the group of each row, from 0 on."""
        ids = _numbers(self._release.tables[table]["group"])
        dense = len(ids) and ids.min() == 1 and ids.max() <= len(ids)
        if not dense or not np.bincount(ids)[1:].all():
            raise ReleaseDamaged(f"table '{table}': group ids do not run from 1 without a gap")
        ids -= 1
        return ids

    def count(self, table: str) -> Ints:
        """Return how many records each row stands for."""
        content = self._release.tables[table]
        if "count" not in content.column_names:
            return np.ones(content.num_rows, np.int64)
        counts = _numbers(content["count"])
        if counts.min(initial=1) < 1 or counts.sum() != self._release.manifest.rows:
            raise ReleaseDamaged(f"table '{table}' does not count all records")
        return counts

    def cells(self, table: str, name: str) -> Codes:
        """Return the distinct cell of each row; those in buckets tell nothing of their row."""
        content = self._release.tables[table]
        codes = self._codes(table, name)
        column = name + RESERVED_SUFFIX
        if column in content.column_names:
            told = content[column].is_null().to_numpy()
            codes = np.where(told, codes, np.int32(len(self.published[name].cells) + 1))
        return codes

    def held(self, name: str) -> Held:
        """Return which sensitive cells the people of each group may have."""
        table = next(t.name for t in self._release.manifest.tables if name in t.attributes)
        content = self._release.tables[table]
        group, codes = self.group(table), self._codes(table, name)
        if name + RESERVED_SUFFIX in content.column_names:
            # a person of the group has the values of the bucket that their row is in; who is in
            # none has no secret here
            hidden, bucket = buckets_of(content, name)
            return _through(group[hidden], bucket, codes[hidden])
        count = self.count(table)
        found = _combinations(group, [codes], count)
        if found is None:
            return Held(*summed(group, codes, count.astype(np.float64)))
        group, (codes,), count = found
        return Held(group, codes, count.astype(np.float64))

    def _codes(self, table: str, name: str) -> Codes:
        kept = self._columns
        found = (
            distinct(self._release.tables[table][name], name) if kept is None else kept[table][name]
        )
        entry, hierarchies = self._release.manifest.attribute(name), self._release.hierarchies
        self.published[name] = Published(entry, hierarchies.get(name), found.values)
        return found.codes


def _through(group: Ints, bucket: Ints, cell: Codes) -> Held:
    """Return the cells of groups whose rows each have one cell of their bucket, nobody knows which.

    A bucket's cells are dealt to its rows at random, so each row has each with its share.
    """
    groups, buckets, rows = paired(group, bucket)
    of, cells, count = paired(bucket, cell)
    sizes = np.bincount(bucket)
    start = starts_of(of, len(sizes))
    pair, place = spread(start[buckets], start[buckets + 1])
    weight = rows[pair] * count[place] / sizes[buckets[pair]]
    return Held(*summed(groups[pair], cells[place], weight))


def buckets_of(table: pa.Table, name: str) -> tuple[Bools | slice, Ints]:
    """Return which rows of a table have an attribute's cell in a bucket, and these buckets."""
    ids = table[name + RESERVED_SUFFIX]
    if not ids.null_count:
        return slice(None), _numbers(ids)
    hidden = ids.is_valid()
    return np.asarray(hidden.to_numpy()), _numbers(ids.filter(hidden))


def paired(one: Ints, other: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Codes, Reals]:
    """Return the pairs that occur, in order, and how often each does.

    >>> [each.tolist() for each in paired(np.array([1, 0, 1]), np.array([2, 9, 2]))]
    [[0, 1], [9, 2], [1.0, 2.0]]
    """
    found = None
    if min(one.min(initial=0), other.min(initial=0)) >= 0:
        found = _combinations(one, [other], None)
    if found is None:
        return summed(one, other.astype(np.int32), np.ones(len(one)))
    one, (codes,), counts = found
    return one, codes, counts.astype(np.float64)


def summed(
    one: Ints, other: npt.NDArray[Width], weight: Reals
) -> tuple[Ints, npt.NDArray[Width], Reals]:
    """Return the pairs that occur, in order, with their summed weights."""
    order = sorted_by([one, other])
    one, other = one[order], other[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (one[1:] != one[:-1]) | (other[1:] != other[:-1])
    at = np.cumsum(begins) - 1
    sums = np.bincount(at, weight[order])
    return one[begins], other[begins], np.asarray(sums, np.float64)


def _numbers(column: pa.ChunkedArray) -> Ints:
    return np.array(one_array(column).to_numpy(zero_copy_only=False), np.int64)


def _names(release: Release, *roles: Role) -> list[str]:
    return [entry.name for entry in release.manifest.attributes if entry.role in roles]


def _in_records(release: Release) -> list[tuple[str, list[str]]]:
    known = _names(release, *KNOWN)
    return [("records", known)] if known else []


def _in_tables(release: Release) -> list[tuple[str, list[str]]]:
    known = _names(release, Role.QUASI_IDENTIFIER)
    tables = ((table.name, list(table.attributes)) for table in release.manifest.tables)
    return [(table, names) for table, names in tables if names and set(names) <= set(known)]


def _in_columns(release: Release) -> list[tuple[str, list[str]]]:
    known = _names(release, Role.QUASI_IDENTIFIER)
    stated = release.manifest.parameters.get("columns")
    if not isinstance(stated, list) or not all(isinstance(block, list) for block in stated):
        raise ReleaseDamaged("the parameter 'columns' is not a list of blocks of attributes")
    blocks = [[name for name in cast(list[str], block) if name in known] for block in stated]
    if sorted(name for block in blocks for name in block) != sorted(known):
        raise ReleaseDamaged("the blocks do not name each quasi-identifier once")
    return [("records", block) for block in blocks if block]


# Which attributes stay together in a layout: the table, and the names.
_TOGETHER: dict[str, Callable[[Release], list[tuple[str, list[str]]]]] = {
    "generalized": _in_records,
    "anatomized": _in_tables,
    "sliced": _in_columns,
    "local": _in_records,
}
