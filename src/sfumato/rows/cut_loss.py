"""The loss (NCP) that every cut of one attribute would leave, over all attributes, in one pass.

For each block and attribute the pass keeps the span of codes; for attributes that generalise to
sets it keeps the first and last block in which a value occurs. Prefix and suffix scans then give
the loss of both sides of every cut: all cuts cost no more than one.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.ncp import leaves_loss
from sfumato.rows.axes import RANGE, SET, Axes, span_loss
from sfumato.rows.cuts import MOST_BLOCKS

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_NO_CODE = 2**31 - 1


class Spans(NamedTuple):
    """Scratch of one thread: spans by block and attribute; first and last blocks by set value.

    `varied` lists the attributes in which the node's rows differ at all, after their number: the
    others cost nothing on either side of any cut, and deep in the tree they are the most.
    """

    varied: Ints
    low: Codes
    high: Codes
    first: Codes
    final: Codes
    starting: Ints
    ending: Ints
    lone: Ints
    touched: Ints
    set_start: Ints
    left: Reals
    right: Reals
    alone: Reals
    before_low: Codes
    before_high: Codes


@numba.njit(cache=True, nogil=True)
def new_spans(axes: Axes) -> Spans:
    """Return scratch for nodes of a table with these axes."""
    count = len(axes.kind)
    set_start = np.zeros(count, np.int64)
    values = 0
    for axis in range(count):
        set_start[axis] = values
        if axes.kind[axis] == SET:
            values += axes.null[axis] + 1
    return Spans(
        np.zeros(count + 1, np.int64),
        np.empty((MOST_BLOCKS, count), np.int32),
        np.empty((MOST_BLOCKS, count), np.int32),
        np.full(values, -1, np.int32),
        np.empty(values, np.int32),
        np.zeros((count, MOST_BLOCKS), np.int64),
        np.zeros((count, MOST_BLOCKS), np.int64),
        np.zeros((count, MOST_BLOCKS), np.int64),
        np.empty(values, np.int64),
        set_start,
        np.zeros(MOST_BLOCKS, np.float64),
        np.zeros(MOST_BLOCKS, np.float64),
        np.zeros(MOST_BLOCKS, np.float64),
        np.zeros(MOST_BLOCKS, np.int32),
        np.zeros(MOST_BLOCKS, np.int32),
    )


@numba.njit(cache=True, nogil=True)
def find_varied(work: Codes, start: int, end: int, axes: Axes, scratch: Spans) -> None:
    """List in `scratch.varied` the attributes in which the rows differ."""
    count = 0
    for axis in range(len(axes.kind)):
        code = work[start, axis]
        for i in range(start + 1, end):
            if work[i, axis] != code:
                count += 1
                scratch.varied[count] = axis
                break
    scratch.varied[0] = count


@numba.njit(cache=True, nogil=True)
def _gather(
    work: Codes, start: int, end: int, axes: Axes, place: Bytes, blocks: int, scratch: Spans
) -> None:
    """Fill the spans of all blocks; count the set values that start, end, only are in each."""
    varied = scratch.varied[1 : scratch.varied[0] + 1]
    # Out of their tuples: compiled code would count references to them at every step.
    kinds, nulls, set_start = axes.kind, axes.null, scratch.set_start
    lows, highs, first, final = scratch.low, scratch.high, scratch.first, scratch.final
    touched, starting, ending = scratch.touched, scratch.starting, scratch.ending
    lone = scratch.lone
    for block in range(blocks):
        for axis in varied:
            lows[block, axis] = _NO_CODE
            highs[block, axis] = -1
            starting[axis, block] = 0
            ending[axis, block] = 0
            lone[axis, block] = 0
    found = 0
    for i in range(start, end):
        block = int(place[i])
        for axis in varied:
            code = work[i, axis]
            if kinds[axis] == SET:
                if code == nulls[axis]:
                    continue
                value = set_start[axis] + code
                if first[value] < 0:
                    first[value] = block
                    final[value] = block
                    touched[found] = value
                    found += 1
                elif block < first[value]:
                    first[value] = block
                elif block > final[value]:
                    final[value] = block
            else:
                if kinds[axis] == RANGE and code == nulls[axis]:
                    continue
                lows[block, axis] = min(lows[block, axis], code)
                highs[block, axis] = max(highs[block, axis], code)
    for j in range(found):
        value = touched[j]
        axis = len(kinds) - 1
        while set_start[axis] > value or kinds[axis] != SET:
            axis -= 1
        starting[axis, first[value]] += 1
        ending[axis, final[value]] += 1
        if first[value] == final[value]:
            lone[axis, first[value]] += 1
        first[value] = -1


@numba.njit(cache=True, nogil=True)
def cut_losses(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    place: Bytes,
    blocks: int,
    scratch: Spans,
) -> None:
    """Leave in `scratch.left[j]` and `.right[j]` the loss a row on each side of the cut after j.

    `find_varied` has looked at the node before.
    """
    _gather(work, start, end, axes, place, blocks, scratch)
    lows, highs, left, right = scratch.low, scratch.high, scratch.left, scratch.right
    left[:blocks] = 0.0
    right[:blocks] = 0.0
    for axis in scratch.varied[1 : scratch.varied[0] + 1]:
        if axes.kind[axis] == SET:
            size = int(axes.extent[axis])
            values = 0
            for block in range(blocks - 1):
                values += scratch.starting[axis, block]
                left[block] += leaves_loss(values, size)
            values = 0
            for block in range(blocks - 1, 0, -1):
                values += scratch.ending[axis, block]
                right[block - 1] += leaves_loss(values, size)
        else:
            low, high, loss = _NO_CODE, -1, 0.0
            for block in range(blocks - 1):
                if lows[block, axis] < low or highs[block, axis] > high:
                    low = min(low, int(lows[block, axis]))
                    high = max(high, int(highs[block, axis]))
                    loss = span_loss(axes, axis, low, high)
                left[block] += loss
            low, high, loss = _NO_CODE, -1, 0.0
            for block in range(blocks - 1, 0, -1):
                if lows[block, axis] < low or highs[block, axis] > high:
                    low = min(low, int(lows[block, axis]))
                    high = max(high, int(highs[block, axis]))
                    loss = span_loss(axes, axis, low, high)
                right[block - 1] += loss


@numba.njit(cache=True, nogil=True)
def alone_losses(axes: Axes, sizes: Codes, rows: int, blocks: int, scratch: Spans) -> None:
    """Leave in `scratch.alone[j]` the loss of all rows if block j stood alone against the rest.

    From the spans that `cut_losses` has gathered. For attributes that generalise to sets, the
    number of values in a block is an estimate: those that start by then and have not yet ended.
    """
    lows, highs, alone = scratch.low, scratch.high, scratch.alone
    before_low, before_high = scratch.before_low, scratch.before_high
    alone[:blocks] = 0.0
    for axis in scratch.varied[1 : scratch.varied[0] + 1]:
        if axes.kind[axis] == SET:
            size = int(axes.extent[axis])
            total = scratch.starting[axis, :blocks].sum()
            open_values = 0
            for block in range(blocks):
                open_values += scratch.starting[axis, block]
                inside = min(open_values, sizes[block])
                others = total - scratch.lone[axis, block]
                alone[block] += sizes[block] * leaves_loss(inside, size)
                alone[block] += (rows - sizes[block]) * leaves_loss(others, size)
                open_values -= scratch.ending[axis, block]
            continue
        low, high = _NO_CODE, -1
        for block in range(blocks):
            before_low[block], before_high[block] = low, high
            low = min(low, int(lows[block, axis]))
            high = max(high, int(highs[block, axis]))
        low, high = _NO_CODE, -1
        for block in range(blocks - 1, -1, -1):
            inside_loss = span_loss(axes, axis, int(lows[block, axis]), int(highs[block, axis]))
            others_loss = span_loss(
                axes,
                axis,
                min(low, int(before_low[block])),
                max(high, int(before_high[block])),
            )
            alone[block] += sizes[block] * inside_loss + (rows - sizes[block]) * others_loss
            low = min(low, int(lows[block, axis]))
            high = max(high, int(highs[block, axis]))
