"""How one attribute may cut one node of Mondrian: blocks of values in an order.

A cut sends a prefix of the blocks to the left. Numeric and ordinal values form blocks in their
own order; categories in the order of their frequency in the node (or of their codes); under a
hierarchy the blocks are the children of the node's lowest common ancestor, so that every cut
follows the hierarchy. A missing value is a block of its own. Beyond `MOST_BLOCKS` values,
neighbours share a block: cuts then fall on quantiles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.rows.axes import RANGE, TREE, Axes, common_ancestor
from sfumato.rows.sorting import sort_first

MOST_BLOCKS = 256  # a block's number must fit a byte

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


class Blocks(NamedTuple):
    """Scratch of one thread for finding blocks.

    `counts` and `block_of` are indexed by code, `touched` lists codes that occur; `sizes`,
    `order` and `keys` by block.
    """

    counts: Ints
    block_of: Ints
    touched: Ints
    sizes: Ints
    order: Ints
    keys: Ints


def new_blocks(codes: int) -> Blocks:
    """Return scratch for attributes of at most so many codes."""
    return Blocks(*(np.zeros(codes + 1, np.int64) for _ in Blocks._fields))


@loop
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
    counts, touched = scratch.counts, scratch.touched
    sizes, order, block_of = scratch.sizes, scratch.order, scratch.block_of
    found = 0
    low = high = np.int64(work[start, axis])
    for i in range(start, end):
        code = np.int64(work[i, axis])
        if counts[code] == 0:
            touched[found] = code
            found += 1
            low = min(low, code)
            high = max(high, code)
        counts[code] += 1
    if found == 1:
        counts[low] = 0
        return 1
    if high - low < 4 * found:
        position = 0
        for value in range(low, high + 1):
            if counts[value] > 0:
                touched[position] = value
                position += 1
    else:
        sort_first(touched, int(found))  # a literal type would have a twin compiled
    if axes.kind[axis] == TREE:
        # the children of the lowest common ancestor
        first = axes.node_start[axis]
        null = axes.null[axis]
        ancestor = common_ancestor(axes, axis, int(low), int(high))
        blocks = 0
        reach = -1
        for j in range(found):
            code = touched[j]
            if code > reach or code == null:
                node = code
                if code != null:
                    while axes.parent[first + node] != ancestor:
                        node = axes.parent[first + node]
                    reach = axes.last[first + node]
                sizes[blocks] = 0
                blocks += 1
            block_of[code] = blocks - 1
            sizes[blocks - 1] += counts[code]
    else:
        blocks = found
        for j in range(found):
            block_of[touched[j]] = j
            sizes[j] = counts[touched[j]]
    if by_frequency and axes.kind[axis] != RANGE:
        # ties keep the order of codes, so the result does not depend on the order of rows
        keys = scratch.keys
        for block in range(blocks):
            keys[block] = block - sizes[block] * blocks
        sort_first(keys, blocks)
        for rank in range(blocks):
            block = keys[rank] % blocks
            order[block] = rank
            sizes[rank] = (block - keys[rank]) // blocks
    else:
        for rank in range(blocks):
            order[rank] = rank
    if blocks > MOST_BLOCKS:
        blocks = _joined_neighbours(int(blocks), end - start, scratch)
    for j in range(found):
        code = touched[j]
        counts[code] = 0
        block_of[code] = order[block_of[code]]
    for i in range(start, end):
        place[i] = block_of[work[i, axis]]
    return blocks


@loop
def _joined_neighbours(blocks: int, rows: int, scratch: Blocks) -> int:
    """Join neighbouring blocks until at most MOST_BLOCKS are left, of roughly equal sizes.

    Rewrites `order` (block -> rank) and `sizes` (by rank).
    """
    rank_to_joined = scratch.keys
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
