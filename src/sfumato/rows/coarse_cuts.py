"""Coarse cuts: the top of Mondrian's tree, planned from counts alone.

The rows of a large table lie on many machines; what is asked of them is how many have each
combination of a few columns. Parts are cut level by level until each is small enough for one
machine to cut it further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.rows.axes import RANGE, axes_of
from sfumato.rows.cut_loss import cut_losses, find_active, new_losses
from sfumato.rows.cuts import find_blocks, new_blocks
from sfumato.rows.shard_conditions import Condition, all_hold
from sfumato.table import Column, Table
from sfumato.table.whole import Joint, codes_of, counted

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

# Each side of a coarse cut has at least this share of the rows: shards are to be of like sizes.
_SMALLEST_SHARE = 1 / 4


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """One cut: rows of `node` whose code of the column `goes_right` go to `right`, else `left`."""

    node: int
    column: str
    goes_right: Bools = field(repr=False)  # by code, a missing value last
    left: int
    right: int


@dataclass(frozen=True, slots=True, eq=False)
class CutTree:
    """Cuts of a table into parts; a part is a node that is not cut, and 0 is the whole table."""

    cuts: tuple[Cut, ...] = ()

    @property
    def parts(self) -> tuple[int, ...]:
        """The nodes that are parts, ascending."""
        inner = {cut.node for cut in self.cuts}
        nodes = {0, *(node for cut in self.cuts for node in (cut.left, cut.right))}
        return tuple(sorted(nodes - inner))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that cuts look at."""
        return tuple(dict.fromkeys(cut.column for cut in self.cuts))

    def part_of(self, codes: Mapping[str, Codes], rows: int) -> Codes:
        """Return the part of each of so many rows, given the codes of `columns`."""
        found = np.zeros(rows, np.int32)
        cut_at = {cut.node: cut for cut in self.cuts}
        pending = [(0, np.arange(rows))]
        while pending:
            node, here = pending.pop()
            cut = cut_at.get(node)
            if cut is None:
                found[here] = node
                continue
            goes_right = cut.goes_right[codes[cut.column][here]]
            pending += [(cut.left, here[~goes_right]), (cut.right, here[goes_right])]
        return found

    def joined(self, part: int) -> CutTree:
        """Return the tree in which the cut that made a part is not made, nor any below it."""
        (above,) = (cut.node for cut in self.cuts if part in (cut.left, cut.right))
        gone = {above}
        for cut in self.cuts:  # a node is made before it is cut
            if cut.node in gone:
                gone |= {cut.left, cut.right}
        return CutTree(tuple(cut for cut in self.cuts if cut.node not in gone))


class Counts(Protocol):
    """Whoever can count the rows of a table."""

    def joints(
        self, tree: CutTree, parts: Sequence[int], asked: Sequence[tuple[str, ...]]
    ) -> Sequence[Joint]:
        """Return for each of `asked` the joint counts of (part, column, ...) in these parts.

        Names are of columns, or of flags (`flag_name`); the first codes are those of the part.
        """


def plan_cuts(
    frame: Table,
    on: Sequence[str],
    conditions: Sequence[Condition],
    counts: Counts,
    *,
    most_rows: int,
    least_rows: int = 1,
) -> CutTree:
    """Return cuts into parts of at most so many rows, as far as the conditions allow.

    A part is cut where the loss of its two sides is least, as far as the attribute that is cut
    tells, each with a quarter of the rows or more; or, where no such cut leaves two sides that
    keep all conditions, at the allowed one of least loss. A part without one stays whole.
    """
    columns = [frame[name] for name in on]
    tree, next_node = CutTree(), 1
    pending = [0]
    # conditions often look at the same columns, which are counted once
    looked_at = list(dict.fromkeys(condition.columns for condition in conditions))
    asked = list(dict.fromkeys((name, *own) for name in on for own in [(), *looked_at]))
    while pending:
        found = counts.joints(tree, pending, asked)
        cuts = []
        for node in pending:
            here = {names: _within(joint, node) for names, joint in zip(asked, found, strict=True)}
            if not columns or here[on[0],].counts.sum() <= most_rows:
                continue
            cut = _best_cut(columns, conditions, here, least_rows)
            if cut is not None:
                cuts.append(Cut(node, *cut, next_node, next_node + 1))
                next_node += 2
        tree = CutTree((*tree.cuts, *cuts))
        pending = [node for cut in cuts for node in (cut.left, cut.right)]
    return tree


