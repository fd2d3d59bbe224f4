"""The loops over records of random sets; see `set_adversary.py`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop, trailing_zeros

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

# Records that are weighed at a time, for one person after the other: what is read of them stays in
# the cache. Each person's sums are of records in their order all the same.
BLOCK = 1 << 13


@loop
def mark_members(members: Codes, place: Ints, words: Words) -> None:
    """Set, for every value asked for, the bits of the records whose set holds it.

    `place[value]` is the line of `words` that the value has, -1 if nobody asked.
    """
    one = np.uint64(1)
    for row in range(len(members)):
        bit = one << np.uint64(row & 63)
        for column in range(members.shape[1]):
            line = place[members[row, column]]
            if line >= 0:
                words[line, row >> 6] |= bit


@loop
def first_bits(count: int) -> np.uint64:
    """Return the last word of so many bits, one or more: those that there are are set."""
    return ~np.uint64(0) >> np.uint64(-count & 63)


class Weights(NamedTuple):
    """What weighs the records of a release for some people.

    The bits of the records that hold what person i has of attribute a begin at `at[i, a]` of
    `words`. The first `hard` attributes must all be held; for each other one the weight has a
    factor, `inside` the set or `outside` of it. There are so many `records`.
    """

    words: Words
    at: Ints
    hard: int
    inside: Reals
    outside: Reals
    records: int


class Heaviest(NamedTuple):
    """Room for the records that weigh anything, ascending, and for their weights; and for the bits
    of records that are not ruled out, and which words have any."""

    open: Words
    some: Ints
    record: Ints
    weight: Reals


@loop
def weigh(person: int, weights: Weights, block: int, out: Heaviest) -> int:
    """Fill in the records from `block` on, `BLOCK` of them, that a person's values allow and how
    likely they make each; return how many these are."""
    words, at = weights.words, weights.at[person]
    last = min(block + BLOCK, weights.records)
    start = 1.0
    # all words at once for each attribute, which takes several words in one step
    open_ = out.open[: (last - block + 63) >> 6]
    open_[:] = ~np.uint64(0)
    open_[-1] = first_bits(last - block)
    for a in range(weights.hard):
        start *= weights.inside[a]
        begin = at[a] + (block >> 6)
        held = words[begin : begin + len(open_)]
        for w in range(len(open_)):
            open_[w] &= held[w]
    some = 0
    for w in range(len(open_)):  # without a branch, which would be foretold wrongly
        out.some[some] = w
        some += open_[w] != 0
    found = 0
    for i in range(some):
        w = out.some[i]
        left = open_[w]
        while left != 0:
            out.record[found] = block + (w << 6) + trailing_zeros(left)
            out.weight[found] = start
            found += 1
            left &= left - np.uint64(1)
    # attribute by attribute, so that no product waits for the one before
    for a in range(weights.hard, len(at)):
        inside, outside = weights.inside[a], weights.outside[a]
        held = words[at[a] :]
        for i in range(found):
            record = np.uint64(out.record[i])  # without a sign, no place is counted from the end
            is_held = (held[record >> np.uint64(6)] >> (record & np.uint64(63))) & np.uint64(1)
            out.weight[i] *= inside if is_held else outside
    return found


@loop
def add_sets(
    first: int,
    last: int,
    weights: Weights,
    members: Codes,
    norms: Reals,
    room: Heaviest,
    out: Reals,
    total: Reals,
) -> None:
    """Add, for each of some people, the weight of every record over its norm to all values of its
    set, and to the person's total."""
    for block in range(0, weights.records, BLOCK):
        for person in range(first, last):
            line, whole = out[person], total[person]
            for i in range(weigh(person, weights, block, room)):
                record = room.record[i]
                share = room.weight[i] * norms[record]
                whole += share
                for column in range(members.shape[1]):
                    line[members[record, column]] += share
            total[person] = whole


@loop
def sums_of(
    first: int,
    last: int,
    weights: Weights,
    others: Weights,
    same: bool,
    room: Heaviest,
    more: Heaviest,
    out: Reals,
) -> None:
    """Add, for each of some people, the sum and the largest of the weights, and sums of others
    and of the products; others may be the same."""
    for block in range(0, weights.records, BLOCK):
        for person in range(first, last):
            line = out[person]
            count = weigh(person, weights, block, room)
            for i in range(count):
                line[0] += room.weight[i]
                line[1] = max(line[1], room.weight[i])
            beside = room if same else more
            at = 0
            for j in range(count if same else weigh(person, others, block, more)):
                line[2] += beside.weight[j]
                while at < count and room.record[at] < beside.record[j]:
                    at += 1
                if at < count and room.record[at] == beside.record[j]:
                    line[3] += room.weight[at] * beside.weight[j]


@loop
def norm_sets(members: Codes, prior: Reals, gain: float, base: float, out: Reals) -> None:
    """Fill in one over how likely each record's set is, if values are as common as `prior` says."""
    for row in range(len(members)):
        mass = 0.0
        for column in range(members.shape[1]):
            mass += prior[members[row, column]]
        out[row] = 1.0 / max(gain * mass + base, 1e-300)
