"""Columns as PostgreSQL's driver hands them out, in plain Arrow types.

Decimals come as texts, with a note of their digits where the column has a limit; without one, they
get as many digits behind the point as occur.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_TYPE = b"POSTGRESQL:type"
_DIGITS = b"POSTGRESQL:typmod"
_MOST = 38  # digits of the usual decimals of Arrow
_MOST_OF_WIDE = 76


def plain_columns(table: pa.Table) -> pa.Table:
    """Return the table without notes of the driver, its decimals as such.

    ValueError or pa.ArrowException where a number has no such form.
    """
    columns = [
        _plain(column, field) for column, field in zip(table.columns, table.schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def type_name(field: pa.Field) -> str:
    """Return what PostgreSQL calls the type of a column."""
    return ((field.metadata or {}).get(_TYPE) or b"").decode()


def _plain(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    name = type_name(field)
    if name == "numeric":
        return _decimals(_storage(column), _limit(field))
    if name == "_numeric" and not column.num_chunks:
        return pa.chunked_array([], pa.list_(pa.decimal128(_MOST, 0)))
    if name == "_numeric":
        lists = column.combine_chunks()
        members = pa.chunked_array([_bare(lists.values)])
        values = _decimals(members, None).combine_chunks()
        mask = lists.is_null() if lists.null_count else None
        return pa.chunked_array([pa.ListArray.from_arrays(lists.offsets, values, mask=mask)])
    return _storage(column)


def _storage(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([_bare(chunk) for chunk in column.chunks], column.type.storage_type)


def _bare(array: pa.Array) -> pa.Array:
    return array.storage if isinstance(array.type, pa.BaseExtensionType) else array


def _limit(field: pa.Field) -> pa.DataType | None:
    """Return the type that the column's own limit of digits gives: it does not tell of values."""
    note = (field.metadata or {}).get(_DIGITS)
    if note is None or int(note) < 4:
        return None
    digits, behind = (int(note) - 4) >> 16, (((int(note) - 4) & 0x7FF) ^ 1024) - 1024
    if not 0 <= behind <= digits <= _MOST_OF_WIDE:
        return None
    return pa.decimal128(digits, behind) if digits <= _MOST else pa.decimal256(digits, behind)


def _decimals(texts: pa.ChunkedArray, limit: pa.DataType | None) -> pa.ChunkedArray:
    """Return decimals for their texts; floats where one is not a number, or has too many digits."""
    if limit is not None:
        try:
            return texts.cast(limit)
        except pa.ArrowException:  # NaN
            return _floats(texts)
    behind = _most_digits(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))
    # counted here, since Arrow does not notice all numbers that are too large
    digits = behind + _most_digits(pc.replace_substring_regex(texts, r"\..*$|^-", ""))
    try:
        if digits <= _MOST:
            return texts.cast(pa.decimal128(_MOST, behind))
        if digits <= _MOST_OF_WIDE:
            return texts.cast(pa.decimal256(_MOST_OF_WIDE, behind))
    except pa.ArrowException:  # NaN, Infinity
        pass
    return _floats(texts)


def _most_digits(texts: pa.ChunkedArray) -> int:
    return pc.max(pc.utf8_length(texts)).as_py() or 0


def _floats(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring(texts, "Infinity", "inf").cast(pa.float64())
