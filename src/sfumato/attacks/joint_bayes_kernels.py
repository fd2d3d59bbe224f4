"""The loops of the joint-Bayes adversary on random sets; see `joint_bayes.py`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import inner_loop, loop, trailing_zeros

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]


class Sets(NamedTuple):
    """The records: bits of those that hold a value of a known attribute are in `words`; the sets of
    secret s are `members` from `first[s]` on, `eta[s]` a record.

    A set that holds a person's value of attribute a weighs `inside[a]`, another `outside[a]`.
    `norm[r]` is one over how likely the sets of record r are at all, as far as they are known, and
    `more[s, r]` the same of secret s if it is not among what is known.
    """

    words: Words
    members: Codes
    first: Ints
    eta: Ints
    inside: Reals
    outside: Reals
    norm: Reals
    more: Reals


class Room(NamedTuple):
    """Scratch for some records: bits of those that lack a value which their sets would hold for
    sure, and of those that lack two; the records that may be a person's, and two weights each."""

    lacks: Words
    twice: Words
    open: Words
    some: Ints
    record: Ints
    weight: Reals
    after: Reals


@inner_loop
def _mark_lacking(sets: Sets, begins: Ints, block: int, count: int, room: Room) -> None:
    """Mark which records of so many words lack a value for sure, and which lack two."""
    lacks, twice = room.lacks[:count], room.twice[:count]
    lacks[:] = np.uint64(0)
    twice[:] = np.uint64(0)
    beyond = (block + count) * 64 - len(sets.norm)
    if beyond > 0:  # records that there are not are ruled out
        twice[-1] = ~(~np.uint64(0) >> np.uint64(beyond))
    for a in range(len(begins)):
        if sets.outside[a] == 0:
            held = sets.words[begins[a] + block : begins[a] + block + count]
            for w in range(count):
                twice[w] |= lacks[w] & ~held[w]
                lacks[w] |= ~held[w]


@inner_loop
def _list_open(sets: Sets, begins: Ints, asked: int, block: int, count: int, room: Room) -> int:
    """List the records that lack no value for sure but that of the secret; return how many."""
    open_, place = room.open, room.record
    if asked >= 0 and sets.outside[asked] == 0:
        held = sets.words[begins[asked] + block : begins[asked] + block + count]
        for w in range(count):
            open_[w] = ~(room.twice[w] | (room.lacks[w] & held[w]))
    else:
        for w in range(count):
            open_[w] = ~(room.twice[w] | room.lacks[w])
    some = 0
    for w in range(count):  # without a branch that would be foretold wrongly every time
        room.some[some] = w
        some += open_[w] != np.uint64(0)
    found = 0
    for i in range(some):
        w = room.some[i]
        left = open_[w]
        while left != np.uint64(0):
            place[found] = ((block + w) << 6) + trailing_zeros(left)
            found += 1
            left &= left - np.uint64(1)
    return found


@inner_loop
def _multiply(
    sets: Sets, attribute: int, begin: int, record: Ints, weight: Reals, count: int
) -> None:
    """Multiply the weights of so many records by whether they hold the value of an attribute."""
    inside, outside = sets.inside[attribute], sets.outside[attribute]
    if outside == 0:  # all that are listed hold it
        for i in range(count):
            weight[i] *= inside
        return
    held = sets.words[begin:]
    for i in range(count):
        row = np.uint64(record[i])  # without a sign, no place is counted from the end
        is_held = (held[row >> np.uint64(6)] >> (row & np.uint64(63))) & np.uint64(1)
        weight[i] *= inside if is_held else outside


@loop
def weigh_records(
    first: int,
    last: int,
    people: Ints,
    sets: Sets,
    begins: Ints,
    asked: Ints,
    room: Room,
    sums: Ints,
    out: Reals,
    total: Reals,
) -> None:
    """Add up, for some of the people and every secret, the weights of the records: those that hold
    a value in `out`, from `sums[s]` on, and all in `total`; both have a line for everybody.

    The bits of what a person has of the known attributes begin at `begins[i]`; `asked[s]` is the
    one among these that is not known if s is the secret, -1 if s is none of them. Records are
    weighed block by block, which caches keep, and attribute by attribute, so that no product waits
    for the one before: of all before the secret, times that of all after it.
    """
    record, weight, after = room.record, room.weight, room.after
    width, known = (len(sets.norm) + 63) >> 6, begins.shape[1]
    for block in range(0, width, len(room.lacks)):
        words = min(len(room.lacks), width - block)
        for i in range(first, last):
            own = begins[i]
            _mark_lacking(sets, own, block, words, room)
            for s in range(len(asked)):
                line, whole = out[people[i], sums[s] : sums[s + 1]], total[people[i], s]
                count = _list_open(sets, own, asked[s], block, words, room)
                for at in range(count):
                    weight[at] = sets.norm[record[at]]
                    after[at] = 1.0
                for a in range(known if asked[s] < 0 else asked[s]):
                    _multiply(sets, a, own[a], record, weight, count)
                for a in range(known - 1, asked[s] if asked[s] >= 0 else known - 1, -1):
                    _multiply(sets, a, own[a], record, after, count)
                eta = sets.eta[s]
                members = sets.members[sets.first[s] :]
                for at in range(count):
                    own_weight = weight[at] * after[at]
                    if asked[s] < 0:
                        own_weight = weight[at] * sets.more[s, record[at]]
                    if own_weight > 0:
                        whole += own_weight
                        begin = record[at] * eta
                        for place in range(begin, begin + eta):
                            line[members[place]] += own_weight
                total[people[i], s] = whole
