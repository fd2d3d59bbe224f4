"""How one attribute may cut one node of Mondrian: blocks of values in an order.

A cut sends a prefix of the blocks to the left. Numeric and ordinal values form blocks in their
own order; categories in the order of their frequency in the node (or of their codes); under a
hierarchy the blocks are the children of the node's lowest common ancestor, so that every cut
follows the hierarchy. A missing value is a block of its own. Beyond `MOST_BLOCKS` values,
neighbours share a block: cuts then fall on quantiles.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.rows.axes import RANGE, SET, Axes, common_ancestor

MOST_BLOCKS = 256  # a block's number must fit a byte

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


class Blocks(NamedTuple):
    """Scratch of one thread for finding blocks.

    `counts` and `block_of` are indexed by code, `touched` lists codes that occur; `sizes` and
    `order` by block.
    """

    counts: Codes
    block_of: Codes
    touched: Codes
    sizes: Codes
    order: Codes


@numba.njit(cache=True, nogil=True)
def new_blocks(codes: int) -> Blocks:
    """Return scratch for attributes of at most so many codes."""
    return Blocks(
        np.zeros(codes + 1, np.int32),
        np.zeros(codes + 1, np.int32),
        np.zeros(codes + 1, np.int32),
        np.zeros(codes + 1, np.int32),
        np.zeros(codes + 1, np.int32),
    )


@numba.njit(cache=True, nogil=True)
def _distinct_codes(work: Codes, start: int, end: int, axis: int, scratch: Blocks) -> int:
    """Count the node's codes into the scratch, list those that occur in ascending order."""
    found = 0
    low = work[start, axis]
    high = low
    for i in range(start, end):
        code = work[i, axis]
        if scratch.counts[code] == 0:
            scratch.touched[found] = code
            found += 1
            low = min(low, code)
            high = max(high, code)
        scratch.counts[code] += 1
    if high - low < 4 * found:
        position = 0
        for code in range(low, high + 1):
            if scratch.counts[code] > 0:
                scratch.touched[position] = code
                position += 1
    else:
        scratch.touched[:found] = np.sort(scratch.touched[:found].astype(np.int64))
    return found


@numba.njit(cache=True, nogil=True)
def _tree_blocks(axes: Axes, axis: int, found: int, scratch: Blocks) -> int:
    """Number the children of the lowest common ancestor; `touched` ascends."""
    start = axes.node_start[axis]
    null = axes.null[axis]
    ancestor = common_ancestor(axes, axis, scratch.touched[0], scratch.touched[found - 1])
    block = -1
    reach = -1
    for j in range(found):
        code = scratch.touched[j]
        if code > reach or code == null:
            node = np.int64(code)
            if code != null:
                while axes.parent[start + node] != ancestor:
                    node = axes.parent[start + node]
                reach = axes.last[start + node]
            block += 1
            scratch.sizes[block] = 0
        scratch.block_of[code] = block
        scratch.sizes[block] += scratch.counts[code]
    return block + 1


@numba.njit(cache=True, nogil=True)
def find_blocks(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    axis: int,
    by_frequency: bool,
    scratch: Blocks,
    place: Bytes,
) -> int:
    """Return the number of blocks, leaving each row's block in `place`; 1 if nothing to cut.

    `scratch.sizes` then holds the rows of each block, in the order of the cuts.
    """
    found = _distinct_codes(work, start, end, axis, scratch)
    if found == 1:
        scratch.counts[scratch.touched[0]] = 0
        return 1
    if axes.kind[axis] == RANGE or axes.kind[axis] == SET:
        blocks = found
        for j in range(found):
            scratch.block_of[scratch.touched[j]] = j
            scratch.sizes[j] = scratch.counts[scratch.touched[j]]
    else:
        blocks = _tree_blocks(axes, axis, found, scratch)
    if by_frequency and axes.kind[axis] != RANGE:
        # ties keep the order of codes, so the result does not depend on the order of rows
        keys = np.empty(blocks, np.int64)
        for block in range(blocks):
            keys[block] = block - np.int64(scratch.sizes[block]) * blocks
        keys = np.sort(keys)
        for rank in range(blocks):
            block = keys[rank] % blocks
            scratch.order[block] = rank
            scratch.sizes[rank] = (block - keys[rank]) // blocks
    else:
        for rank in range(blocks):
            scratch.order[rank] = rank
    blocks = _joined_neighbours(blocks, end - start, scratch)
    for j in range(found):
        code = scratch.touched[j]
        scratch.counts[code] = 0
        scratch.block_of[code] = scratch.order[scratch.block_of[code]]
    for i in range(start, end):
        place[i] = scratch.block_of[work[i, axis]]
    return blocks


@numba.njit(cache=True, nogil=True)
def _joined_neighbours(blocks: int, rows: int, scratch: Blocks) -> int:
    """Join neighbouring blocks until at most MOST_BLOCKS are left, of roughly equal sizes.

    Rewrites `order` (block -> rank) and `sizes` (by rank).
    """
    if blocks <= MOST_BLOCKS:
        return blocks
    rank_to_joined = np.empty(blocks, np.int64)
    joined = 0
    filled = 0
    seen = 0
    for rank in range(blocks):
        size = scratch.sizes[rank]
        if filled > 0 and joined + 1 < MOST_BLOCKS and seen * MOST_BLOCKS >= rows * (joined + 1):
            scratch.sizes[joined] = filled
            joined += 1
            filled = 0
        rank_to_joined[rank] = joined
        filled += size
        seen += size
    scratch.sizes[joined] = filled
    for block in range(blocks):
        scratch.order[block] = rank_to_joined[scratch.order[block]]
    return joined + 1
