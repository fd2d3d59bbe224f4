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
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.attacks.fit_kernels import count_fits, fill_fits, mark_rows, scratch
from sfumato.attacks.reach import MISSING, Reach, covers
from sfumato.attacks.view import Block
from sfumato.errors import ParameterError
from sfumato.table.groups import packed

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_BYTES = 1 << 28  # of words of bits, at a time
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

    def of(self, people: Ints) -> Fits:
        """Return the fits of some of the people, in this order; they may be repeated."""
        sizes = np.diff(self.start)[people]
        start = np.concatenate(([0], np.cumsum(sizes)))
        place = np.arange(start[-1]) + np.repeat(self.start[people] - start[:-1], sizes)
        return Fits(start, self.group[place], self.weight[place])


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
        parts = list(self._in_parts(people))
        sizes = np.concatenate([np.diff(part.start) for part in parts])
        return Fits(
            np.concatenate(([0], np.cumsum(sizes))),
            np.concatenate([part.group for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )

    def in_parts(self, people: Mapping[str, Ints]) -> Iterator[tuple[slice, Fits]]:
        """Return the groups of people, so many people at a time as fit into memory."""
        at = 0
        for part in self._in_parts(people):
            yield slice(at, at + part.people), part
            at += part.people

    def _in_parts(self, people: Mapping[str, Ints]) -> Iterator[Fits]:
        columns = [people[name] for name in self.names]
        count = len(columns[0])
        width = sum(len(block.names) * (len(block.group) // 8 + 8) for block in self._blocks)
        step = max(1, _BYTES // width)
        for first in range(0, max(count, 1), step):
            own = [column[first : first + step] for column in columns]
            yield from self._of_chunk(own)

    def _of_chunk(self, columns: Sequence[Ints]) -> Iterator[Fits]:
        words, at = self._words(columns)
        kinds = len(at)
        fixed = (
            *(words, at, self._attributes, self._rows, self._starts),
            *(self._group, self._count, self.size),
        )
        counts = np.zeros(kinds, np.int64)
        self._share_out(count_fits, 0, kinds, fixed, counts)
        ends = np.cumsum(counts)
        first = 0
        while first < kinds or first == 0:
            done = int(ends[first - 1]) if first else 0
            last = max(int(np.searchsorted(ends, done + _ENTRIES, "right")), first + 1)
            last = min(last, kinds)
            total = (int(ends[last - 1]) if last else 0) - done
            group, weight = np.empty(total, np.int64), np.empty(total, np.float64)
            self._share_out(fill_fits, first, last, fixed, ends - done, group, weight)
            start = np.concatenate(([0], ends[first:last] - done))
            yield Fits(start, group, weight)
            if last == kinds:
                return
            first = last

    def _share_out(
        self, work: Any, first: int, last: int, fixed: tuple[Any, ...], *out: Any
    ) -> None:
        """Let threads do the work for equal shares of the kinds."""
        threads = max(1, min(os.cpu_count() or 1, (last - first) // 16))
        bounds = np.linspace(first, last, threads + 1).astype(int).tolist()

        def do(ends: tuple[int, int]) -> None:
            work(*ends, *fixed, *scratch(self.groups), *out)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(do, pairwise(bounds)))

    def _words(self, columns: Sequence[Ints]) -> tuple[npt.NDArray[np.uint64], Ints]:
        """Return the words of all attributes, and where those of each kind begin."""
        at = np.empty((len(columns[0]), len(columns)), np.int64)
        words, filled = [], 0
        widths = np.repeat((np.diff(self._rows) + 63) // 64, np.diff(self._attributes))
        for place, (name, ranks) in enumerate(zip(self.names, columns, strict=True)):
            values, of_kind = np.unique(ranks, return_inverse=True)
            own = np.zeros((len(values), int(widths[place])), np.uint64)
            self._cells[name].mark(values, own)
            at[:, place] = filled + of_kind * own.shape[1]
            filled += own.size
            words.append(own.ravel())
        return np.concatenate(words), at


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The rows of a block by the cell that they have of one attribute."""

    reach: Reach
    start: Ints
    order: Ints

    @classmethod
    def of(cls, cells: Ints, reach: Reach) -> _Cells:
        used, own = np.unique(cells, return_inverse=True)
        start = np.concatenate(([0], np.cumsum(np.bincount(own, minlength=len(used)))))
        return cls(reach.take(used), start, np.argsort(own, kind="stable"))

    def mark(self, ranks: Ints, words: npt.NDArray[np.uint64]) -> None:
        """Set the bits of the rows whose cell covers each of some ascending ranks."""
        mark_rows(covers(ranks, self.reach), self.start, self.order, words)
