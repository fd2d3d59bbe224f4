"""The one form that published tables have in memory.

Text columns are `dictionary<int32, string>` whose dictionary holds exactly the texts that occur,
sorted. This is a matter of privacy: a dictionary left over from the input would publish values of
suppressed rows, and the order of first occurrence tells about the input's order. Columns of ids
and counts are int32. Columns of sets are lists of codes (`set_columns.py`). All other columns have
the data type that the manifest gives. No column is chunked, and there is no schema metadata: some
libraries keep the input's index there.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ReleaseDamaged
from sfumato.release.dtypes import is_text
from sfumato.release.manifest import Manifest, TableEntry
from sfumato.release.set_columns import is_list, normal_sets
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.chunks import codes_of, own_array
from sfumato.schema.distinct import count_codes

TEXT = pa.dictionary(pa.int32(), pa.string())
NUMBER = pa.int32()
GROUP = "group"
_BLOCK = 1 << 18  # cells that are looked at at a time
# Parquet lacks some units of time: values come back in a finer one and are cast.
_RESTORABLE = (pa.types.is_date, pa.types.is_time, pa.types.is_timestamp)


def normal_form(table: pa.Table, entry: TableEntry, manifest: Manifest) -> pa.Table:
    """Return the table in the form above, its columns as in the manifest's entry.

    Refuses (ReleaseDamaged) columns that are missing, unexpected or of another type.
    """
    names = _column_order(table.column_names, entry, manifest)

    def normal(name: str) -> pa.Array:
        try:
            return _normal_column(table[name], name, entry, manifest)
        except (pa.ArrowException, ValueError, OverflowError):  # the message may hold a value
            raise ReleaseDamaged(
                f"table '{entry.name}': column '{name}' does not hold values of its type"
            ) from None

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return pa.Table.from_arrays(list(threads.map(normal, names)), names=list(names))


def is_id(column: str) -> bool:
    """Return whether a column of a release names groups or buckets."""
    return column == GROUP or column.endswith(RESERVED_SUFFIX)


def text_column(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return texts coded by a dictionary that is sorted and holds no text without a cell.

    >>> text_column(pa.chunked_array([pa.array(["b", None, "a"])])).dictionary.to_pylist()
    ['a', 'b']
    """
    coded = coded_texts(column)
    if coded.type == TEXT and _is_normal(coded):
        return coded  # a large table is not copied
    used = coded.dictionary.take(pc.unique(coded.indices).drop_null()).drop_null().unique()
    ordered = used.take(pc.array_sort_indices(used))
    position = pc.index_in(coded.dictionary, value_set=ordered)
    return pa.DictionaryArray.from_arrays(position.take(coded.indices), ordered)


def _is_normal(coded: pa.DictionaryArray) -> bool:
    """Return whether the dictionary ascends and every text of it has a cell."""
    texts, indices = coded.dictionary, coded.indices
    if texts.null_count or not pc.all(pc.less(texts[:-1], texts[1:]), min_count=0).as_py():
        return False
    ends = pc.min_max(indices)
    if ends["min"].is_valid and not 0 <= ends["min"].as_py() <= ends["max"].as_py() < len(texts):
        raise ValueError("a cell has no text")
    has_cell = np.zeros(len(texts) + 1, np.bool_)
    for start in range(0, len(indices), _BLOCK):
        if has_cell[:-1].all():  # mostly they are soon found
            return True
        has_cell |= (
            count_codes(codes_of(indices[start : start + _BLOCK], len(texts)), len(texts) + 1) > 0
        )
    return bool(has_cell[:-1].all())


def coded_texts(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return texts coded by one dictionary, in whatever order it comes."""
    if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
        return own_array(column.unify_dictionaries())
    return column.cast(pa.string()).combine_chunks().dictionary_encode()


def _column_order(found: list[str], entry: TableEntry, manifest: Manifest) -> tuple[str, ...]:
    allowed = entry.columns(manifest.layout)
    names = tuple(
        # Only cells that are sensitive for somebody have buckets.
        name
        for name in allowed
        if name in found or not name.endswith(RESERVED_SUFFIX)
    )
    if sorted(names) != sorted(found):
        raise ReleaseDamaged(
            f"table '{entry.name}' does not have the columns that the manifest lists"
        )
    return names


def _normal_column(
    column: pa.ChunkedArray, name: str, entry: TableEntry, manifest: Manifest
) -> pa.Array:
    if name in (entry.pseudonyms or ()):
        return text_column(column)
    if name == entry.weight:
        return _weights(column)
    if name not in entry.attributes:
        return _numbers(column, may_miss=name.endswith(RESERVED_SUFFIX))
    dtype = manifest.attribute(name).dtype
    if pa.types.is_dictionary(column.type):
        if is_text(column.type.value_type):
            return text_column(column)
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        return text_column(column)
    if pa.types.is_null(column.type):
        empty = pa.chunked_array([pa.nulls(len(column), dtype)])
        return text_column(empty) if is_text(dtype) else empty.combine_chunks()
    if manifest.layout == "sets" and is_list(column.type):
        return normal_sets(column, manifest.attribute(name))
    if column.type != dtype and not any(f(column.type) and f(dtype) for f in _RESTORABLE):
        raise ValueError("another type")
    return own_array(column.cast(dtype))


def _numbers(column: pa.ChunkedArray, may_miss: bool) -> pa.Array:
    if not pa.types.is_integer(column.type) or (column.null_count and not may_miss):
        raise ValueError("not integers")
    return own_array(column.cast(NUMBER))


def _weights(column: pa.ChunkedArray) -> pa.Array:
    if not pa.types.is_floating(column.type) or column.null_count:
        raise ValueError("not weights")
    weights = own_array(column.cast(pa.float64()))
    if not pc.all(pc.and_(pc.greater(weights, 0), pc.is_finite(weights)), min_count=0).as_py():
        raise ValueError("not weights")
    return weights
