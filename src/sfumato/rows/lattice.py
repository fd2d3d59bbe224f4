"""The lattice of all recodings: one level of each quasi-identifier, the same for all records.

A node is a tuple of rungs, one a ladder. Its loss is the mean NCP of all quasi-identifier cells,
weighted by attribute, with every cell of a withheld record counted as 1. What the levels alone
lose is a sum over attributes and never more than that, so it bounds the loss from below without
counting a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.models import Model
from sfumato.rows.ladders import Ladder
from sfumato.rows.lattice_kernel import group_items, withheld_loss
from sfumato.rows.withhold import GroupJudge, Judged
from sfumato.table import Column, Groups, Table

Node = tuple[int, ...]
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_LARGEST_WORD = 2**62
_MOST_SNAPSHOTS = 256
_JUDGING = 20  # times the work of counting groups: histograms of values are sorted, too
_SNAPSHOT_ITEMS = 8  # all snapshots together hold so many times the combinations of the table


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a node is worth: its loss, infinite if it fails, and how many records it withholds.

    `sinks` says that every more specific node fails, too.
    """

    loss: float
    withheld: int
    sinks: bool = False


@dataclass(slots=True)
class _Snapshots:
    """Groups of nodes that were counted, from which those of coarser nodes are counted faster."""

    nodes: list[Node] = field(default_factory=list)
    items: list[tuple[Ints, Ints]] = field(default_factory=list)

    def best(self, node: Node) -> tuple[Ints, Ints]:
        """Return the smallest snapshot of a node that is at least as specific."""
        below = (np.array(self.nodes) <= node).all(axis=1)
        sizes = np.array([len(rows) for _, rows in self.items])
        return self.items[int(np.argmin(np.where(below, sizes, np.iinfo(np.int64).max)))]

    def add(self, node: Node, items: Ints, rows: Ints) -> None:
        """Keep a snapshot; of too many the largest goes, but never that of the table itself."""
        self.nodes.append(node)
        self.items.append((items, rows))
        sizes = [len(each) for _, each in self.items]
        if len(sizes) > _MOST_SNAPSHOTS or sum(sizes) > (_SNAPSHOT_ITEMS + 1) * sizes[0]:
            largest = 1 + int(np.argmax(sizes[1:]))
            del self.nodes[largest], self.items[largest]


