"""Sensitive cells some of which are other people's: random redrawing from the whole table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.schema.attribute import Role
from sfumato.table import Column, Table
from sfumato.table.sample import rows_of


def perturbed(table: Table, share: float, *, rng: np.random.Generator) -> Table:
    """Return the table with each sensitive cell redrawn with a probability, apart from the others.

    A redrawn cell is that of a random row of the table, its own included: the distribution of
    every attribute stays as it is, in expectation, missing cells too. Values that no cell has any
    more are not in the columns either.
    """
    if share <= 0:
        return table

    def redrawn(column: Column) -> Column:
        if column.attribute.role is not Role.SENSITIVE:
            return column
        others = column.codes[rng.integers(0, table.rows, table.rows)]
        return replace(column, codes=np.where(rng.random(table.rows) < share, others, column.codes))

    changed = replace(table, columns=tuple(redrawn(column) for column in table.columns))
    return rows_of(changed, np.arange(table.rows))
