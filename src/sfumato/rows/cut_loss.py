"""The loss (NCP) that every cut of a node would leave, over all attributes, in one pass.

Losses count as much as the attribute's weight says.

For each block of each attribute the pass keeps the span of codes of all attributes (`lanes`); for
attributes that generalise to sets it keeps the first and last block in which a value occurs. Where
a node has many rows, blocks of several attributes are kept together, a span for each combination
of them (a cell), and taken apart in the end: a row then widens one span instead of several. Spans
are then united block by block, from the front and from the back, which gives those of both sides of
every cut, and of every block against the rest; and losses are added up attribute by attribute: all
cuts cost no more than one.
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
    mark,
    nothing,
    span_type,
    spread,
    take_in,
    unite,
    words,
)
from sfumato.rows.span_losses import IS_SET, SpanLosses

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Sizes = npt.NDArray[np.signedinteger[Any]]

MOST_SINGLES = 16  # blocks of a hierarchy node that are tried alone against the rest
_CHUNK = 64  # rows whose blocks are kept at a time
# A row's spans wait for those of the row before where both are in one cell. So in nodes of many
# rows the spans of few cells are kept in copies, which rows take in turns.
MANY_ROWS = 256
_FEW_CELLS = 32
_COPIES = 4  # a power of two
_MOST_CELLS = 512  # of a joint of several attributes: more leave the cache
_ROWS_A_CELL = 8  # at least, on average: cells have to be made and taken apart
_NEVER = -2  # no code
_STARTING, _ENDING, _INSIDE, _ONLY = range(4)


class Losses(NamedTuple):
    """Scratch of one thread.

    `cut_on` lists the attributes that may cut the node, by slot; `sets` the active ones that
    generalise to sets; `node` says how many are active, may cut it, and are sets, and of which
    number empty spans are made.

    No cut falls before block `low` or after block `high` of a slot, so that all blocks up to the
    first, and from the second on, share one span: the place of a code (`place_of`) is its block
    counted so, from zero.

    `spans` are by slot and place, those of a slot from `span_start` on. Rows widen the spans of
    cells: slot s is in joint `joint[s]`, where its places are `stride[s]` cells apart (and
    `cell_of` says how far from the first cell the code's own are). The `cells` of a joint are from
    `cell_start` on, and so far `apart` where they are kept in copies (else 0).

    `reach` is by set value: the spans of the places that it occurs in, slot by slot, `marks` the
    first of these as bits; values of attribute a start at `reach_start[a]`, and its copies are
    `reach_apart[a]` values apart (0: there are none). `missing` has the code that is no end of a
    span, by attribute, and then eight that none has; `own` the spans of a few rows, `places` their
    places by slot, `at` their cells in one joint.

    `table_start` and `table` are a `SpanLosses`: those of spans that are looked up.

    `set_values` are numbers of set values by attribute and place: those that start, end, or are
    inside it, or nowhere else; `held` those of the node; `is_tried` says which blocks are tried
    alone; `met` and `total` are the spans and the losses of all sides of the cuts of one slot.
    `left` and `right` are the results by cut, `alone` and `rest` those by single block.
    """

    node: Ints
    cut_on: Ints
    low: Ints
    high: Ints
    sets: Ints
    span_start: Ints
    joint: Ints
    stride: Ints
    cells: Ints
    cell_start: Ints
    apart: Ints
    place_of: Codes
    cell_of: Codes
    reach_start: Ints
    reach_apart: Ints
    missing: Codes
    spans: Spans
    reach: Spans
    marks: Spans
    own: Spans
    places: Codes
    at: Codes
    table_start: Ints
    table: Reals
    set_values: Ints
    held: Ints
    is_tried: npt.NDArray[np.bool_]
    met: Spans
    total: Reals
    left: Reals
    right: Reals
    alone: Reals
    rest: Reals


def new_losses(axes: Axes, tables: SpanLosses) -> Losses:
    """Return scratch for nodes of a table with these axes; `tables` are theirs."""
    attributes = len(axes.kind)
    lanes = LANES * words(attributes)
    is_set = tables.start == IS_SET
    values = np.where(is_set, axes.null, 0)
    reach_apart = np.where(values <= _FEW_CELLS, values, 0)
    reached = values + (_COPIES - 1) * reach_apart
    missing = np.full(lanes + LANES, _NEVER, np.int32)
    ends = (axes.kind == RANGE) | (axes.kind == SET)  # no end of them is a missing value
    missing[:attributes] = np.where(ends & ~is_set, axes.null, _NEVER)
    cut_on, low, high, sets, held = np.zeros((5, attributes), np.int64)
    span_start, joint, stride, cells, cell_start, apart = np.zeros((6, attributes), np.int64)
    left, right, alone, rest = np.zeros((4, MOST_BLOCKS), np.float64)
    number = span_type(max(int(axes.null.max(initial=0)), MOST_BLOCKS))
    most_spans = attributes * (MOST_BLOCKS + max(_MOST_CELLS, _COPIES * _FEW_CELLS))
    codes = int((axes.null + 1).sum())
    most_sides = 2 * (MOST_BLOCKS + MOST_SINGLES)
    spans, reach, own, met = (
        np.empty(rows * 2 * lanes, number)
        for rows in (most_spans, int(reached.sum()), _CHUNK, most_sides)
    )
    return Losses(
        node=np.array([0, 0, 0, nothing(number)]),
        cut_on=cut_on,
        low=low,
        high=high,
        sets=sets,
        span_start=span_start,
        joint=joint,
        stride=stride,
        cells=cells,
        cell_start=cell_start,
        apart=apart,
        place_of=np.zeros(codes, np.int32),
        cell_of=np.zeros(codes, np.int32),
        reach_start=np.cumsum(reached) - reached,
        reach_apart=reach_apart,
        missing=missing,
        spans=spans,
        reach=reach,
        marks=np.empty(int(reached.sum()) * lanes, number),
        own=own,
        places=np.zeros(_CHUNK * lanes, np.int32),
        at=np.zeros(_CHUNK, np.int32),
        table_start=tables.start,
        table=tables.losses,
        set_values=np.zeros((4, attributes, MOST_BLOCKS), np.int64),
        held=held,
        is_tried=np.zeros(MOST_SINGLES, np.bool_),
        met=met,
        total=np.zeros(most_sides, np.float64),
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
    joints, held = _join_slots(end - start, slots, blocks, scratch)
    for j in range(held):
        spans[j] = empty
    sets = 0
    for a in range(active):
        axis = blocks.active[a]
        if scratch.table_start[axis] == IS_SET:
            scratch.sets[sets] = axis
            sets += 1
            _forget_reach(axes, axis, blocks, scratch)
    for chunk in range(start, end, _CHUNK):
        stop = min(chunk + _CHUNK, end)
        for i in range(chunk, stop):
            for lane in range(0, lanes, LANES):
                at = 2 * ((i - chunk) * lanes + lane)
                spread(own, at, work, i * columns + lane, missing, lane)
        for joint in range(joints):
            _widen_spans(work, chunk, stop, joint, slots, first, scratch)
        if sets > 0:
            _leave_places(work, chunk, stop, slots, first, scratch)
        for s in range(sets):
            axis = scratch.sets[s]
            for i in range(chunk, stop):
                if work[i, axis] < axes.null[axis]:
                    copy = (i & _COPIES - 1) * scratch.reach_apart[axis]
                    at = (scratch.reach_start[axis] + copy + work[i, axis]) * lanes
                    for lane in range(0, lanes, LANES):
                        row = (i - chunk) * lanes + lane
                        take_in(reach, 2 * (at + lane), places, row, missing, lanes)
                        mark(marks, at + lane, places, row)
    for joint in range(joints):
        first_copy, apart = scratch.cell_start[joint], scratch.apart[joint]
        for j in range(first_copy + apart, first_copy + _COPIES * apart, SPAN):
            whole = first_copy + (j - first_copy) % apart
            unite(spans, whole, spans, whole, spans, j)
    for slot in range(slots):
        _take_apart(slot, scratch)
    for s in range(sets):
        _unite_reach(axes, scratch.sets[s], blocks, scratch)
    scratch.node[0], scratch.node[1], scratch.node[2] = active, slots, sets


@numba.njit(inline="always")
def _join_slots(rows: int, slots: int, blocks: Blocks, scratch: Losses) -> tuple[int, int]:
    """Put every slot into the first joint with room; return how many these are, and their numbers.

    One joint's cells come after the other's, so that they stay in the cache; then the places of
    slots that share a joint. A slot alone has its places for cells.
    """
    width = 2 * (len(scratch.missing) - LANES)
    most = min(_MOST_CELLS, rows // _ROWS_A_CELL)
    cells, joints = scratch.cells, 0
    for slot in range(slots):
        places = scratch.high[slot] - scratch.low[slot] + 1
        joint = 0
        while joint < joints and cells[joint] * places > most:
            joint += 1
        if joint == joints:
            cells[joint] = 1
            joints += 1
        scratch.joint[slot], scratch.stride[slot] = joint, cells[joint]
        cells[joint] *= places
    held = 0
    for joint in range(joints):
        size = cells[joint] * width
        has_copies = rows >= MANY_ROWS and cells[joint] <= _FEW_CELLS
        scratch.cell_start[joint] = held
        scratch.apart[joint] = size if has_copies else 0
        held += _COPIES * size if has_copies else size
    for slot in range(slots):
        joint = scratch.joint[slot]
        places = scratch.high[slot] - scratch.low[slot] + 1
        scratch.span_start[slot] = scratch.cell_start[joint]
        if places < cells[joint]:
            scratch.span_start[slot] = held
            held += places * width
        _place_codes(slot, scratch.stride[slot] * width, blocks, scratch)
    return joints, held


@numba.njit(inline="always")
def _widen_spans(
    work: Codes, start: int, end: int, joint: int, slots: int, first: Ints, scratch: Losses
) -> None:
    """Let the spans of a joint hold the rows start..end."""
    width = 2 * (len(scratch.missing) - LANES)
    at, own, spans = scratch.at, scratch.own, scratch.spans
    for i in range(end - start):
        at[i] = scratch.cell_start[joint] + (i & _COPIES - 1) * scratch.apart[joint]
    for slot in range(slots):
        if scratch.joint[slot] == joint:
            axis = scratch.cut_on[slot]
            base = first[axis]
            for i in range(end - start):
                # indices that are surely not negative
                code = np.uint64(base + work[np.uint64(start + i), np.uint64(axis)])
                at[np.uint64(i)] += scratch.cell_of[code]
    for lane in range(0, width, SPAN):
        for i in range(end - start):
            cell = at[np.uint64(i)] + lane
            unite(spans, cell, spans, cell, own, i * width + lane)


@numba.njit(inline="always")
def _leave_places(
    work: Codes, start: int, end: int, slots: int, first: Ints, scratch: Losses
) -> None:
    """Leave the places of the rows start..end by slot."""
    lanes = len(scratch.missing) - LANES
    for slot in range(slots):
        axis = scratch.cut_on[slot]
        base = first[axis]
        for i in range(end - start):
            code = np.uint64(base + work[np.uint64(start + i), np.uint64(axis)])
            scratch.places[np.uint64(i * lanes + slot)] = scratch.place_of[code]


@numba.njit(inline="always")
def _take_apart(slot: int, scratch: Losses) -> None:
    """Leave the spans of a slot's places, where its joint has more cells."""
    spans, joint, stride = scratch.spans, scratch.joint[slot], scratch.stride[slot]
    places = scratch.high[slot] - scratch.low[slot] + 1
    if places == scratch.cells[joint]:
        return
    width = 2 * (len(scratch.missing) - LANES)
    cell, last = scratch.cell_start[joint], stride * width
    while cell < scratch.cell_start[joint] + scratch.cells[joint] * width:
        for place in range(places):
            own = scratch.span_start[slot] + place * width
            for j in range(0, last, SPAN):
                whole = own + j % width
                unite(spans, whole, spans, whole, spans, cell + j)
            cell += last


@numba.njit(inline="always")
def _forget_reach(axes: Axes, axis: int, blocks: Blocks, scratch: Losses) -> None:
    """Let the values of a set that occur in the node reach no place."""
    lanes, apart = len(scratch.missing) - LANES, scratch.reach_apart[axis]
    for j in range(blocks.first[axis], blocks.first[axis] + blocks.found[axis]):
        if blocks.touched[j] < axes.null[axis]:
            for copy in range(_COPIES if apart else 1):
                at = scratch.reach_start[axis] + copy * apart + blocks.touched[j]
                for k in range(2 * at * lanes, 2 * (at + 1) * lanes):
                    scratch.reach[k] = scratch.node[3]
                for k in range(at * lanes, (at + 1) * lanes):
                    scratch.marks[k] = 0


@numba.njit(inline="always")
def _unite_reach(axes: Axes, axis: int, blocks: Blocks, scratch: Losses) -> None:
    """Let the first copy of what the values of a set reach hold all copies."""
    lanes, apart = len(scratch.missing) - LANES, scratch.reach_apart[axis]
    reach, marks = scratch.reach, scratch.marks
    for j in range(blocks.first[axis], blocks.first[axis] + blocks.found[axis]):
        if apart > 0 and blocks.touched[j] < axes.null[axis]:
            at = scratch.reach_start[axis] + blocks.touched[j]
            for copy in range(at + apart, at + _COPIES * apart, apart):
                for lane in range(0, 2 * lanes, SPAN):
                    whole = at * 2 * lanes + lane
                    unite(reach, whole, reach, whole, reach, copy * 2 * lanes + lane)
                for lane in range(lanes):
                    marks[at * lanes + lane] |= marks[copy * lanes + lane]


@numba.njit(inline="always")
def _place_codes(slot: int, step: int, blocks: Blocks, scratch: Losses) -> None:
    """Leave the places of the codes of a slot, and their cells in steps of so many numbers."""
    axis, low, high = scratch.cut_on[slot], scratch.low[slot], scratch.high[slot]
    first = blocks.first[axis]
    for j in range(first, first + blocks.found[axis]):
        code = first + blocks.touched[j]
        place = min(max(blocks.block_of[code], low), high) - low
        scratch.place_of[code], scratch.cell_of[code] = place, place * step


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

    In `alone[j]` and `rest[j]`, for 0 < j < `singles`, that of block j and of all other blocks, if
    both have `least` rows or more, of all `rows`.
    """
    low = scratch.low[slot]
    cuts = scratch.high[slot] - low
    if cuts < 1:
        return
    first = blocks.first[scratch.cut_on[slot]]
    if low > 0:  # then no block can be alone: see `cut_range`
        singles = min(singles, 0)
    for block in range(singles):
        size = blocks.sizes[first + block]
        scratch.is_tried[block] = block > 0 and least <= size <= rows - least
    sides = _gather_sides(slot, cuts, singles, scratch)
    _count_set_values(axes, scratch.node[2], slot, cuts + 1, singles, blocks, scratch)
    total = scratch.total
    for side in range(sides):
        total[side] = 0.0
    # attribute by attribute, in one order, so that sums do not depend on which cuts there are
    for a in range(scratch.node[0]):
        axis = blocks.active[a]
        if scratch.table_start[axis] == IS_SET:
            _add_set_losses(axes, axis, cuts, singles, scratch)
        elif scratch.table_start[axis] >= 0:
            _add_looked_up(axes, axis, sides, scratch)
        else:
            _add_span_losses(axes, axis, sides, scratch)
    for cut in range(cuts):
        scratch.left[low + cut], scratch.right[low + cut] = total[cut], total[cuts + cut]
    side = 2 * cuts
    for block in range(singles):
        if scratch.is_tried[block]:
            scratch.alone[block], scratch.rest[block] = total[side], total[side + 1]
            side += 2


@numba.njit(inline="always")
def _gather_sides(slot: int, cuts: int, singles: int, scratch: Losses) -> int:
    """Leave in `met` the spans of all sides; return how many.

    Those before every cut come first, then those after, then each block that is tried alone and
    all others.
    """
    met, spans, start = scratch.met, scratch.spans, scratch.span_start[slot]
    width = 2 * (len(scratch.missing) - LANES)
    sides = 2 * cuts
    for lane in range(0, width, SPAN):
        unite(met, lane, spans, start + lane, spans, start + lane)
        for cut in range(1, cuts):
            at = cut * width + lane
            unite(met, at, met, at - width, spans, start + at)
        last = (2 * cuts - 1) * width + lane
        end = start + cuts * width + lane
        unite(met, last, spans, end, spans, end)
        for back in range(1, cuts):
            at = last - back * width
            unite(met, at, met, at + width, spans, end - back * width)
        sides = 2 * cuts
        for block in range(singles):
            if scratch.is_tried[block]:
                at, own = sides * width + lane, start + block * width + lane
                before = (block - 1) * width + lane
                after = (cuts + block) * width + lane if block < cuts else before
                unite(met, at, spans, own, spans, own)
                unite(met, at + width, met, before, met, after)
                sides += 2
    return sides


@numba.njit(inline="always")
def _add_span_losses(axes: Axes, axis: int, sides: int, scratch: Losses) -> None:
    """Add the losses of an attribute over the spans of all sides."""
    met, total = scratch.met, scratch.total
    width = 2 * (len(scratch.missing) - LANES)
    weight = axes.weight[axis]
    at = axis + axis // LANES * LANES
    last_low, last_high, loss = 0, 0, 0.0  # neighbours are often alike
    for side in range(sides):
        low, high = int(np.int64(~met[at])), int(np.int64(met[at + LANES]))
        if low != last_low or high != last_high:
            last_low, last_high = low, high
            loss = weight * span_loss(axes, axis, low, high)
        total[side] += loss
        at += width


@numba.njit(inline="always")
def _add_looked_up(axes: Axes, axis: int, sides: int, scratch: Losses) -> None:
    """Add the losses of an attribute over the spans of all sides, by its table; no side is empty.

    The span of one without rows would be looked up far outside the table.
    """
    met, total, losses = scratch.met, scratch.total, scratch.table
    width = 2 * (len(scratch.missing) - LANES)
    start, codes = scratch.table_start[axis], axes.null[axis] + 1
    at = axis + axis // LANES * LANES
    for side in range(sides):
        low = np.int64(~met[at])
        high = max(low, np.int64(met[at + LANES]))  # nothing but missing values has no largest
        total[side] += losses[np.uint64(start + low * codes + high)]
        at += width


@numba.njit(inline="always")
def _add_set_losses(axes: Axes, axis: int, cuts: int, singles: int, scratch: Losses) -> None:
    """Add the losses of an attribute over the set values of all sides."""
    total = scratch.total
    values = 0
    for cut in range(cuts):
        values += scratch.set_values[_STARTING, axis, cut]
        total[cut] += _set_loss(axes, axis, values)
    values = 0
    for cut in range(cuts - 1, -1, -1):
        values += scratch.set_values[_ENDING, axis, cut + 1]
        total[cuts + cut] += _set_loss(axes, axis, values)
    side = 2 * cuts
    for block in range(singles):
        if scratch.is_tried[block]:
            total[side] += _set_loss(axes, axis, scratch.set_values[_INSIDE, axis, block])
            others = scratch.held[axis] - scratch.set_values[_ONLY, axis, block]
            total[side + 1] += _set_loss(axes, axis, others)
            side += 2


@numba.njit(inline="always")
def _count_set_values(
    axes: Axes, sets: int, slot: int, count: int, singles: int, blocks: Blocks, scratch: Losses
) -> None:
    """Count the values of sets whose first or last place each is, or which lie in it alone."""
    lanes = len(scratch.missing) - LANES
    lane = slot + slot // LANES * LANES
    for s in range(sets):
        axis = scratch.sets[s]
        starting, ending = scratch.set_values[_STARTING, axis], scratch.set_values[_ENDING, axis]
        inside, only = scratch.set_values[_INSIDE, axis], scratch.set_values[_ONLY, axis]
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
