"""The loss (NCP) that every cut of a node would leave, over all attributes, in one pass.

Losses count as much as the attribute's weight says.

For each block of each attribute the pass keeps the span of codes of all attributes (`lanes`); for
attributes that generalise to sets it keeps the first and last block in which a value occurs. Prefix
and suffix scans then give the loss of both sides of every cut, and of every block against the rest:
all cuts cost no more than one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.measures.ncp import leaves_loss
from sfumato.rows.axes import RANGE, SET, Axes, span_loss
from sfumato.rows.cuts import MOST_BLOCKS, Blocks
from sfumato.rows.lanes import (
    LANES,
    SPAN,
    Spans,
    lowest_bit,
    mark,
    nothing,
    span_type,
    spread,
    take_in,
    unite,
    words,
)

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.signedinteger[Any]]

MOST_SINGLES = 16  # blocks of a hierarchy node that are tried alone against the rest
_CHUNK = 64  # rows whose blocks are kept at a time
_NEVER = -2  # no code


class Losses(NamedTuple):
    """Scratch of one thread.

    `cut_on` lists the attributes that may cut the node, by slot; `sets` the active ones that
    generalise to sets, `spanned` the bits of the others, eight attributes a number; `node` says how
    many are active, may cut it, and are sets, and of which number empty spans are made.

    No cut falls before block `low` or after block `high` of a slot, so that all blocks up to the
    first, and from the second on, share one span: the place of a code (`place_of`) is its block
    counted so, from zero.

    `spans` are by slot and place, those of a slot from `span_start` on; `reach` by set value: the
    spans of the places that it occurs in, slot by slot, `marks` the first of these as bits; values
    of attribute a start at `reach_start[a]`. `missing` has the code that is no end of a span, by
    attribute, and then eight that none has; `own` the spans of a few rows, `places` their places
    by slot.

    `starting`, `ending`, `inside` and `only` are numbers of set values by attribute and place,
    `held` those of the node; `run`, `before`, `values` and `cost` what a scan has met.
    `left` and `right` are the results by cut, `alone` and `rest` those by single block.
    """

    node: Ints
    cut_on: Ints
    low: Ints
    high: Ints
    sets: Ints
    spanned: Ints
    span_start: Ints
    place_of: Codes
    reach_start: Ints
    missing: Codes
    spans: Spans
    reach: Spans
    marks: Spans
    own: Spans
    places: Codes
    starting: Ints
    ending: Ints
    inside: Ints
    only: Ints
    held: Ints
    run: Spans
    before: Spans
    values: Ints
    cost: Reals
    left: Reals
    right: Reals
    alone: Reals
    rest: Reals


def new_losses(axes: Axes) -> Losses:
    """Return scratch for nodes of a table with these axes."""
    attributes = len(axes.kind)
    lanes = LANES * words(attributes)
    values = np.where(axes.kind == SET, axes.null, 0)
    missing = np.full(lanes + LANES, _NEVER, np.int32)
    missing[:attributes] = np.where(axes.kind == RANGE, axes.null, _NEVER)
    starting, ending, inside, only = np.zeros((4, attributes, MOST_BLOCKS), np.int64)
    cut_on, low, high, sets, span_start, held, counted = np.zeros((7, attributes), np.int64)
    left, right, alone, rest = np.zeros((4, MOST_BLOCKS), np.float64)
    number = span_type(max(int(axes.null.max(initial=0)), MOST_BLOCKS))
    spans, reach, own, run, before = (
        np.empty(rows * 2 * lanes, number)
        for rows in (attributes * MOST_BLOCKS, int(values.sum()), _CHUNK, 1, MOST_SINGLES)
    )
    return Losses(
        node=np.array([0, 0, 0, nothing(number)]),
        cut_on=cut_on,
        low=low,
        high=high,
        sets=sets,
        spanned=np.zeros(words(attributes), np.int64),
        span_start=span_start,
        place_of=np.zeros(int((axes.null + 1).sum()), np.int32),
        reach_start=np.cumsum(values) - values,
        missing=missing,
        spans=spans,
        reach=reach,
        marks=np.empty(int(values.sum()) * lanes, number),
        own=own,
        places=np.zeros(_CHUNK * lanes, np.int32),
        starting=starting,
        ending=ending,
        inside=inside,
        only=only,
        held=held,
        run=run,
        before=before,
        values=counted,
        cost=np.zeros(attributes, np.float64),
        left=left,
        right=right,
        alone=alone,
        rest=rest,
    )


@loop
def cut_range(sizes: Sizes, count: int, singles: int, rows: int, least: int) -> tuple[int, int]:
    """Return `low` and `high` of an attribute with so many blocks; low > high if it cannot cut.

    It can if some cut has sides of `least` rows or more. So many blocks, the first aside, are tried
    alone.
    """
    low, high = count, 0
    left = 0
    for cut in range(count - 1):
        left += sizes[cut]
        if least <= left <= rows - least:
            low, high = min(low, cut), cut + 1
    for single in range(1, singles):
        if least <= sizes[single] <= rows - least:
            low, high = 0, count - 1
    return low, high


@loop
def gather_spans(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    active: int,
    slots: int,
    blocks: Blocks,
    scratch: Losses,
) -> None:
    """Leave the spans of every block of the attributes that may cut the node.

    So many are active, and as many `slots` are taken. Behind the last row there must be room for
    `LANES` codes.
    """
    first, columns, empty = blocks.first, work.shape[1], scratch.node[3]
    spans, reach, marks, own = scratch.spans, scratch.reach, scratch.marks, scratch.own
    places, missing = scratch.places, scratch.missing
    lanes = len(missing) - LANES
    held = 0
    for slot in range(slots):  # one after the other, so that they stay in the cache
        scratch.span_start[slot] = held
        held += (scratch.high[slot] - scratch.low[slot] + 1) * 2 * lanes
        _place_codes(slot, blocks, scratch)
    for j in range(held):
        spans[j] = empty
    sets = 0
    for word in range(len(scratch.spanned)):
        scratch.spanned[word] = 0
    for a in range(active):
        axis = blocks.active[a]
        if axes.kind[axis] != SET:
            scratch.spanned[axis // LANES] |= 1 << axis % LANES
            continue
        scratch.sets[sets] = axis
        sets += 1
        for j in range(first[axis], first[axis] + blocks.found[axis]):
            if blocks.touched[j] < axes.null[axis]:
                base = (scratch.reach_start[axis] + blocks.touched[j]) * lanes
                for k in range(2 * base, 2 * (base + lanes)):
                    reach[k] = empty
                for k in range(base, base + lanes):
                    marks[k] = 0
    for chunk in range(start, end, _CHUNK):
        stop = min(chunk + _CHUNK, end)
        for i in range(chunk, stop):
            for lane in range(0, lanes, LANES):
                at = 2 * ((i - chunk) * lanes + lane)
                spread(own, at, work, i * columns + lane, missing, lane)
        for slot in range(slots):
            _widen_spans(work, chunk, stop, slot, first[scratch.cut_on[slot]], scratch)
        for s in range(sets):
            axis = scratch.sets[s]
            for i in range(chunk, stop):
                if work[i, axis] < axes.null[axis]:
                    at = (scratch.reach_start[axis] + work[i, axis]) * lanes
                    for lane in range(0, lanes, LANES):
                        row = (i - chunk) * lanes + lane
                        take_in(reach, 2 * (at + lane), places, row, missing, lanes)
                        mark(marks, at + lane, places, row)
    scratch.node[0], scratch.node[1], scratch.node[2] = active, slots, sets


@numba.njit(inline="always")
def _widen_spans(work: Codes, start: int, end: int, slot: int, first: int, scratch: Losses) -> None:
    """Let the spans of a slot hold the rows start..end, and leave the places of these."""
    lanes = len(scratch.missing) - LANES
    axis, at, spans, own = (
        scratch.cut_on[slot],
        scratch.span_start[slot],
        scratch.spans,
        scratch.own,
    )
    for i in range(end - start):
        # indices that are surely not negative
        place = scratch.place_of[np.uint64(first + work[np.uint64(start + i), np.uint64(axis)])]
        scratch.places[np.uint64(i * lanes + slot)] = place
        unite(spans, at + place * 2 * lanes, own, i * 2 * lanes)
    for lane in range(SPAN, 2 * lanes, SPAN):
        for i in range(end - start):
            place = scratch.places[np.uint64(i * lanes + slot)]
            unite(spans, at + place * 2 * lanes + lane, own, i * 2 * lanes + lane)


@numba.njit(inline="always")
def _place_codes(slot: int, blocks: Blocks, scratch: Losses) -> None:
    """Leave the places of the codes of a slot."""
    axis, low, high = scratch.cut_on[slot], scratch.low[slot], scratch.high[slot]
    first = blocks.first[axis]
    for j in range(first, first + blocks.found[axis]):
        code = first + blocks.touched[j]
        scratch.place_of[code] = min(max(blocks.block_of[code], low), high) - low


@loop
def cut_losses(
    axes: Axes,
    slot: int,
    singles: int,
    rows: int,
    least: int,
    blocks: Blocks,
    scratch: Losses,
) -> None:
    """Leave in `left[j]` and `right[j]` the loss a row on each side of the cut after block j.

    In `alone[j]` and `rest[j]`, for 0 < j < `singles`, that of block j and of all other blocks.
    Only sides of `least` rows or more, of all `rows`, are looked at.
    """
    sets = scratch.node[2]
    axis, low = scratch.cut_on[slot], scratch.low[slot]
    count, sizes = scratch.high[slot] - low + 1, blocks.first[axis] + low
    run, before = scratch.run, scratch.before
    lanes = len(scratch.missing) - LANES
    if low > 0:  # then no block can be alone: see `cut_range`
        singles = min(singles, 0)
    _count_set_values(axes, sets, slot, count, singles, blocks, scratch)
    _start_scan(run, scratch.values, scratch.cost, scratch.node[3])
    side = 0
    for block in range(low):
        side += blocks.sizes[blocks.first[axis] + block]
    total = 0.0
    for place in range(count - 1):
        side += blocks.sizes[sizes + place]
        at = scratch.span_start[slot] + place * 2 * lanes
        total = _scan(axes, at, place, scratch.starting, total, blocks, scratch)
        if least <= side <= rows - least:
            scratch.left[low + place] = total
        if place < singles:
            for j in range(2 * lanes):
                before[place * 2 * lanes + j] = run[j]
    _start_scan(run, scratch.values, scratch.cost, scratch.node[3])
    total = 0.0
    for place in range(count - 1, 0, -1):
        at = scratch.span_start[slot] + place * 2 * lanes
        if place < singles:
            own = blocks.sizes[sizes + place]
            if least <= own <= rows - least:
                _single_losses(axes, at, place, blocks, scratch)
        total = _scan(axes, at, place, scratch.ending, total, blocks, scratch)
        if least <= rows - side <= rows - least:
            scratch.right[low + place - 1] = total
        side -= blocks.sizes[sizes + place - 1]


@numba.njit(inline="always")
def _single_losses(axes: Axes, at: int, block: int, blocks: Blocks, scratch: Losses) -> None:
    """Leave the losses of a block, whose spans lie `at`, and of those around it.

    The scan has met the blocks after it.
    """
    before, lanes = scratch.before, len(scratch.missing) - LANES
    others = (block - 1) * 2 * lanes  # the blocks before, and those after
    for lane in range(0, 2 * lanes, SPAN):
        unite(before, others + lane, scratch.run, lane)
    alone = rest = 0.0
    for a in range(scratch.node[0]):
        axis = blocks.active[a]
        place = axis + axis // LANES * LANES
        if axes.kind[axis] == SET:
            inside, only = scratch.inside[axis, block], scratch.only[axis, block]
            alone += _set_loss(axes, axis, inside)
            rest += _set_loss(axes, axis, scratch.held[axis] - only)
        else:
            alone += _span_loss(axes, axis, scratch.spans, at + place)
            rest += _span_loss(axes, axis, before, others + place)
    scratch.alone[block], scratch.rest[block] = alone, rest


@numba.njit(inline="always")
def _count_set_values(
    axes: Axes, sets: int, slot: int, count: int, singles: int, blocks: Blocks, scratch: Losses
) -> None:
    """Count the values of sets whose first or last place each is, or which lie in it alone."""
    lanes = len(scratch.missing) - LANES
    lane = slot + slot // LANES * LANES
    for s in range(sets):
        axis = scratch.sets[s]
        starting, ending = scratch.starting[axis], scratch.ending[axis]
        inside, only = scratch.inside[axis], scratch.only[axis]
        for place in range(count):
            starting[place] = ending[place] = inside[place] = only[place] = 0
        held = 0
        for j in range(blocks.first[axis], blocks.first[axis] + blocks.found[axis]):
            if blocks.touched[j] == axes.null[axis]:
                continue
            held += 1
            at = scratch.reach_start[axis] + blocks.touched[j]
            first = ~scratch.reach[at * 2 * lanes + lane]
            last = scratch.reach[at * 2 * lanes + lane + LANES]
            starting[first] += 1
            ending[last] += 1
            for block in range(1, singles):
                if scratch.marks[at * lanes + slot] >> block & 1:
                    inside[block] += 1
                    if first == last:
                        only[block] += 1
        scratch.held[axis] = held


@loop
def _start_scan(run: Spans, values: Ints, cost: Reals, empty: int) -> None:
    """Forget what the last scan has met."""
    for j in range(len(run)):
        run[j] = empty
    for axis in range(len(values)):
        values[axis] = 0
        cost[axis] = 0.0


@loop
def _scan(
    axes: Axes, at: int, place: int, fresh: Ints, before: float, blocks: Blocks, scratch: Losses
) -> float:
    """Take in the spans that lie `at`, and `fresh` set values; return the loss a row of all met.

    It was `before` until now; what has not grown costs as much as then.
    """
    grew = False
    for word in range(len(scratch.spanned)):
        lane = word * SPAN
        more = unite(scratch.run, lane, scratch.spans, at + lane) & scratch.spanned[word]
        while more != 0:
            axis = lowest_bit(more)
            scratch.cost[word * LANES + axis] = _span_loss(
                axes, word * LANES + axis, scratch.run, lane + axis
            )
            more &= more - 1
            grew = True
    for s in range(scratch.node[2]):
        axis = scratch.sets[s]
        if fresh[axis, place] > 0:
            scratch.values[axis] += fresh[axis, place]
            scratch.cost[axis] = _set_loss(axes, axis, scratch.values[axis])
            grew = True
    if not grew:
        return before
    total = 0.0
    for a in range(scratch.node[0]):
        total += scratch.cost[blocks.active[a]]
    return total


@loop
def _span_loss(axes: Axes, axis: int, spans: Spans, low: int) -> float:
    """Return the loss of an attribute over one of the spans."""
    low_code, high_code = int(np.int64(~spans[low])), int(np.int64(spans[low + LANES]))
    return float(axes.weight[axis] * span_loss(axes, axis, low_code, high_code))


@loop
def _set_loss(axes: Axes, axis: int, values: int) -> float:
    """Return the loss of a set of so many values."""
    return float(axes.weight[axis] * leaves_loss(values, axes.extent[axis]))


@loop
def node_loss(axes: Axes, axis: int, blocks: Blocks) -> float:
    """Return the loss of the whole node on an active attribute."""
    first = blocks.first[axis]
    last = first + blocks.found[axis] - 1
    low, high = blocks.touched[first], blocks.touched[last]
    if high == axes.null[axis] and axes.kind[axis] == RANGE:
        high = blocks.touched[last - 1]
    if axes.kind[axis] == SET:
        return _set_loss(axes, axis, last - first + (high < axes.null[axis]))
    return float(axes.weight[axis] * span_loss(axes, axis, low, high))
