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
    """Scratch of one thread: spans by block and attribute; first and last blocks by set value."""

    low: Codes
    high: Codes
    first: Codes
    final: Codes
    starting: Ints
    ending: Ints
    touched: Ints
    set_start: Ints
    left: Reals
    right: Reals


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
        np.empty((MOST_BLOCKS, count), np.int32),
        np.empty((MOST_BLOCKS, count), np.int32),
        np.full(values, -1, np.int32),
        np.empty(values, np.int32),
        np.zeros((count, MOST_BLOCKS), np.int64),
        np.zeros((count, MOST_BLOCKS), np.int64),
        np.empty(values, np.int64),
        set_start,
        np.zeros(MOST_BLOCKS, np.float64),
        np.zeros(MOST_BLOCKS, np.float64),
    )


@numba.njit(cache=True, nogil=True)
def _gather(
    work: Codes, start: int, end: int, axes: Axes, place: Bytes, blocks: int, scratch: Spans
) -> None:
    """Fill the spans of all blocks, and how many set values start and end in each block."""
    count = len(axes.kind)
    for block in range(blocks):
        for axis in range(count):
            scratch.low[block, axis] = _NO_CODE
            scratch.high[block, axis] = -1
            scratch.starting[axis, block] = 0
            scratch.ending[axis, block] = 0
    found = 0
    for i in range(start, end):
        block = int(place[i])
        for axis in range(count):
            code = work[i, axis]
            if axes.kind[axis] == SET:
                if code == axes.null[axis]:
                    continue
                value = scratch.set_start[axis] + code
                if scratch.first[value] < 0:
                    scratch.first[value] = block
                    scratch.final[value] = block
                    scratch.touched[found] = value
                    found += 1
                elif block < scratch.first[value]:
                    scratch.first[value] = block
                elif block > scratch.final[value]:
                    scratch.final[value] = block
            else:
                if axes.kind[axis] == RANGE and code == axes.null[axis]:
                    continue
                scratch.low[block, axis] = min(scratch.low[block, axis], code)
                scratch.high[block, axis] = max(scratch.high[block, axis], code)
    for j in range(found):
        value = scratch.touched[j]
        axis = count - 1
        while scratch.set_start[axis] > value or axes.kind[axis] != SET:
            axis -= 1
        scratch.starting[axis, scratch.first[value]] += 1
        scratch.ending[axis, scratch.final[value]] += 1
        scratch.first[value] = -1


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
    """Leave in `scratch.left[j]` and `.right[j]` the loss a row on each side of the cut after j."""
    _gather(work, start, end, axes, place, blocks, scratch)
    scratch.left[:blocks] = 0.0
    scratch.right[:blocks] = 0.0
    for axis in range(len(axes.kind)):
        if axes.kind[axis] == SET:
            size = int(axes.extent[axis])
            values = 0
            for block in range(blocks - 1):
                values += scratch.starting[axis, block]
                scratch.left[block] += leaves_loss(values, size)
            values = 0
            for block in range(blocks - 1, 0, -1):
                values += scratch.ending[axis, block]
                scratch.right[block - 1] += leaves_loss(values, size)
        else:
            low, high = _NO_CODE, -1
            for block in range(blocks - 1):
                low = min(low, int(scratch.low[block, axis]))
                high = max(high, int(scratch.high[block, axis]))
                scratch.left[block] += span_loss(axes, axis, low, high)
            low, high = _NO_CODE, -1
            for block in range(blocks - 1, 0, -1):
                low = min(low, int(scratch.low[block, axis]))
                high = max(high, int(scratch.high[block, axis]))
                scratch.right[block - 1] += span_loss(axes, axis, low, high)