def _within(joint: Joint, node: int) -> Joint:
    """Return the counts in one part."""
    here = joint.codes[0] == node
    return Joint(tuple(codes[here] for codes in joint.codes[1:]), joint.counts[here])


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A cut that may be taken: what it changes in the sum of losses, and who goes where."""

    loss: float
    is_even: bool
    column: Column
    goes_right: Bools


def _best_cut(
    columns: Sequence[Column],
    conditions: Sequence[Condition],
    here: Mapping[tuple[str, ...], Joint],
    least_rows: int,
) -> tuple[str, Bools] | None:
    """Return the best cut that leaves two sides which keep all conditions; None if none does."""
    ways = [way for column in columns for way in _ways(column, here[column.name,], least_rows)]
    for way in sorted(ways, key=lambda way: (not way.is_even, way.loss)):
        name = way.column.name
        lines = []
        for condition in conditions:
            joint = here[name, *condition.columns]
            side = way.goes_right[joint.codes[0]].astype(np.int64)
            lines.append((side, Joint(joint.codes[1:], joint.counts)))
        if all_hold(conditions, lines, 2).all():
            return name, way.goes_right
    return None


def _ways(column: Column, joint: Joint, least_rows: int) -> Iterator[_Way]:
    """Yield the cuts of a part on one column, with what each changes in its sum of losses."""
    codes, counts = joint.codes[0], joint.counts
    rows = int(counts.sum())
    if len(codes) < 2:
        return
    # the kernels of Mondrian, on one row a value: blocks and losses do not depend on how many
    work = codes.astype(np.int32).reshape(-1, 1)
    axes = axes_of((column,))
    place = np.zeros(len(codes), np.uint8)
    blocks = find_blocks(work, 0, len(codes), axes, 0, False, new_blocks(column.null_code), place)
    sizes = np.zeros(blocks, np.int64)
    np.add.at(sizes, place, counts)
    if axes.kind[0] != RANGE:  # the commonest first, as Mondrian has them
        order = np.argsort(-sizes, kind="stable")
        rank = np.empty(blocks, np.uint8)
        rank[order] = np.arange(blocks)
        place, sizes = rank[place], sizes[order]
    losses = new_losses(axes)
    active = find_active(work, 0, len(codes), axes, losses)
    whole = cut_losses(work, 0, len(codes), axes, active, place, blocks, 0, 0, losses)
    left = np.cumsum(sizes)
    for cut in range(blocks - 1):
        smaller = int(min(left[cut], rows - left[cut]))
        if smaller < max(least_rows, 1):
            continue
        loss = left[cut] * losses.left[cut] + (rows - left[cut]) * losses.right[cut] - rows * whole
        goes_right = np.ones(column.null_code + 1, np.bool_)
        goes_right[codes] = place > cut
        yield _Way(float(loss), smaller >= _SMALLEST_SHARE * rows, column, goes_right)


@dataclass(frozen=True, slots=True, eq=False)
class TableCounts:
    """The counts of a table in memory."""

    table: Table

    def joints(
        self, tree: CutTree, parts: Sequence[int], asked: Sequence[tuple[str, ...]]
    ) -> Sequence[Joint]:
        """Return for each of `asked` the joint counts of (part, column, ...) in these parts."""
        part = tree.part_of(
            {name: self.table[name].codes for name in tree.columns}, self.table.rows
        )
        here = np.flatnonzero(np.isin(part, parts))
        ones = np.ones(len(here), np.int64)
        return [
            counted((part[here], *(codes_of(self.table, name)[here] for name in names)), ones)
            for names in asked
        ]
