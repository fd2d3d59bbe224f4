"""Anatomy's partition: groups of rows whose sensitive values all differ."""

from __future__ import annotations

import numpy as np

from sfumato.errors import ParameterError
from sfumato.models import LDiversity, LUniqueGroups
from sfumato.rows.bucket_rounds import deal_unique
from sfumato.rows.eligibility import refuse_infeasible, refuse_several_rows
from sfumato.table import Groups, Table
from sfumato.table.permutation import permutation, shuffled_by_code


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
    refuse_several_rows(table, "anatomy")
    LUniqueGroups(attribute, l)  # refuses an l that is no whole number
    column = table[attribute]
    refuse_infeasible(table, [LDiversity(attribute, l)])
    counts = column.counts[:-1].copy()
    if not counts.any():
        raise ParameterError(f"anatomy: every value of `{attribute}` is missing")
    ids = np.full(table.rows, -1, dtype=np.int32)
    # rows of one value lie together, in random order within it
    rows = shuffled_by_code(column.codes, column.cardinality, rng)
    group_of, group_count = deal_unique(counts, l, rng)
    ids[rows] = group_of
    # in random order, or who shares a group would tell who stood how far apart in the input
    missing = rng.permutation(np.flatnonzero(ids < 0))
    ids[missing] = np.resize(permutation(rng, group_count), len(missing))
    return Groups(ids, group_count)
