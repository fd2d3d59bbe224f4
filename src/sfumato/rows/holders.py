"""A table of which row holds a value in a block, in memory that grows with the rows alone.

Every value has a stretch of its own in `places`, from `start[value]` to `start[value + 1]`: twice
as many places as rows have the value, or one a block where that is fewer. A place is -1 if empty,
or the block times 2^32 plus the row. A block's place is its number modulo the stretch, or the next
one free; so with one place a block it is always that block's own, and the table an array.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]

EMPTY = -1
NOBODY = -1
_ROW_BITS = 32
_ROW_MASK = (1 << _ROW_BITS) - 1


def stretches(counts: Ints, blocks: Ints) -> Ints:
    """Return where each value's stretch starts, and where the last ends.

    `counts` says how many rows have a value, `blocks` how many blocks there are in its set.
    """
    start = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(np.minimum(2 * counts, blocks), out=start[1:])
    return start


@numba.njit(cache=True, nogil=True)
def draw(rng: np.random.Generator, bound: int) -> int:
    """Return a random number below the bound; in a function of its own, as it compiles slowly."""
    return int(rng.integers(0, bound))


@loop
def _place(start: Ints, places: Ints, value: int, block: int) -> int:
    """Return the place of the value's holder in the block, or the one it would get."""
    first, end = start[value], start[value + 1]
    width = end - first
    place = first + (block if block < width else block % width)  # a division takes long
    while places[place] != EMPTY and places[place] >> _ROW_BITS != block:
        place += 1
        if place == end:
            place = first
    return int(place)


@loop
def holder(start: Ints, places: Ints, value: int, block: int) -> int:
    """Return the row with the value in the block, or NOBODY."""
    held = places[_place(start, places, value, block)]
    return NOBODY if held == EMPTY else int(held & _ROW_MASK)


@loop
def hold(start: Ints, places: Ints, value: int, block: int, row: int) -> None:
    """Make the row the value's holder in the block, in place of another if there is one."""
    places[_place(start, places, value, block)] = (block << _ROW_BITS) + row


@loop
def release(start: Ints, places: Ints, value: int, block: int, blocks: int) -> None:
    """Leave the value without a holder in the block, where it has one; `blocks` is their number."""
    first, end = start[value], start[value + 1]
    width = end - first
    gap = _place(start, places, value, block)
    places[gap] = EMPTY
    if width == blocks:  # nothing is ever out of its own place
        return
    place = gap
    while True:  # whatever was kept from its own place by the one that left moves up
        place += 1
        if place == end:
            place = first
        if places[place] == EMPTY:
            return
        own = first + (places[place] >> _ROW_BITS) % width
        if (place - own) % width >= (place - gap) % width:
            places[gap] = places[place]
            places[place] = EMPTY
            gap = place
