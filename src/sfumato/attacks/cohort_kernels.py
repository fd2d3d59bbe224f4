"""The loop over the cohorts that people may be in; see `background.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@loop
def add_corrupted(
    kinds: Ints,
    group: Ints,
    weight: Reals,
    cohorts: Ints,
    cohort: Ints,
    share: Reals,
    sizes: Ints,
    first: Ints,
    value: Ints,
    count: Reals,
    pairs: Ints,
    truth: Ints,
    known: Ints,
    are_in: bool,
    total: Reals,
    out: Reals,
) -> None:
    """Add up, for every kind of people, the weights of the cohorts they may be in, and for every
    pair of a kind and a value of theirs (`truth`) these times the chance of the value there if so
    many others are `known`, a column each.

    Each of the `kinds` may be in a `group`, in the order of groups; the pairs of kind k are from
    `pairs[k]` on, and kinds without any are passed over. The cohorts of group g are from
    `cohorts[g]` on, each with a `share`, and the values of cohort j from `first[j]` on, which so
    many have (`count`).
    """
    for at in range(len(kinds)):
        kind = kinds[at]
        begin, end = pairs[kind], pairs[kind + 1]
        if begin == end:
            continue
        for place in range(cohorts[group[at]], cohorts[group[at] + 1]):
            own = cohort[place]
            part = weight[at] * share[place]
            total[kind] += part
            size = float(sizes[own])
            for entry in range(first[own], first[own + 1]):
                having = count[entry]
                for pair in range(begin, end):
                    if truth[pair] != value[entry] or having <= 0:
                        continue
                    for column in range(len(known)):
                        if are_in:
                            gone = min(float(known[column]), max(size - 1, 0.0))
                            rest = having - gone * (having - 1) / max(size - 1, 1.0)
                            chance = rest / max(size - gone, 1.0)
                        else:
                            chance = having / max(size, 1.0)
                        out[pair, column] += part * chance
