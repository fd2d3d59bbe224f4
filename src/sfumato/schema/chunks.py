"""Columns of one chunk, which need not be copied to be one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return the column as one array; Arrow's own way copies even a single chunk.

    >>> one_array(pa.chunked_array([[1], [2]])).to_pylist()
    [1, 2]
    """
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def own_array(column: pa.ChunkedArray) -> pa.Array:
    """Return the column as one array that holds its cells alone: a slice of more is copied.

    >>> part = pa.chunked_array([pa.array([1, 2, 3]).slice(1)])
    >>> own_array(part).get_total_buffer_size()
    16
    """
    array = one_array(column)
    cells = array.indices if pa.types.is_dictionary(array.type) else array
    return array if cells.nbytes == cells.get_total_buffer_size() else column.combine_chunks()


def codes_of(indices: pa.Array, null_code: int) -> npt.NDArray[np.integer[Any]]:
    """Return the codes of a column, with one of its own where a cell is missing.

    Only then are they copied; the array is read-only otherwise.

    >>> codes_of(pa.array([1, None, 0]), 2).tolist()
    [1, 2, 0]
    """
    if indices.null_count:
        indices = indices.fill_null(null_code)
    return np.asarray(indices.to_numpy(zero_copy_only=False))
