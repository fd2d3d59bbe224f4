"""Group division: groups in which no sensitive value has more than beta, nor strays by delta."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numba
import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible
from sfumato.models.model import exact_share
from sfumato.rows.anatomy import anatomy
from sfumato.rows.refine import deal_missing, refine
from sfumato.schema.distinct import looked_up
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import packed
from sfumato.table.permutation import permutation, shuffled_by_code
from sfumato.table.whole import Whole

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# Up to so many cells a table of groups and values is counted in place.
_DENSE_CELLS = 1 << 24
_MANY = 4_096  # groups, of which fewer are tried in larger steps


def fewest_values(beta: float, delta: float) -> int:
    """Return N: how many different values a group of values that all differ needs.

    >>> fewest_values(0.05, 0.1), fewest_values(0.3, 1.0)
    (20, 4)
    """
    return max(math.ceil(1 / exact_share(beta)), math.ceil(1 / exact_share(delta)))


def divide(
    table: Table, asked: Mapping[str, tuple[float, float]], *, rng: np.random.Generator
) -> Groups:
    """Return groups in which no value exceeds its beta, or strays by more than its delta.

    `asked` has (beta, delta) by sensitive attribute. Where every attribute allows it, no two people
    of a group share a value. Else each group has about its share of every value: as many groups as
    were found to keep beta and delta, one at worst, which keeps any beta that is feasible.
    """
    names = list(asked)
    columns = [table[name] for name in names]
    least = max(fewest_values(*each) for each in asked.values())
    complete = len(names) == 1 or not any((c.codes == c.null_code).any() for c in columns)
    if complete and all(is_eligible(column, least) for column in columns):
        try:
            return divide_unique(table, names, least, rng=rng)
        except Infeasible:
            pass  # three or more attributes, and no split was found
    priors = [_prior(column, table.whole) for column in columns]
    return _divide_evenly(columns, list(asked.values()), priors, rng=rng)


def is_eligible(column: Column, least: int) -> bool:
    """Return whether the rows that have a value can be dealt into groups of so many values."""
    counts = column.counts[:-1]
    return bool(counts.sum() > 0 and int(counts.max()) * least <= int(counts.sum()))


def divide_unique(
    table: Table, sensitive: Sequence[str], least: int, *, rng: np.random.Generator
) -> Groups:
    """Return groups of at least so many people in which no two share a sensitive value.

    With one attribute the paper's order is tried first: every group takes a row of each of the
    rarest values that are left. Where that strands the commonest ones, the commonest are taken
    first, which succeeds whenever every attribute is eligible. Rows that miss the value are dealt
    evenly over all groups.

    *Source*: SLPPA, Algorithm 1, lines 1 to 19. Departs from the paper: the second attempt;
    several sensitive attributes.
    """
    if len(sensitive) > 1:
        whole = Groups(np.zeros(table.rows, np.int32), 1)
        return refine(table, whole, sensitive, least, rng=rng)
    column = table[sensitive[0]]
    groups = _rarest_first(column, least, rng)
    return anatomy(table, column.name, least, rng=rng) if groups is None else groups


def _rarest_first(column: Column, least: int, rng: np.random.Generator) -> Groups | None:
    """Return the groups of the paper's order, None where some rows find no group."""
    counts = column.counts[:-1]
    values = np.flatnonzero(counts)
    by_size = values[np.argsort(counts[values], kind="stable")]
    group_of, groups = _take_rarest(counts[by_size], least, rng)
    if groups == 0:
        return None
    rank = np.full(column.null_code + 1, len(by_size), np.int32)
    rank[by_size] = np.arange(len(by_size), dtype=np.int32)
    rows = shuffled_by_code(looked_up(rank, column.codes), len(by_size), rng)
    ids = np.full(len(column.codes), -1, np.int32)
    ids[rows] = group_of
    whole = Groups(np.zeros(len(ids), np.int32), 1)
    deal_missing(whole, ids, rng)
    return Groups(ids, groups)


