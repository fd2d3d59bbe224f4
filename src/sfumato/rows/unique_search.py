"""Blocks whose rows differ in every one of three or more attributes: found by search, or not."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.rows.holders import NOBODY, draw, hold, holder, release

Ints = npt.NDArray[np.int64]

# So few rows have at most 15,400 splits into even blocks: all are tried.
EXHAUSTIVE_ROWS = 12
_TRIES = 4
# A try ends when so many steps have not left fewer rows without a block, and in any case after so
# many, and so many more a row.
_PATIENCE = 20_000
_STEPS = 100_000
_STEPS_PER_ROW = 4
# Blocks that a row without one looks at; all, if there are no more.
_OPEN_LOOKS = 8
_LOOKS = 16
# One row in so many takes any block, or the search could go in circles.
_WHIM = 32


@numba.njit(cache=True, nogil=True)
def search(
    values: Ints,
    start: Ints,
    places: Ints,
    block_of: Ints,
    blocks: int,
    rng: np.random.Generator,
) -> bool:
    """Return whether blocks were found whose rows all differ, and sizes by one at most; set them.

    `values` has a line for each attribute; the table of holders (`start`, `places`) has to be
    empty for them. No more than EXHAUSTIVE_ROWS rows: none found means that there are none.
    """
    if len(block_of) <= EXHAUSTIVE_ROWS:
        return try_all(values, block_of, blocks)
    for _ in range(_TRIES):
        if _eject(values, start, places, block_of, blocks, rng):
            return True
        for row in range(len(block_of)):
            if block_of[row] != NOBODY:
                for attribute in range(len(values)):
                    release(start, places, values[attribute, row], block_of[row], blocks)
                block_of[row] = NOBODY
    return False


@numba.njit(cache=True, nogil=True)
def try_all(values: Ints, block_of: Ints, blocks: int) -> bool:
    """Return whether there are such blocks, and set the first found in the order of the rows."""
    attributes, rows = values.shape
    size, larger = rows // blocks, rows % blocks
    alike = np.zeros(rows, np.int64)  # as bits, the rows that share a value with a row
    for row in range(rows):
        for other in range(rows):
            for attribute in range(attributes):
                if values[attribute, row] == values[attribute, other]:
                    alike[row] |= 1 << other
    members = np.zeros(blocks + 1, np.int64)  # as bits
    sizes = np.zeros(blocks + 1, np.int64)
    block_of[:] = -1
    row = 0
    while 0 <= row < rows:
        block = block_of[row]
        if block >= 0:  # tried before: on to the next
            members[block] ^= 1 << row
            larger += sizes[block] == size + 1
            sizes[block] -= 1
        block += 1
        while block < blocks:
            full = sizes[block] >= size + (larger > 0)
            if not full and members[block] & alike[row] == 0:
                break
            # empty blocks are all the same: one try is enough
            block = blocks if sizes[block] == 0 else block + 1
        if block == blocks:
            block_of[row] = -1
            row -= 1
            continue
        block_of[row] = block
        members[block] |= 1 << row
        sizes[block] += 1
        larger -= sizes[block] == size + 1
        row += 1
    return row == rows


@numba.njit(cache=True, nogil=True)
def _eject(
    values: Ints,
    start: Ints,
    places: Ints,
    block_of: Ints,
    blocks: int,
    rng: np.random.Generator,
) -> bool:
    """Return whether every row got a block; a row that fits into none puts others out of theirs.

    Blocks have room for the rows they are to have in the end, and no two alike at any time. A row
    without a block takes an open one where it fits; or else, of some at random, the one where it
    puts the fewest out, which then look for one in turn.
    """
    attributes, rows = values.shape
    first = _room(rows, blocks)
    members = np.empty(rows, np.int64)  # those of block b from first[b] on
    seat = np.empty(rows, np.int64)  # where a row is in them
    sizes = np.zeros(blocks, np.int64)
    opened = np.arange(blocks)  # the blocks with room, so many of them
    opened_at = np.arange(blocks)  # where in them a block is
    openings = blocks
    homeless = np.arange(rows)
    waiting = rows
    came_from = np.full(rows, NOBODY)  # the block that a row was put out of
    out = np.empty(attributes, np.int64)
    scratch = np.empty(attributes, np.int64)
    fewest, improved = rows, 0
    for step in range(_STEPS + _STEPS_PER_ROW * rows):
        if waiting == 0:
            return True
        if waiting < fewest:
            fewest, improved = waiting, step
        if step > improved + _PATIENCE:
            return False
        pick = draw(rng, waiting)
        row = homeless[pick]
        waiting -= 1
        homeless[pick] = homeless[waiting]

        # There is always an open one: as many places are free as rows are without one.
        leaving = 0
        block = _open_block(values, start, places, row, opened[:openings], rng)
        if block == NOBODY:
            block, leaving = _cheapest(
                values,
                start,
                places,
                row,
                came_from[row],
                first,
                members,
                sizes,
                opened[:openings],
                out,
                scratch,
                rng,
            )
        for other in out[:leaving]:
            for attribute in range(attributes):
                release(start, places, values[attribute, other], block, blocks)
            sizes[block] -= 1
            last = members[first[block] + sizes[block]]
            members[seat[other]] = last
            seat[last] = seat[other]
            block_of[other] = NOBODY
            came_from[other] = block
            homeless[waiting] = other
            waiting += 1
        for attribute in range(attributes):
            hold(start, places, values[attribute, row], block, row)
        seat[row] = first[block] + sizes[block]
        members[seat[row]] = row
        sizes[block] += 1
        block_of[row] = block

        at = opened_at[block]
        is_open = first[block] + sizes[block] < first[block + 1]
        if is_open and at == NOBODY:
            opened[openings] = block
            opened_at[block] = openings
            openings += 1
        elif not is_open and at != NOBODY:
            openings -= 1
            opened[at] = opened[openings]
            opened_at[opened[at]] = at
            opened_at[block] = NOBODY
    return waiting == 0


@numba.njit(cache=True, nogil=True)
def _room(rows: int, blocks: int) -> Ints:
    """Return where each block's members start, and where the last's end."""
    first = np.empty(blocks + 1, np.int64)
    for block in range(blocks + 1):
        first[block] = block * (rows // blocks) + min(block, rows % blocks)
    return first


@numba.njit(cache=True, nogil=True)
def _open_block(
    values: Ints, start: Ints, places: Ints, row: int, opened: Ints, rng: np.random.Generator
) -> int:
    """Return an open block where the row fits, from some of them on, or NOBODY."""
    openings = len(opened)
    turn = draw(rng, openings)
    for look in range(min(openings, _OPEN_LOOKS)):
        block = opened[(turn + look) % openings]
        if _fits(values, start, places, row, block):
            return int(block)
    return NOBODY


@numba.njit(cache=True, nogil=True)
def _cheapest(
    values: Ints,
    start: Ints,
    places: Ints,
    row: int,
    avoided: int,
    first: Ints,
    members: Ints,
    sizes: Ints,
    opened: Ints,
    out: Ints,
    scratch: Ints,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Return the block where the row puts the fewest others out, and how many; `out` has them.

    Where it puts out only one, and that one fits into an open block, no other is looked at.
    """
    blocks = len(sizes)
    chosen, fewest = NOBODY, len(out) + 1
    turn = draw(rng, blocks)
    stride = 1 if blocks <= _LOOKS else 1 + draw(rng, blocks - 1)
    looks = 1 if draw(rng, _WHIM) == 0 else min(blocks, _LOOKS)
    for look in range(looks):
        block = (turn + look * stride) % blocks
        if block == avoided:
            block = (block + 1) % blocks
        count = _alike(values, start, places, row, block, scratch)
        if count == 0:
            if first[block] + sizes[block] < first[block + 1]:
                return block, 0  # open, but not among the open ones looked at
            scratch[0] = members[first[block] + draw(rng, sizes[block])]
            count = 1
        refuge = NOBODY
        if count == 1:
            refuge = opened[draw(rng, len(opened))]
            if refuge == block or not _fits(values, start, places, scratch[0], refuge):
                refuge = NOBODY
        if count < fewest or refuge != NOBODY:
            chosen, fewest = block, count
            for j in range(count):
                out[j] = scratch[j]
        if refuge != NOBODY:
            break
    return chosen, fewest


@loop
def _fits(values: Ints, start: Ints, places: Ints, row: int, block: int) -> bool:
    """Return whether the row shares no value with any in the block."""
    for attribute in range(len(values)):
        if holder(start, places, values[attribute, row], block) != NOBODY:
            return False
    return True


@loop
def _alike(values: Ints, start: Ints, places: Ints, row: int, block: int, out: Ints) -> int:
    """Return how many rows of the block share a value with the row; they are the first of `out`."""
    count = 0
    for attribute in range(len(values)):
        other = holder(start, places, values[attribute, row], block)
        seen = other == NOBODY
        for j in range(count):
            seen |= out[j] == other
        if not seen:
            out[count] = other
            count += 1
    return count
