"""The greedy union of undersized flag patterns, compiled; flags are packed, 64 to a number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import allocating_loop, loop

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# What has become of a pattern: it waits for company, its union has k people, or it is part of the
# union of another pattern.
_WAITS, _DONE, _JOINED = 0, 1, 2


def packed(flags: Bools) -> Words:
    """Return rows of flags as rows of numbers, a bit a flag.

    >>> packed(np.array([[True, False, True]])).shape
    (1, 1)
    """
    width = -(-flags.shape[1] // 64) * 64
    padded = np.zeros((len(flags), max(width, 64)), dtype=np.bool_)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1).view(np.uint64)


@loop
def _ones(word: np.uint64) -> int:
    count = 0
    while word != np.uint64(0):
        word &= word - np.uint64(1)
        count += 1
    return count


@loop
def mixed(all_one: Words, any_one: Words, all_other: Words, any_other: Words) -> int:
    """Return how many flags some have and some have not, among two unions together."""
    count = 0
    for w in range(len(all_one)):
        count += _ones((any_one[w] | any_other[w]) & ~(all_one[w] & all_other[w]))
    return count


@allocating_loop
def unite(flags: Words, people: Ints, hosts: Words, k: int) -> tuple[Ints, Ints]:
    """Return for each undersized pattern the one that leads its union, and that one's host or -1.

    As long as some union has fewer than k people, the smallest one joins what makes the fewest
    cells withheld: another undersized one, or k people of a host. Of equally good ones a host
    goes first, then the lowest number. Where no host is, the last may join a union that is done.
    All patterns together have k people, unless there is a host.
    """
    count = len(people)
    leader = np.arange(count)
    host_of = np.full(count, -1, np.int64)
    state = np.zeros(count, np.int64)
    sizes = people.copy()
    all_flags, any_flags = flags.copy(), flags.copy()
    for _ in range(count):
        smallest = -1
        waiting = 0
        for u in range(count):
            if state[u] == _WAITS:
                waiting += 1
                if smallest < 0 or sizes[u] < sizes[smallest]:
                    smallest = u
        if smallest < 0:
            break
        own_all, own_any = all_flags[smallest], any_flags[smallest]
        least, partner, host = np.int64(-1), -1, -1
        for h in range(len(hosts)):
            cost = mixed(own_all, own_any, hosts[h], hosts[h]) * (sizes[smallest] + k)
            if least < 0 or cost < least:
                least, host = cost, h
        wanted = _WAITS if waiting > 1 else _DONE
        if waiting > 1 or len(hosts) == 0:
            for u in range(count):
                if u != smallest and state[u] == wanted:
                    cost = mixed(own_all, own_any, all_flags[u], any_flags[u])
                    cost *= sizes[smallest] + sizes[u]
                    if least < 0 or cost < least:
                        least, partner = cost, u
        if partner < 0:
            host_of[smallest] = host
            state[smallest] = _DONE
            continue
        leader[smallest] = partner
        state[smallest] = _JOINED
        sizes[partner] += sizes[smallest]
        for w in range(flags.shape[1]):
            all_flags[partner, w] &= own_all[w]
            any_flags[partner, w] |= own_any[w]
        state[partner] = _DONE if sizes[partner] >= k else _WAITS
    for u in range(count):  # a leader may itself have joined another since
        while leader[leader[u]] != leader[u]:
            leader[u] = leader[leader[u]]
    return leader, host_of


@allocating_loop
def nearest_group(
    all_flags: Words,
    any_flags: Words,
    sizes: Ints,
    count: int,
    every: Words,
    some: Words,
    people: int,
) -> int:
    """Return the one of the first `count` groups where a union makes the fewest more cells `*`.

    `every` and `some` are the flags that all and any of its `people` have.
    """
    nearest, least = 0, np.int64(-1)
    for g in range(count):
        before = mixed(all_flags[g], any_flags[g], all_flags[g], any_flags[g]) * sizes[g]
        after = mixed(all_flags[g], any_flags[g], every, some) * (sizes[g] + people)
        if least < 0 or after - before < least:
            nearest, least = g, after - before
    return nearest
