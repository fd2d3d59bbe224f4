"""The loss (NCP) that every cut of a node would leave, over all attributes, in one pass.

Losses count as much as the attribute's weight says.

For each block of each attribute the pass keeps the span of codes of all attributes (`lanes`); for
attributes that generalise to sets it keeps the first and last block in which a value occurs. Prefix
and suffix scans then give the loss of both sides of every cut, and of every block against the rest:
all cuts cost no more than one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.measures.ncp import leaves_loss
from sfumato.rows.axes import RANGE, SET, Axes, span_loss
from sfumato.rows.cuts import MOST_BLOCKS, Blocks
from sfumato.rows.lanes import LANES, SPAN, mark, take_in, unite, words

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

MOST_SINGLES = 16  # blocks of a hierarchy node that are tried alone against the rest
_CHUNK = 64  # rows whose blocks are kept at a time
_NEVER = -2  # no code


class Losses(NamedTuple):
    """Scratch of one thread.

    `cut_on` lists the attributes that may cut the node, by slot; `sets` the active ones that
    generalise to sets; `node` says how many are active, may cut it, and are sets.

    `spans` are by slot and block, those of a slot from `span_start` on; `reach` by set value: the
    spans of the blocks that it occurs in, slot by slot, `marks` the first of these as bits; values
    of attribute a start at `reach_start[a]`. `missing` has the code that is no end of a span, by
    attribute, and then eight that none has; `places` the blocks of a few rows, by slot.

    `starting`, `ending`, `inside` and `only` are numbers of set values by attribute and block,
    `held` those of the node; `run`, `seen`, `before`, `values` and `cost` what a scan has met.
    `left` and `right` are the results by cut, `alone` and `rest` those by single block.
    """

    node: Ints
    cut_on: Ints
    sets: Ints
    span_start: Ints
    reach_start: Ints
    missing: Codes
    spans: Codes
    reach: Codes
    marks: Codes
    places: Codes
    starting: Ints
    ending: Ints
    inside: Ints
    only: Ints
    held: Ints
    run: Codes
    seen: Codes
    before: Codes
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
    cut_on, sets, span_start, held, counted = np.zeros((5, attributes), np.int64)
    left, right, alone, rest = np.zeros((4, MOST_BLOCKS), np.float64)
    return Losses(
        node=np.zeros(3, np.int64),
        cut_on=cut_on,
        sets=sets,
        span_start=span_start,
        reach_start=np.cumsum(values) - values,
        missing=missing,
        spans=np.empty(attributes * MOST_BLOCKS * 2 * lanes, np.int32),
        reach=np.empty(int(values.sum()) * 2 * lanes, np.int32),
        marks=np.empty(int(values.sum()) * lanes, np.int32),
        places=np.zeros(_CHUNK * lanes, np.int32),
        starting=starting,
        ending=ending,
        inside=inside,
        only=only,
        held=held,
        run=np.empty(2 * lanes, np.int32),
        seen=np.empty(2 * lanes, np.int32),
        before=np.empty(MOST_SINGLES * 2 * lanes, np.int32),
        values=counted,
        cost=np.zeros(attributes, np.float64),
        left=left,
        right=right,
        alone=alone,
        rest=rest,
    )


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

    So many are active, and as many `slots` of `cut_on` are filled. Behind the last row there must
    be room for `LANES` codes.
    """
    first, block_of, columns = blocks.first, blocks.block_of, work.shape[1]
    spans, reach, marks, places = scratch.spans, scratch.reach, scratch.marks, scratch.places
    missing, lanes = scratch.missing, len(scratch.missing) - LANES
    held = 0
    for slot in range(slots):  # one after the other, so that they stay in the cache
        scratch.span_start[slot] = held
        held += blocks.blocks[scratch.cut_on[slot]]
    for j in range(held * 2 * lanes):
        spans[j] = -1
    sets = 0
    for a in range(active):
        axis = blocks.active[a]
        if axes.kind[axis] != SET:
            continue
        scratch.sets[sets] = axis
        sets += 1
        for j in range(first[axis], first[axis] + blocks.found[axis]):
            if blocks.touched[j] < axes.null[axis]:
                base = (scratch.reach_start[axis] + blocks.touched[j]) * lanes
                for k in range(2 * base, 2 * (base + lanes)):
                    reach[k] = -1
                for k in range(base, base + lanes):
                    marks[k] = 0
    for chunk in range(start, end, _CHUNK):
        stop = min(chunk + _CHUNK, end)
        for i in range(chunk, stop):
            for slot in range(slots):
                axis = np.uint64(scratch.cut_on[slot])
                block = block_of[np.uint64(first[axis] + work[i, axis])]
                places[np.uint64((i - chunk) * lanes + slot)] = block
                at = (scratch.span_start[slot] + block) * 2 * lanes
                for lane in range(0, lanes, LANES):
                    take_in(spans, at + 2 * lane, work, i * columns + lane, missing, lane)
        for s in range(sets):
            axis = scratch.sets[s]
            for i in range(chunk, stop):
                if work[i, axis] < axes.null[axis]:
                    at = (scratch.reach_start[axis] + work[i, axis]) * lanes
                    for lane in range(0, lanes, LANES):
                        own = (i - chunk) * lanes + lane
                        take_in(reach, 2 * (at + lane), places, own, missing, lanes)
                        mark(marks, at + lane, places, own)
    scratch.node[0], scratch.node[1], scratch.node[2] = active, slots, sets


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
    active, sets = scratch.node[0], scratch.node[2]
    axis = scratch.cut_on[slot]
    count, sizes = blocks.blocks[axis], blocks.first[axis]
    run, spans, before, lanes = (
        scratch.run,
        scratch.spans,
        scratch.before,
        len(scratch.missing) - LANES,
    )
    _count_set_values(axes, sets, slot, count, singles, blocks, scratch)
    _start_scan(active, blocks, scratch)
    side = 0
    for block in range(count - 1):
        side += blocks.sizes[sizes + block]
        at = (scratch.span_start[slot] + block) * 2 * lanes
        for lane in range(0, 2 * lanes, SPAN):
            unite(run, lane, spans, at + lane)
        for s in range(sets):
            scratch.values[scratch.sets[s]] += scratch.starting[scratch.sets[s], block]
        if least <= side <= rows - least:
            scratch.left[block] = _scanned_loss(axes, active, blocks, scratch)
        if block < singles:
            for j in range(2 * lanes):
                before[block * 2 * lanes + j] = run[j]
    _start_scan(active, blocks, scratch)
    side = 0
    for block in range(count - 1, 0, -1):
        own = blocks.sizes[sizes + block]
        at = (scratch.span_start[slot] + block) * 2 * lanes
        if block < singles and least <= own <= rows - least:
            others = (block - 1) * 2 * lanes  # the blocks before, and those after
            for lane in range(0, 2 * lanes, SPAN):
                unite(before, others + lane, run, lane)
            alone = rest = 0.0
            for a in range(active):
                other = blocks.active[a]
                place = other + other // LANES * LANES
                if axes.kind[other] == SET:
                    inside, only = scratch.inside[other, block], scratch.only[other, block]
                    alone += _set_loss(axes, other, inside)
                    rest += _set_loss(axes, other, scratch.held[other] - only)
                else:
                    alone += _span_loss(axes, other, spans, at + place)
                    rest += _span_loss(axes, other, before, others + place)
            scratch.alone[block], scratch.rest[block] = alone, rest
        side += own
        for lane in range(0, 2 * lanes, SPAN):
            unite(run, lane, spans, at + lane)
        for s in range(sets):
            scratch.values[scratch.sets[s]] += scratch.ending[scratch.sets[s], block]
        if least <= side <= rows - least:
            scratch.right[block - 1] = _scanned_loss(axes, active, blocks, scratch)


