"""A random sample of a table's people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.schema.schema import Schema
from sfumato.table.column import Column
from sfumato.table.decode import decode
from sfumato.table.order import arrange
from sfumato.table.table import Table

Ints = npt.NDArray[np.int64]


def sampled(table: Table, share: float, *, rng: np.random.Generator) -> Table:
    """Return the rows of a share of the people, drawn without replacement, in their order.

    The number of people is rounded, and at least one. Values that nobody in the sample has are
    not in its columns either. Hierarchies stay as they are: one that was built from the data was
    built from all of them.
    """
    if share >= 1:
        return table
    people = max(1, round(share * table.unit_count))
    drawn = np.zeros(table.unit_count, np.bool_)
    drawn[rng.permutation(table.unit_count)[:people]] = True
    rows = np.flatnonzero(drawn if table.units is None else drawn[table.units])
    return rows_of(table, rows)


def rows_of(table: Table, rows: Ints) -> Table:
    """Return the table of some of the rows, given ascending."""
    units = None
    if table.units is not None:
        units = np.unique(table.units[rows], return_inverse=True)[1].astype(np.int32)
    return Table(
        table.schema,
        tuple(_rows_of(column, rows) for column in table.columns),
        len(rows),
        units,
        {name: flags[rows] for name, flags in table.flags.items()},
        {name: tokens.take(pa.array(rows)) for name, tokens in table.tokens.items()},
        None if table.weights is None else table.weights[rows],
    )


def _rows_of(column: Column, rows: Ints) -> Column:
    codes = column.codes[rows]
    used = np.unique(codes[codes < column.null_code])
    code_of = np.full(column.null_code + 1, len(used), np.int32)
    code_of[used] = np.arange(len(used), dtype=np.int32)
    plain = replace(
        column, codes=code_of[codes], values=column.values.take(pa.array(used, pa.int32()))
    )
    if column.tree is None:
        return plain
    cells = decode(_alone(plain))[column.name]
    # values stand in the order of the tree already, so a part of them does too
    return replace(plain, tree=arrange(plain.values, cells, column.attribute).tree)


def _alone(column: Column) -> Table:
    return Table(Schema((column.attribute,)), (column,), len(column.codes))
