"""One node of Mondrian: list the cuts, take the best that the models allow, part the rows."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.ncp import leaves_loss
from sfumato.models.model import RuleBook
from sfumato.rows.axes import SET, TREE, Axes, span_loss
from sfumato.rows.cut_loss import Spans, alone_losses, cut_losses, find_varied, new_spans
from sfumato.rows.cuts import Blocks, find_blocks, new_blocks
from sfumato.rows.feasible import Sensitive, Tally, new_tally, side_holds

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

# A cut chosen for its loss leaves each side at least this share of the rows: peeling a few
# outliers at a time would make the depth, and so the time, grow with the table.
_SMALLEST_SHARE = 1 / 32
_MORE_CUTS = 16  # further cuts an attribute that are tried when the models forbid the best ones


class Options(NamedTuple):
    """How cuts are chosen; see `mondrian`. `best_cut` goes with `by_loss` only."""

    by_loss: bool
    best_cut: bool
    by_frequency: bool
    relaxed: bool
    minimum: int
    size_only: bool


class Scratch(NamedTuple):
    """All scratch of one thread."""

    blocks: Blocks
    spans: Spans
    tally: Tally


@numba.njit(cache=True, nogil=True)
def new_scratch(axes: Axes, layout: Sensitive, units: int, pairs: int) -> Scratch:
    """Return scratch for one thread."""
    most_codes = 0
    for axis in range(len(axes.null)):
        most_codes = max(most_codes, axes.null[axis])
    most_values = 0
    for column in range(layout.columns):
        most_values = max(most_values, layout.null[column])
    return Scratch(new_blocks(most_codes), new_spans(axes), new_tally(most_values, units, pairs))


@numba.njit(cache=True, nogil=True)
def _axis_loss(axes: Axes, axis: int, blocks: int, spans: Spans) -> float:
    """Return the loss of the whole node on one axis, from the spans of its blocks."""
    if axes.kind[axis] == SET:
        return leaves_loss(spans.starting[axis, :blocks].sum(), int(axes.extent[axis]))
    low = spans.low[:blocks, axis].min()
    return span_loss(axes, axis, low, spans.high[:blocks, axis].max())


class Candidates(NamedTuple):
    """Possible cuts: after block `cut` of `axis`, or (`alone`) that block against the rest."""

    axis: Ints
    cut: Ints
    alone: npt.NDArray[np.bool_]
    loss: npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def _any_cut(sizes: Codes, blocks: int, rows: int, minimum: int) -> bool:
    """Return whether some cut, or some block alone, leaves enough rows on both sides."""
    left = 0
    for block in range(blocks):
        left += sizes[block]
        if minimum <= left <= rows - minimum or minimum <= sizes[block] <= rows - minimum:
            return True
    return False


@numba.njit(cache=True, nogil=True)
def _list_cuts(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    options: Options,
    place: Bytes,
    scratch: Scratch,
    found: Candidates,
) -> int:
    """Return the number of candidate cuts of a node, listed in `found`."""
    rows = end - start
    count = 0
    smallest = max(options.minimum, int(rows * _SMALLEST_SHARE))
    find_varied(work, start, end, axes, scratch.spans)
    for axis in scratch.spans.varied[1 : scratch.spans.varied[0] + 1]:
        blocks = find_blocks(
            work, start, end, axes, axis, options.by_frequency, scratch.blocks, place
        )
        sizes = scratch.blocks.sizes
        if blocks == 1 or not _any_cut(sizes, blocks, rows, options.minimum):
            continue
        cut_losses(work, start, end, axes, place, blocks, scratch.spans)
        best, best_loss = -1, np.inf
        middle, middle_gap = -1, rows + 1
        left = 0
        for cut in range(blocks - 1):
            left += sizes[cut]
            right = rows - left
            if left < options.minimum or right < options.minimum:
                continue
            loss = left * scratch.spans.left[cut] + right * scratch.spans.right[cut]
            if loss < best_loss and left >= smallest and right >= smallest:
                best, best_loss = cut, loss
            if abs(left - right) < middle_gap:
                middle, middle_gap = cut, abs(left - right)
        if not options.best_cut:
            best = -1
        if best >= 0:
            found.axis[count], found.cut[count] = axis, best
            found.alone[count], found.loss[count] = False, best_loss
            count += 1
        if middle >= 0 and middle != best:
            left = sizes[: middle + 1].sum()
            loss = (
                left * scratch.spans.left[middle] + (rows - left) * scratch.spans.right[middle]
                if options.by_loss
                else -_axis_loss(axes, axis, blocks, scratch.spans)
            )
            found.axis[count], found.cut[count] = axis, middle
            found.alone[count], found.loss[count] = False, loss
            count += 1
        if axes.kind[axis] != TREE or blocks == 2 or not options.best_cut:
            continue  # two blocks alone against each other are the cut between them
        alone_losses(axes, sizes, rows, blocks, scratch.spans)
        single, single_loss = -1, np.inf
        for block in range(1, blocks):
            fits = options.minimum <= sizes[block] <= rows - options.minimum
            if fits and scratch.spans.alone[block] < single_loss:
                single, single_loss = block, scratch.spans.alone[block]
        if single >= 0:
            found.axis[count], found.cut[count] = axis, single
            found.alone[count], found.loss[count] = True, single_loss
            count += 1
    return count


@numba.njit(cache=True, nogil=True)
def _allowed(
    work: Codes,
    start: int,
    end: int,
    layout: Sensitive,
    book: RuleBook,
    side: Bytes,
    scratch: Scratch,
) -> bool:
    """Return whether both sides satisfy the models."""
    for want in range(2):
        if not side_holds(work, start, end, side, want, layout, book, scratch.tally):
            return False
    return True


@numba.njit(cache=True, nogil=True)
def _search_cut(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook,
    options: Options,
    place: Bytes,
    side: Bytes,
    scratch: Scratch,
) -> bool:
    """Leave in `side` the allowed cut of least loss among cuts spread over all attributes.

    For nodes whose best cuts (just listed) the models forbid; False if these are forbidden too.
    """
    rows = end - start
    best_axis, best_cut, best_loss = -1, -1, np.inf
    for axis in scratch.spans.varied[1 : scratch.spans.varied[0] + 1]:
        blocks = find_blocks(
            work, start, end, axes, axis, options.by_frequency, scratch.blocks, place
        )
        if blocks == 1:
            continue
        cut_losses(work, start, end, axes, place, blocks, scratch.spans)
        left, step = 0, 1
        for cut in range(blocks - 1):
            left += scratch.blocks.sizes[cut]
            right = rows - left
            if left * (_MORE_CUTS + 1) < rows * step and cut < blocks - 2:
                continue
            step = left * (_MORE_CUTS + 1) // rows + 1
            loss = left * scratch.spans.left[cut] + right * scratch.spans.right[cut]
            if left < options.minimum or right < options.minimum or loss >= best_loss:
                continue
            for i in range(start, end):
                side[i] = place[i] > cut
            if _allowed(work, start, end, layout, book, side, scratch):
                best_axis, best_cut, best_loss = axis, cut, loss
    if best_axis < 0:
        return False
    find_blocks(work, start, end, axes, best_axis, options.by_frequency, scratch.blocks, place)
    for i in range(start, end):
        side[i] = place[i] > best_cut
    return True


@numba.njit(cache=True, nogil=True)
def _tie_cut(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook,
    options: Options,
    place: Bytes,
    side: Bytes,
    scratch: Scratch,
) -> bool:
    """Halve the node, parting rows with equal values if need be; False if no model allows it."""
    rows = end - start
    for axis in range(len(axes.kind)):
        blocks = find_blocks(
            work, start, end, axes, axis, options.by_frequency, scratch.blocks, place
        )
        if blocks == 1:
            continue
        middle = 0
        before = 0
        while before + scratch.blocks.sizes[middle] <= rows // 2:
            before += scratch.blocks.sizes[middle]
            middle += 1
        quota = rows // 2 - before
        for i in range(start, end):
            if place[i] == middle:
                side[i] = quota <= 0
                quota -= 1
            else:
                side[i] = place[i] > middle
        if options.size_only or _allowed(work, start, end, layout, book, side, scratch):
            return True
    return False


@numba.njit(cache=True, nogil=True)
def part(work: Codes, start: int, end: int, side: Bytes) -> int:
    """Move the rows of side 0 to the front, in place; return where side 1 begins."""
    low, high = start, end - 1
    while low <= high:
        if side[low] == 0:
            low += 1
            continue
        for column in range(work.shape[1]):
            moved = work[low, column]
            work[low, column] = work[high, column]
            work[high, column] = moved
        side[low] = side[high]
        high -= 1
    return low


@numba.njit(cache=True, nogil=True)
def split(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook,
    options: Options,
    place: Bytes,
    side: Bytes,
    scratch: Scratch,
) -> int:
    """Part the rows start..end by the best allowed cut; return where, or -1 if none is."""
    rows = end - start
    if rows < 2 * options.minimum:
        return -1
    most = len(axes.kind) * 3  # the best cut, the middle one, and a block alone
    found = Candidates(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.bool_),
        np.empty(most, np.float64),
    )
    count = _list_cuts(work, start, end, axes, options, place, scratch, found)
    for _ in range(count):
        chosen = np.argmin(found.loss[:count])
        found.loss[chosen] = np.inf
        axis, cut = found.axis[chosen], found.cut[chosen]
        find_blocks(work, start, end, axes, axis, options.by_frequency, scratch.blocks, place)
        for i in range(start, end):
            side[i] = place[i] != cut if found.alone[chosen] else place[i] > cut
        if options.size_only or _allowed(work, start, end, layout, book, side, scratch):
            return part(work, start, end, side)
    if (
        options.best_cut
        and not options.size_only
        and _search_cut(work, start, end, axes, layout, book, options, place, side, scratch)
    ):
        return part(work, start, end, side)
    if options.relaxed and _tie_cut(
        work, start, end, axes, layout, book, options, place, side, scratch
    ):
        return part(work, start, end, side)
    return -1


@numba.njit(cache=True, nogil=True)
def divide(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    layout: Sensitive,
    book: RuleBook,
    options: Options,
    place: Bytes,
    side: Bytes,
    begins: npt.NDArray[np.bool_],
    scratch: Scratch,
) -> None:
    """Split start..end as far as it goes; mark in `begins` the row where each group begins."""
    pending = [(start, end)]
    while len(pending) > 0:
        first, last = pending.pop()
        middle = split(work, first, last, axes, layout, book, options, place, side, scratch)
        if middle < 0:
            begins[first] = True
        else:
            pending.append((first, middle))
            pending.append((middle, last))
