"""A table as the kernels see it: immutable integer columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ParameterError, SchemaError
from sfumato.schema.attribute import Role
from sfumato.schema.schema import Schema
from sfumato.table.column import Column
from sfumato.table.whole import Whole


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The coded columns of a table, in the order of the input; made by `encode`.

    `columns` are those that a release may show in some form: identifiers and dropped insensitive
    columns are in the `schema` alone. `units` says whose row it is, by codes 0, 1, ...; it is None
    where every row is a person of its own; where the schema names households, these are meant.
    `flags` says of semi-sensitive columns which cells are sensitive. `tokens` are the pseudonyms
    of identifiers that are published as such. `weights` say how many people each row stands for,
    None where the schema names no weights. `whole` has the counts of the table of which this one is
    a part; None where it is the whole.
    """

    # Out of the representation, which ends up in tracebacks and logs: they hold people's data.
    schema: Schema = field(repr=False)
    columns: tuple[Column, ...] = field(repr=False)
    rows: int
    units: npt.NDArray[np.int32] | None = field(default=None, repr=False)
    flags: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, pa.Array] = field(default_factory=dict, repr=False)
    weights: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    whole: Whole | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        arrays: list[npt.NDArray[Any]] = [column.codes for column in self.columns]
        for flags in self.flags.values():
            flags.flags.writeable = False
            arrays.append(flags)
        if self.units is not None:
            self.units.flags.writeable = False
            arrays.append(self.units)
        if self.weights is not None:
            self.weights.flags.writeable = False
            arrays.append(self.weights)
        lengths = [len(column) for column in self.tokens.values()]
        if any(array.shape != (self.rows,) for array in arrays) or set(lengths) - {self.rows}:
            raise ParameterError(f"a table of {self.rows} rows needs as many codes in each column")

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        role = self.schema[name].role
        raise SchemaError(f"column '{name}' is {role} and not coded, since it is not published")

    @property
    def quasi_identifiers(self) -> tuple[Column, ...]:
        """The columns with the role quasi-identifier."""
        return self.with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        """The columns with the role sensitive."""
        return self.with_role(Role.SENSITIVE)

    @property
    def kept(self) -> tuple[Column, ...]:
        """The insensitive columns that are published on their own."""
        return self.with_role(Role.INSENSITIVE)

    @property
    def unit_count(self) -> int:
        """The number of people in the table."""
        return self.rows if self.units is None else int(self.units.max()) + 1

    def with_role(self, *roles: Role) -> tuple[Column, ...]:
        """Return the columns that have one of the roles, in order."""
        return tuple(column for column in self.columns if column.attribute.role in roles)
