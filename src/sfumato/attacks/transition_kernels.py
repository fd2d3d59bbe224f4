"""The loops over records whose cells were replaced at random; see `transition_adversary.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]

_TIE = 1e-9  # relative: products in another order differ by rounding


@loop
def weigh_records(codes: Codes, is_exact: Bools, own: Ints, factors: Reals, weights: Reals) -> None:
    """Fill in how likely a person's values make each record, against any record.

    `codes` has a line an attribute. An exact cell must be the person's `own`; any other counts by
    the line of `factors`.
    """
    for row in range(len(weights)):
        weight = 1.0
        for a in range(len(codes)):
            code = codes[a, row]
            if is_exact[a]:
                if code != own[a]:
                    weight = 0.0
                    break
            else:
                weight *= factors[a, code]
        weights[row] = weight


@loop
def find_top(weights: Reals, others: Reals, out: Reals) -> None:
    """Fill in the sum and the largest of the weights, how many records have it, and sums of others
    and of those of the largest."""
    out[:] = 0.0
    for row in range(len(weights)):
        out[0] += weights[row]
        out[1] = max(out[1], weights[row])
        out[3] += others[row]
    limit = out[1] * (1.0 - _TIE)
    for row in range(len(weights)):
        if weights[row] >= limit and out[1] > 0.0:
            out[2] += 1.0
            out[4] += others[row]


@loop
def add_by_code(weights: Reals, codes: Codes, out: Reals) -> None:
    """Add each record's weight to its code."""
    for row in range(len(weights)):
        out[codes[row]] += weights[row]
