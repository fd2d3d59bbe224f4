"""Sets of values that records have in common with others: groups of l different values each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.set_columns import code_type
from sfumato.rows.bucket_rounds import rounds_of_largest
from sfumato.table.groups import counting_order

Codes = npt.NDArray[np.int32]


def shared_sets(
    codes: Codes,
    l: int,  # noqa: E741
    size: int,
    *,
    rng: np.random.Generator,
) -> npt.NDArray[np.unsignedinteger[Any]] | None:
    """Return a set of l codes for every row, its own among them, each line sorted.

    Each round takes a row of each of the l commonest values that are left; these rows share their
    values. A row left over takes the values of a random round, of which its own replaces one
    unless it is among them. None if fewer than l values occur.
    """
    shuffled = rng.permutation(len(codes))
    # rows of one value lie together, in random order within it
    rows = shuffled[counting_order(codes[shuffled], size)]
    counts = np.bincount(codes, minlength=size).astype(np.int64)
    round_of, rounds = rounds_of_largest(counts, l)
    if rounds == 0:
        return None
    dealt = np.flatnonzero(round_of >= 0)
    dealt = dealt[counting_order(round_of[dealt], rounds)]
    values = np.sort(codes[rows[dealt]].reshape(rounds, l).astype(code_type(size)), axis=1)
    sets = np.empty((len(codes), l), code_type(size))
    sets[rows[dealt]] = values[round_of[dealt]]
    left = rows[round_of < 0]
    lent = values[rng.integers(0, rounds, len(left))]
    own = codes[left].astype(code_type(size))
    lacking = np.flatnonzero(~(lent == own[:, None]).any(axis=1))
    lent[lacking, rng.integers(0, l, len(lacking))] = own[lacking]
    sets[left] = np.sort(lent, axis=1)
    return sets
