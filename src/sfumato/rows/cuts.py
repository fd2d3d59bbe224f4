"""How the attributes may cut one node of Mondrian: blocks of values in an order.

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

from sfumato.measures.compiled import loop
from sfumato.rows.axes import RANGE, TREE, Axes, common_ancestor
from sfumato.rows.sorting import sort_first

MOST_BLOCKS = 256

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class Blocks(NamedTuple):
    """The blocks of all attributes in one node; scratch of one thread.

    Codes of attribute a start at `first[a]` in `counts` (rows of a code, zero between nodes),
    `touched` (the codes that occur, `found[a]` of them), `block_of` (by code) and `sizes` (rows of
    a block). `active` lists the attributes on which the rows differ, and `blocks[a]` says how many
    blocks they have. `order` and `keys`, by block, are of one attribute at a time.
    """

    first: Ints
    found: Ints
    active: Ints
    blocks: Ints
    counts: Ints
    touched: Ints
    block_of: Ints
    sizes: Ints
    order: Ints
    keys: Ints


def new_blocks(axes: Axes) -> Blocks:
    """Return scratch for nodes of a table with these axes."""
    codes = axes.null + 1
    found, active, blocks = np.zeros((3, len(codes)), np.int64)
    counts, block_of, sizes = np.zeros((3, int(codes.sum())), np.int32)
    touched = np.zeros(int(codes.sum()), np.int64)
    order, keys = np.zeros((2, int(codes.max(initial=1))), np.int64)
    first = np.cumsum(codes) - codes
    return Blocks(first, found, active, blocks, counts, touched, block_of, sizes, order, keys)


@loop
def count_codes(work: Codes, start: int, end: int, scratch: Blocks) -> int:
    """Return the number of attributes on which the rows differ, listed in `active`."""
    first, found, counts, touched = scratch.first, scratch.found, scratch.counts, scratch.touched
    for axis in range(len(first)):
        found[axis] = 0
    for i in range(start, end):
        for axis in range(len(first)):
            code = np.uint64(first[axis] + work[i, axis])  # an index that is surely not negative
            if counts[code] == 0:
                touched[first[axis] + found[axis]] = work[i, axis]
                found[axis] += 1
            counts[code] += 1
    active = 0
    for axis in range(len(first)):
        if found[axis] > 1:
            scratch.active[active] = axis
            active += 1
        else:
            counts[first[axis] + touched[first[axis]]] = 0
            scratch.blocks[axis] = 1
    return active


@loop
def order_blocks(axes: Axes, axis: int, rows: int, by_frequency: bool, scratch: Blocks) -> int:
    """Return the number of blocks of an active attribute whose codes have been counted.

    `block_of` then holds the block of each code that occurs, `sizes` the rows of each block, in the
    order of the cuts.
    """
    base, found = scratch.first[axis], scratch.found[axis]
    # views from the attribute's first code on
    counts, touched = scratch.counts[base:], scratch.touched[base:]
    sizes, block_of, order = scratch.sizes[base:], scratch.block_of[base:], scratch.order
    low = high = touched[0]
    for j in range(1, found):
        low, high = min(low, touched[j]), max(high, touched[j])
    if high - low < 4 * found:
        position = 0
        for value in range(low, high + 1):  # no branch, which nobody could foresee
            touched[position] = value
            position += counts[value] > 0
    else:
        sort_first(touched, found)
    if axes.kind[axis] == TREE:
        # the children of the lowest common ancestor
        first = axes.node_start[axis]
        null = axes.null[axis]
        ancestor = common_ancestor(axes, axis, low, high)
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
    for j in range(found):
        counts[touched[j]] = 0
    is_by_frequency = by_frequency and axes.kind[axis] != RANGE
    if is_by_frequency:
        # ties keep the order of codes, so the result does not depend on the order of rows
        keys = scratch.keys
        for block in range(blocks):
            keys[block] = block - sizes[block] * blocks
        sort_first(keys, blocks)
        for rank in range(blocks):
            block = keys[rank] % blocks
            order[block] = rank
            sizes[rank] = (block - keys[rank]) // blocks
    if blocks > MOST_BLOCKS:
        if not is_by_frequency:
            for rank in range(blocks):
                order[rank] = rank
        blocks = _joined_neighbours(blocks, rows, sizes, scratch)
        is_by_frequency = True
    if is_by_frequency:
        for j in range(found):
            block_of[touched[j]] = order[block_of[touched[j]]]
    scratch.blocks[axis] = blocks
    return blocks


@numba.njit(inline="always")
def _joined_neighbours(blocks: int, rows: int, sizes: Ints, scratch: Blocks) -> int:
    """Join neighbouring blocks until at most MOST_BLOCKS are left, of roughly equal sizes.

    Rewrites `order` (block -> rank) and `sizes` (by rank).
    """
    rank_to_joined = scratch.keys
    joined = 0
    filled = 0
    seen = 0
    for rank in range(blocks):
        size = sizes[rank]
        if filled > 0 and joined + 1 < MOST_BLOCKS and seen * MOST_BLOCKS >= rows * (joined + 1):
            sizes[joined] = filled
            joined += 1
            filled = 0
        rank_to_joined[rank] = joined
        filled += size
        seen += size
    sizes[joined] = filled
    for block in range(blocks):
        scratch.order[block] = rank_to_joined[scratch.order[block]]
    return joined + 1
