"""Programs that know one kind of number only: whole ones are found again."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_EXACT = float(2**53)  # beyond it not every whole number is a float


def whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of floats as integers if all of its numbers are whole; not a number is null.

    >>> whole_numbers(pa.chunked_array([[33.0, None, 41.0]])).type
    DataType(int64)
    >>> whole_numbers(pa.chunked_array([[33.5, float("nan")]])).to_pylist()
    [33.5, None]
    """
    column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    is_whole = pc.and_(
        pc.equal(pc.floor(column), column), pc.less_equal(pc.abs(column), pa.scalar(_EXACT))
    )
    # `all` skips missing ones; a column of nothing else stays as it is
    if column.null_count < len(column) and pc.all(is_whole).as_py():
        return column.cast(pa.int64())
    return column
