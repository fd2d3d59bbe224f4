"""Which groups people may be in, and how many records of each fit what is known of them.

A group of n records shows some combinations of cells of every block. If c of the records have a
combination of the block that covers all that the block says of the person, then c/n of the group
fit as far as the block can tell; blocks are shuffled on their own, so n times the product over all
blocks is the number of records that are expected to fit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.attacks.fit_kernels import fill_fits, list_rows, mark_rows, scratch
from sfumato.attacks.reach import MISSING, Reach, covers
from sfumato.attacks.view import Block
from sfumato.errors import ParameterError
from sfumato.table.groups import packed, starts_of
from sfumato.table.sorting import sorted_by

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Cells = npt.NDArray[np.signedinteger[Any]]

_SHORT = 1 << 15  # cells that are told apart by 16 bits
_BYTES = 1 << 30  # of what is known of people, at a time: it is made anew for each part of them
_LISTED = 32  # combinations of which one at most is to fit, for those that do to be listed
_ENTRIES = 1 << 22  # of fits, at a time


@dataclass(frozen=True, eq=False)
class Fits:
    """The groups of some people: those of person i are from `start[i]` to before `start[i + 1]`,
    ascending; `weight` is the expected number of the group's records that fit the person."""

    start: Ints
    group: Ints
    weight: Reals

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.start) - 1

    @cached_property
    def person(self) -> Ints:
        """Whose each fit is."""
        return np.repeat(np.arange(self.people), np.diff(self.start))

    @cached_property
    def total(self) -> Reals:
        """The expected number of records that fit each person."""
        found = np.bincount(self.person, self.weight, minlength=self.people)
        return np.asarray(found, np.float64)

    @cached_property
    def by_group(self) -> tuple[Ints, Ints, Reals]:
        """People, groups and weights in the order of groups, and of people within one.

        Who goes through groups that hold much more than people do fetches each once this way; the
        groups of a person ascend all the same, so that sums over them do not change.
        """
        order = sorted_by([self.group])
        return self.person[order], self.group[order], self.weight[order]

    def of(self, people: Ints) -> Fits:
        """Return the fits of some of the people, in this order; they may be repeated."""
        sizes = np.diff(self.start)[people]
        start = np.concatenate(([0], np.cumsum(sizes)))
        place = np.arange(start[-1]) + np.repeat(self.start[people] - start[:-1], sizes)
        return Fits(start, self.group[place], self.weight[place])


def joined(parts: Sequence[Fits]) -> Fits:
    """Return the fits of the people of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.concatenate([np.diff(part.start) for part in parts])
    return Fits(
        np.concatenate(([0], np.cumsum(sizes))),
        np.concatenate([part.group for part in parts]),
        np.concatenate([part.weight for part in parts]),
    )


def kinds_of(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return a person of each kind, and the kind of each person: one kind agrees in all columns."""
    keys = packed([column - column.min(initial=MISSING) for column in columns])
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    return first, kind


