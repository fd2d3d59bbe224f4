"""Anatomy's partition: groups of rows whose sensitive values all differ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.models import LDiversity, LUniqueGroups
from sfumato.rows.bucket_rounds import rounds_of_largest
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.table import Groups, Table

Ints = npt.NDArray[np.int64]


def anatomy(table: Table, attribute: str, l: int, *, rng: np.random.Generator) -> Groups:  # noqa: E741
    """Return l-unique groups: at least l rows with a value, no two values alike.

    Rows are dealt at random: each round takes one row from each of the l commonest values that
    are left; the last rows, fewer than l values, join groups without their value. Rows that miss
    the value are spread evenly over all groups and count for nothing.

    *Guarantee*: `LUniqueGroups(attribute, l)`, and so frequency l-diversity, in every group.
    *Refuses*: an attribute whose commonest value has more than 1/l of the rows that have one.
    *Source*: Xiao and Tao, VLDB 2006, Figure 3.
    Departs from the paper: missing values.
    """
    if table.units is not None:
        raise ParameterError(
            "anatomy needs one row a person, and some people have several; "
            "keep one row each, or use mondrian"
        )
    LUniqueGroups(attribute, l)  # refuses an l that is no whole number
    column = table[attribute]
    refuse_infeasible(table, [LDiversity(attribute, l)])
    known = np.flatnonzero(column.codes != column.null_code)
    if len(known) == 0:
        raise ParameterError(f"anatomy: every value of `{attribute}` is missing")
    ids = np.full(table.rows, -1, dtype=np.int32)
    shuffled = known[rng.permutation(len(known))]
    # rows of one value lie together, in random order within it
    rows = shuffled[np.argsort(column.codes[shuffled], kind="stable")]
    counts = np.bincount(column.codes[known], minlength=column.cardinality).astype(np.int64)
    group_of, group_count = rounds_of_largest(counts, l)
    _place_residue(group_of, group_count, counts, rng)
    ids[rows] = group_of
    missing = np.flatnonzero(ids < 0)
    dealt = np.resize(rng.permutation(group_count), len(missing))
    ids[missing] = dealt
    return Groups(ids, group_count)


def _place_residue(
    group_of: npt.NDArray[np.int32],
    group_count: int,
    counts: Ints,
    rng: np.random.Generator,
) -> None:
    """Put each row that no round took into a random group without its value, in place.

    Fewer than l values are left over, one row each: had a value two rows left, a round with l
    values would still have been possible (see `rounds_of_largest`). A group takes at most one
    row of each value, so any group that lacks the value will do, and one exists because the
    value's count is at most the number of groups.
    """
    ends = np.cumsum(counts)
    for position in np.flatnonzero(group_of < 0):  # fewer than l rows
        value = int(np.searchsorted(ends, position, side="right"))
        own = slice(int(ends[value] - counts[value]), int(ends[value]))
        taken = np.unique(group_of[own][group_of[own] >= 0])
        free = np.setdiff1d(np.arange(group_count, dtype=np.int32), taken, assume_unique=True)
        group_of[position] = free[rng.integers(len(free))]
