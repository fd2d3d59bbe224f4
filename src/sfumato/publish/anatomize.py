"""The `anatomized` layout: quasi-identifiers and sensitive values in tables of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe
from sfumato.publish.exact import exact_column
from sfumato.release import TableEntry
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import BLOCK, packed

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def anatomized_tables(
    table: Table,
    groups: Groups,
    qi_tables: Sequence[Sequence[Column]] | None = None,
    *,
    rng: np.random.Generator,
) -> Published:
    """Return tables that share only the group: `qi_1` .., `sensitive_1` .. and kept columns.

    Each has one row a distinct combination in a group, with its count; `qi_tables` says which
    quasi-identifiers stay together (default: all).
    """
    public_ids = random_ids(groups.count, rng)
    ids = public_ids[groups.ids]
    if qi_tables is None:
        qi_tables = [table.quasi_identifiers] if table.quasi_identifiers else []
    named: list[tuple[str, Sequence[Column]]] = [
        *((f"qi_{i}", part) for i, part in enumerate(qi_tables, start=1)),
        *((f"sensitive_{i}", [c]) for i, c in enumerate(table.sensitive, start=1)),
        *((f"kept_{i}", [c]) for i, c in enumerate(table.kept, start=1)),
    ]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(threads.map(partial(_distinct, ids), (part for _, part in named)))
        # drawn one after the other, so that what is drawn depends on no thread
        orders = [rng.permutation(len(each.counts)) for each in found]
        tables = list(threads.map(_table, found, orders))
    return Published(
        "anatomized",
        {name: made for (name, _), made in zip(named, tables, strict=True)},
        [
            TableEntry(
                name=name, attributes=tuple(c.name for c in part), group="group", count="count"
            )
            for name, part in named
        ],
        [describe(column) for column in table.columns],
    )


class _Distinct(NamedTuple):
    """The distinct combinations of codes: packed into keys by `widths`, or at some of the rows."""

    columns: Sequence[Column]
    parts: Sequence[Codes]
    counts: Codes
    keys: Ints | None
    rows: Ints | None
    widths: Sequence[int]


def _distinct(ids: Codes, columns: Sequence[Column]) -> _Distinct:
    """Return each distinct combination of codes in a group."""
    parts = [ids, *(column.codes for column in columns)]
    # one sort of packed keys needs a fraction of the memory of a hash table of rows
    keys = packed(parts)
    widths = [int(part.max(initial=0)) + 1 for part in parts]
    if prod(widths) <= np.iinfo(np.int64).max:
        # keys alone are sorted several times faster than rows by their keys, and say all there is
        keys = np.asarray(pl.Series(keys).sort().to_numpy())
        starts, counts = _runs(keys)
        keys = keys if len(starts) == len(keys) else keys[starts]
        return _Distinct(columns, parts, counts, keys, None, widths)
    rows = np.argsort(keys)
    starts, counts = _runs(keys[rows])
    return _Distinct(columns, parts, counts, None, rows[starts], widths)


def _table(found: _Distinct, order: Ints) -> pa.Table:
    """Return the combinations with their counts, in the given order."""
    if found.keys is not None:
        codes = _unpacked(found.keys, order, found.widths)
    else:
        assert found.rows is not None
        first = found.rows[order]
        codes = [part[first] for part in found.parts]
    return pa.table(
        {
            "group": codes[0],
            **{
                column.name: exact_column(column, own)
                for column, own in zip(found.columns, codes[1:], strict=True)
            },
            "count": found.counts[order],
        }
    )


def _runs(keys: Ints) -> tuple[Ints, Codes]:
    """Return where each run of equal keys starts, and how long it is."""
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return starts, np.diff(starts, append=len(keys)).astype(np.int32)


def _unpacked(keys: Ints, order: Ints, widths: Sequence[int]) -> list[Codes]:
    """Return the codes that were packed into keys, the keys taken in an order.

    >>> keys = packed([np.array([1, 0]), np.array([2, 1])])
    >>> [codes.tolist() for codes in _unpacked(keys, np.array([1, 0]), [2, 3])]
    [[0, 1], [1, 2]]
    """
    found = [np.empty(len(order), np.int32) for _ in widths]
    for start in range(0, len(order), BLOCK):
        block = slice(start, start + BLOCK)
        rest = keys[order[block]]
        for codes, width in zip(reversed(found), reversed(widths), strict=True):
            above = rest // width
            codes[block] = rest - above * width
            rest = above
    return found
