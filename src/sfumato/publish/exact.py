"""Exact published columns: typed as in the input, or texts in the spelling of the cell grammar."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.release import cells
from sfumato.schema.distinct import count_codes
from sfumato.table import Column

Codes = npt.NDArray[np.int32]


def exact_column(column: Column, codes: Codes) -> pa.Array:
    """Return the cells of exact values, missing ones null."""
    if pa.types.is_string(column.values.type):
        texts = [cells.quote(text) for text in column.values.to_pylist()]
        return dictionary_column(codes, texts)
    has_missing = bool(codes.max(initial=-1) == column.null_code)
    return column.values.take(
        pa.array(codes, mask=codes == column.null_code if has_missing else None)
    )


def dictionary_column(
    codes: Codes, texts: Sequence[str], groups: Codes | None = None
) -> pa.DictionaryArray:
    """Return a text column coded by a sorted dictionary of just the texts that occur.

    `codes` index `texts`, -1 or one past the last being null. With `groups`, codes are those of
    groups, none of them empty, and `groups` are the rows'. Neither an unused entry nor the order
    of the entries may tell anything about the input.

    >>> dictionary_column(np.array([2, -1, 0]), ["b", "unused", "a"]).dictionary.to_pylist()
    ['a', 'b']
    >>> dictionary_column(np.array([1, 0]), ["b", "a"], np.array([0, 0, 1])).to_pylist()
    ['a', 'a', 'b']
    """
    if codes.min(initial=0) < 0:
        codes = np.where(codes < 0, np.int32(len(texts)), codes)
    used = np.flatnonzero(count_codes(codes, len(texts) + 1)[:-1])
    used = used[np.argsort([texts[code] for code in used])] if len(used) else used
    place = np.full(len(texts) + 1, -1, dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    indices = place[codes]
    has_missing = bool(indices.min(initial=0) < 0)
    if groups is not None:
        indices = indices[groups]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, mask=indices < 0 if has_missing else None),
        pa.array([texts[code] for code in used], type=pa.string()),
    )
