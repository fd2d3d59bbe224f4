"""What an adversary may know of whom: the columns that count for risk, and the records to count.

Quasi-identifiers, semi-sensitive attributes and sensitive quasi-identifiers are all known to
someone, so all three count. A record is one person's combination of them: someone with several
equal rows has one record, and one who appears in two forms has two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.errors import SchemaError
from sfumato.schema.attribute import Role
from sfumato.table.column import Column
from sfumato.table.groups import packed
from sfumato.table.table import Table

KNOWN_ROLES = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The records of a table: codes of the known columns, who they are of, and their classes.

    `rows` are the table's rows that stand for the records. `units` is None where every record is
    of a person of its own. A class holds the records that agree in every known column; `ids` says
    which one a record is in, and `sizes` how many people are in it.
    """

    names: tuple[str, ...]
    rows: npt.NDArray[np.int64] = field(repr=False)
    codes: tuple[npt.NDArray[np.int32], ...] = field(repr=False)
    widths: tuple[int, ...] = field(repr=False)
    units: npt.NDArray[np.int32] | None = field(repr=False)
    ids: npt.NDArray[np.int64] = field(repr=False)
    sizes: npt.NDArray[np.int64] = field(repr=False)

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.rows)

    @property
    def of_sizes(self) -> npt.NDArray[np.int64]:
        """The size of every record's class."""
        return self.sizes[self.ids]


def known_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns that someone may know of a person.

    Refuses (SchemaError) a table without any.
    """
    columns = table.with_role(*KNOWN_ROLES)
    if not columns:
        raise SchemaError(
            "no column is known to an adversary, so nobody can be recognised: give the role "
            "`quasi-identifier` to those that may be known from elsewhere"
        )
    return columns


def records_of(table: Table) -> Records:
    """Return the records of a table; missing values count as a value of their own."""
    columns = known_columns(table)
    keys = packed([column.codes for column in columns])
    _, ids = np.unique(keys, return_inverse=True)
    rows = np.arange(table.rows)
    units = None
    if table.units is not None:
        span = int(table.units.max(initial=0)) + 1
        _, rows = np.unique(ids * span + table.units, return_index=True)
        rows = np.sort(rows)
        units = table.units[rows]
    ids = ids[rows]
    return Records(
        names=tuple(column.name for column in columns),
        rows=rows,
        codes=tuple(column.codes[rows] for column in columns),
        widths=tuple(column.cardinality + 1 for column in columns),
        units=units,
        ids=ids,
        sizes=np.bincount(ids),  # records of one class are of different people
    )
