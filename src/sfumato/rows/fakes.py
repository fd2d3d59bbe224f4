"""Fake records: people who do not exist, put among those who do without weakening a group.

A fake has the quasi-identifiers of some row and sensitive values as common as in the table. It
joins that row's group only if the group keeps its diversity, for every person in it.
"""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible
from sfumato.rows.exclusion_bits import NOBODY, Excluded
from sfumato.rows.exclusions import Exclusions
from sfumato.table import Groups, Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

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

    *Guarantee*: where no value of a group had more than 1/l of it, none has with the fakes, nor
    has for any kind of person in it; None asks for nothing. Sensitive and kept values of a fake
    come from rows of the table, each drawn on its own.
    *Refuses*: groups that can take no fake.
    """
    if count == 0:
        return table, groups
    twins = np.empty(0, np.int64)
    hidden = np.stack([column.codes for column in table.sensitive])
    fake_values = np.empty((len(hidden), 0), np.int32)
    for _ in range(_ROUNDS):
        drawn = rng.integers(0, table.rows, count - len(twins))
        tried = np.stack(
            [codes[rng.integers(0, table.rows, (len(drawn), _VALUES_TRIED))] for codes in hidden]
        )
        found = tried[:, :, 0]
        if l is not None:
            ids = np.concatenate([groups.ids, groups.ids[twins]]).astype(np.int32)
            now = Groups(ids, groups.count)
            held = np.concatenate([hidden, fake_values], axis=1)
            found = _accepted(table, now, held, groups.ids[drawn], tried, l, exclusions)
        fits = found[0] >= 0
        twins = np.append(twins, drawn[fits])
        fake_values = np.concatenate([fake_values, found[:, fits]], axis=1)
        if len(twins) == count:
            return _extended(table, groups, twins, fake_values, rng)
    raise Infeasible(
        f"only {len(twins)} of {count} fakes fit into groups that stay {l}-diverse; ask for fewer"
    )


def _extended(
    table: Table, groups: Groups, twins: Ints, values: Codes, rng: np.random.Generator
) -> tuple[Table, Groups]:
    own = {column.name: codes for column, codes in zip(table.sensitive, values, strict=True)}
    for column in table.kept:
        own[column.name] = column.codes[rng.integers(0, table.rows, len(twins))]
    columns = tuple(
        replace(
            column,
            codes=np.concatenate([column.codes, own.get(column.name, column.codes[twins])]),
        )
        for column in table.columns
    )
    ids = np.concatenate([groups.ids, groups.ids[twins]]).astype(np.int32)
    return replace(table, columns=columns, rows=table.rows + len(twins)), Groups(ids, groups.count)


def _accepted(
    table: Table,
    groups: Groups,
    held: Codes,
    into: Codes,
    tried: Codes,
    l: int,  # noqa: E741
    exclusions: Exclusions | None,
) -> Codes:
    """Return for each attribute and fake the first value tried that fits; -1 where one has none."""
    nulls = np.array([column.null_code for column in table.sensitive], np.int64)
    # of all groups, only those that a fake may join, numbered anew
    some, joined = np.unique(into, return_inverse=True)
    is_some = np.zeros(groups.count, np.bool_)
    is_some[some] = True
    rows = np.flatnonzero(is_some[groups.ids])
    members = Groups(np.searchsorted(some, groups.ids[rows]).astype(np.int32), len(some))
    real, excluded = rows[rows < table.rows], NOBODY
    values = np.zeros((len(real), 0), np.int32)
    if exclusions is not None:
        values, excluded = exclusions.values(table, real), exclusions.excluded
    order = np.argsort(into, kind="stable")
    chosen = np.empty(tried.shape[:2], np.int32)
    chosen[:, order] = _first_that_fit(
        members.order,
        members.offsets,
        held[:, rows],
        values,
        excluded,
        nulls,
        joined.reshape(-1)[order],
        tried[:, order],
        l,
    )
    return chosen


@numba.njit(cache=True, nogil=True)
def _first_that_fit(
    order: Ints,
    offsets: Ints,
    held: Codes,
    values: Codes,
    excluded: Excluded,
    nulls: Ints,
    into: Ints,
    tried: Codes,
    l: int,  # noqa: E741
) -> Codes:
    """Return the first values of each fake that leave its group l-diverse, or -1 in all.

    Fakes come by group (`into`), and each counts for those after it. Real rows come first: only
    they have `values` that tell what is impossible.
    """
    attributes, width = len(nulls), nulls.max() + 1
    counts = np.zeros((attributes, width), np.int64)
    codes = np.empty((attributes, width), np.int32)
    distinct = np.zeros(attributes, np.int64)
    is_own = np.zeros(len(excluded.owner), np.bool_)
    chosen = np.full((attributes, len(into)), -1, np.int32)
    i = 0
    while i < len(into):
        group = into[i]
        for a in range(attributes):
            counts[a, codes[a, : distinct[a]]] = 0
            distinct[a] = 0
        people = order[offsets[group] : offsets[group + 1]]
        for row in people:
            for a in range(attributes):
                if counts[a, held[a, row]] == 0:
                    codes[a, distinct[a]] = held[a, row]
                    distinct[a] += 1
                counts[a, held[a, row]] += 1
        while i < len(into) and into[i] == group:
            for a in range(attributes):
                for t in range(tried.shape[2]):
                    value = tried[a, i, t]
                    if counts[a, value] == 0:
                        codes[a, distinct[a]] = value
                        distinct[a] += 1
                    counts[a, value] += 1
                    held_codes = codes[a, : distinct[a]]
                    if _diverse(
                        held_codes, counts[a], nulls[a], excluded, a, people, values, is_own, l
                    ):
                        chosen[a, i] = value
                        break
                    _take_back(value, counts[a], distinct, a)
                if chosen[a, i] < 0:
                    for earlier in range(a):  # a fake is in the group with all values or with none
                        _take_back(chosen[earlier, i], counts[earlier], distinct, earlier)
                        chosen[earlier, i] = -1
                    break
            i += 1
    return chosen


@numba.njit(cache=True, nogil=True)
def _take_back(value: int, counts: Ints, distinct: Ints, attribute: int) -> None:
    """Undo the last value that was added."""
    counts[value] -= 1
    if counts[value] == 0:
        distinct[attribute] -= 1


@numba.njit(cache=True, nogil=True)
def _diverse(
    codes: Codes,
    counts: Ints,
    null: int,
    excluded: Excluded,
    attribute: int,
    people: Ints,
    values: Codes,
    is_own: npt.NDArray[np.bool_],
    l: int,  # noqa: E741
) -> bool:
    """Return whether no value has more than 1/l, for those who know nothing and who know a person.

    `is_own` is scratch by class, all False.
    """
    for i in range(-1, len(people)):
        if i >= 0 and (values.shape[1] == 0 or people[i] >= len(values)):
            continue
        for q in range(values.shape[1]):
            if i >= 0:
                is_own[excluded.class_of[q, values[people[i], q]]] = True
        total, largest = 0, 0
        for code in codes:
            is_possible = code != null
            if i >= 0:
                for j in range(
                    excluded.starts[attribute, code], excluded.starts[attribute, code + 1]
                ):
                    is_possible = is_possible and not is_own[excluded.classes[j]]
            if is_possible:
                total += counts[code]
                largest = max(largest, counts[code])
        for q in range(values.shape[1]):
            if i >= 0:
                is_own[excluded.class_of[q, values[people[i], q]]] = False
        if largest * l > total:
            return False
    return True
