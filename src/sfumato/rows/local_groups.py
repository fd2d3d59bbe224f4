"""Local equivalence groups: rows of one flag pattern together, undersized patterns united."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.rows.masking import visible_column
from sfumato.rows.patterns import Patterns
from sfumato.table import Column, Groups

Bools = npt.NDArray[np.bool_]


def local_groups(
    columns: Sequence[Column],
    flags: Sequence[Bools | None],
    k: int,
    partition: Callable[[Sequence[Column], Groups], Groups],
) -> Groups:
    """Return groups of at least k rows, refined by `partition` within each flag pattern.

    `flags` has for each column which cells are sensitive (None: none of them). `partition` gets
    the columns without their sensitive cells, which are missing, so that within a pattern they are
    constant and cost nothing, and the patterns to refine. Groups depend on other cells only.

    *Source*: Li, He, Sun, Definition 8.
    Departs from the paper: undersized patterns (`patterns.py`).
    """
    rows = len(columns[0].codes)
    given = [flag for flag in flags if flag is not None]
    patterns = Patterns.of(given, rows)
    unions = patterns.unions(patterns.groups.sizes, k)
    visible = [
        column if flag is None else visible_column(column, flag)
        for column, flag in zip(columns, flags, strict=True)
    ]
    groups = partition(visible, patterns.groups)
    if not unions:
        return groups
    pattern_of_group = patterns.groups.ids[groups.order[groups.offsets[:-1]]]
    target = np.arange(groups.count)
    sizes = groups.sizes.copy()
    all_flags = patterns.flags[pattern_of_group]
    any_flags = all_flags.copy()
    for union in unions:
        members = np.flatnonzero(np.isin(pattern_of_group, union.patterns))
        host = members[0]
        if union.host is not None:
            # of the host's groups the one with the fewest more cells to withhold: it may be one
            # that others have joined before
            hosts = np.flatnonzero(pattern_of_group == union.host)
            before = (any_flags[hosts] & ~all_flags[hosts]).sum(axis=1) * sizes[hosts]
            mixed = (any_flags[hosts] | union.any) & ~(all_flags[hosts] & union.all)
            after = mixed.sum(axis=1) * (sizes[hosts] + union.people)
            host = hosts[np.argmin(after - before)]
            sizes[host] += union.people
            any_flags[host] |= union.any
            all_flags[host] &= union.all
        target[members] = host
    _, dense = np.unique(target, return_inverse=True)
    ids = dense[groups.ids].astype(np.int32)
    return Groups(ids, int(dense.max()) + 1)
