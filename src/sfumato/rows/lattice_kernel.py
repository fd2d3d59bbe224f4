"""Counting the groups of a recoding: one pass over combinations of codes, without sorting."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def group_items(
    codes: Codes,
    items: Ints,
    rows: Ints,
    cells: Codes,
    starts: Ints,
    strides: Ints,
    words: Ints,
) -> tuple[Codes, Ints, Ints]:
    """Return the group of every item, an item of every group (as a line of `codes`), and its rows.

    `items` are lines of `codes`, standing for so many `rows`. `cells[starts[a] + code]` is the
    cell of attribute a. A group's key is one number a word: the sum of its cells times `strides`
    in the word `words[a]` of each attribute.
    """
    count, attributes = len(items), codes.shape[1]
    width = words[-1] + 1
    slots = 16
    while slots < 2 * count:
        slots *= 2
    place = np.full(slots, -1, np.int32)
    keys = np.empty((count, width), np.int64)
    ids = np.empty(count, np.int32)
    firsts = np.empty(count, np.int64)
    sums = np.zeros(count, np.int64)
    found = 0
    key = np.zeros(width, np.int64)
    for i in range(count):
        line = items[i]
        key[:] = 0
        for a in range(attributes):
            key[words[a]] += cells[starts[a] + codes[line, a]] * strides[a]
        mixed = np.uint64(0)
        for w in range(width):
            mixed = (mixed ^ np.uint64(key[w])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(slots - 1))
        while True:
            group = place[slot]
            if group < 0:
                group = found
                place[slot] = group
                keys[group] = key
                firsts[group] = line
                found += 1
                break
            is_same = True
            for w in range(width):
                is_same = is_same and keys[group, w] == key[w]
            if is_same:
                break
            slot = (slot + 1) & (slots - 1)
        ids[i] = group
        sums[group] += rows[i]
    return ids, firsts[:found].copy(), sums[:found].copy()


@numba.njit(cache=True, nogil=True)
def withheld_loss(
    codes: Codes,
    items: Ints,
    rows: Ints,
    losses: Reals,
    starts: Ints,
    weights: Reals,
    withheld: npt.NDArray[np.bool_],
) -> float:
    """Return by how much the loss grows if the rows of some items are withheld."""
    total = 0.0
    for i in range(len(items)):
        if withheld[i]:
            each = 0.0
            for a in range(codes.shape[1]):
                each += weights[a] * (1.0 - losses[starts[a] + codes[items[i], a]])
            total += rows[i] * each
    return total
