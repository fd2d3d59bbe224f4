"""From any frame to coded columns: strings end here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.schema.attribute import RESERVED_NAMES, RESERVED_SUFFIX, Attribute, Role
from sfumato.schema.distinct import distinct
from sfumato.schema.frames import as_columns
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.kinds import kind_of
from sfumato.schema.leaf_texts import spelled_as
from sfumato.schema.schema import Schema
from sfumato.table.column import Column
from sfumato.table.domain import refuse_outside
from sfumato.table.order import arrange
from sfumato.table.table import Table
from sfumato.table.units import encode_counted, rows_of_one_unit
from sfumato.table.weights import encode_weights

# Of a lazy table no more columns are in memory as they were read.
_COLUMNS_AT_ONCE = min(os.cpu_count() or 1, 4)
# A kept column may show at most this share of its rows with a value that one person alone has.
_ROWS_PER_LONE_VALUE = 10


def encode(data: Any, schema: Schema) -> Table:
    """Return the table's columns as codes, in the order of the input.

    Identifiers are not coded (except as units), nor are insensitive columns without `keep`. In
    the table's schema kinds are resolved and hierarchy builders have become hierarchies.

    Refuses (InputError, SchemaError, HierarchyError) what cannot be read as a table; columns
    without a role and roles without a column; repeated identifiers without a `unit` and missing
    units; types that no cell can hold; infinite numbers; values outside a stated order, domain
    or hierarchy; a kept column in which more than a tenth of the rows have a value of their own;
    weights that are no numbers above 0; missing households, and people in several.

    >>> table = encode(
    ...     pa.table({"age": [41, 33, 41], "disease": ["Flu", None, "Fever"]}),
    ...     Schema.of(age="quasi-identifier", disease="sensitive"),
    ... )
    >>> table["age"].codes.tolist(), table["age"].values.to_pylist()
    ([1, 0, 1], [33, 41])
    >>> table["disease"].codes.tolist(), table["disease"].null_code
    ([1, 2, 0], 2)
    """
    arrow = as_columns(data)
    refuse_reserved(arrow.column_names)
    schema = schema.aligned(arrow.column_names)
    units = encode_counted(arrow, schema)
    weights = encode_weights(arrow, schema)
    published = [attribute for attribute in schema if attribute.is_published]
    with ThreadPoolExecutor(_COLUMNS_AT_ONCE) as threads:
        columns = tuple(threads.map(lambda each: _encode_column(arrow[each.name], each), published))
    for column in columns:
        if column.attribute.role is Role.INSENSITIVE:
            lone = rows_of_one_unit(column.codes, column.cardinality, units)
            refuse_telling(column.name, lone, arrow.num_rows)
    resolved = {column.name: column.attribute for column in columns}
    attributes = tuple(resolved.get(attribute.name, attribute) for attribute in schema)
    return Table(
        replace(schema, attributes=attributes), columns, arrow.num_rows, units, weights=weights
    )


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """How a column's distinct values become codes: `column` has no rows yet.

    `code_of` has the code of each distinct value, and last that of a missing one.
    """

    column: Column
    code_of: npt.NDArray[np.int32]


def coding(
    values: pa.Array, counts: npt.NDArray[np.int64], cells: pa.ChunkedArray, attribute: Attribute
) -> Coding:
    """Return the coding of a column by its distinct values and how many rows have each.

    The last of `counts` is that of missing ones. Of `cells` only the type and the dictionary
    matter: any cells will do that have those of the column.

    Refuses (SchemaError, HierarchyError) what `encode` refuses of a column.
    """
    refuse_type(cells.type, attribute.name)
    if isinstance(attribute.hierarchy, Hierarchy):
        attribute = replace(attribute, hierarchy=spelled_as(attribute.hierarchy, values.type))
    arranged = arrange(values, cells, attribute, counts[:-1])
    column = Column(
        attribute=replace(attribute, kind=arranged.kind, hierarchy=arranged.hierarchy),
        codes=np.zeros(0, np.int32),
        values=values.take(pa.array(arranged.order)),
        dtype=cells.type,
        tree=arranged.tree,
    )
    refuse_outside(column, np.append(counts[arranged.order], counts[-1:]))
    code_of = np.empty(len(arranged.order) + 1, np.int32)
    code_of[arranged.order] = np.arange(len(arranged.order), dtype=np.int32)
    code_of[-1] = len(arranged.order)
    return Coding(column, code_of)


def refuse_type(dtype: pa.DataType, name: str) -> None:
    """Refuse (SchemaError) a type whose values no release can hold."""
    if kind_of(dtype) is None:
        raise SchemaError(
            f"column '{name}': values of type {dtype} cannot be published; "
            "split the column into plain ones, convert it, or make it `insensitive`"
        )


def _encode_column(cells: pa.ChunkedArray, attribute: Attribute) -> Column:
    refuse_type(cells.type, attribute.name)
    found = distinct(cells, attribute.name)
    made = coding(found.values, found.counts, cells, attribute)
    return replace(made.column, codes=found.recoded(made.code_of))


def refuse_reserved(names: Iterable[str]) -> None:
    """Refuse (SchemaError) columns with names that the release format uses itself."""
    for name in names:
        if name in RESERVED_NAMES or name.endswith(RESERVED_SUFFIX):
            raise SchemaError(
                f"column '{name}': the release format uses this name itself; rename the column"
            )


def refuse_telling(name: str, lone: int, rows: int) -> None:
    """Refuse (SchemaError) to keep a column of which so many rows hold a value of their own."""
    if lone * _ROWS_PER_LONE_VALUE > rows:
        raise SchemaError(
            f"column '{name}' cannot be kept as insensitive: {lone} of "
            f"{rows} rows hold a value that no other person has; "
            "remove `keep` or give it another role"
        )
