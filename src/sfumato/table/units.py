"""Whose row it is: the people that the privacy models count."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.schema.attribute import Role
from sfumato.schema.distinct import Distinct, distinct
from sfumato.schema.lazy_table import Columns
from sfumato.schema.schema import Schema
from sfumato.table.weights import encode_households

_WAYS_OUT = (
    "keep one row a person, or name the column that tells people apart with `unit`, "
    "so that people are counted instead of rows"
)


def encode_units(data: Columns, schema: Schema) -> npt.NDArray[np.int32] | None:
    """Return the person that each row belongs to, None where every row is a person of its own.

    Without a stated unit, every identifier must be present and different in every row: one that
    repeats is a sign that rows are not people, and which column is right cannot be guessed.

    Refuses (SchemaError) missing units, and repeated identifiers without a stated unit.
    """
    if schema.unit is not None:
        if _all_differ(data[schema.unit]):
            return None
        found = distinct(data[schema.unit], schema.unit)
        _refuse_missing(found, schema.unit)
        return None if len(found.values) == data.num_rows else found.codes
    for attribute in schema.with_role(Role.IDENTIFIER):
        if attribute.name == schema.household:
            continue  # it repeats, since it does not tell people apart
        if _all_differ(data[attribute.name]):
            continue
        found = distinct(data[attribute.name], attribute.name)
        missing = int(np.count_nonzero(found.codes == len(found.values)))
        refuse_repeats(attribute.name, data.num_rows, len(found.values), missing)
    return None


def refuse_repeats(name: str, rows: int, values: int, missing: int) -> None:
    """Refuse (SchemaError) an identifier of so many rows that is missing or repeats in some."""
    if missing:
        raise _missing(name, rows, missing)
    if values < rows:
        raise SchemaError(
            f"identifier '{name}' repeats in {rows - values} of {rows} rows: {_WAYS_OUT}"
        )


def encode_counted(data: Columns, schema: Schema) -> npt.NDArray[np.int32] | None:
    """Return whom models count: each row's household if the schema names them, else its person.

    None where every row is one of its own.

    Refuses (SchemaError) what `encode_units` refuses, missing households, and people who are in
    several.

    >>> schema = Schema(Schema.of(age="quasi-identifier").attributes, household="h")
    >>> b, a, again = encode_counted(pa.table({"age": [1, 2, 3], "h": ["b", "a", "b"]}), schema)
    >>> bool(b == again), bool(a == b)
    (True, False)
    """
    people = encode_units(data, schema)
    households = encode_households(data, schema)
    if households is None:
        return people
    if people is not None:
        some = np.zeros(int(people.max(initial=-1)) + 1, np.int32)
        some[people] = households
        torn = len(np.unique(people[some[people] != households]))
        if torn:
            raise SchemaError(
                f"{torn} people of column '{schema.unit}' are in several households of column "
                f"'{schema.household}'; give each of them one"
            )
    return None if len(np.unique(households)) == data.num_rows else households


def _all_differ(column: pa.ChunkedArray) -> bool:
    """Return whether a column surely has another value in every row: far cheaper than coding it."""
    kind = column.type
    if column.null_count or not (pa.types.is_string(kind) or pa.types.is_integer(kind)):
        return False
    return bool(pl.Series(column).n_unique() == len(column))


def _refuse_missing(found: Distinct, name: str) -> None:
    missing = int(np.count_nonzero(found.codes == len(found.values)))
    if missing:
        raise _missing(name, len(found.codes), missing)


def _missing(name: str, rows: int, missing: int) -> SchemaError:
    return SchemaError(
        f"column '{name}' tells people apart and is missing in {missing} of "
        f"{rows} rows: fill it in, drop those rows, or name another `unit`"
    )


def rows_of_one_unit(
    codes: npt.NDArray[np.int32], value_count: int, units: npt.NDArray[np.int32] | None
) -> int:
    """Return the number of rows with a value that only one person has; codes beyond are missing.

    >>> rows_of_one_unit(np.array([0, 0, 1, 1, 2], np.int32), 2, None)
    0
    >>> rows_of_one_unit(np.array([0, 0, 1, 1], np.int32), 2, np.array([7, 7, 7, 8], np.int32))
    2
    """
    counts = np.bincount(codes, minlength=value_count + 1)[:value_count]
    if units is None:
        return int(np.count_nonzero(counts == 1))
    # One row of each value stands for its person; any row that disagrees shows a second one.
    some_unit = np.zeros(value_count + 1, np.int32)
    some_unit[codes] = units
    shared = np.zeros(value_count + 1, np.bool_)
    shared[codes[some_unit[codes] != units]] = True
    return int(counts[~shared[:value_count]].sum())
