"""Local equivalence groups: rows of one flag pattern together, undersized patterns united."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.rows.masking import visible_column
from sfumato.rows.patterns import Patterns, Union
from sfumato.rows.unite_kernel import nearest_group, packed
from sfumato.table import Column, Groups

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def local_groups(
    columns: Sequence[Column],
    flags: Sequence[Bools | None],
    k: int,
    partition: Callable[[Sequence[Column], Groups], Groups],
    shown: Sequence[Ints | None] | None = None,
) -> Groups:
    """Return groups of at least k rows, refined by `partition` within each flag pattern.

    `flags` has for each column which cells are sensitive (None: none of them). `partition` gets
    the columns without their sensitive cells, which are missing, so that within a pattern they are
    constant and cost nothing, and the patterns to refine. Groups depend on other cells only.
    `shown` counts these by code in the table of which this one is a part (None: in this one).

    *Source*: Li, He, Sun, Definition 8.
    Departs from the paper: undersized patterns (`patterns.py`).
    """
    rows = len(columns[0].codes)
    given = [flag for flag in flags if flag is not None]
    patterns = Patterns.of(given, rows)
    unions = patterns.unions(patterns.groups.sizes, k)
    visible = [
        column if flag is None else visible_column(column, flag, counts)
        for column, flag, counts in zip(columns, flags, shown or [None] * len(flags), strict=True)
    ]
    groups = partition(visible, patterns.groups)
    if not unions:
        return groups
    target = _joined(groups, patterns, unions)
    _, dense = np.unique(target, return_inverse=True)
    ids = dense[groups.ids].astype(np.int32)
    return Groups(ids, int(dense.max()) + 1)


def _joined(groups: Groups, patterns: Patterns, unions: Sequence[Union]) -> Ints:
    """Return for every group the one that it becomes part of: itself, unless it is in a union."""
    pattern_of_group = patterns.groups.ids[groups.order[groups.offsets[:-1]]]
    of_pattern = Groups(pattern_of_group, patterns.groups.count)
    target = np.arange(groups.count)
    hosts: dict[int, _Host] = {}
    for union in unions:
        # a pattern that is too small for k rows is one group
        members = of_pattern.order[of_pattern.offsets[list(union.patterns)]]
        if union.host is None:
            target[members] = members[0]
            continue
        host = hosts.get(union.host)
        if host is None:
            its_groups = of_pattern.members(union.host)
            host = _Host(its_groups, groups.sizes[its_groups], patterns.flags[union.host])
            hosts[union.host] = host
        target[members] = host.take(union)
    return target


class _Host:
    """The groups of a pattern that unions join, the smallest group first.

    A union joins the group in which the fewest more cells are withheld: of those that nobody has
    joined yet the smallest, which have the same flags, or one that others have joined before.
    """

    def __init__(self, groups: Ints, sizes: Ints, flags: Bools) -> None:
        order = np.argsort(sizes, kind="stable")
        self._groups, self._sizes = groups[order], sizes[order].astype(np.int64)
        self._all = np.repeat(packed(flags[None]), len(groups), axis=0)
        self._any = self._all.copy()
        self._joined = 0  # so many groups have been joined: the first ones

    def take(self, union: Union) -> int:
        """Return the group that the union joins, and remember that it did."""
        every, some = packed(union.all[None])[0], packed(union.any[None])[0]
        looked_at = min(self._joined + 1, len(self._groups))
        place = int(
            nearest_group(self._all, self._any, self._sizes, looked_at, every, some, union.people)
        )
        self._joined = max(self._joined, place + 1)
        self._all[place] &= every
        self._any[place] |= some
        self._sizes[place] += union.people
        return int(self._groups[place])
