"""One node of Mondrian: list the cuts, take the best that the models allow, part the rows.

Functions with a single caller are compiled as part of it (`inline="always"`): Numba optimises a
function anew in each of its callers, so every layer costs compile time.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.models.model import RuleBook
from sfumato.rows.axes import TREE, Axes
from sfumato.rows.cut_loss import (
    MOST_SINGLES,
    Losses,
    cut_losses,
    cut_range,
    gather_spans,
    new_losses,
    node_loss,
)
from sfumato.rows.cuts import Blocks, count_codes, new_blocks, order_blocks
from sfumato.rows.feasible import Known, Sensitive, Tally, is_whole, new_tally, sides_hold
from sfumato.rows.lanes import LANES, swap
from sfumato.rows.span_losses import SpanLosses

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

# A cut chosen for its loss leaves each side at least this share of the rows: peeling a few
# outliers at a time would make the depth, and so the time, grow with the table.
_SMALLEST_SHARE = 1 / 32
_MOST_PENDING = 66  # parts that wait to be split: log2 of the most rows, and two
_LISTED = 128  # rows that are listed at a time when a node is parted
_MORE_CUTS = 16  # further cuts an attribute that are tried when the models forbid the best ones


class Options(NamedTuple):
    """How cuts are chosen; see `mondrian`. `best_cut` goes with `by_loss` only."""

    by_loss: bool
    best_cut: bool
    by_frequency: bool
    relaxed: bool
    minimum: int


class Candidates(NamedTuple):
    """Possible cuts: after block `cut` of `axis`, or (`alone`) that block against the rest."""

    axis: Ints
    cut: Ints
    alone: npt.NDArray[np.bool_]
    loss: npt.NDArray[np.float64]


class Scratch(NamedTuple):
    """All scratch of one thread."""

    blocks: Blocks
    losses: Losses
    tally: Tally
    found: Candidates
    pending: Ints
    astray: Ints


def new_scratch(
    axes: Axes, tables: SpanLosses, layout: Sensitive, units: int, pairs: int
) -> Scratch:
    """Return scratch for one thread; all share the `tables`."""
    most = len(axes.kind) * (2 + MOST_SINGLES)
    return Scratch(
        new_blocks(axes),
        new_losses(axes, tables),
        new_tally(layout, units, pairs),
        Candidates(
            np.empty(most, np.int64),
            np.empty(most, np.int64),
            np.empty(most, np.bool_),
            np.empty(most, np.float64),
        ),
        np.empty((_MOST_PENDING, 2), np.int64),
        np.empty(2 * _LISTED, np.int64),
    )


@numba.njit(inline="always")
def _singles(axes: Axes, axis: int, options: Options, blocks: Blocks) -> int:
    """Return how many blocks are tried alone, the first of them aside.

    Two blocks alone against each other are the cut between them.
    """
    if axes.kind[axis] == TREE and blocks.blocks[axis] > 2 and options.best_cut:
        return int(min(blocks.blocks[axis], MOST_SINGLES))
    return 0


@numba.njit(inline="always")
def _list_cuts(
    work: Codes, start: int, end: int, axes: Axes, options: Options, scratch: Scratch
) -> int:
    """Return the number of candidate cuts of a node, listed in `found`."""
    rows = end - start
    count = 0
    smallest = max(options.minimum, int(rows * _SMALLEST_SHARE))
    most = rows - options.minimum  # rows of a side
    found, losses, blocks = scratch.found, scratch.losses, scratch.blocks
    active = count_codes(work, start, end, blocks)
    slots = int(np.int64(0))  # not a literal, for which twins would be compiled
    for a in range(active):
        axis = int(blocks.active[a])
        number = order_blocks(axes, axis, rows, options.by_frequency, blocks)
        singles = _singles(axes, axis, options, blocks)
        sizes = blocks.sizes[blocks.first[axis] :]
        low, high = cut_range(sizes, number, singles, rows, options.minimum)
        if low <= high:
            losses.cut_on[slots], losses.low[slots], losses.high[slots] = axis, low, high
            slots += 1
    gather_spans(work, start, end if slots else start, axes, active, slots, blocks, losses)
    for slot in range(slots):
        axis = int(losses.cut_on[slot])
        sizes = blocks.sizes[blocks.first[axis] :]
        singles = _singles(axes, axis, options, blocks)
        cut_losses(axes, slot, singles, rows, options.minimum, blocks, losses)
        best, best_loss = -1, np.inf
        middle, middle_gap, middle_left = -1, rows + 1, 0
        left = 0
        for cut in range(blocks.blocks[axis] - 1):
            left += sizes[cut]
            if left < options.minimum or left > most:
                continue
            right = rows - left
            loss = left * losses.left[cut] + right * losses.right[cut]
            if loss < best_loss and left >= smallest and right >= smallest:
                best, best_loss = cut, loss
            if abs(left - right) < middle_gap:
                middle, middle_gap, middle_left = cut, abs(left - right), left
        if not options.best_cut:
            best = -1
        if best >= 0:
            found.axis[count], found.cut[count] = axis, best
            found.alone[count], found.loss[count] = False, best_loss
            count += 1
        if middle >= 0 and middle != best:
            right = rows - middle_left
            found.axis[count], found.cut[count], found.alone[count] = axis, middle, False
            found.loss[count] = (
                middle_left * losses.left[middle] + right * losses.right[middle]
                if options.by_loss
                else -node_loss(axes, axis, blocks)
            )
            count += 1
        for single in range(1, singles):
            left = sizes[single]
            if left < options.minimum or left > most:
                continue
            found.axis[count], found.cut[count], found.alone[count] = axis, single, True
            found.loss[count] = left * losses.alone[single] + (rows - left) * losses.rest[single]
            count += 1
    return count


@loop
def _take_sides(
    work: Codes,
    start: int,
    end: int,
    axis: int,
    cut: int,
    alone: bool,
    blocks: Blocks,
    side: Bytes,
) -> None:
    """Leave in `side` where the rows go in a cut after a block, or of it `alone` from the rest."""
    block_of = blocks.block_of[blocks.first[axis] :]
    for i in range(start, end):
        block = block_of[work[i, axis]]
        side[i] = block != cut if alone else block > cut


@numba.njit(inline="always")
def _search_cut(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook,
    options: Options,
    side: Bytes,
    scratch: Scratch,
    known: Known | None,
) -> int:
    """Part the rows by the allowed cut of least loss among cuts spread over all attributes.

    For nodes whose best cuts the models forbid; return where, or -1 if these are forbidden too.
    """
    rows = end - start
    # not literals, for which twins would be compiled
    best_axis, best_cut, alone = int(np.int64(-1)), int(np.int64(-1)), rows < 0
    best_loss = np.inf
    blocks, losses = scratch.blocks, scratch.losses
    for slot in range(losses.node[1]):
        axis = losses.cut_on[slot]
        cut_losses(axes, slot, int(np.int64(0)), rows, options.minimum, blocks, losses)
        left, step = 0, 1
        for cut in range(blocks.blocks[axis] - 1):
            left += blocks.sizes[blocks.first[axis] + cut]
            right = rows - left
            if left * (_MORE_CUTS + 1) < rows * step and cut < blocks.blocks[axis] - 2:
                continue
            step = left * (_MORE_CUTS + 1) // rows + 1
            if left < options.minimum or right < options.minimum:
                continue
            loss = left * losses.left[cut] + right * losses.right[cut]
            if loss >= best_loss:
                continue
            _take_sides(work, start, end, axis, cut, alone, blocks, side)
            if sides_hold(work, start, end, side, layout, book, scratch.tally, known):
                best_axis, best_cut, best_loss = axis, cut, loss
    if best_axis < 0:
        return -1
    return _part(work, start, end, best_axis, best_cut, alone, options, side, scratch)


@numba.njit(inline="always")
def _tie_cut(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook | None,
    options: Options,
    side: Bytes,
    scratch: Scratch,
    known: Known | None,
) -> bool:
    """Halve the node, parting rows with equal values if need be; False if no model allows it."""
    rows = end - start
    for a in range(scratch.losses.node[0]):
        axis = scratch.blocks.active[a]
        first = scratch.blocks.first[axis]
        middle = 0
        before = 0
        while before + scratch.blocks.sizes[first + middle] <= rows // 2:
            before += scratch.blocks.sizes[first + middle]
            middle += 1
        quota = rows // 2 - before
        for i in range(start, end):
            block = scratch.blocks.block_of[first + work[i, axis]]
            if block == middle:
                side[i] = quota <= 0
                quota -= 1
            else:
                side[i] = block > middle
        if book is None or sides_hold(work, start, end, side, layout, book, scratch.tally, known):
            return True
    return False


@numba.njit(inline="always")
def _part(
    work: Codes,
    start: int,
    end: int,
    axis: int,
    cut: int,
    alone: bool,
    options: Options,
    side: Bytes,
    scratch: Scratch,
) -> int:
    """Part the rows in place, as `_take_sides` would say; return where the second side begins."""
    if options.relaxed:  # the order of rows decides ties
        _take_sides(work, start, end, axis, cut, alone, scratch.blocks, side)
        return part(work, start, end, side)
    return _part_listed(work, start, end, axis, cut, alone, scratch.blocks, scratch.astray)


@loop
def _part_listed(
    work: Codes,
    start: int,
    end: int,
    axis: int,
    cut: int,
    alone: bool,
    blocks: Blocks,
    astray: Ints,
) -> int:
    """Part the rows in place by a cut; return where the second side begins.

    That is known beforehand, so as many rows before it belong behind it as the other way round:
    they are listed, a few at a time, without a branch that nobody could foresee, and change places.
    The order of rows on a side is another one than that of `part`.
    """
    sizes, block_of = blocks.sizes[blocks.first[axis] :], blocks.block_of[blocks.first[axis] :]
    middle = start
    for block in range(cut if alone else 0, cut + 1):
        middle += sizes[block]
    lowest = cut if alone else 0  # blocks of the first side
    left, right = start, middle
    behind = before = 0  # rows of either side that are listed, the first `done` of each moved
    done_behind = done_before = 0
    while left < middle or right < end or done_behind < behind or done_before < before:
        if done_behind == behind:
            done_behind = behind = 0
            stop = min(left + _LISTED, middle)
            for i in range(left, stop):
                block = block_of[work[i, axis]]
                astray[behind] = i
                behind += block < lowest or block > cut
            left = stop
        if done_before == before:
            done_before = before = 0
            stop = min(right + _LISTED, end)
            for i in range(right, stop):
                block = block_of[work[i, axis]]
                astray[_LISTED + before] = i
                before += block >= lowest and block <= cut
            right = stop
        for _ in range(min(behind - done_behind, before - done_before)):
            _swap(work, astray[done_behind], astray[_LISTED + done_before])
            done_behind += 1
            done_before += 1
    return middle


@loop
def part(work: Codes, start: int, end: int, side: Bytes) -> int:
    """Move the rows of side 0 to the front, in place; return where side 1 begins."""
    low, high = start, end - 1
    while low <= high:
        if side[low] == 0:
            low += 1
            continue
        _swap(work, low, high)
        side[low] = side[high]
        high -= 1
    return low


@numba.njit(inline="always")
def _swap(work: Codes, one: int, other: int) -> None:
    """Let two rows change places."""
    columns = work.shape[1]
    whole = columns // LANES * LANES
    for column in range(0, whole, LANES):
        swap(work, one * columns + column, other * columns + column)
    for column in range(whole, columns):
        moved = work[one, column]
        work[one, column] = work[other, column]
        work[other, column] = moved


@numba.njit(inline="always")
def split(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook | None,
    options: Options,
    side: Bytes,
    scratch: Scratch,
    known: Known | None,
) -> int:
    """Part the rows start..end by the best allowed cut; return where, or -1 if none is.

    Without a `book` of rules, sizes alone matter.
    """
    rows = end - start
    if rows < 2 * options.minimum:
        return -1
    if book is not None and is_whole(work, start, end, layout, book, scratch.tally):
        return -1
    found = scratch.found
    count = _list_cuts(work, start, end, axes, options, scratch)
    for _ in range(count):
        chosen = 0
        for j in range(1, count):
            if found.loss[j] < found.loss[chosen]:
                chosen = j
        found.loss[chosen] = np.inf
        axis, cut, alone = found.axis[chosen], found.cut[chosen], found.alone[chosen]
        if book is not None:
            _take_sides(work, start, end, axis, cut, alone, scratch.blocks, side)
        if book is None or sides_hold(work, start, end, side, layout, book, scratch.tally, known):
            return _part(work, start, end, axis, cut, alone, options, side, scratch)
    # the book first, so that without rules nothing of them is compiled
    if book is not None and options.best_cut:
        middle = _search_cut(work, start, end, axes, layout, book, options, side, scratch, known)
        if middle >= 0:
            return middle
    if options.relaxed and _tie_cut(
        work, start, end, axes, layout, book, options, side, scratch, known
    ):
        return part(work, start, end, side)
    return -1


@loop
def divide(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook | None,
    options: Options,
    side: Bytes,
    begins: npt.NDArray[np.bool_],
    scratch: Scratch,
    known: Known | None,
    once: bool,
) -> int:
    """Split start..end as far as it goes; mark in `begins` the row where each group begins.

    With `once`, only split once; return where, or -1 if nowhere.
    """
    pending = scratch.pending
    pending[0, 0], pending[0, 1] = start, end
    height = 1
    middle = -1
    while height > 0:
        height -= 1
        first, last = int(pending[height, 0]), int(pending[height, 1])
        middle = split(work, first, last, axes, layout, book, options, side, scratch, known)
        if once:
            break
        if middle < 0:
            begins[first] = True
        else:
            # the larger part waits longer, so never more than log2(rows) parts wait
            left = height if middle - first > last - middle else height + 1
            right = 2 * height + 1 - left
            pending[left, 0], pending[left, 1] = first, middle
            pending[right, 0], pending[right, 1] = middle, last
            height += 2
    return middle
