"""The loop over the cohorts that people may be in; see `background.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@loop
def add_corrupted(
    kind: Ints,
    start: Ints,
    group: Ints,
    weight: Reals,
    cohorts: Ints,
    cohort: Ints,
    share: Reals,
    sizes: Ints,
    first: Ints,
    value: Ints,
    count: Reals,
    truth: Ints,
    known: Ints,
    are_in: bool,
    place_of: Ints,
    total: Reals,
    out: Reals,
) -> None:
    """Add up, for every pair of a kind of people and a value of theirs (`truth`), the weights of
    the cohorts they may be in, and these times the chance of the value there if so many others are
    `known`, a column each.

    Pairs come in the order of kinds: the cohorts of a kind are gone through once for all of its
    values. The groups of kind k are from `start[k]` on, the cohorts of group g from `cohorts[g]`
    on, each with a `share`, and the values of cohort j from `first[j]` on, which so many have
    (`count`). `place_of` has -1 for every value, and has it again after.
    """
    begin = 0
    while begin < len(kind):
        end = begin
        while end < len(kind) and kind[end] == kind[begin]:
            place_of[truth[end]] = end
            end += 1
        whole = 0.0
        for at in range(start[kind[begin]], start[kind[begin] + 1]):
            for place in range(cohorts[group[at]], cohorts[group[at] + 1]):
                own = cohort[place]
                part = weight[at] * share[place]
                whole += part
                size = float(sizes[own])
                for entry in range(first[own], first[own + 1]):
                    pair = place_of[value[entry]]
                    having = count[entry]
                    if pair < 0 or having <= 0:
                        continue
                    for column in range(len(known)):
                        if are_in:
                            gone = min(float(known[column]), max(size - 1, 0.0))
                            rest = having - gone * (having - 1) / max(size - 1, 1.0)
                            chance = rest / max(size - gone, 1.0)
                        else:
                            chance = having / max(size, 1.0)
                        out[pair, column] += part * chance
        for pair in range(begin, end):
            total[pair] = whole
            place_of[truth[pair]] = -1
        begin = end
