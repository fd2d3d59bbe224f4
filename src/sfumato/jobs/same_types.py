"""New data in the types, and the order of values, that the columns of an earlier release have."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.release import AttributeEntry, Release
from sfumato.schema.attribute import Attribute, Kind, Role
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import value_type
from sfumato.schema.text import from_texts, to_texts


def in_same_types(rows: pa.Table, earlier: Release) -> pa.Table:
    """Return the table with its quasi-identifiers in the types of the earlier release.

    Deliveries are read from files, so that one month's whole numbers may be the next one's
    fractions. A quasi-identifier must fit the cuts: every value is one of the earlier type (20.0 is
    20). Other columns need only be of the same sort, numbers or texts.

    Refuses (ParameterError) columns that are not, with both types.
    """
    for entry in earlier.manifest.attributes:
        if entry.name not in rows.column_names:
            continue  # refused later, with the roles
        column = rows[entry.name]
        own = value_type(column.type)
        if own == entry.dtype or pa.types.is_null(entry.dtype):
            continue
        if entry.role is Role.QUASI_IDENTIFIER:
            column = _converted(column, entry)
            rows = rows.set_column(rows.column_names.index(entry.name), entry.name, column)
        elif not pa.types.is_null(own) and _sort(own) != _sort(entry.dtype):
            raise _other_type(entry, own)
    return rows


def in_same_order(attribute: Attribute, entry: AttributeEntry, cells: pa.ChunkedArray) -> Attribute:
    """Return the attribute with the order of its values, if categories of a file had stated it.

    Refuses (ParameterError) values whose place among those of the earlier release nothing tells.
    """
    if attribute.kind is not Kind.ORDINAL or attribute.order is not None:
        return attribute
    found = to_texts(distinct(cells, attribute.name).values).to_pylist()
    order = list(entry.listed)
    if not set(found) <= set(order):
        categories: list[str] = []
        if pa.types.is_dictionary(cells.type):
            dictionaries = [to_texts(chunk.dictionary).to_pylist() for chunk in cells.chunks]
            categories = max(dictionaries, key=len, default=[])
        if [text for text in categories if text in entry.listed] != order:
            raise ParameterError(
                f"column '{attribute.name}' orders its values otherwise than the earlier release; "
                "state the `order` in the policy, and publish anew"
            )
        order = categories
    return replace(attribute, order=tuple(order))


def _converted(column: pa.ChunkedArray, entry: AttributeEntry) -> pa.ChunkedArray:
    """Return the column in the entry's type, if no value changes by that."""
    own = value_type(column.type)
    if pa.types.is_null(own):
        return column.cast(entry.dtype)
    if _sort(own) != _sort(entry.dtype):
        raise _other_type(entry, own)
    found = distinct(column, entry.name)
    for way in (_by_value, _by_text):
        with suppress(pa.ArrowException, ValueError):
            changed = way(found.values, entry.dtype)
            if changed is not None:
                codes = pa.array(found.codes, mask=found.codes == len(found.values))
                return pa.chunked_array([changed.take(codes)])
    raise _other_type(entry, own, ", and some values are none of that type")


def _by_value(values: pa.Array, dtype: pa.DataType) -> pa.Array | None:
    changed = values.cast(dtype)
    return changed if changed.cast(values.type).equals(values) else None


def _by_text(values: pa.Array, dtype: pa.DataType) -> pa.Array | None:
    """Return values that are written alike: 1.6 in four bytes and in eight."""
    texts = to_texts(values)
    changed = from_texts(texts, dtype)
    same = to_texts(changed.cast(pa.float64())) if pa.types.is_decimal(dtype) else to_texts(changed)
    return changed if same.equals(texts) else None


def _sort(dtype: pa.DataType) -> str:
    """Return what values of the type are compared with."""
    kinds = pa.types
    if kinds.is_integer(dtype) or kinds.is_floating(dtype) or kinds.is_decimal(dtype):
        return "number"
    if kinds.is_date(dtype) or (kinds.is_timestamp(dtype) and dtype.tz is None):
        return "date"
    if kinds.is_timestamp(dtype):
        return "moment"
    if kinds.is_time(dtype):
        return "time"
    return "duration" if kinds.is_duration(dtype) else str(dtype)


def _other_type(entry: AttributeEntry, own: pa.DataType, more: str = "") -> ParameterError:
    return ParameterError(
        f"column '{entry.name}' holds {own} and is {entry.type} in the earlier release{more}; "
        "convert it, or publish anew"
    )
