"""The loops of the joint-Bayes adversary on random sets; see `joint_bayes.py`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

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
        if open_ == zero:
            continue
        for bit in range(last):
            if not (open_ >> np.uint64(bit)) & one:
                continue
            row = (w << 6) + bit
            # products of all before an attribute, and then of all after it
            product = sets.norm[row]
            for a in range(known):
                ratios[a] = product
                word = sets.words[begins[a] + w]
                held = (word >> np.uint64(bit)) & one
                factor = sets.inside[a] if held else sets.outside[a]
                ratios[known + a] = factor
                product *= factor
            after = 1.0
            for a in range(known - 1, -1, -1):
                factor = ratios[known + a]
                ratios[a] *= after
                after *= factor
            for s in range(len(asked)):
                weight = product * sets.more[s, row] if asked[s] < 0 else ratios[asked[s]]
                if weight > 0:
                    total[s] += weight
                    begin = sets.first[s] + row * sets.eta[s]
                    for place in range(begin, begin + sets.eta[s]):
                        out[sums[s] + sets.members[place]] += weight