class Fitter:
    """Finds the groups that people may be in, among the blocks of a view.

    Refuses (ParameterError) a view without blocks: who knows nothing of people can find nobody.
    """

    def __init__(self, blocks: Sequence[Block], groups: int, reaches: Mapping[str, Reach]) -> None:
        if not blocks:
            raise ParameterError("the release tells no attribute that an adversary could know")
        # the block with the most combinations first: it leaves the fewest groups
        self._blocks = sorted(blocks, key=lambda block: -len(block.group))
        self.groups = groups
        self._reaches = reaches
        self.names = tuple(name for block in self._blocks for name in block.names)
        first = self._blocks[0]
        self.size = np.bincount(first.group, first.count, minlength=groups).astype(np.int64)
        self._rows = np.cumsum([0, *(len(block.group) for block in self._blocks)])
        self._attributes = np.cumsum([0, *(len(block.names) for block in self._blocks)])
        self._count = np.concatenate([block.count for block in self._blocks], dtype=np.int32)
        self._group = np.ascontiguousarray(first.group)
        self._width = (len(first.group) + 63) // 64  # words of an attribute for a value
        self._starts = np.stack([starts_of(block.group, groups) for block in self._blocks])
        most = max(reaches[name].count for name in self.names)
        # numbers that are as short as they can be lie on fewer pages of memory
        self._cells: Cells = np.empty(
            sum(block.cells.size for block in self._blocks),
            np.int16 if most <= _SHORT else np.int32,
        )
        self._used: list[_Used] = []
        filled = 0
        for block in self._blocks:
            lines = self._cells[filled : filled + block.cells.size].reshape(block.cells.shape)
            for name, cells, own in zip(block.names, block.cells.T, lines.T, strict=True):
                self._used.append(_Used.of(cells, reaches[name], own))
            filled += block.cells.size

    def find(self, people: Mapping[str, Ints]) -> Fits:
        """Return the groups of people, whose ranks are given by attribute."""
        return joined(list(self._in_parts(people)))

    def in_parts(self, people: Mapping[str, Ints]) -> Iterator[tuple[slice, Fits]]:
        """Return the groups of people, so many people at a time as fit into memory."""
        at = 0
        for part in self._in_parts(people):
            yield slice(at, at + part.people), part
            at += part.people

    def _in_parts(self, people: Mapping[str, Ints]) -> Iterator[Fits]:
        for columns in self._chunks([people[name] for name in self.names]):
            yield from self._of_chunk(columns)

    def _chunks(self, columns: list[Ints]) -> Iterator[list[Ints]]:
        """Return people, so many at a time as have not too many values: each takes a line of truth
        values, and in the first block one of words."""
        words, in_first = 8 * self._width, self._attributes[1]
        size = sum(
            len(np.unique(ranks)) * (used.reach.count + words * (place < in_first))
            for place, (ranks, used) in enumerate(zip(columns, self._used, strict=True))
        )
        count = len(columns[0])
        if size <= _BYTES or count < 2:
            yield columns
            return
        yield from self._chunks([column[: count // 2] for column in columns])
        yield from self._chunks([column[count // 2 :] for column in columns])

    def _of_chunk(self, columns: Sequence[Ints]) -> Iterator[Fits]:
        known = self._known(columns)
        kinds = len(known.line)
        fixed: Any = (
            *(*known, self._cells, self._attributes, self._rows, self._starts),
            *(self._group, self._count, self.size),
        )
        counts = np.zeros(kinds, np.int64)
        threads = os.cpu_count() or 1
        first, step = 0, kinds
        while first < kinds or first == 0:
            shares = max(1, min(threads, step // 16))
            bounds = np.linspace(first, min(first + step, kinds), shares + 1).astype(int).tolist()
            # any one kind may be in all groups
            room = max(_ENTRIES // shares, self.groups)

            def do(ends: tuple[int, int], room: int = room) -> tuple[int, Ints, Reals]:
                found = np.empty(room, np.int64), np.empty(room, np.float64)
                given: Any = (*ends, *fixed, *scratch(self.groups), counts, *found)
                return int(fill_fits(*given)), *found

            with ThreadPoolExecutor(shares) as pool:
                done = list(pool.map(do, pairwise(bounds)))
            last, groups, weights = first, [], []
            for (begin, end), (reached, group, weight) in zip(pairwise(bounds), done, strict=True):
                filled = int(counts[begin:reached].sum())
                groups.append(group[:filled])
                weights.append(weight[:filled])
                last = reached
                if reached < end:  # what others found after it is found again, with more room
                    step = max((reached - begin) * shares * 3 // 4, 1)
                    break
            start = np.concatenate(([0], np.cumsum(counts[first:last])))
            yield Fits(start, np.concatenate(groups), np.concatenate(weights))
            if last == kinds:
                return
            first = last

    def _known(self, columns: Sequence[Ints]) -> _Known:
        """Return what is known of kinds of people, whose ranks are given by attribute."""
        kinds, in_first = len(columns[0]), int(self._attributes[1])
        values, tables, filled = [], [], 0
        line = np.empty((kinds, len(columns)), np.int64)
        fitting = np.empty_like(line)
        for place, (ranks, used) in enumerate(zip(columns, self._used, strict=True)):
            own, of_kind = np.unique(ranks, return_inverse=True)
            covered = covers(own, used.reach)
            values.append(of_kind)
            tables.append(covered)
            line[:, place] = filled + of_kind * used.reach.count
            fitting[:, place] = (covered @ used.rows)[of_kind]
            filled += covered.size
        at, words, listed = np.empty((kinds, 0), np.int64), np.zeros(0, np.uint64), _List.empty()
        rarest, *others = np.argsort(fitting[:, :in_first].sum(axis=0), kind="stable").tolist()
        if fitting[:, rarest].sum() * _LISTED <= kinds * self._rows[1]:
            other = others[0] if others else rarest
            listed = self._list(rarest, other, tables[rarest], values[rarest])
            fitting[:, [rarest, other]] = -2, -1  # the first, whatever others have
        else:
            words, at = self._mark(tables[:in_first], values[:in_first])
        column = np.empty_like(line)
        for first, last in pairwise(self._attributes):
            order = np.argsort(fitting[:, first:last], axis=1, kind="stable")
            column[:, first:last] = order
            for own in (line, at) if first == 0 and len(words) else (line,):
                own[:, first:last] = np.take_along_axis(own[:, first:last], order, axis=1)
        covered = np.concatenate([table.ravel() for table in tables])
        return _Known(words, at, *listed, covered, line, column)

    @property
    def _first_cells(self) -> Cells:
        width = int(self._attributes[1])
        return self._cells[: width * int(self._rows[1])].reshape(-1, width)

    def _list(self, place: int, other: int, covered: Bools, of_kind: Ints) -> _List:
        """Return the combinations of the first block that fit each kind in one attribute, with
        their cells of another."""
        ends = np.cumsum([0, *(covered @ self._used[place].rows).tolist()])
        rows, cells = np.empty(ends[-1], np.int32), np.empty(ends[-1], self._cells.dtype)
        start, own = _by_cell(covered)
        list_rows(self._first_cells, place, start, own, other, ends[:-1].copy(), rows, cells)
        return _List(rows, cells, ends[of_kind], ends[of_kind + 1])

    def _mark(
        self, tables: Sequence[Bools], values: Sequence[Ints]
    ) -> tuple[npt.NDArray[np.uint64], Ints]:
        """Return the words of the first block, and where those of each kind begin."""
        words = np.zeros((sum(map(len, tables)), self._width), np.uint64)
        at, filled = np.empty((len(values[0]), len(tables)), np.int64), 0
        for place, (covered, of_kind) in enumerate(zip(tables, values, strict=True)):
            lines = words[filled : filled + len(covered)]
            mark_rows(self._first_cells, place, *_by_cell(covered), lines)
            at[:, place] = (filled + of_kind) * self._width
            filled += len(covered)
        return words.ravel(), at


def _by_cell(covered: Bools) -> tuple[Ints, Ints]:
    """Return from where to where the values are that each cell covers, and these."""
    return np.append(0, np.cumsum(covered.sum(axis=0))), np.nonzero(covered.T)[1]


class _List(NamedTuple):
    """Combinations that fit; see `fit_kernels.py`."""

    rows: Codes
    cells: Cells
    begin: Ints
    end: Ints

    @classmethod
    def empty(cls) -> _List:
        return cls(*np.zeros((2, 0), np.int32), *np.zeros((2, 0), np.int64))


class _Known(NamedTuple):
    """What is known of kinds of people; see `fit_kernels.py`."""

    words: npt.NDArray[np.uint64]
    at: Ints
    listed: Codes
    other: Cells
    begin: Ints
    end: Ints
    covered: Bools
    line: Ints
    column: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Used:
    """What the cells of one attribute reach that some row of a block has, and how many `rows` have
    each of these."""

    reach: Reach
    rows: Ints

    @classmethod
    def of(cls, cells: Ints, reach: Reach, renumbered: Cells) -> _Used:
        """Return the used cells; rows get the numbers of theirs."""
        counts = np.bincount(cells, minlength=reach.count)
        used = np.flatnonzero(counts)
        if len(used) == reach.count:
            renumbered[:] = cells
            return cls(reach, counts)
        place = np.zeros(len(counts), np.int32)
        place[used] = np.arange(len(used))
        renumbered[:] = place[cells]
        return cls(reach.take(used), counts[used])
