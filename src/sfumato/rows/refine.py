"""Refining: the groups of any partition split into the smallest blocks that keep l values apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.models import LDiversity, LUniqueGroups
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.rows.eligible_runs import (
    join_runs,
    new_counter,
    new_pile,
    refuse_counts,
    refuse_ineligible,
    values_of,
)
from sfumato.rows.refine_kernel import largest_runs, new_residues, refine_groups
from sfumato.rows.refine_several import split_unique
from sfumato.rows.words import WordSource
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import counting_order, packed, sorted_rows
from sfumato.table.permutation import permutation, shuffled_by_code

Ints = npt.NDArray[np.int64]


def join_ineligible(
    table: Table,
    groups: Groups,
    sensitive: Sequence[str],
    l: int,  # noqa: E741
    *,
    rng: np.random.Generator,
) -> Groups:
    """Return the groups, those that cannot be split into l-unique blocks joined with neighbours.

    Neighbours are the groups of the next lower and next higher number; one of them is joined at
    random, until the group has l times as many rows with a value as of its commonest one.

    *Guarantee*: frequency l-diversity of every named attribute in every group.
    *Refuses*: an attribute whose commonest value has more than 1/l of the rows that have one.
    """
    refuse_infeasible(table, [LDiversity(name, l) for name in sensitive])
    values = values_of([table[name] for name in sensitive], groups.order)
    pile = new_pile(values, groups.count)
    counter = new_counter(values)
    source = WordSource(rng)
    words = source.at_least(2 * groups.count)
    done = join_runs(values, groups.offsets[:-1], table.rows, l, words, counter, pile)
    source.give_back()
    joined = np.repeat(np.arange(done, dtype=np.int32), pile.parts[:done])
    return Groups(joined[groups.ids], done)


def mixed_by_value(
    table: Table, sensitive: Sequence[str], *, rng: np.random.Generator
) -> Ints | None:
    """Return what refining draws before it looks at groups: rows by value, mixed within each.

    None with several sensitive attributes, when nothing is drawn so early.
    """
    if len(sensitive) > 1:
        return None
    column = table[sensitive[0]]
    return shuffled_by_code(column.codes, column.cardinality, rng)


def refine(
    table: Table,
    groups: Groups,
    sensitive: Sequence[str],
    l: int,  # noqa: E741
    *,
    rng: np.random.Generator,
    residues: Literal["own", "neighbours"] = "own",
    mixed: Ints | None = None,
) -> Groups:
    """Return l-unique blocks, as small as they can be, of rows that share a group or nearly so.

    Within each group, rounds take one row of each of the l commonest values that are left. What is
    left over then (fewer than l rows) joins blocks of its group that lack its value. With
    `residues="neighbours"`, to the letter of the paper, it first goes into further blocks of l rows
    from groups of neighbouring numbers: a little more is kept, but who knows the groups can rule
    out values of such a block that a group has as often as it may, and so may learn more than 1/l.
    Rows that miss the value are dealt evenly over the blocks of their group, and count for
    nothing. With several sensitive attributes each group is split on its own, evenly, into blocks
    whose rows differ in every one of them.

    `mixed` is what `mixed_by_value` has drawn of the same `rng`, if it was asked before.

    *Guarantee*: `LUniqueGroups(name, l)` for every named attribute; blocks of l to 2l - 1 rows
    that have a value. With `residues="own"`, rows of a block are equally likely to have each of its
    values, given the groups.
    *Refuses*: groups that are not l-eligible (see `join_ineligible`); with several attributes,
    missing values, and with three or more a group for which no split was found.
    *Source*: Zhu, Tian, Du, Xie, "Anonymization on Refining Partition", Algorithm 2.
    Departs from the paper: residues stay in their group by default; several sensitive attributes;
    missing values.
    """
    for name in sensitive:
        LUniqueGroups(name, l)  # refuses an l that is no whole number
    if len(sensitive) == 1:
        if mixed is None:
            mixed = mixed_by_value(table, sensitive, rng=rng)
        assert mixed is not None
        return _refine_one(table[sensitive[0]], groups, l, residues == "neighbours", rng, mixed)
    refuse_ineligible([table[name] for name in sensitive], groups, l)
    codes = np.stack([table[name].codes for name in sensitive])
    for name in sensitive:
        column = table[name]
        missing = int(np.count_nonzero(column.codes == column.null_code))
        if missing:
            raise ParameterError(
                f"`{name}` is missing in {missing} rows: with several sensitive attributes every "
                "value must be there; fill it in, drop those rows, or keep one sensitive attribute"
            )
    blocks, count = split_unique(codes[:, groups.order], groups.offsets, l, rng=rng)
    ids = np.empty(table.rows, np.int32)
    ids[groups.order] = blocks
    return Groups(ids, count)


def _refine_one(
    column: Column,
    groups: Groups,
    l: int,  # noqa: E741
    pool: bool,
    rng: np.random.Generator,
    mixed: Ints,
) -> Groups:
    rows = sorted_rows(mixed, groups.ids, groups.count)
    is_complete = len(rows) == len(column.codes)
    sizes = groups.sizes if is_complete else np.bincount(groups.ids[rows], minlength=groups.count)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    codes = column.codes[rows]
    largest = np.empty(groups.count, np.int64)
    largest_runs(codes, offsets, largest)
    refuse_counts(column, largest, sizes, l)
    residues = new_residues(column.cardinality, len(rows))
    block_of, blocks = refine_groups(codes, offsets, l, pool, rng, residues)
    ids = np.full(len(column.codes), -1, np.int32)
    ids[rows] = block_of
    deal_missing(groups, ids, rng)
    return Groups(ids, blocks)


def deal_missing(groups: Groups, ids: npt.NDArray[np.int32], rng: np.random.Generator) -> None:
    """Give rows without a block one made of rows of their own group alone, evenly and at random.

    A block of several groups would lose of what it tells of each by taking in more rows.
    """
    missing = np.flatnonzero(ids < 0)
    if len(missing) == 0:
        return
    known = np.flatnonzero(ids >= 0)
    width = int(ids.max()) + 1
    pairs = np.unique(packed([groups.ids[known], ids[known]]))
    shared = np.bincount(pairs % width, minlength=width) > 1
    pairs = pairs[~shared[pairs % width]]
    pairs = pairs[permutation(rng, len(pairs))]
    owner = (pairs // width).astype(np.int32)
    blocks = (pairs % width)[counting_order(owner, groups.count)]
    held = np.bincount(owner, minlength=groups.count)
    first = np.cumsum(held) - held
    missing = missing[permutation(rng, len(missing))]
    missing = sorted_rows(missing, groups.ids, groups.count)
    group = groups.ids[missing]
    here = np.bincount(group, minlength=groups.count)
    turn = np.arange(len(missing)) - (np.cumsum(here) - here)[group]
    ids[missing] = blocks[first[group] + turn % held[group]]
