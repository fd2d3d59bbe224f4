"""From codes back to cells: the inverse of `encode` for the columns that it coded."""

from __future__ import annotations

import pyarrow as pa

from sfumato.table.column import Column
from sfumato.table.table import Table

# Few enough rows a chunk that the text in one stays far below Arrow's limit of 2 GiB.
_CHUNK_ROWS = 1 << 20


def decode(table: Table) -> pa.Table:
    """Return the coded columns as an Arrow table: the input's types, column order and values.

    Dictionaries hold the values that occur, in code order. NaN comes back as missing.

    >>> from sfumato.schema.schema import Schema
    >>> from sfumato.table.encode import encode
    >>> data = pa.table({"name": ["Ann", "Bob"], "age": pa.array([41, None], pa.uint8())})
    >>> decode(encode(data, Schema.of(name="identifier", age="quasi-identifier"))).to_pydict()
    {'age': [41, None]}
    """
    names = [column.name for column in table.columns]
    return pa.table([_decode_column(column) for column in table.columns], names=names)


def _decode_column(column: Column) -> pa.ChunkedArray:
    dtype = column.dtype
    is_dictionary = pa.types.is_dictionary(dtype)
    chunks = []
    for start in range(0, len(column.codes), _CHUNK_ROWS):
        codes = column.codes[start : start + _CHUNK_ROWS]
        indices = pa.array(codes, mask=codes == column.null_code)
        if is_dictionary:
            values = column.values.cast(dtype.value_type)
            chunk = pa.DictionaryArray.from_arrays(
                indices.cast(dtype.index_type), values, ordered=dtype.ordered
            )
        else:
            chunk = column.values.take(indices).cast(dtype)
        chunks.append(chunk)
    return pa.chunked_array(chunks, dtype)
