"""Exact published columns: typed as in the input, or texts in the spelling of the cell grammar."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.release import cells
from sfumato.table import Column

Codes = npt.NDArray[np.int32]


def exact_column(column: Column, codes: Codes) -> pa.Array:
    """Return the cells of exact values, missing ones null."""
    if pa.types.is_string(column.values.type):
        texts = [cells.quote(text) for text in column.values.to_pylist()]
        return dictionary_column(np.where(codes == column.null_code, -1, codes), texts)
    return column.values.take(pa.array(codes, mask=codes == column.null_code))


def dictionary_column(codes: Codes, texts: list[str]) -> pa.Array:
    """Return a text column coded by a sorted dictionary of just the texts that occur.

    `codes` index `texts`, -1 being null. Neither an unused entry nor the order of the entries may
    tell anything about the input.

    >>> dictionary_column(np.array([2, -1, 0]), ["b", "unused", "a"]).dictionary.to_pylist()
    ['a', 'b']
    """
    used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(texts)))
    used = used[np.argsort([texts[code] for code in used])] if len(used) else used
    place = np.full(len(texts) + 1, -1, dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    indices = place[codes]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, mask=indices < 0),
        pa.array([texts[code] for code in used], type=pa.string()),
    )
