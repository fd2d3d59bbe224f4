"""The loops over records of random sets; see `set_adversary.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]


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
def weigh(words: Words, at: Ints, hard: int, inside: Reals, outside: Reals, weights: Reals) -> None:
    """Fill in how likely a person's values make the sets of each record.

    The bits of the person's values begin at `at`; the first `hard` of them must all be set. For
    each other one the weight has a factor, `inside` the set or `outside` of it.
    """
    one, zero = np.uint64(1), np.uint64(0)
    rows = len(weights)
    start = 1.0
    for a in range(hard):
        start *= inside[a]
    for w in range((rows + 63) >> 6):
        first = w << 6
        last = min(first + 64, rows)
        open_ = ~zero
        for a in range(hard):
            open_ &= words[at[a] + w]
        for row in range(first, last):
            weights[row] = 0.0
        if open_ == zero:
            continue
        for row in range(first, last):
            if not (open_ >> np.uint64(row & 63)) & one:
                continue
            weight = start
            for a in range(hard, len(at)):
                held = (words[at[a] + w] >> np.uint64(row & 63)) & one
                weight *= inside[a] if held else outside[a]
            weights[row] = weight


@loop
def add_sets(weights: Reals, members: Codes, norms: Reals, out: Reals) -> float:
    """Add, for each record, its weight over its norm to all values of its set; return the sum."""
    total = 0.0
    for row in range(len(weights)):
        if weights[row] > 0:
            share = weights[row] * norms[row]
            total += share
            for column in range(members.shape[1]):
                out[members[row, column]] += share
    return total


@loop
def sums_of(weights: Reals, others: Reals, out: Reals) -> None:
    """Fill in the sum and the largest of the weights, and sums of others and of the products."""
    out[:] = 0.0
    for row in range(len(weights)):
        if weights[row] > 0:
            out[0] += weights[row]
            out[1] = max(out[1], weights[row])
            out[3] += weights[row] * others[row]
        out[2] += others[row]


@loop
def norm_sets(members: Codes, prior: Reals, gain: float, base: float, out: Reals) -> None:
    """Fill in one over how likely each record's set is, if values are as common as `prior` says."""
    for row in range(len(members)):
        mass = 0.0
        for column in range(members.shape[1]):
            mass += prior[members[row, column]]
        out[row] = 1.0 / max(gain * mass + base, 1e-300)
