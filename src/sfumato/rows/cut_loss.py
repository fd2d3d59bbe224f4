"""The loss (NCP) that every cut of one attribute would leave, over all attributes, in one pass.

Losses count as much as the attribute's weight says.

For each block the pass keeps, attribute by attribute, the span of codes; for attributes that
generalise to sets it keeps the first and last block in which a value occurs. Prefix and suffix
scans then give the loss of both sides of every cut, and of every block against the rest: all
cuts cost no more than one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.measures.ncp import leaves_loss
from sfumato.rows.axes import RANGE, SET, Axes, span_loss
from sfumato.rows.cuts import MOST_BLOCKS

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

MOST_SINGLES = 16  # blocks of a hierarchy node that are tried alone against the rest
_NO_CODE = 2**31 - 1


class Losses(NamedTuple):
    """Scratch of one thread.

    `low` and `high` are spans by block, `starting`, `ending`, `inside` and `only` numbers of set
    values by block; `first`, `final` and `members` tell by set value the blocks it occurs in.
    `left` and `right` are the results by cut, `alone` and `rest` those by single block.
    """

    active: Ints
    low: Ints
    high: Ints
    starting: Ints
    ending: Ints
    inside: Ints
    only: Ints
    first: Ints
    final: Ints
    members: Ints
    touched: Ints
    left: Reals
    right: Reals
    alone: Reals
    rest: Reals


def new_losses(axes: Axes) -> Losses:
    """Return scratch for nodes of a table with these axes."""
    codes = int(axes.null.max(initial=0)) + 1
    low, high, starting, ending, inside, only = np.zeros((6, MOST_BLOCKS), np.int64)
    final, members, touched = np.zeros((3, codes), np.int64)
    left, right, alone, rest = np.zeros((4, MOST_BLOCKS), np.float64)
    return Losses(
        active=np.zeros(len(axes.kind), np.int64),
        low=low,
        high=high,
        starting=starting,
        ending=ending,
        inside=inside,
        only=only,
        first=np.full(codes, -1, np.int64),
        final=final,
        members=members,
        touched=touched,
        left=left,
        right=right,
        alone=alone,
        rest=rest,
    )


@loop
def find_active(work: Codes, start: int, end: int, axes: Axes, scratch: Losses) -> int:
    """Return the number of attributes on which the rows differ, listed in `active`."""
    found = 0
    for axis in range(len(axes.kind)):
        value = work[start, axis]
        for i in range(start + 1, end):
            if work[i, axis] != value:
                scratch.active[found] = axis
                found += 1
                break
    return found


@loop
def cut_losses(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    active: int,
    place: Bytes,
    blocks: int,
    singles: int,
    cut_axis: int,
    scratch: Losses,
) -> float:
    """Leave in `left[j]` and `right[j]` the loss a row on each side of the cut after block j.

    In `alone[j]` and `rest[j]`, for 0 < j < `singles`, that of block j and of all other blocks.
    Returns the loss of the whole node on the axis that is cut.
    """
    left, right, alone, rest = scratch.left, scratch.right, scratch.alone, scratch.rest
    for block in range(blocks):
        left[block] = right[block] = alone[block] = rest[block] = 0.0
    own = 0.0
    for a in range(active):
        axis = scratch.active[a]
        if axes.kind[axis] == SET:
            whole = _set_losses(work, start, end, axes, axis, place, blocks, singles, scratch)
        else:
            whole = _span_losses(work, start, end, axes, axis, place, blocks, singles, scratch)
        if axis == cut_axis:
            own = whole
    return own


@loop
def _span_losses(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    axis: int,
    place: Bytes,
    blocks: int,
    singles: int,
    scratch: Losses,
) -> float:
    """Add the losses of an attribute that generalises to ranges or nodes."""
    weight = axes.weight[axis]
    low, high = scratch.low, scratch.high
    left, right = scratch.left, scratch.right
    for block in range(blocks):
        low[block] = _NO_CODE
        high[block] = -1
    missing = axes.null[axis] if axes.kind[axis] == RANGE else -1
    for i in range(start, end):
        code = np.int64(work[i, axis])
        block = place[i]
        low[block] = min(low[block], code)  # a missing value has the highest code of all
        if code > high[block] and code != missing:
            high[block] = code
    # `starting` and `ending` hold the spans of the blocks before each single one
    before_low, before_high = scratch.starting, scratch.ending
    lowest, highest, loss = _NO_CODE, -1, 0.0
    for block in range(blocks - 1):
        if low[block] < lowest or high[block] > highest:
            lowest, highest = min(lowest, low[block]), max(highest, high[block])
            loss = weight * span_loss(axes, axis, lowest, highest)
        left[block] += loss
        before_low[block], before_high[block] = lowest, highest
    lowest, highest, loss = _NO_CODE, -1, 0.0
    for block in range(blocks - 1, 0, -1):
        if block < singles:
            scratch.alone[block] += weight * span_loss(axes, axis, low[block], high[block])
            scratch.rest[block] += weight * span_loss(
                axes,
                axis,
                min(lowest, before_low[block - 1]),
                max(highest, before_high[block - 1]),
            )
        if low[block] < lowest or high[block] > highest:
            lowest, highest = min(lowest, low[block]), max(highest, high[block])
            loss = weight * span_loss(axes, axis, lowest, highest)
        right[block - 1] += loss
    return float(weight * span_loss(axes, axis, min(lowest, low[0]), max(highest, high[0])))


@loop
def _set_losses(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    axis: int,
    place: Bytes,
    blocks: int,
    singles: int,
    scratch: Losses,
) -> float:
    """Add the losses of an attribute that generalises to sets of values."""
    first, final, members = scratch.first, scratch.final, scratch.members
    starting, ending = scratch.starting, scratch.ending
    inside, only = scratch.inside, scratch.only
    for block in range(blocks):
        starting[block] = ending[block] = inside[block] = only[block] = 0
    found = 0
    null = axes.null[axis]
    for i in range(start, end):
        code = np.int64(work[i, axis])
        if code == null:
            continue
        own = np.int64(place[i])
        if first[code] < 0:
            scratch.touched[found] = code
            found += 1
            first[code] = final[code] = own
            members[code] = 0
        elif own < first[code]:
            first[code] = own
        elif own > final[code]:
            final[code] = own
        if own < singles:
            members[code] |= 1 << own
    for j in range(found):
        code = scratch.touched[j]
        starting[first[code]] += 1
        ending[final[code]] += 1
        for block in range(1, singles):
            if members[code] >> block & 1:
                inside[block] += 1
                if first[code] == final[code]:
                    only[block] += 1
        first[code] = -1
    size, weight = int(axes.extent[axis]), axes.weight[axis]
    values = 0
    for block in range(blocks - 1):
        values += starting[block]
        scratch.left[block] += weight * leaves_loss(values, size)
    values = 0
    for block in range(blocks - 1, 0, -1):
        values += ending[block]
        scratch.right[block - 1] += weight * leaves_loss(values, size)
    for block in range(1, singles):
        scratch.alone[block] += weight * leaves_loss(inside[block], size)
        scratch.rest[block] += weight * leaves_loss(found - only[block], size)
    return float(weight * leaves_loss(found, size))
