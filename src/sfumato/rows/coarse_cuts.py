"""Coarse cuts: the top of Mondrian's tree, planned from counts alone.

The rows of a large table lie on many machines; what is asked of them is how many have each
combination of a few columns. Parts are cut level by level until each is small enough for one
machine to cut it further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.rows.coarse_losses import narrowed, own_cuts
from sfumato.rows.coarse_tree import Cut, CutTree, Roots
from sfumato.rows.shard_conditions import Condition, SatisfiesModel, all_hold
from sfumato.table import Table
from sfumato.table.whole import Joint, codes_of, column_of, counted

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

__all__ = ["Counts", "CutTree", "TableCounts", "plan_cuts"]

# Each side of a coarse cut has at least this share of the rows: shards are to be of like sizes.
_SMALLEST_SHARE = 1 / 4
# Pairs of columns are counted as long as parts are as few as this: what a cut changes in other
# columns counts most at the top. And up to so many combinations of two columns in all parts.
_FEW_PARTS = 4
_MOST_COMBINATIONS = 1 << 20


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

    A part is cut where the loss of its two sides is least, each with a quarter of the rows or more,
    as far as counts of pairs of attributes tell (of single ones, where parts are many); or, where
    no such cut leaves two sides that keep all conditions, at the allowed one of least loss. Where
    sides must be close to the whole table, the cut comes first that leaves them closest. A part
    without any cut stays whole. With `in_order`, the first column that can be cut is, as near the
    middle as can be.

    `apart` are columns whose combinations are set apart before any cut, several in a part; only a
    part of too many rows is cut then.
    """
    tree = CutTree() if not apart else _set_apart(apart, conditions, counts, most_rows)
    next_node = max(tree.tops) + 1
    pending = list(tree.tops)
    # conditions often look at the same columns, which are counted once
    looked_at = list(dict.fromkeys(condition.columns for condition in conditions))
    always = [(name, *own) for name in on for own in [(), *looked_at]]
    while pending and always:
        with_pairs = not in_order and len(pending) <= _FEW_PARTS
        pairs = _pairs(frame, on, len(pending)) if with_pairs else []
        asked: list[tuple[str, ...]] = list(dict.fromkeys([*always, *pairs]))
        found = counts.joints(tree, pending, asked)
        cuts = []
        for node in pending:
            here = {names: _within(joint, node) for names, joint in zip(asked, found, strict=True)}
            if here[on[0],].counts.sum() <= most_rows:
                continue
            ways = [
                way for way in _ways(frame, on, here, in_order) if way.smaller >= max(least_rows, 1)
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


def _ways(
    frame: Table,
    on: Sequence[str],
    here: Mapping[tuple[str, ...], Joint],
    in_order: bool,
) -> Iterator[_Way]:
    """Yield the cuts of a part.

    Even cuts come first. They rank by what they change in the sum of losses, or where columns have
    an order by it, and how uneven they are.
    """
    all_cuts = {name: own_cuts(column_of(frame, name), here[name,]) for name in on}
    for place, (name, cuts) in enumerate(all_cuts.items()):
        if cuts is None:
            continue
        joint, rows = here[name,], int(cuts.left[-1])
        others = [
            (other, pair)
            for beside, other in all_cuts.items()
            if other is not None and (pair := _pair(here, name, beside)) is not None
        ]
        gain = narrowed(cuts, others)
        for cut, left in enumerate(cuts.left[:-1].tolist()):
            smaller = min(left, rows - left)
            is_uneven = float(smaller < _SMALLEST_SHARE * rows)
            merit = (place, -smaller) if in_order else (-float(gain[cut]),)
            goes_right = np.ones(cuts.column.null_code + 1, np.bool_)
            goes_right[joint.codes[0]] = cuts.block_of[joint.codes[0]] > cut
            yield _Way((is_uneven, *merit), smaller, name, goes_right)


def _pairs(frame: Table, on: Sequence[str], parts: int) -> list[tuple[str, str]]:
    """Return the pairs of columns whose joint counts in so many parts are not too many."""
    widths = {name: column_of(frame, name).null_code + 1 for name in on}
    return [
        (one, other)
        for one, other in combinations(on, 2)
        if widths[one] * widths[other] * parts <= _MOST_COMBINATIONS
    ]


def _pair(here: Mapping[tuple[str, ...], Joint], one: str, other: str) -> Joint | None:
    """Return the joint counts of two columns, the first one first, if they were asked for."""
    if (one, other) in here:
        return here[one, other]
    turned = here.get((other, one))
    return None if turned is None else Joint(turned.codes[::-1], turned.counts)


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
