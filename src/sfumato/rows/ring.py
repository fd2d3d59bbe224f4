"""Rings: the rows of a group in a circle, any l neighbours with different sensitive values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.rows.eligible_runs import refuse_ineligible
from sfumato.table import Column, Groups
from sfumato.table.groups import counting_order
from sfumato.table.permutation import permutation

Ints = npt.NDArray[np.int64]


def rings(column: Column, groups: Groups, l: int, *, rng: np.random.Generator) -> Ints:  # noqa: E741
    """Return the rows, group after group, each group in the order of its ring.

    Any l rows in a row of a ring, which closes on itself, have different values. The rows of a
    group are written, value by value from the commonest, down the columns of a sheet with
    floor(rows / l) lines, and read along its lines: rows of a value then stand in different lines,
    or almost a line apart.

    *Refuses*: missing values, and groups whose commonest value has more than 1/l of their rows.
    """
    codes = column.codes
    if (codes == column.null_code).any():
        raise ParameterError(
            f"a ring needs every value of `{column.name}`, and some are missing; fill them in, or "
            "drop those rows"
        )
    refuse_ineligible([column], groups, l)
    keys = groups.ids.astype(np.int64) * max(column.cardinality, 1) + codes
    pairs, pair_of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    group_of_pair = pairs // max(column.cardinality, 1)
    lines = groups.sizes // l
    # by group, from its commonest value on; a value's rows together, in random order
    rank_of_pair = np.empty(len(pairs), np.int64)
    rank_of_pair[np.lexsort((-counts, group_of_pair))] = np.arange(len(pairs))
    shuffled = permutation(rng, len(codes))
    rank = rank_of_pair[pair_of[shuffled]].astype(np.int32)
    rows = shuffled[counting_order(rank, len(pairs))]
    group = groups.ids[rows]
    place = np.arange(len(rows)) - groups.offsets[group]
    line = place % lines[group]
    sheet_column = place // lines[group]
    return np.asarray(rows[np.lexsort((sheet_column, line, group))])


def windows(groups: Groups, l: int) -> npt.NDArray[np.int64]:  # noqa: E741
    """Return, for every place in the rings, the l places from it on: an array of l columns.

    >>> windows(Groups(np.zeros(3, np.int32), 1), 2).tolist()
    [[0, 1], [1, 2], [2, 0]]
    """
    group = np.repeat(np.arange(groups.count), groups.sizes)
    first = groups.offsets[group]
    place = np.arange(len(group)) - first
    steps = (place[:, None] + np.arange(l)) % groups.sizes[group][:, None]
    return np.asarray(first[:, None] + steps)
