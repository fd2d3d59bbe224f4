"""Fake records: people who do not exist, put among those who do without weakening a group.

A fake has the quasi-identifiers of some row and a sensitive value as common as in the table. It
joins that row's group only if the group keeps its diversity, for every person in it.
"""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible
from sfumato.rows.exclusions import Exclusions
from sfumato.table import Column, Groups, Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_VALUES_TRIED = 16  # for one twin; then another is drawn
_ROUNDS = 64


def with_fakes(
    table: Table,
    groups: Groups,
    count: int,
    *,
    l: int | None,  # noqa: E741 -- the parameter's name in every paper
    exclusions: Exclusions | None,
    rng: np.random.Generator,
) -> tuple[Table, Groups]:
    """Return the table with so many fakes after its own rows, and the groups with them.

    *Guarantee*: where no value of a group had more than 1/l of it, none has with the fakes, for
    whatever kind of person; None asks for nothing. Sensitive and kept values of a fake come from
    rows of the table, each drawn on its own.
    *Refuses*: groups that can take no fake.
    """
    if count == 0:
        return table, groups
    twins = np.empty(0, np.int64)
    values = {column.name: np.empty(0, np.int32) for column in (*table.sensitive, *table.kept)}
    for _ in range(_ROUNDS):
        asked = count - len(twins)
        drawn = rng.integers(0, table.rows, asked)
        found = {c.name: c.codes[rng.integers(0, table.rows, asked)] for c in table.kept}
        accepted = np.ones(asked, np.bool_)
        for a, column in enumerate(table.sensitive):
            tried = column.codes[rng.integers(0, table.rows, (asked, _VALUES_TRIED))]
            if l is None:
                found[column.name] = tried[:, 0]
                continue
            earlier = np.concatenate([groups.ids, groups.ids[twins]]).astype(np.int32)
            held = np.concatenate([column.codes, values[column.name]])
            chosen = _accepted(column, a, earlier, held, groups, drawn, tried, l, exclusions)
            found[column.name] = chosen
            accepted &= chosen >= 0
        twins = np.append(twins, drawn[accepted])
        for name, codes in found.items():
            values[name] = np.append(values[name], codes[accepted])
        if len(twins) == count:
            return _extended(table, groups, twins, values)
    raise Infeasible(
        f"only {len(twins)} of {count} fakes fit into groups that stay {l}-diverse; ask for fewer"
    )


def _extended(
    table: Table, groups: Groups, twins: Ints, values: dict[str, Codes]
) -> tuple[Table, Groups]:
    columns = tuple(
        replace(
            column,
            codes=np.concatenate([column.codes, values.get(column.name, column.codes[twins])]),
        )
        for column in table.columns
    )
    ids = np.concatenate([groups.ids, groups.ids[twins]]).astype(np.int32)
    return (
        replace(table, columns=columns, rows=table.rows + len(twins)),
        Groups(ids, groups.count),
    )


def _accepted(
    column: Column,
    attribute: int,
    ids: Codes,
    held: Codes,
    groups: Groups,
    twins: Ints,
    tried: Codes,
    l: int,  # noqa: E741
    exclusions: Exclusions | None,
) -> Codes:
    """Return for each fake the first value tried that its twin's group can take, -1 for none."""
    now = Groups(ids, groups.count)
    if exclusions is None:
        kinds = np.zeros(len(groups.ids), np.int32)
        impossible = np.zeros((1, column.null_code + 1), np.bool_)
    else:
        kinds, impossible = exclusions.kinds, exclusions.impossible[attribute]
    into = groups.ids[twins]
    order = np.argsort(into, kind="stable")
    chosen = np.full(len(twins), -1, np.int32)
    chosen[order] = _first_that_fits(
        now.order,
        now.offsets,
        held,
        kinds,
        np.ascontiguousarray(impossible),
        column.null_code,
        into[order].astype(np.int64),
        tried[order],
        l,
    )
    return chosen


@numba.njit(cache=True, nogil=True)
def _first_that_fits(
    order: Ints,
    offsets: Ints,
    held: Codes,
    kinds: Codes,
    impossible: Bools,
    null: int,
    into: Ints,
    tried: Codes,
    l: int,  # noqa: E741
) -> Codes:
    """Return the first value of each line of `tried` that leaves its group l-diverse, or -1.

    Fakes come by group (`into`), and each counts for those after it. Real rows come first: only
    they have a kind.
    """
    counts = np.zeros(null + 1, np.int64)
    seen = np.zeros(len(impossible), np.int64)
    of_group = np.empty(len(impossible), np.int64)
    chosen = np.full(len(into), -1, np.int32)
    i = 0
    while i < len(into):
        group = into[i]
        counts[:] = 0
        kind_count = 0
        for j in range(offsets[group], offsets[group + 1]):
            row = order[j]
            counts[held[row]] += 1
            if row < len(kinds) and seen[kinds[row]] != group + 1:
                seen[kinds[row]] = group + 1
                of_group[kind_count] = kinds[row]
                kind_count += 1
        while i < len(into) and into[i] == group:
            for t in range(tried.shape[1]):
                counts[tried[i, t]] += 1
                if _diverse(counts, null, impossible, of_group[:kind_count], l):
                    chosen[i] = tried[i, t]
                    break
                counts[tried[i, t]] -= 1
            i += 1
    return chosen


@numba.njit(cache=True, nogil=True)
def _diverse(counts: Ints, null: int, impossible: Bools, kinds: Ints, l: int) -> bool:  # noqa: E741
    for kind in kinds:
        total, largest = 0, 0
        for code in range(null):
            if not impossible[kind, code]:
                total += counts[code]
                largest = max(largest, counts[code])
        if largest * l > total:
            return False
    return True
