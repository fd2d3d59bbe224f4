"""The one form that columns of sets have in memory: lists of small codes, never of texts.

A column is `list<dictionary<uint8, value>>` (uint16 or uint32 where the domain is large). Its
dictionary is the attribute's domain as the manifest lists it, so that a member's code is its place
there; a missing member is null. Where a member is not in the domain, or no domain is listed, the
dictionary holds the values that occur, in the order of their texts, and a judge may complain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release.dtypes import is_text
from sfumato.release.manifest import AttributeEntry
from sfumato.schema.kinds import comparable_type
from sfumato.schema.text import from_texts, to_texts

Codes = npt.NDArray[np.unsignedinteger[Any]]

# Offsets of lists are 32-bit numbers with a sign.
MOST_MEMBERS = 2**31 - 1


def is_list(dtype: pa.DataType) -> bool:
    """Return whether cells of this type are lists, however Arrow lays them out."""
    return bool(pa.types.is_list(dtype) or pa.types.is_large_list(dtype))


def code_type(size: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type of codes for a domain of so many values."""
    return np.uint8 if size <= 2**8 - 1 else np.uint16 if size <= 2**16 - 1 else np.uint32


def refuse_too_many(rows: int, size: int) -> None:
    """Refuse (ParameterError) sets that have more members in all than a column can hold."""
    if rows * size > MOST_MEMBERS:
        raise ParameterError(
            f"{rows} sets of {size} values are more than a column holds; use sets of at most "
            f"{MOST_MEMBERS // rows}, or publish the rows in several releases"
        )


def set_column(codes: Codes, values: pa.Array, missing: int | None = None) -> pa.ListArray:
    """Return a column of equally large sets in the form above.

    `codes` has a line a row, sorted; they index `values`, and `missing` stands for none of them.

    >>> set_column(np.array([[0, 1], [1, 2]], np.uint8), pa.array(["a", "b"]), 2).to_pylist()
    [['a', 'b'], ['b', None]]

    Refuses (ParameterError) more members than a column can hold.
    """
    rows, size = codes.shape
    refuse_too_many(rows, size)
    flat = codes.reshape(-1).astype(code_type(len(values)), copy=False)
    indices = pa.array(flat, mask=None if missing is None else flat == missing)
    offsets = np.arange(0, rows * size + 1, size or 1, dtype=np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.DictionaryArray.from_arrays(indices, values)
    )


def normal_sets(column: pa.ChunkedArray, entry: AttributeEntry) -> pa.ListArray:
    """Return a column of lists in the form above; ValueError where members are of another type."""
    dtype = entry.dtype
    chunks = [_coded(chunk, dtype) for chunk in column.chunks]
    wanted = _listed(entry)
    if wanted is None or not all(_holds(wanted, members.dictionary) for _, members in chunks):
        texts = sorted({t for _, m in chunks for t in to_texts(m.dictionary).to_pylist()} - {None})
        wanted = from_texts(pa.array(texts, pa.string()), dtype)
    index_type = pa.from_numpy_dtype(code_type(len(wanted)))
    target = pa.list_(pa.dictionary(index_type, dtype))
    if column.num_chunks == 1 and _is_normal(column.chunk(0), target, wanted):
        return column.chunk(0)
    lists = [
        pa.ListArray.from_arrays(
            list_offsets(chunk),
            _recoded(members, wanted, index_type),
            target,
            mask=chunk.is_null() if chunk.null_count else None,
        )
        for chunk, members in chunks
    ]
    return lists[0] if len(lists) == 1 else pa.concat_arrays(lists or [pa.array([], target)])


def set_codes(
    lists: pa.ListArray, entry: AttributeEntry
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return where each row's members start, and the place of every member in the domain.

    The starts have an end. Refuses (ReleaseDamaged) missing sets, and members outside the domain.
    """
    domain = entry.domain
    if not isinstance(domain, tuple) or lists.null_count:
        raise ReleaseDamaged(f"attribute '{entry.name}' lacks a set, or lists no domain")
    members = lists.flatten()
    places = {text: place for place, text in enumerate(domain)}
    texts = to_texts(members.dictionary).to_pylist()
    place_of = np.array([places.get(text, -1) for text in (*texts, None)], dtype=np.int32)
    indices = members.indices
    if indices.null_count:
        indices = pc.fill_null(indices.cast(pa.uint32()), len(texts))
    codes = place_of[indices.to_numpy(zero_copy_only=False)]
    if len(codes) and codes.min() < 0:
        raise ReleaseDamaged(f"attribute '{entry.name}' has values outside its domain")
    return list_offsets(lists).to_numpy(), codes


def plain_types(schema: pa.Schema) -> pa.Schema:
    """Return the schema with lists of plain values: readers know no coded members."""
    return pa.schema(
        [
            field.with_type(pa.list_(field.type.value_type.value_type))
            if is_list(field.type) and pa.types.is_dictionary(field.type.value_type)
            else field
            for field in schema
        ]
    )


def _coded(chunk: pa.Array, dtype: pa.DataType) -> tuple[pa.Array, pa.DictionaryArray]:
    members = chunk.flatten()
    is_coded = pa.types.is_dictionary(members.type)
    found = members.type.value_type if is_coded else members.type
    # numbers would read as texts, and then stand in another order
    if is_text(found) != is_text(dtype) and not pa.types.is_null(found):
        raise ValueError("another type")
    if not is_coded:
        members = members.cast(dtype).cast(comparable_type(dtype)).dictionary_encode()
    return chunk, pa.DictionaryArray.from_arrays(members.indices, members.dictionary.cast(dtype))


def _listed(entry: AttributeEntry) -> pa.Array | None:
    """Return the values that the manifest lists, None where they do not read as values."""
    if not isinstance(entry.domain, tuple):
        return None
    texts = pa.array(entry.domain, pa.string()).drop_null()
    try:
        values = from_texts(texts, entry.dtype)
        return values if to_texts(values).equals(texts) else None
    except (ValueError, pa.ArrowException):
        return None


def _holds(wanted: pa.Array, values: pa.Array) -> bool:
    if values.equals(wanted):
        return True
    return bool(pc.all(pc.is_in(to_texts(values.drop_null()), to_texts(wanted)), min_count=0))


def _is_normal(lists: pa.Array, target: pa.DataType, wanted: pa.Array) -> bool:
    if lists.type != target or lists.offset or lists.null_count:
        return False
    return bool(lists.values.dictionary.equals(wanted))


def _recoded(
    members: pa.DictionaryArray, wanted: pa.Array, index_type: pa.DataType
) -> pa.DictionaryArray:
    if members.dictionary.equals(wanted):
        indices = members.indices.cast(index_type)
    else:
        places = pc.index_in(to_texts(members.dictionary), to_texts(wanted), skip_nulls=True)
        indices = places.cast(index_type).take(members.indices)
    return pa.DictionaryArray.from_arrays(indices, wanted)


def list_offsets(lists: pa.Array) -> pa.Array:
    """Return offsets into the flattened lists: missing lists take no room there."""
    ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(lists), 0))
    return pa.concat_arrays([pa.array([0], pa.int32()), ends.cast(pa.int32())])
