"""How published columns lie in a database: SQL types that PostgreSQL and DuckDB share.

A type that SQL has is used. What it lacks goes into the next larger one: unsigned numbers, halves
of floats, units of time. Durations, and times finer than a microsecond, are whole numbers of their
unit. Reading brings every column back to the type that the manifest states.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import InputError
from sfumato.release.set_columns import list_offsets


@dataclass(frozen=True, slots=True)
class Stored:
    """The SQL type of a column, and the Arrow type in which a driver takes it."""

    sql: str
    arrow: pa.DataType


_TEXT = Stored("text", pa.string())
_WHOLE = Stored("bigint", pa.int64())
_PLAIN = {
    pa.null(): _TEXT,
    pa.bool_(): Stored("boolean", pa.bool_()),
    **dict.fromkeys((pa.int8(), pa.uint8(), pa.int16()), Stored("smallint", pa.int16())),
    **dict.fromkeys((pa.uint16(), pa.int32()), Stored("integer", pa.int32())),
    **dict.fromkeys((pa.uint32(), pa.int64()), _WHOLE),
    pa.uint64(): Stored("numeric(20,0)", pa.decimal128(20, 0)),
    **dict.fromkeys((pa.float16(), pa.float32()), Stored("real", pa.float32())),
    pa.float64(): Stored("double precision", pa.float64()),
    **dict.fromkeys((pa.date32(), pa.date64()), Stored("date", pa.date32())),
}


def stored(column: pa.ChunkedArray) -> Stored:
    """Return how a column of a release is stored.

    >>> stored(pa.chunked_array([pa.array([1, 2], pa.uint16())])).sql
    'integer'
    """
    dtype = column.type
    if pa.types.is_list(dtype):
        members = column.combine_chunks().flatten()
        if pa.types.is_dictionary(members.type):
            members = members.dictionary
        inner = stored(pa.chunked_array([members]))
        return Stored(f"{inner.sql}[]", pa.list_(inner.arrow))
    if pa.types.is_dictionary(dtype):
        return _TEXT
    if _is_finer(column):
        return _WHOLE
    return _of_type(dtype)


def _of_type(dtype: pa.DataType) -> Stored:
    kinds = pa.types
    if dtype in _PLAIN:
        return _PLAIN[dtype]
    if kinds.is_decimal(dtype):
        return Stored(f"numeric({dtype.precision},{dtype.scale})", _narrow(dtype))
    if kinds.is_time(dtype):
        return Stored("time", pa.time64("us"))
    if kinds.is_timestamp(dtype):
        zoned = dtype.tz is not None
        return Stored("timestamptz" if zoned else "timestamp", pa.timestamp("us", dtype.tz))
    return _WHOLE if kinds.is_duration(dtype) else _TEXT


def as_stored(column: pa.Array, form: Stored) -> pa.Array:
    """Return a piece of a column in the type that the driver takes."""
    if pa.types.is_list(form.arrow):
        members = column.flatten()
        if pa.types.is_dictionary(members.type):
            members = as_stored(members.dictionary, _member(form)).take(members.indices)
        else:
            members = as_stored(members, _member(form))
        return pa.ListArray.from_arrays(
            list_offsets(column), members, mask=column.is_null() if column.null_count else None
        )
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_float16(column.type):
        return column.cast(pa.float32())
    if form is _WHOLE and pa.types.is_time(column.type):
        return column.cast(pa.int64())
    return column.cast(form.arrow)


def restored(column: pa.ChunkedArray, dtype: pa.DataType) -> pa.ChunkedArray:
    """Return a column as it was read, in the type of a release; texts stay.

    ValueError or pa.ArrowException where its values do not fit.
    """
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        is_empty = pa.types.is_null(dtype) and column.null_count == len(column)
        return pa.chunked_array([pa.nulls(len(column))]) if is_empty else column
    if pa.types.is_list(column.type):
        lists = column.combine_chunks()
        members = restored(pa.chunked_array([lists.flatten()]), dtype).combine_chunks()
        mask = lists.is_null() if lists.null_count else None
        return pa.chunked_array([pa.ListArray.from_arrays(list_offsets(lists), members, mask=mask)])
    if pa.types.is_integer(column.type) and pa.types.is_temporal(dtype):
        return column.cast(pa.int64()).cast(dtype)
    return column.cast(dtype)


def _is_finer(column: pa.ChunkedArray) -> bool:
    """Return whether times have parts of a microsecond, which databases would cut off."""
    dtype = column.type
    if not (pa.types.is_time64(dtype) or pa.types.is_timestamp(dtype)) or dtype.unit != "ns":
        return False
    counts = column.cast(pa.int64())
    thousand = pa.scalar(1000, pa.int64())
    whole = pc.equal(pc.multiply(pc.divide(counts, thousand), thousand), counts)
    return not pc.all(whole, min_count=0).as_py()


def _narrow(dtype: pa.DataType) -> pa.DataType:
    wide = pa.decimal128 if dtype.precision <= 38 else pa.decimal256
    return wide(dtype.precision, dtype.scale)


def _member(form: Stored) -> Stored:
    inner = form.arrow.value_type
    return _WHOLE if inner == pa.int64() else Stored(form.sql[:-2], inner)


def refuse_zero_bytes(column: pa.ChunkedArray, name: str) -> None:
    """Refuse (InputError) texts with a zero byte, which PostgreSQL cannot hold."""
    values = column.combine_chunks()
    while pa.types.is_list(values.type) or pa.types.is_dictionary(values.type):
        values = values.flatten() if pa.types.is_list(values.type) else values.dictionary
    if pa.types.is_string(values.type) and pc.any(pc.match_substring(values, "\0")).as_py():
        raise InputError(
            f"column '{name}' has texts with a zero byte, which PostgreSQL cannot hold; write the "
            "release to a folder or a DuckDB file"
        )
