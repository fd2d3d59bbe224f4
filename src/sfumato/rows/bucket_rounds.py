"""Rounds that take one item from each of the l largest buckets: the heart of Anatomy."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.measures.counts import largest_of, total_of
from sfumato.rows.sorting import sort_first

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class Rounds(NamedTuple):
    """Room for rounds: `round_of` by item, the others by bucket but for `at_least`, by count."""

    round_of: Codes
    order: Ints
    left: Ints
    first_item: Ints
    at_least: Ints


@numba.njit(cache=True, nogil=True)
def new_rounds(items: int, buckets: int, largest: int) -> Rounds:
    """Return room for so many items in so many buckets, of which none has more than `largest`."""
    return Rounds(
        np.empty(items, np.int32),
        np.empty(buckets, np.int64),
        np.empty(buckets, np.int64),
        np.empty(buckets, np.int64),
        np.empty(largest + 2, np.int64),
    )


@numba.njit(cache=True, nogil=True)
def rounds_of_largest(
    counts: Ints,
    l: int,  # noqa: E741
) -> tuple[Codes, int]:
    """Return each item's round and the number of rounds; items of a bucket are numbered in a row.

    Each round takes one item from each of the l buckets that have most left, until fewer than l
    buckets have any; the items left over have round -1. If no bucket holds more than 1/l of all
    items, every bucket then has at most one left. Buckets stay sorted by what is left: of equal
    ones across the edge the last are taken, so a round costs O(l), not a sort.

    >>> rounds, count = rounds_of_largest(np.array([2, 2, 1]), 2)
    >>> int(count), sorted(rounds.tolist())
    (2, [-1, 0, 0, 1, 1])
    """
    room = new_rounds(total_of(counts), len(counts), largest_of(counts))
    return room.round_of, take_rounds(counts, len(counts), l, room)


@loop
def take_rounds(counts: Ints, buckets: int, l: int, room: Rounds) -> int:  # noqa: E741
    """Return the number of rounds, leaving each item's in `round_of`; see `rounds_of_largest`."""
    order, left, at_least = room.order, room.left, room.at_least
    items = 0
    for bucket in range(buckets):
        order[bucket] = bucket - counts[bucket] * buckets  # largest first, equal ones as they come
        room.first_item[bucket] = items
        items += counts[bucket]
    for item in range(items):
        room.round_of[item] = -1
    sort_first(order, buckets)
    for rank in range(buckets):
        order[rank] %= buckets
        left[rank] = counts[order[rank]]
    rounds = 0
    if l < 1 or buckets < l:
        return rounds
    for size in range(left[0] + 2):
        at_least[size] = 0  # buckets with at least so many items left
    for bucket in range(buckets):
        at_least[left[bucket]] += 1
    for size in range(left[0] - 1, -1, -1):
        at_least[size] += at_least[size + 1]
    while left[l - 1] > 0:
        edge = left[l - 1]
        larger, tail = at_least[edge + 1], at_least[edge]
        for taken in range(l):
            j = taken if taken < larger else tail - 1 - (taken - larger)
            at_least[left[j]] -= 1
            left[j] -= 1
            room.round_of[room.first_item[order[j]] + left[j]] = rounds
        rounds += 1
    return rounds


@numba.njit(cache=True, nogil=True)
def deal_unique(
    counts: Ints,
    l: int,  # noqa: E741
    rng: np.random.Generator,
) -> tuple[Codes, int]:
    """Return each item's group and the number of groups, no two items of a bucket in one group.

    The rounds of `rounds_of_largest` are the groups; each item left over joins a random group
    without its bucket. If no bucket holds more than 1/l of all items (the caller's duty), at most
    one item a bucket and fewer than l in all are left over, and such a group exists because no
    bucket has more items than there are groups.
    """
    group_of, groups = rounds_of_largest(counts, l)
    taken = np.zeros(groups, np.bool_)
    first = 0
    for bucket in range(len(counts)):
        items = group_of[first : first + counts[bucket]]
        if counts[bucket] > 0 and items[0] < 0:  # a bucket is used up from its end
            taken[:] = False
            for j in range(1, len(items)):
                taken[items[j]] = True
            choice = rng.integers(0, groups - len(items) + 1)
            for group in range(groups):
                if not taken[group]:
                    if choice == 0:
                        items[0] = group
                    choice -= 1
        first += counts[bucket]
    return group_of, groups
