"""Sets of values that records have in common with others: groups of l different values or more."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.set_columns import code_type
from sfumato.rows.bucket_rounds import rounds_of_largest
from sfumato.table.groups import counting_order
from sfumato.table.permutation import permutation

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Sets = npt.NDArray[np.unsignedinteger[Any]]


def shared_sets(
    codes: Codes,
    l: int,  # noqa: E741
    size: int,
    *,
    rng: np.random.Generator,
) -> Sets | None:
    """Return a set of l codes for every row, its own among them, each line sorted.

    Each round takes a row of each of the l commonest values that are left; these rows are a group,
    which shares its values. A row left over joins a random group without its value: such a group
    stands in a circle, and each row has the values of l neighbours, itself the same step along in
    all of them. Where every group has the value, it belongs to more than 1/l of the rows, and the
    row left over repeats the set of a random row that has it. None if fewer than l values occur.

    *Guarantee*: to whoever knows how often each value occurs and nothing else of the rows, each
    value of a group's sets is a row's own with the chance 1/l. Rows that repeat a set
    (`left_over`) are outside: their value is likelier, the more of them there are.
    """
    # which of two equally common values is taken first must not tell their places in the domain
    mixed = rng.permutation(size).astype(np.int32)[codes]
    shuffled = permutation(rng, len(codes))
    # rows of one value lie together, in random order within it
    rows = shuffled[counting_order(mixed[shuffled], size)]
    counts = np.bincount(mixed, minlength=size).astype(np.int64)
    group_of, groups = rounds_of_largest(counts, l)
    if groups == 0:
        return None
    _join(group_of, groups, counts, rng)
    own = codes[rows].astype(code_type(size))
    sets = np.empty((len(codes), l), own.dtype)
    grouped = np.flatnonzero(group_of >= 0)
    grouped = grouped[counting_order(group_of[grouped], groups)]
    sizes = np.bincount(group_of[grouped], minlength=groups)
    plain = grouped[np.repeat(sizes == l, sizes)]
    sets[rows[plain]] = np.repeat(np.sort(own[plain].reshape(-1, l), axis=1), l, axis=0)
    ends = np.cumsum(sizes)
    for group in np.flatnonzero(sizes > l):  # fewer than l
        members = grouped[ends[group] - sizes[group] : ends[group]]
        sets[rows[members]] = _of_circle(own[members], l, rng)
    outside = group_of < 0
    for value in np.unique(own[outside]):  # fewer than l again
        lenders = rows[grouped]
        lenders = lenders[(sets[lenders] == value).any(axis=1)]
        borrowers = rows[outside & (own == value)]
        sets[borrowers] = sets[lenders[rng.integers(0, len(lenders), len(borrowers))]]
    return sets


def left_over(counts: Sequence[int] | Ints, l: int) -> int:  # noqa: E741
    """Return how many rows no group has room for, given how many rows have each value.

    There are r groups of l different values where values have at least l r rows, of any value no
    more than r being counted; of a value with more rows than groups, the others are left over.

    >>> left_over([90, 6, 4], 2), left_over([41, 40, 40], 3), left_over([3, 3, 1], 2)
    (80, 1, 0)
    """
    held = np.asarray(counts, np.int64)
    most = int(held.sum()) // l
    groups = bisect_right(
        range(most), False, key=lambda less: int(np.minimum(held, less + 1).sum()) < l * (less + 1)
    )
    return int(np.maximum(held - groups, 0).sum())


def _join(
    group_of: npt.NDArray[np.int32], groups: int, counts: Ints, rng: np.random.Generator
) -> None:
    """Give rows that are left over a random group each that lacks their value, if one does."""
    ends = np.cumsum(counts)
    for value in np.unique(np.searchsorted(ends, np.flatnonzero(group_of < 0), side="right")):
        own = group_of[ends[value] - counts[value] : ends[value]]
        lacking = np.setdiff1d(np.arange(groups), own[own >= 0])
        if len(lacking):  # then a single row of the value is left, its first
            own[0] = lacking[rng.integers(0, len(lacking))]


def _of_circle(values: Sets, l: int, rng: np.random.Generator) -> Sets:  # noqa: E741
    """Return the sorted sets of a group with more than l values, all different."""
    size = len(values)
    order = rng.permutation(size)
    starts = np.arange(size) - rng.integers(0, l)
    sets = np.empty((size, l), values.dtype)
    sets[order] = np.sort(values[order[(starts[:, None] + np.arange(l)) % size]], axis=1)
    return sets
