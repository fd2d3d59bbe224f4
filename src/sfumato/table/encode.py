"""From any frame to coded columns: strings end here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.schema.attribute import RESERVED_NAMES, RESERVED_SUFFIX, Attribute, Role
from sfumato.schema.distinct import Distinct, distinct
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
    arrow = as_columns(data)  # of a lazy table one column at a time is in memory
    _refuse_reserved(arrow.column_names)
    schema = schema.aligned(arrow.column_names)
    units = encode_counted(arrow, schema)
    weights = encode_weights(arrow, schema)
    columns = tuple(
        _encode_column(arrow[attribute.name], attribute)
        for attribute in schema
        if attribute.is_published
    )
    for column in columns:
        if column.attribute.role is Role.INSENSITIVE:
            _refuse_telling(column, units)
    resolved = {column.name: column.attribute for column in columns}
    attributes = tuple(resolved.get(attribute.name, attribute) for attribute in schema)
    return Table(
        replace(schema, attributes=attributes), columns, arrow.num_rows, units, weights=weights
    )


def _encode_column(cells: pa.ChunkedArray, attribute: Attribute) -> Column:
    if kind_of(cells.type) is None:
        raise SchemaError(
            f"column '{attribute.name}': values of type {cells.type} cannot be published; "
            "split the column into plain ones, convert it, or make it `insensitive`"
        )
    found = distinct(cells, attribute.name)
    if isinstance(attribute.hierarchy, Hierarchy):
        attribute = replace(attribute, hierarchy=spelled_as(attribute.hierarchy, found.values.type))
    arranged = arrange(found.values, cells, attribute, found.counts[:-1])
    column = Column(
        attribute=replace(attribute, kind=arranged.kind, hierarchy=arranged.hierarchy),
        codes=_renumber(found, arranged.order),
        values=found.values.take(pa.array(arranged.order)),
        dtype=cells.type,
        tree=arranged.tree,
    )
    refuse_outside(column)
    return column


def _renumber(found: Distinct, order: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    if (order == np.arange(len(order))).all():
        return found.codes
    code_of = np.empty(len(order) + 1, np.int32)
    code_of[order] = np.arange(len(order), dtype=np.int32)
    code_of[-1] = len(order)
    return code_of[found.codes]


def _refuse_reserved(names: list[str]) -> None:
    for name in names:
        if name in RESERVED_NAMES or name.endswith(RESERVED_SUFFIX):
            raise SchemaError(
                f"column '{name}': the release format uses this name itself; rename the column"
            )


def _refuse_telling(column: Column, units: npt.NDArray[np.int32] | None) -> None:
    lone = rows_of_one_unit(column.codes, column.cardinality, units)
    if lone * _ROWS_PER_LONE_VALUE > len(column.codes):
        raise SchemaError(
            f"column '{column.name}' cannot be kept as insensitive: {lone} of "
            f"{len(column.codes)} rows hold a value that no other person has; "
            "remove `keep` or give it another role"
        )