@numba.njit(cache=True, nogil=True)
def _take_rarest(counts: Ints, least: int, rng: np.random.Generator) -> tuple[Codes, int]:
    """Return each item's group and the number of groups; 0 groups where an item finds none.

    Buckets ascend by size, and the items of a bucket are numbered in a row. Each round takes one
    item of each of the first buckets that have any left; the rest of a bucket goes to groups
    without it.
    """
    buckets = len(counts)
    first_item = np.zeros(buckets + 1, np.int64)
    for bucket in range(buckets):
        first_item[bucket + 1] = first_item[bucket] + counts[bucket]
    group_of = np.full(first_item[-1], -1, np.int32)
    left = counts.copy()
    groups = 0
    head = 0  # buckets before are empty
    while True:
        while head < buckets and left[head] == 0:
            head += 1
        taken, bucket = 0, head
        while bucket < buckets and taken < least:
            taken += left[bucket] > 0
            bucket += 1
        if taken < least:
            break
        for other in range(head, bucket):
            if left[other] > 0:
                left[other] -= 1
                group_of[first_item[other] + left[other]] = groups
        groups += 1
    free = np.empty(groups, np.int64)
    has_it = np.zeros(groups, np.bool_)
    for bucket in range(buckets):
        if left[bucket] == 0:
            continue
        has_it[:] = False
        for item in range(first_item[bucket] + left[bucket], first_item[bucket + 1]):
            has_it[group_of[item]] = True
        length = 0
        for group in range(groups):
            if not has_it[group]:
                free[length] = group
                length += 1
        if length < left[bucket]:
            return group_of, 0
        for i in range(left[bucket]):  # so many of them, drawn without putting back
            j = rng.integers(i, length)
            free[i], free[j] = free[j], free[i]
            group_of[first_item[bucket] + i] = free[i]
    return group_of, groups


def _divide_evenly(
    columns: Sequence[Column],
    asked: Sequence[tuple[float, float]],
    priors: Sequence[Reals],
    *,
    rng: np.random.Generator,
) -> Groups:
    """Return groups with about their share of every value: rows dealt in turn, value by value."""
    shuffled = permutation(rng, len(columns[0].codes))
    keys = packed([column.codes[shuffled] for column in columns])
    rows = shuffled[np.argsort(keys, kind="stable")]
    fewest = max(math.ceil(1 / exact_share(beta)) for beta, _ in asked)
    count = max(len(rows) // fewest, 1)
    known = np.logical_and.reduce([column.codes != column.null_code for column in columns])
    counts = np.unique(keys[known[shuffled]], return_counts=True)[1]
    # so many groups share out every value without a rest, and so many surely nearly so
    likely = {int(np.gcd.reduce(counts))}
    if len(columns) == 1:
        likely.add(_surely_even(counts, *asked[0]))
    ids = np.empty(len(rows), np.int32)
    while True:
        ids[rows] = np.arange(len(rows), dtype=np.int64) % count
        groups = Groups(ids.copy(), count)
        if count == 1 or all(
            _keeps(column, groups, prior, *each)
            for column, prior, each in zip(columns, priors, asked, strict=True)
        ):
            return groups
        fewer = max(count - max(count // (4 if count > _MANY else 8), 1), 1)
        count = max([fewer, *(each for each in likely if each < count)])


def _surely_even(counts: npt.NDArray[np.int64], beta: float, delta: float) -> int:
    """Return a number of groups that keep beta and delta, however the rests of the values fall.

    A group gets a value's rows divided by the groups, rounded up or down; so its share lies
    between two fractions that are compared with beta and delta at once for all groups.
    """
    beta, delta = float(exact_share(beta)), float(exact_share(delta))
    total = int(counts.sum())
    prior = counts / total
    groups = total
    while groups > 1:
        fewest, most = total // groups, -(-total // groups)
        low, high = (counts // groups) / most, -(-counts // groups) / fewest
        if high.max() <= beta and max((high - prior).max(), (prior - low).max()) <= delta:
            return groups
        groups -= max(groups // 64, 1)
    return 1


def _prior(column: Column, whole: Whole | None) -> Reals:
    """Return the share of each value in the whole table."""
    if whole is None:
        counts = np.bincount(column.codes, minlength=column.null_code + 1)
    else:
        counts = whole.counts[column.name]
    width = max(column.cardinality, 1)
    return np.asarray(counts[:width] / max(counts[: column.cardinality].sum(), 1))


def _keeps(column: Column, groups: Groups, prior: Reals, beta: float, delta: float) -> bool:
    """Return whether all groups keep beta and delta, as far as fractions tell."""
    known = np.flatnonzero(column.codes != column.null_code)
    width = max(column.cardinality, 1)
    keys = groups.ids[known].astype(np.int64) * width + column.codes[known]
    present = np.bincount(groups.ids[known], minlength=groups.count)
    if not present.all():
        return False
    limit, apart = float(exact_share(beta)), float(exact_share(delta))
    if groups.count * width <= _DENSE_CELLS:
        shares = np.bincount(keys, minlength=groups.count * width).reshape(-1, width)
        shares = shares / present[:, None]
        return bool(shares.max() <= limit and np.abs(shares - prior).max() <= apart)
    pairs, counts = np.unique(keys, return_counts=True)
    shares = counts / present[pairs // width]
    # a value that some group lacks strays by its whole share
    held = np.bincount(pairs % width, minlength=width)
    lacking = prior[held < groups.count].max(initial=0.0)
    strays = np.abs(shares - prior[pairs % width]).max()
    return bool(shares.max() <= limit and max(lacking, strays) <= apart)
