"""Exact published columns: typed as in the input, or texts in the spelling of the cell grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.release import cells
from sfumato.schema.distinct import count_codes
from sfumato.table import Column

Codes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.integer[Any]]


def exact_column(column: Column, codes: Codes, rows: Rows | None = None) -> pa.Array:
    """Return the cells of exact values, missing ones null.

    With `rows`, which must be all there are, the cells are those of these rows, in their order.
    """
    if is_text(column):
        return dictionary_column(codes, spelled(column), rows)
    return typed_column(column, codes if rows is None else np.take(codes, rows))


def is_text(column: Column) -> bool:
    """Return whether the exact cells of a column are texts."""
    return bool(pa.types.is_string(column.values.type))


def spelled(column: Column) -> list[str]:
    """Return the texts of a column's values in the spelling of the cell grammar."""
    return [cells.quote(text) for text in column.values.to_pylist()]


def typed_column(column: Column, codes: Codes) -> pa.Array:
    """Return the cells of a column whose values are no texts."""
    has_missing = bool(codes.max(initial=-1) == column.null_code)
    return column.values.take(
        pa.array(codes, mask=codes == column.null_code if has_missing else None)
    )


def dictionary_column(
    codes: Codes, texts: Sequence[str], rows: Rows | None = None
) -> pa.DictionaryArray:
    """Return a text column coded by a sorted dictionary of just the texts that occur.

    `codes` index `texts`, -1 or one past the last being null. With `rows`, every code belongs to
    one of them at least, such as to all rows of a group, and the cells are theirs.

    >>> dictionary_column(np.array([2, -1, 0]), ["b", "unused", "a"]).dictionary.to_pylist()
    ['a', 'b']
    >>> dictionary_column(np.array([1, 0]), ["b", "a"], np.array([0, 0, 1])).to_pylist()
    ['a', 'a', 'b']
    """
    if codes.min(initial=0) < 0:
        codes = np.where(codes < 0, np.int32(len(texts)), codes)
    dictionary = SortedDictionary.of(texts, count_codes(codes, len(texts) + 1) > 0)
    if rows is None:
        return dictionary.column(dictionary.place[codes])
    return dictionary.column(_fetched(dictionary.place, codes, rows))


class SortedDictionary(NamedTuple):
    """The texts that occur, sorted, and where each code stands among them: -1 if it is missing.

    Neither an unused entry nor the order of the entries may tell anything about the input.
    """

    place: Codes
    texts: pa.Array
    has_missing: bool

    @classmethod
    def of(cls, texts: Sequence[str], occurs: npt.NDArray[np.bool_]) -> SortedDictionary:
        """Return the dictionary of those texts that occur; the last is whether some are missing."""
        used = np.flatnonzero(occurs[:-1])
        used = used[np.argsort([texts[code] for code in used])] if len(used) else used
        place = np.full(len(texts) + 1, -1, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        found = pa.array([texts[code] for code in used], type=pa.string())
        return cls(place, found, bool(occurs[-1]))

    def column(self, indices: Codes) -> pa.DictionaryArray:
        """Return the column with these entries of the dictionary, -1 being null."""
        mask = indices < 0 if self.has_missing else None
        places = pa.array(indices, mask=mask)
        # these are places of its own, so Arrow need not look through them
        return pa.DictionaryArray.from_arrays(places, self.texts, safe=False)


@numba.njit(cache=True, nogil=True)
def _fetched(place: Codes, codes: Codes, rows: Rows) -> Codes:
    """Return the places of the codes of rows: every one is fetched from somewhere else, once."""
    found = np.empty(len(rows), np.int32)
    for i in range(len(rows)):
        found[i] = place[codes[rows[i]]]
    return found
