"""Coarse cuts: the top of Mondrian's tree, planned from counts alone.

The rows of a large table lie on many machines; what is asked of them is how many have each
combination of a few columns. Parts are cut level by level until each is small enough for one
machine to cut it further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.rows.axes import RANGE, axes_of
from sfumato.rows.coarse_tree import Cut, CutTree, Roots
from sfumato.rows.cut_loss import cut_losses, gather_spans, new_losses, node_loss
from sfumato.rows.cuts import count_codes, new_blocks, order_blocks
from sfumato.rows.lanes import LANES
from sfumato.rows.shard_conditions import Condition, SatisfiesModel, all_hold
from sfumato.table import Column, Table
from sfumato.table.whole import Joint, codes_of, column_of, counted

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

__all__ = ["Counts", "CutTree", "TableCounts", "plan_cuts"]

# Each side of a coarse cut has at least this share of the rows: shards are to be of like sizes.
_SMALLEST_SHARE = 1 / 4


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
    apart: tuple[str, ...] = (),
    in_order: bool = False,
) -> CutTree:
    """Return cuts into parts of at most so many rows, as far as the conditions allow.

    A part is cut where the loss of its two sides is least, as far as the attribute that is cut
    tells, each with a quarter of the rows or more; or, where no such cut leaves two sides that
    keep all conditions, at the allowed one of least loss. Where sides must be close to the whole
    table, the cut comes first that leaves them closest. A part without any cut stays whole. With
    `in_order`, the first column that can be cut is, as near the middle as can be.

    `apart` are columns whose combinations are set apart before any cut, several in a part; only a
    part of too many rows is cut then.
    """
    tree = CutTree() if not apart else _set_apart(apart, conditions, counts, most_rows)
    next_node = max(tree.tops) + 1
    pending = list(tree.tops)
    # conditions often look at the same columns, which are counted once
    looked_at = list(dict.fromkeys(condition.columns for condition in conditions))
    asked = list(dict.fromkeys((name, *own) for name in on for own in [(), *looked_at]))
    while pending and asked:
        found = counts.joints(tree, pending, asked)
        cuts = []
        for node in pending:
            here = {names: _within(joint, node) for names, joint in zip(asked, found, strict=True)}
            if here[on[0],].counts.sum() <= most_rows:
                continue
            ways = [
                way
                for place, name in enumerate(on)
                for way in _ways(
                    name, column_of(frame, name), here[name,], place if in_order else None
                )
                if way.smaller >= max(least_rows, 1)
            ]
            cut = _best_cut(ways, conditions, here)
            if cut is not None:
                cuts.append(Cut(node, *cut, next_node, next_node + 1))
                next_node += 2
        tree = CutTree((*tree.cuts, *cuts), tree.roots)
        pending = [node for cut in cuts for node in (cut.left, cut.right)]
    return tree


def _set_apart(
    apart: tuple[str, ...], conditions: Sequence[Condition], counts: Counts, most_rows: int
) -> CutTree:
    """Return the combinations in parts, neighbours together until a part has its rows.

    A part is closed only where it keeps all conditions, and so does all that is left.
    """
    others = [tuple(n for n in each.columns if n not in apart) for each in conditions]
    asked = list(dict.fromkeys([(), *others]))
    found = counts.joints(CutTree(), [0], [(*apart, *own) for own in asked])
    joints = {own: _within(joint, 0) for own, joint in zip(asked, found, strict=True)}
    combinations = joints[()]
    held = []
    for condition, own in zip(conditions, others, strict=True):
        joint = joints[own]
        named = dict(zip((*apart, *own), joint.codes, strict=True))
        at = combinations.lines_of(joint.codes[: len(apart)], len(joint.counts))
        held.append((at, Joint(tuple(named[n] for n in condition.columns), joint.counts)))

    nodes = np.ones(len(combinations.counts), np.int64)
    filled, node = 0, 1
    for line, rows in enumerate(combinations.counts.tolist()):
        if filled and filled + rows > most_rows:
            is_left = np.arange(len(nodes)) >= line
            kept = nodes < node
            side = np.where(kept, 2, is_left.astype(np.int64))  # earlier parts are a third
            lines = [(side[at], joint) for at, joint in held]
            if all_hold(conditions, lines, 3)[:2].all():
                node += 1
                nodes[line:] = node
                filled = 0
        filled += rows
    return CutTree((), Roots(apart, combinations, nodes)) if node > 1 else CutTree()


def _within(joint: Joint, node: int) -> Joint:
    """Return the counts in one part."""
    here = joint.codes[0] == node
    return Joint(tuple(codes[here] for codes in joint.codes[1:]), joint.counts[here])


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """A cut that may be taken: how it ranks among others, and who goes where."""

    rank: tuple[float, ...]
    smaller: int  # rows of the smaller side
    name: str
    goes_right: Bools


def _best_cut(
    ways: Sequence[_Way],
    conditions: Sequence[Condition],
    here: Mapping[tuple[str, ...], Joint],
) -> tuple[str, Bools] | None:
    """Return the best cut that leaves two sides which keep all conditions; None if none does."""

    def line(way: _Way, condition: Condition) -> tuple[Ints, Joint]:
        joint = here[way.name, *condition.columns]
        side = way.goes_right[joint.codes[0]].astype(np.int64)
        return side, Joint(joint.codes[1:], joint.counts)

    # Sides that are far from the whole table use up what closeness to it leaves for later cuts.
    close = [each for each in conditions if isinstance(each, SatisfiesModel) and each.is_closeness]

    def rank(way: _Way) -> tuple[float, ...]:
        is_uneven, *merit = way.rank
        far = max((each.farthest(*line(way, each), 2) for each in close), default=0.0)
        return is_uneven, far, *merit

    for way in sorted(ways, key=rank):
        if all(each.holds(*line(way, each), 2).all() for each in conditions):
            return way.name, way.goes_right
    return None


def _ways(name: str, column: Column, joint: Joint, place_in_order: int | None) -> Iterator[_Way]:
    """Yield the cuts of a part on one column.

    Even cuts come first. They rank by what they change in the sum of losses, or where columns have
    an order by it, and how uneven they are.
    """
    codes, counts = joint.codes[0], joint.counts
    rows = int(counts.sum())
    if len(codes) < 2:
        return
    # the kernels of Mondrian, on one row a value: blocks and losses do not depend on how many
    work = np.zeros((len(codes), LANES), np.int32)
    work[:, 0] = codes
    axes = axes_of((column,))
    held, losses = new_blocks(axes), new_losses(axes)
    active = count_codes(work, 0, len(codes), held)
    blocks = order_blocks(axes, 0, len(codes), False, held)
    place = held.block_of[codes]
    sizes = np.bincount(place, counts, blocks).astype(np.int64)
    if axes.kind[0] != RANGE:  # the commonest first, as Mondrian has them
        order = np.argsort(-sizes, kind="stable")
        rank = np.empty(blocks, np.int64)
        rank[order] = np.arange(blocks)
        place, sizes = rank[place], sizes[order]
    held.block_of[codes], held.sizes[:blocks] = place, sizes
    gather_spans(work, 0, len(codes), axes, active, 1, held, losses)
    cut_losses(axes, 0, 0, rows, 0, held, losses)
    whole = node_loss(axes, 0, held)
    left = np.cumsum(sizes)
    for cut in range(blocks - 1):
        smaller = int(min(left[cut], rows - left[cut]))
        loss = left[cut] * losses.left[cut] + (rows - left[cut]) * losses.right[cut] - rows * whole
        is_uneven = float(smaller < _SMALLEST_SHARE * rows)
        merit: tuple[float, ...] = (is_uneven, float(loss))
        if place_in_order is not None:
            merit = (is_uneven, place_in_order, -smaller)
        goes_right = np.ones(column.null_code + 1, np.bool_)
        goes_right[codes] = place > cut
        yield _Way(merit, smaller, name, goes_right)


@dataclass(frozen=True, slots=True, eq=False)
class TableCounts:
    """The counts of a table in memory."""

    table: Table

    def joints(
        self, tree: CutTree, parts: Sequence[int], asked: Sequence[tuple[str, ...]]
    ) -> Sequence[Joint]:
        """Return for each of `asked` the joint counts of (part, column, ...) in these parts."""
        part = tree.part_of(
            {name: codes_of(self.table, name) for name in tree.columns}, self.table.rows
        )
        here = np.flatnonzero(np.isin(part, parts))
        ones = np.ones(len(here), np.int64)
        return [
            counted((part[here], *(codes_of(self.table, name)[here] for name in names)), ones)
            for names in asked
        ]