@loop
def _count_set_values(
    axes: Axes, sets: int, slot: int, count: int, singles: int, blocks: Blocks, scratch: Losses
) -> None:
    """Count the values of sets whose first or last block each is, or which lie in it alone."""
    lanes = len(scratch.missing) - LANES
    lane = slot + slot // LANES * LANES
    for s in range(sets):
        axis = scratch.sets[s]
        starting, ending = scratch.starting[axis], scratch.ending[axis]
        inside, only = scratch.inside[axis], scratch.only[axis]
        for block in range(count):
            starting[block] = ending[block] = inside[block] = only[block] = 0
        held = 0
        for j in range(blocks.first[axis], blocks.first[axis] + blocks.found[axis]):
            if blocks.touched[j] == axes.null[axis]:
                continue
            held += 1
            at = scratch.reach_start[axis] + blocks.touched[j]
            first = scratch.reach[at * 2 * lanes + lane]
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
def _start_scan(active: int, blocks: Blocks, scratch: Losses) -> None:
    """Forget what the last scan has met."""
    for j in range(len(scratch.run)):
        scratch.run[j] = scratch.seen[j] = -1
    for a in range(active):
        scratch.values[blocks.active[a]] = 0
        scratch.cost[blocks.active[a]] = 0.0


@loop
def _scanned_loss(axes: Axes, active: int, blocks: Blocks, scratch: Losses) -> float:
    """Return the loss a row of what the scan has met; spans that have not grown cost as before."""
    run, seen = scratch.run, scratch.seen
    total = 0.0
    for a in range(active):
        axis = blocks.active[a]
        if axes.kind[axis] == SET:
            total += _set_loss(axes, axis, scratch.values[axis])
            continue
        low = axis + axis // LANES * LANES
        high = low + LANES
        if run[low] != seen[low] or run[high] != seen[high]:
            seen[low], seen[high] = run[low], run[high]
            scratch.cost[axis] = _span_loss(axes, axis, run, low)
        total += scratch.cost[axis]
    return total


@loop
def _span_loss(axes: Axes, axis: int, spans: Codes, low: int) -> float:
    """Return the loss of an attribute over one of the spans."""
    low_code, high_code = int(spans[low]), int(spans[low + LANES])
    return float(axes.weight[axis] * span_loss(axes, axis, low_code, high_code))


@loop
def _set_loss(axes: Axes, axis: int, values: int) -> float:
    """Return the loss of a set of so many values."""
    return float(axes.weight[axis] * leaves_loss(values, int(axes.extent[axis])))


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
