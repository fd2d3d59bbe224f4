"""The `anatomized` layout: quasi-identifiers and sensitive values in tables of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe
from sfumato.publish.exact import exact_column
from sfumato.release import TableEntry
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import packed

Codes = npt.NDArray[np.int32]


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
    # one sort of packed keys needs a fraction of the memory of a hash table of rows
    keys = packed([ids, *(column.codes for column in columns)])
    rows = np.argsort(keys)
    keys = keys[rows]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(np.append(starts, len(keys)))
    order = rng.permutation(len(starts))
    first = rows[starts[order]]
    return pa.table(
        {
            "group": ids[first],
            **{column.name: exact_column(column, column.codes[first]) for column in columns},
            "count": counts[order],
        }
    )
