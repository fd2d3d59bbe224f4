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

from sfumato.attacks.fit_kernels import fill_fits, mark_rows, scratch
from sfumato.attacks.reach import MISSING, Reach, covers
from sfumato.attacks.view import Block
from sfumato.errors import ParameterError
from sfumato.table.groups import packed
from sfumato.table.sorting import sorted_by

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_BYTES = 1 << 30  # of words of bits, at a time: they are made anew for each part of the people
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

    @property
    def total(self) -> Reals:
        """The expected number of records that fit each person."""
        found = np.bincount(self.person, self.weight, minlength=self.people)
        return np.asarray(found, np.float64)

    def by_group(self) -> tuple[Ints, Ints, Reals]:
        """Return people, groups and weights in the order of groups, and of people within one.

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
        # words of 64 combinations that an attribute has for a value
        self._widths = np.repeat((np.diff(self._rows) + 63) // 64, np.diff(self._attributes))
        self._group = np.concatenate([block.group for block in self._blocks])
        self._count = np.concatenate([block.count for block in self._blocks])
        edges = np.arange(groups + 1)
        self._starts = np.stack([np.searchsorted(block.group, edges) for block in self._blocks])
        self._cells = {
            name: _Cells.of(block.cells[:, column], reaches[name])
            for block in self._blocks
            for column, name in enumerate(block.names)
        }

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
        """Return people, so many at a time as have not too many values: each takes a word for 64
        combinations."""
        size = 8 * sum(
            len(np.unique(ranks)) * int(width)
            for ranks, width in zip(columns, self._widths, strict=True)
        )
        count = len(columns[0])
        if size <= _BYTES or count < 2:
            yield columns
            return
        yield from self._chunks([column[: count // 2] for column in columns])
        yield from self._chunks([column[count // 2 :] for column in columns])

    def _of_chunk(self, columns: Sequence[Ints]) -> Iterator[Fits]:
        marked = self._words(columns)
        kinds = len(marked.at)
        fixed: Any = (
            *(*marked, self._attributes, self._rows, self._starts),
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

    def _words(self, columns: Sequence[Ints]) -> _Words:
        """Return the words of all attributes, within a block those of the fewest combinations
        first."""
        at = np.empty((len(columns[0]), len(columns)), np.int64)
        marked = np.empty_like(at)
        values = [np.unique(ranks, return_inverse=True) for ranks in columns]
        sizes = [
            len(own) * int(width) for (own, _), width in zip(values, self._widths, strict=True)
        ]
        words, filled = np.zeros(sum(sizes), np.uint64), 0
        for place, (own, of_kind) in enumerate(values):
            lines = words[filled : filled + sizes[place]].reshape(
                len(own), int(self._widths[place])
            )
            marked[:, place] = self._cells[self.names[place]].mark(own, lines)[of_kind]
            at[:, place] = filled + of_kind * int(self._widths[place])
            filled += sizes[place]
        for first, last in pairwise(self._attributes):
            order = np.argsort(marked[:, first:last], axis=1)
            at[:, first:last] = np.take_along_axis(at[:, first:last], order, axis=1)
        return _Words(words, at, *_some(words, at[:, 0], int(self._widths[0])))


class _Words(NamedTuple):
    """Words of bits; see `fit_kernels.py`."""

    words: npt.NDArray[np.uint64]
    at: Ints
    some: Ints
    some_from: Ints
    some_to: Ints


def _some(words: npt.NDArray[np.uint64], begin: Ints, width: int) -> tuple[Ints, Ints, Ints]:
    """Return the places of words with a bit in lines of so many that begin there, and from where
    to where those of each line are."""
    begins, line = np.unique(begin, return_inverse=True)
    places = [np.flatnonzero(words[at : at + width]) for at in begins.tolist()]
    ends = np.cumsum([0, *map(len, places)])
    return np.concatenate([np.zeros(0, np.int64), *places]), ends[line], ends[line + 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cell that each row of a block has of one attribute, those that some `used` one has, and
    how many `rows` have each of these."""

    cells: Ints
    reach: Reach
    used: Ints
    rows: Ints

    @classmethod
    def of(cls, cells: Ints, reach: Reach) -> _Cells:
        counts = np.bincount(cells, minlength=reach.count)
        used = np.flatnonzero(counts)
        return cls(np.ascontiguousarray(cells), reach, used, counts[used])

    def mark(self, ranks: Ints, words: npt.NDArray[np.uint64]) -> Ints:
        """Set the bits of the rows whose cell covers each of some ascending ranks; return how many
        these are."""
        covered = covers(ranks, self.reach.take(self.used))
        many = np.zeros(self.reach.count + 1, np.int64)
        many[self.used + 1] = covered.sum(axis=0)
        mark_rows(self.cells, np.cumsum(many), np.nonzero(covered.T)[1], words)
        return np.asarray(covered @ self.rows)
