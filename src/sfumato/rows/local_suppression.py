"""Local suppression: groups whose rows agree in every cell that is not suppressed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.models import KAnonymity
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.rows.reveal import reveal
from sfumato.rows.suppression_kernel import (
    Events,
    Rows,
    count_safe,
    join,
    new_scratch,
    new_work,
    run,
    tighten,
)
from sfumato.table import Groups, Table
from sfumato.table.groups import packed
from sfumato.table.permutation import permutation

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

MOST_ATTRIBUTES = 62  # bits of a mask
_MOST_MASKS, _SOME_MASKS = 1 << 15, 1 << 11
_MOST_VISITS = 400_000_000  # rows that one search looks at, about
_COUNTED_VISITS = 30_000_000  # rows that are looked at to put masks in order
_LENT = (0.9, 0.8, 0.67, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)  # shares of k that a class has at least
# Improvement: how often, how many rows are taken apart, and how many are looked at in all.
_ROUNDS, _NEIGHBOURS, _ROUND_VISITS = 800, 240, 500_000_000
_IN_VAIN = 100  # rounds without a gain, after which there are no more
_TINY = 1e-9


def local_suppression(table: Table, k: int, weights: Reals, *, rng: np.random.Generator) -> Groups:
    """Return groups of at least k rows, such that few cells differ from others of their group.

    `weights` say what a suppressed cell of each quasi-identifier costs. Rows whose values k or more
    share are a group as they are. For the others sets of cells are tried, from the least cost a
    row on: k rows that agree elsewhere are a group, also where some of them are lent by a group
    that has more than k. Then small neighbourhoods are taken apart and put together anew, and stay
    so where that saves cells. It is never worse than the plain greedy (`plain_greedy`).

    *Guarantee*: k rows a group. Nothing depends on the order of the input.
    *Refuses*: (Infeasible) fewer than k rows; (ParameterError) more than 62 quasi-identifiers.
    """
    refuse_infeasible(table, [KAnonymity(k)])
    columns = table.quasi_identifiers
    if len(columns) > MOST_ATTRIBUTES:
        raise ParameterError(
            f"local-suppression takes up to {MOST_ATTRIBUTES} quasi-identifiers, "
            f"and there are {len(columns)}; leave some out"
        )
    order = permutation(rng, table.rows)
    keys = packed([column.codes for column in columns])[order]
    order = order[np.argsort(keys, kind="stable")]
    codes = np.stack([column.codes[order] for column in columns], axis=1)
    rows = Rows.marked(codes, weights, rng)
    lists = MaskLists.of(rows, k)
    plain, plain_cost = plain_greedy(rows, k, lists)
    found, cost = _solved(rows, k, lists.events(k), borrow=True)[:2]
    if plain_cost <= cost:
        found = plain
    found = _improved(rows, k, lists, found, rng)
    ids = np.empty(table.rows, np.int64)
    ids[order] = found
    shown = [
        np.where(hidden[ids], column.null_code + 1, column.codes)
        for column, hidden in zip(columns, _hidden(codes, found).T, strict=True)
    ]
    return Groups.of_equal(shown)


def plain_greedy(rows: Rows, k: int, lists: MaskLists) -> tuple[Ints, float]:
    """Return groups and their cost: set by set of cells, the cheapest first, without loans.

    Of equally cheap ones that comes first under which most rows at risk would be safe. Fewer than
    k rows that are left each join the group that loses least by it.
    """
    return _solved(rows, k, lists.plain(), borrow=False)[:2]


class MaskLists:
    """The sets of cells that may be suppressed together, and in which order they are tried."""

    def __init__(self, mask: Ints, weight: Reals, safe: Ints) -> None:
        order = np.lexsort((mask, -safe, weight))
        self.mask, self.weight = mask[order], weight[order]

    @classmethod
    def of(cls, rows: Rows, k: int) -> MaskLists:
        """Return all masks, or as many of the smallest as can be tried, and the one of all."""
        attributes = rows.codes.shape[1]
        masks = [0]
        for size in range(1, attributes + 1):
            masks += (sum(1 << a for a in some) for some in combinations(range(attributes), size))
            if len(masks) > _MOST_MASKS:
                masks = [*masks[:_MOST_MASKS], (1 << attributes) - 1]
                break
        mask = np.array(masks, np.int64)
        bits = (mask[:, None] >> np.arange(attributes)) & 1
        everybody, scratch = np.arange(len(rows.codes)), new_scratch(len(rows.codes), k)
        alone = everybody[_is_rare(rows, k)]
        tried = mask[: _COUNTED_VISITS // max(len(alone), 1)]  # the smallest come first
        safe = np.zeros(len(mask), np.int64)
        for at, each in enumerate(tried.tolist()):
            safe[at] = count_safe(rows, alone, each, k, scratch)
        return cls(mask, bits @ rows.weights, safe)

    def plain(self) -> Events:
        """Return the masks by their costs."""
        return Events(self.mask, self.weight, self.weight)

    def events(self, k: int, rng: np.random.Generator | None = None) -> Events:
        """Return the masks by what they cost a row that is made safe, at different loans.

        With `rng` the order is a little at random, and of very many masks some are tried.
        """
        own = sorted({max(int(np.ceil(share * k)), 1) for share in _LENT} - {k}, reverse=True)
        mask, weight = self.mask, self.weight
        if rng is not None and len(mask) > _SOME_MASKS:
            some = np.append(rng.choice(len(mask) - 1, _SOME_MASKS, replace=False), len(mask) - 1)
            mask, weight = mask[some], weight[some]
        limit = np.concatenate([weight, *(k * weight / each for each in own)])
        mask, weight = np.tile(mask, len(own) + 1), np.tile(weight, len(own) + 1)
        key = limit if rng is None else limit * rng.uniform(0.85, 1.15, len(limit))
        order = np.argsort(key, kind="stable")
        return Events(mask[order], weight[order], limit[order])


def _solved(rows: Rows, k: int, events: Events, *, borrow: bool) -> tuple[Ints, float, int]:
    """Return groups, what their suppressed cells cost, and how many rows were looked at."""
    count = len(rows.codes)
    everybody, work = np.arange(count), new_work(count)
    scratch = new_scratch(count, k)
    left = run(rows, everybody, events, k, borrow, _MOST_VISITS, work, scratch)
    free = scratch.free[:left].copy()
    if left >= k:  # the search took too long: what is left is parted from above
        work.group[free] = work.state[0] + reveal(rows.codes[free], rows.weights, k)
    elif left:
        join(rows, everybody, free, work, scratch.class_of)
    cost = tighten(rows, everybody, work, scratch.class_of)
    return work.group, float(cost), int(work.state[1])


def _is_rare(rows: Rows, k: int) -> npt.NDArray[np.bool_]:
    _, at, counts = np.unique(rows.sums, return_inverse=True, return_counts=True)
    return np.asarray(counts[at] < k)


def _hidden(codes: npt.NDArray[np.int32], groups: Ints) -> npt.NDArray[np.bool_]:
    """Return which attributes the rows of each group do not agree in."""
    first = np.empty(int(groups.max()) + 1, np.int64)
    first[groups] = np.arange(len(groups))
    differs = codes != codes[first[groups]]
    found = np.zeros((len(first), codes.shape[1]), np.bool_)
    for a in range(codes.shape[1]):
        found[groups[differs[:, a]], a] = True
    return found


def _improved(rows: Rows, k: int, lists: MaskLists, groups: Ints, rng: np.random.Generator) -> Ints:
    """Return groups that cost no more, after taking neighbourhoods apart many times.

    A neighbourhood are groups with a row like a costly one in some attributes: wholly, or k rows
    of a group and some that it can lend.
    """
    groups, attributes = groups.copy(), rows.codes.shape[1]
    enough = _IN_VAIN + len(groups) // 100
    visits = in_vain = 0
    for _ in range(_ROUNDS):
        costs = _hidden(rows.codes, groups) @ rows.weights
        costly = np.flatnonzero(costs[groups] > 0)
        if not len(costly) or visits > _ROUND_VISITS or in_vain > enough:
            break
        seed = int(costly[rng.integers(len(costly))])
        shown = rng.random(attributes) < rng.random()
        alike = (rows.codes[:, shown] == rows.codes[seed, shown]).all(axis=1)
        part = _neighbourhood(groups, seed, np.flatnonzero(alike), k, rng)
        in_vain += 1
        if len(part) < 2 * k:
            continue
        own = Rows(rows.codes[part], rows.marks[part], rows.sums[part], rows.weights)
        found, cost, seen = _solved(own, k, lists.events(k, rng), borrow=True)
        visits += seen + 4 * rows.codes.size + 16 * len(lists.mask)
        if cost < float(costs[groups[part]].sum()) - _TINY:
            groups[part] = int(groups.max()) + 1 + found
            _, groups = np.unique(groups, return_inverse=True)
            in_vain = 0
    return groups


def _neighbourhood(groups: Ints, seed: int, alike: Ints, k: int, rng: np.random.Generator) -> Ints:
    """Return rows of the seed's group and of others with rows like it, such that none is torn."""
    sizes = np.bincount(groups)
    some = alike[rng.permutation(len(alike))[: 4 * _NEIGHBOURS]]
    names, first = np.unique(groups[some], return_index=True)
    names = np.concatenate(([groups[seed]], names[np.argsort(first)]))
    names = names[np.sort(np.unique(names, return_index=True)[1])]
    # of a large group k rows, and k that it can lend, while k or more stay out
    wanted = np.where(sizes[names] >= 3 * k, 2 * k, sizes[names])
    chosen = names[np.cumsum(wanted) <= max(_NEIGHBOURS, int(wanted[0]))]
    quota = np.zeros(len(sizes), np.int64)
    quota[chosen] = wanted[: len(chosen)]
    inside = np.flatnonzero(quota[groups] > 0)
    inside = inside[rng.permutation(len(inside))]
    own = groups[inside]
    order = np.argsort(own, kind="stable")
    place = np.empty(len(own), np.int64)
    starts = np.cumsum(np.bincount(own, minlength=len(sizes))) - np.bincount(
        own, minlength=len(sizes)
    )
    place[order] = np.arange(len(own)) - starts[own[order]]
    return np.sort(inside[place < quota[own]])
