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
    total: Reals,
    out: Reals,
) -> None:
    """Add up, for every person, the weights of the cohorts they may be in, and these times the
    chance of their value there if so many others are `known`, a column each.

    The groups of kind k are from `start[k]` on, the cohorts of group g from `cohorts[g]` on, each
    with a `share`, and the values of cohort j from `first[j]` on, which so many have (`count`).
    """
    for person in range(len(kind)):
        for at in range(start[kind[person]], start[kind[person] + 1]):
            for place in range(cohorts[group[at]], cohorts[group[at] + 1]):
                own = cohort[place]
                having = 0.0
                for entry in range(first[own], first[own + 1]):
                    if value[entry] == truth[person]:
                        having = count[entry]
                        break
                part = weight[at] * share[place]
                total[person] += part
                if having <= 0:
                    continue
                size = float(sizes[own])
                for column in range(len(known)):
                    if are_in:
                        gone = min(float(known[column]), max(size - 1, 0.0))
                        rest = having - gone * (having - 1) / max(size - 1, 1.0)
                        chance = rest / max(size - gone, 1.0)
                    else:
                        chance = having / max(size, 1.0)
                    out[person, column] += part * chance
