"""Groups merged until no combination of quasi-identifiers is too common in any table of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.models.model import exact_share
from sfumato.models.statistics import Ints
from sfumato.rows.eligible_runs import (
    Counter,
    Values,
    add_value,
    counts_by_group,
    counts_of_members,
    empty,
    new_counter,
    numbered,
)
from sfumato.schema.distinct import count_codes, looked_up
from sfumato.table import Column, Groups
from sfumato.table.groups import spread

Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]

# Errs towards merging no more than needed; the model decides in whole numbers in the end.
_SLACK = 1e-12
_BITS = 63  # of a whole number, the sign aside


class Limits(NamedTuple):
    """The most that a share of a table may be, and a product of shares: one a sensitive table."""

    alpha: float
    gammas: Reals


class Members(NamedTuple):
    """The rows of all groups, group by group, and where each group's begin."""

    rows: Ints
    offsets: Ints


def combinations(tables: Sequence[Sequence[Column]], sensitive: Sequence[Column]) -> Values:
    """Return what every row shows in each quasi-identifier table, then in each sensitive one.

    Combinations are numbered from 1 on in one go; a missing sensitive value is 0.
    """
    shown = [Groups.of_equal([column.codes for column in part]) for part in tables]
    return numbered(
        [
            *((groups.ids, groups.count) for groups in shown),
            *((column.codes, column.cardinality) for column in sensitive),
        ]
    )


class Merged(NamedTuple):
    """Merged groups, and what `counts_by_group` says of them."""

    groups: Groups
    largest: Codes
    known: Codes


def merge_groups(
    values: Values, groups: Groups, limits: Limits, *, rng: np.random.Generator
) -> Merged:
    """Return groups merged until none exceeds the limits, or all are one.

    `values` are those of `combinations`; the last tables, as many as there are gammas, are
    sensitive. Groups that exceed a limit most come first; each takes in others, those with most
    room first, until it fits. Every group is taken in once, so the work is that of one pass.

    *Source*: SLPPA, Algorithm 1, lines 20 to 41, which takes in the last groups first.
    """
    tables = len(values.of_row) - len(limits.gammas)
    limits = Limits(float(exact_share(limits.alpha)), limits.gammas)
    largest, known = counts_by_group(values, groups)
    used = _used(largest, known, groups.sizes, limits)
    fitting = int(np.count_nonzero(used <= 1 + _SLACK))
    used += 1e-9 * rng.random(groups.count)
    order = _ascending_order(used)
    del used
    members = Members(groups.order, groups.offsets)
    target = _take_in(values, members, order, fitting, tables, limits, new_counter(values))
    is_used = np.zeros(groups.count, np.bool_)
    is_used[target] = True
    number = (np.cumsum(is_used, dtype=np.int32) - 1)[target]
    merged = Groups(looked_up(number, groups.ids), int(is_used.sum()))
    return Merged(merged, *_counts_of_merged(values, groups, number, largest, known))


def _used(largest: Codes, known: Codes, sizes: Ints, limits: Limits) -> Reals:
    """Return what each group uses of its limits: above 1, it exceeds one of them."""
    tables = len(largest) - len(limits.gammas)
    shares = largest[:tables] / sizes
    product = shares.prod(axis=0)
    used: Reals = shares.max(axis=0) / limits.alpha
    for i, gamma in enumerate(limits.gammas):
        common = largest[tables + i] / np.maximum(known[tables + i], 1)
        used = np.maximum(used, product * common / gamma)
    return used


def _ascending_order(numbers: Reals) -> Ints:
    """Return the places of numbers of at least 0 from low to high, of equal ones the first first.

    Such numbers stand in the order of their bits, which are sorted some at a time, the lowest
    first, beside the places: whole numbers are sorted in a fifth of the time.
    """
    bits, places = numbers.view(np.int64), np.arange(len(numbers))
    low = len(numbers).bit_length()
    order = places
    for shift in range(0, _BITS, _BITS - low):
        keys = (bits >> shift)[order]
        keys &= (1 << _BITS - low) - 1
        keys <<= low
        keys |= places
        order = order[np.sort(keys) & (1 << low) - 1]
    return order


def _counts_of_merged(
    values: Values, groups: Groups, number: Codes, largest: Codes, known: Codes
) -> tuple[Codes, Codes]:
    """Return the counts of merged groups, those of groups being known; `number` says of which.

    Most groups are merged with no other, and only those that are have to be counted.
    """
    parts = count_codes(number, int(number.max()) + 1)
    part_of = np.empty(len(parts), np.int64)  # one of its groups, all there is of most
    part_of[number] = np.arange(len(number))
    new_largest, new_known = (each.take(part_of, axis=1) for each in (largest, known))
    several = np.flatnonzero(parts[number] > 1)
    if len(several):
        several = several[np.argsort(number[several], kind="stable")]
        places = spread(groups.offsets[several], groups.offsets[several + 1])[1]
        chosen = np.unique(number[several])
        sizes = np.bincount(number[several], groups.sizes[several])[chosen].astype(np.int64)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        counted = counts_of_members(values, groups.order[places], offsets)
        new_largest[:, chosen], new_known[:, chosen] = counted
    return new_largest, new_known


@numba.njit(cache=True, nogil=True)
def _take_in(
    values: Values,
    members: Members,
    order: Ints,
    fitting: int,
    tables: int,
    limits: Limits,
    counter: Counter,
) -> Codes:
    """Return the merged group of every group; some numbers are not used.

    Groups stand in order of what they use of their limits: the first `fitting` ones fit.
    """
    groups = len(order)
    target = np.full(groups, -1, np.int32)
    before = np.full(groups, -1, np.int64)  # the group taken in before, of the same merged group
    latest = np.full(groups, -1, np.int64)  # the last taken in, by merged group
    merged = 0
    roomy, tight = 0, groups - 1  # the next to be taken in, and the next to be mended
    while tight >= fitting and tight >= roomy:
        empty(counter, 0)
        size = 0
        group = order[tight]
        tight -= 1
        while group >= 0:
            size += _add_group(values, members, group, counter)
            target[group] = merged
            before[group] = latest[merged]
            latest[merged] = group
            group = -1
            if not _fits(counter, size, tables, limits) and roomy <= tight:
                group = order[roomy]
                roomy += 1
        mended = merged - 1
        # only what has been mended is left to take in
        while mended >= 0 and not _fits(counter, size, tables, limits):
            group = latest[mended]
            while group >= 0:
                size += _add_group(values, members, group, counter)
                target[group] = merged
                group = before[group]
            mended -= 1
        merged += 1
    for place in range(roomy, fitting):
        target[order[place]] = merged
        merged += 1
    return target


@numba.njit(cache=True, nogil=True)
def _add_group(values: Values, members: Members, group: int, counter: Counter) -> int:
    """Add the rows of a group to the counts, and return how many they are."""
    start, end = members.offsets[group], members.offsets[group + 1]
    for attribute in range(len(values.of_row)):
        for j in range(start, end):
            add_value(values, values.of_row[attribute, members.rows[j]], 1, counter, 0)
    return int(end - start)


@numba.njit(cache=True, nogil=True)
def _fits(counter: Counter, size: int, tables: int, limits: Limits) -> bool:
    product = 1.0
    for table in range(tables):
        share = counter.largest[0, table] / size
        product *= share
        if share > limits.alpha * (1 + _SLACK):
            return False
    for i in range(len(limits.gammas)):
        known = counter.known[0, tables + i]
        if known > 0 and product * counter.largest[0, tables + i] / known > limits.gammas[i] * (
            1 + _SLACK
        ):
            return False
    return True