class Lattice:
    """Counts the groups of recodings of a table, and what they withhold and lose.

    `limit` is the most records that may be withheld. *Guarantee*: an outcome of finite loss leaves
    records that satisfy every model, by their own totals.
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[Column],
        ladders: Sequence[Ladder],
        models: Sequence[Model],
        limit: int,
    ) -> None:
        combinations = Groups.of_equal([column.codes for column in columns])
        first = combinations.order[combinations.offsets[:-1]]
        self.shape = tuple(len(ladder.rungs) for ladder in ladders)
        self.evaluations = 0
        self.work = 0  # combinations of codes that were counted
        self._limit = limit
        self._combinations = combinations
        self._codes = np.column_stack([column.codes[first] for column in columns])
        self._judge = GroupJudge(table, combinations, models)
        self._is_plain = table.units is None and not self._judge.of_values
        # where people have several rows, a union of groups that hold may fail
        self._sinks_by_value = limit == 0 and table.units is None
        self._weights = np.array([ladder.weight for ladder in ladders])
        self._cells, self._losses, self._starts = _tables(ladders)
        self._counts = [[rung.count for rung in ladder.rungs] for ladder in ladders]
        self._scale = float(table.rows * self._weights.sum())
        self._least = self._least_losses(columns, ladders)
        self._snapshots = _Snapshots()
        self._snapshots.add(
            (0,) * len(ladders), np.arange(combinations.count), combinations.sizes.copy()
        )

    @property
    def size(self) -> int:
        """The number of nodes."""
        size = 1
        for rungs in self.shape:
            size *= rungs
        return size

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return tuple(rungs - 1 for rungs in self.shape)

    def least(self, node: Node) -> float:
        """Return a loss that the node does not go below: that of its levels."""
        return sum(float(losses[rung]) for losses, rung in zip(self._least, node, strict=True))

    def all_least(self) -> npt.NDArray[np.float64]:
        """Return the same of all nodes, as an array of the lattice's shape."""
        total = np.zeros(self.shape)
        for axis, losses in enumerate(self._least):
            total += losses.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        return total

    def outcome(self, node: Node) -> Outcome:
        """Return what a node is worth."""
        self.evaluations += 1
        starts = self._starts_of(node)
        if not self._is_plain:
            ids, firsts, rows = self._groups(node, starts, *self._snapshots.items[0])
            self.work += _JUDGING * len(ids)
            judged = self._judge.judge(ids, len(firsts), self._limit)
            is_small = judged.small_rows > self._limit
            if judged.rows > self._limit:
                return Outcome(np.inf, judged.rows, is_small or self._sinks_by_value)
            withheld, lost = judged.withheld, judged.rows
        else:
            source = self._snapshots.best(node)
            _, firsts, rows = self._groups(node, starts, *source)
            if len(firsts) * 3 < len(source[1]) * 2:
                self._snapshots.add(node, firsts, rows)
            withheld = rows < self._judge.k
            lost = int(rows[withheld].sum())
            if lost > self._limit:
                return Outcome(np.inf, lost, sinks=True)
        more = withheld_loss(
            self._codes, firsts, rows, self._losses, starts, self._weights, withheld
        )
        return Outcome(self.least(node) + more / self._scale, lost)

    def parted(self, node: Node) -> tuple[Codes, Judged]:
        """Return the group of every row, and which of the groups are withheld."""
        ids, firsts, _ = self._groups(node, self._starts_of(node), *self._snapshots.items[0])
        judged = self._judge.judge(ids, len(firsts), self._limit)
        return ids[self._combinations.ids], judged

    def _starts_of(self, node: Node) -> Ints:
        return np.array([s[rung] for s, rung in zip(self._starts, node, strict=True)])

    def _groups(
        self, node: Node, starts: Ints, items: Ints, rows: Ints
    ) -> tuple[Codes, Ints, Ints]:
        """Return the groups of items: see `group_items`."""
        strides, words, span, word = [], [], 1, 0
        for counts, rung in zip(self._counts, node, strict=True):
            if span * counts[rung] > _LARGEST_WORD:
                span, word = 1, word + 1
            strides.append(span)
            words.append(word)
            span *= counts[rung]
        ids, firsts, sums = group_items(
            self._codes, items, rows, self._cells, starts, np.array(strides), np.array(words)
        )
        self.work += len(items)
        return ids, firsts, sums

    def _least_losses(
        self, columns: Sequence[Column], ladders: Sequence[Ladder]
    ) -> list[npt.NDArray[np.float64]]:
        least = []
        for column, ladder in zip(columns, ladders, strict=True):
            counts = np.bincount(column.codes, minlength=column.null_code + 1)
            sums = [float(counts @ rung.losses) for rung in ladder.rungs]
            least.append(ladder.weight * np.array(sums) / self._scale)
        return least


def _tables(
    ladders: Sequence[Ladder],
) -> tuple[Codes, npt.NDArray[np.float64], list[list[int]]]:
    """Return the cells and losses of all rungs end to end, and where each begins."""
    cells: list[Codes] = []
    losses: list[npt.NDArray[np.float64]] = []
    starts: list[list[int]] = []
    length = 0
    for ladder in ladders:
        starts.append([])
        for rung in ladder.rungs:
            starts[-1].append(length)
            cells.append(rung.cells)
            losses.append(rung.losses)
            length += len(rung.cells)
    return np.concatenate(cells), np.concatenate(losses), starts
