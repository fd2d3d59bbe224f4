"""The `anatomized` layout: quasi-identifiers and sensitive values in tables of their own."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

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
    return Published(
        "anatomized",
        {name: _counted(ids, part, rng) for name, part in named},
        [
            TableEntry(
                name=name, attributes=tuple(c.name for c in part), group="group", count="count"
            )
            for name, part in named
        ],
        [describe(column) for column in table.columns],
    )


def _counted(ids: Codes, columns: Sequence[Column], rng: np.random.Generator) -> pa.Table:
    """Return each distinct combination of codes in a group with its count, in random order."""
    parts = [ids, *(column.codes for column in columns)]
    # one sort of packed keys needs a fraction of the memory of a hash table of rows
    keys = packed(parts)
    widths = [int(part.max(initial=0)) + 1 for part in parts]
    if prod(widths) <= np.iinfo(np.int64).max:
        # keys alone are sorted several times faster than rows by their keys, and say all there is
        keys = np.asarray(pl.Series(keys).sort().to_numpy())
        starts, counts = _runs(keys)
        keys = keys if len(starts) == len(keys) else keys[starts]
        order = rng.permutation(len(keys))
        codes = _unpacked(keys, order, widths)
    else:
        rows = np.argsort(keys)
        starts, counts = _runs(keys[rows])
        order = rng.permutation(len(starts))
        first = rows[starts[order]]
        codes = [part[first] for part in parts]
    del keys
    return pa.table(
        {
            "group": codes[0],
            **{
                column.name: exact_column(column, own)
                for column, own in zip(columns, codes[1:], strict=True)
            },
            "count": counts[order],
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
