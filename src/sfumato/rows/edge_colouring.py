"""Blocks whose rows differ in both of two attributes, by colouring the edges of a bipartite graph.

A row joins its value of the one attribute to its value of the other; rows that may not share a
block are edges that meet. If no value has more rows than there are blocks, as many colours as
blocks are enough (König), and colours can be made equally common (de Werra, McDiarmid).

*Source*: D. König, "Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre",
1916; the alternating paths are those of its proof.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.rows.holders import NOBODY, draw, hold, holder, release

Ints = npt.NDArray[np.int64]

_END = -1
# Blocks that are looked at for two random numbers, which take longer than a look.
_PROBES = 16


@numba.njit(cache=True, nogil=True)
def colour(
    left: Ints,
    right: Ints,
    start: Ints,
    places: Ints,
    block_of: Ints,
    blocks: int,
    rng: np.random.Generator,
) -> None:
    """Set each row's block: no two rows of a block share a value, sizes differ by one at most.

    No value may have more rows than there are blocks, and the table of holders (`start`, `places`)
    has to be empty for these values. Rows are dealt in their order, so the caller shuffles them.

    Time: a random block is tried until one is free, which over all rows of a value takes no more
    than collecting all coupons, O(blocks log blocks); a path is at most two blocks long.
    """
    for row in range(len(block_of)):
        block = _without(start, places, left[row], row % blocks, blocks, rng)
        free = _without(start, places, right[row], block, blocks, rng)
        if free != block:
            # The path that leaves by `block` and goes on by `free` and `block` in turn reaches
            # values of the left by `block` only, so never this row's, which has none.
            _exchange(left, right, start, places, block_of, blocks, right[row], block, free)
        block_of[row] = block
        hold(start, places, left[row], block, row)
        hold(start, places, right[row], block, row)
    _even_out(left, right, start, places, block_of, blocks)


@numba.njit(cache=True, nogil=True)
def _without(
    start: Ints, places: Ints, value: int, block: int, blocks: int, rng: np.random.Generator
) -> int:
    """Return a block that has no row with the value: the given one, or else one at random."""
    stride, probes = 0, 0
    while holder(start, places, value, block) != NOBODY:
        if probes == 0:
            block, stride, probes = draw(rng, blocks), 1 + draw(rng, blocks - 1), _PROBES
        else:
            block += stride
            block -= blocks if block >= blocks else 0
            probes -= 1
    return block


@loop
def _exchange(
    left: Ints,
    right: Ints,
    start: Ints,
    places: Ints,
    block_of: Ints,
    blocks: int,
    value: int,
    block: int,
    other: int,
) -> None:
    """Exchange two blocks along the path from a value that is in `block` and not in `other`."""
    row = holder(start, places, value, block)
    release(start, places, value, block, blocks)
    hold(start, places, value, other, row)
    while True:
        block_of[row] = other
        value = left[row] + right[row] - value  # the other end
        following = holder(start, places, value, other)
        if following == NOBODY:
            release(start, places, value, block, blocks)
            hold(start, places, value, other, row)
            return
        hold(start, places, value, other, row)
        hold(start, places, value, block, following)
        row = following
        block, other = other, block


@loop
def _ends_in(
    left: Ints, right: Ints, start: Ints, places: Ints, value: int, block: int, other: int
) -> int:
    """Return of which of two blocks the last row of the path from a value is; it starts in `block`.

    The path goes on by `other` and `block` in turn.
    """
    row = holder(start, places, value, block)
    while True:
        value = left[row] + right[row] - value
        row = holder(start, places, value, other)
        if row == NOBODY:
            return block
        block, other = other, block


@numba.njit(cache=True, nogil=True)
def _even_out(
    left: Ints, right: Ints, start: Ints, places: Ints, block_of: Ints, blocks: int
) -> None:
    """Exchange paths between too large and too small blocks until sizes differ by one at most.

    Each round sets one of two blocks right, so there are fewer rounds than blocks.
    """
    rows = len(block_of)
    sizes = np.zeros(blocks, np.int64)
    for row in range(rows):
        sizes[block_of[row]] += 1
    size, larger = rows // blocks, rows % blocks
    goal = np.full(blocks, size)
    for least in (size + 1, 0):  # the blocks that are large already are first to remain so
        for block in range(blocks):
            if larger > 0 and sizes[block] >= least and goal[block] == size:
                goal[block] += 1
                larger -= 1
    first = np.full(blocks, _END)  # the rows of a block as a chain
    after = np.empty(rows, np.int64)
    for row in range(rows):
        after[row] = first[block_of[row]]
        first[block_of[row]] = row
    members = np.empty(rows, np.int64)
    high, low = 0, 0
    while True:
        while high < blocks and sizes[high] <= goal[high]:
            high += 1
        while low < blocks and sizes[low] >= goal[low]:
            low += 1
        if high == blocks:
            return
        found = 0
        for block in (high, low):
            row = first[block]
            while row != _END:
                members[found] = row
                found += 1
                row = after[row]
        moves = min(sizes[high] - goal[high], goal[low] - sizes[low])
        _move(left, right, start, places, block_of, blocks, members[: sizes[high]], low, moves)
        sizes[high] -= moves
        sizes[low] += moves
        first[high], first[low] = _END, _END
        for row in members[:found]:
            after[row] = first[block_of[row]]
            first[block_of[row]] = row


@loop
def _move(
    left: Ints,
    right: Ints,
    start: Ints,
    places: Ints,
    block_of: Ints,
    blocks: int,
    members: Ints,
    low: int,
    moves: int,
) -> None:
    """Make the block of the members smaller, and the block `low` larger, by so many rows.

    The rows of both form paths and circles. A path with one row more in the larger block begins
    and ends there, and of such paths there are at least as many as the sizes differ by.
    """
    high = block_of[members[0]]
    for row in members:
        if moves == 0:
            return
        if block_of[row] != high:  # on a path that has been exchanged
            continue
        for value in (left[row], right[row]):
            if (
                holder(start, places, value, low) == NOBODY
                and _ends_in(left, right, start, places, value, high, low) == high
            ):
                _exchange(left, right, start, places, block_of, blocks, value, high, low)
                moves -= 1
                break
