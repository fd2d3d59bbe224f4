"""The loops of the joint-Bayes adversary on random sets; see `joint_bayes.py`."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop, trailing_zeros

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


@loop
def weigh_records(
    sets: Sets, begins: Ints, asked: Ints, ratios: Reals, sums: Ints, out: Reals, total: Reals
) -> None:
    """Add up, for one person and every secret, the weights of the records: those that hold a value
    in `out`, from `sums[s]` on, and all in `total`.

    The bits of what the person has of the known attributes begin at `begins`; `asked[s]` is the one
    among these that is not known if s is the secret, -1 if s is none of them. `ratios` has room for
    twice the known attributes.
    """
    one, zero = np.uint64(1), np.uint64(0)
    rows, known = len(sets.norm), len(begins)
    for w in range((rows + 63) >> 6):
        last = min(rows - (w << 6), 64)
        # whoever lacks two values for sure is ruled out, whichever of them is the secret
        lacks, twice = zero, zero
        for a in range(known):
            if sets.outside[a] == 0:
                lack = ~sets.words[begins[a] + w]
                twice |= lacks & lack
                lacks |= lack
        open_ = ~twice
        if last < 64:
            open_ &= (one << np.uint64(last)) - one
        while open_ != zero:
            place = trailing_zeros(open_)
            open_ &= open_ - one
            row, bit = (w << 6) + place, np.uint64(place)
            if (lacks >> bit) & one:
                # nothing but the value that it lacks can be the secret
                a = 0
                while sets.outside[a] != 0 or (sets.words[begins[a] + w] >> bit) & one:
                    a += 1
                before, after = sets.norm[row], 1.0
                for other in range(a):
                    before *= _factor(sets, other, begins[other] + w, bit)
                for other in range(known - 1, a, -1):
                    after *= _factor(sets, other, begins[other] + w, bit)
                for s in range(len(asked)):
                    if asked[s] == a:
                        _add(sets, s, row, before * after, sums[s], out, total)
                continue
            # products of all before an attribute, and then of all after it
            product = sets.norm[row]
            for a in range(known):
                ratios[a] = product
                ratios[known + a] = _factor(sets, a, begins[a] + w, bit)
                product *= ratios[known + a]
            after = 1.0
            for a in range(known - 1, -1, -1):
                ratios[a] *= after
                after *= ratios[known + a]
            for s in range(len(asked)):
                weight = product * sets.more[s, row] if asked[s] < 0 else ratios[asked[s]]
                _add(sets, s, row, weight, sums[s], out, total)


@numba.njit(inline="always")
def _factor(sets: Sets, attribute: int, word: int, bit: np.uint64) -> float:
    """Return what a record weighs by whether it holds the value whose bits are in the word."""
    held = (sets.words[word] >> bit) & np.uint64(1)
    weight: float = sets.inside[attribute] if held else sets.outside[attribute]
    return weight


@numba.njit(inline="always")
def _add(sets: Sets, s: int, row: int, weight: float, begin: int, out: Reals, total: Reals) -> None:
    """Add the weight of a record to the values of secret s that it holds, and to all of it."""
    if weight > 0:
        total[s] += weight
        first = sets.first[s] + row * sets.eta[s]
        for place in range(first, first + sets.eta[s]):
            out[begin + sets.members[place]] += weight
