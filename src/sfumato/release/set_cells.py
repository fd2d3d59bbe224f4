"""Columns of the `sets` layout in CSV: a list of values is the text `{33 | 41}`.

The order is that of the list, which its maker sorted by value. A missing member is the bare word
`null`.
"""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ReleaseDamaged
from sfumato.release.cells import ITEM_PATTERN, NULL, item, item_text
from sfumato.release.set_columns import list_offsets
from sfumato.schema.text import from_texts, to_texts

_BETWEEN = " | "


def set_texts(column: pa.ChunkedArray) -> pa.Array:
    """Return the text of every list; a missing list stays missing.

    >>> set_texts(pa.chunked_array([pa.array([[33, 41], [7], None])])).to_pylist()
    ['{33 | 41}', '{7}', None]
    """
    lists = column.combine_chunks()
    members = lists.flatten()
    if not pa.types.is_dictionary(members.type):
        members = to_texts(members).dictionary_encode()
    known = to_texts(members.dictionary).to_pylist()
    spelled = pa.array([item(text) for text in known], pa.string())
    texts = pc.fill_null(spelled.take(members.indices), NULL)
    rows = pa.ListArray.from_arrays(list_offsets(lists), texts)
    joined = pc.binary_join_element_wise("{", pc.binary_join(rows, _BETWEEN), "}", "")
    return pc.if_else(lists.is_valid(), joined, pa.scalar(None, pa.string()))


def with_set_texts(table: pa.Table) -> pa.Table:
    """Return the table with texts in the place of lists."""
    for position, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            table = table.set_column(position, field.name, set_texts(table[position]))
    return table


def sets_from_texts(texts: pa.Array, dtype: pa.DataType) -> pa.Array:
    """Return the lists that the texts stand for; ReleaseDamaged where one is malformed."""
    series = pl.Series(pl.from_arrow(texts))
    found = series.str.extract_all(ITEM_PATTERN).fill_null([]).to_arrow()
    members = found.flatten().cast(pa.string()).dictionary_encode()
    try:
        spelled = members.dictionary.to_pylist()
        known = pa.array([None if s == NULL else item_text(s) for s in spelled], pa.string())
        values = from_texts(known, dtype).take(members.indices)
        lists = pa.ListArray.from_arrays(
            found.offsets.cast(pa.int32()), values, pa.list_(dtype), mask=texts.is_null()
        )
        same = set_texts(pa.chunked_array([lists])).equals(texts)
    except (ValueError, pa.ArrowException):
        same = False
    if not same:
        raise ReleaseDamaged("a set of values does not follow the cell grammar")
    return lists
