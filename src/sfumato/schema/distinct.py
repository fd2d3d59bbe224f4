"""The distinct values of a column: the one place where cells become integers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.schema.chunks import codes_of
from sfumato.schema.kinds import comparable_type, value_type

Cell = TypeVar("Cell", bound=np.generic)

# How many times the number of rows a range of whole numbers may span to be counted by table.
_DENSE_SPAN = 2
_LARGEST_INT64 = 2**63 - 1
_BLOCK = 1 << 15  # rows that stay in the cache while they are widened
_MANY = 1 << 18  # codes that NumPy has counted before a kernel is loaded
_FEW_COUNTS = 1 << 12  # that stay in the cache several times


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct values of a column, and which of them every row holds.

    `values` stand in the order of the column's dictionary; without one, in no particular order.
    Rows have a `slot` each, and `code_of` says which value a slot means, so that rows are read
    only once, by whoever knows what codes they are to have; None where slots are codes.
    """

    slots: npt.NDArray[np.int32]
    values: pa.Array
    code_of: npt.NDArray[np.int32] | None = None

    @cached_property
    def codes(self) -> npt.NDArray[np.int32]:
        """Every row's position in `values`; `len(values)` where the value is missing."""
        return self.recoded(np.arange(len(self.values) + 1, dtype=np.int32))

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows per value; the last entry counts the missing ones."""
        size = len(self.values) + 1
        if self.code_of is None:
            return count_codes(self.slots, size)
        many = count_codes(self.slots, len(self.code_of))
        return np.bincount(self.code_of, many, size).astype(np.int64)

    def recoded(self, other: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return what `other` says of every row's code; of a missing value, its last entry."""
        place = other if self.code_of is None else other[self.code_of]
        if (place == np.arange(len(place))).all():
            return self.slots
        return looked_up(place, self.slots)


class DistinctColumns:
    """The distinct values of a table's columns by name, each counted when first asked for.

    Whoever looks at a column several times counts it once: with a million different values, that
    is most of the work.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._found: dict[str, Distinct] = {}

    def __getitem__(self, name: str) -> Distinct:
        """Return what `distinct` says of a column, and refuse what it refuses."""
        if name not in self._found:
            self._found[name] = distinct(self._table[name], name)
        return self._found[name]


def distinct(column: pa.ChunkedArray, name: str) -> Distinct:
    """Return the distinct non-missing values of a column and which of them each row holds.

    NaN counts as missing, -0.0 as 0.0; unused entries of a dictionary are left out.

    Refuses (SchemaError) types whose values cannot be told apart, such as lists.

    >>> found = distinct(pa.chunked_array([["b", None, "a", "b"]]), "letter")
    >>> found.codes.tolist(), found.values.to_pylist()
    ([0, 2, 1, 0], ['b', 'a'])
    """
    try:
        found = _distinct(column)
    except pa.ArrowNotImplementedError:
        raise SchemaError(
            f"column '{name}': values of type {column.type} cannot be compared; "
            "leave the column out or convert it to a plain type"
        ) from None
    return replace(found, values=found.values.cast(value_type(column.type)))


def count_codes(codes: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.int64]:
    """Return how often each code below `size` occurs; ValueError where one is not below.

    Many are counted by a kernel: NumPy takes several times as long, and lets no other thread of
    Python run. It widens what it counts, so in blocks: a large copy costs more than the counting.

    >>> count_codes(np.array([2, 0, 2], np.int8), 4).tolist()
    [1, 0, 2, 0]
    """
    if len(codes) >= _MANY and codes.dtype == np.int32 and codes.flags.c_contiguous:
        return _count_many(codes, size)
    counts = np.zeros(size, np.int64)
    step = max(_BLOCK, 8 * size)
    for start in range(0, len(codes), step):
        counts += np.bincount(codes[start : start + step], minlength=size)
    return counts


def _count_many(codes: npt.NDArray[np.integer[Any]], size: int) -> npt.NDArray[np.int64]:
    from sfumato.schema.count_kernel import LANES, add_counts  # Numba takes its time to load

    many: npt.NDArray[np.int32] = codes.view(np.int32)
    many.flags.writeable = False  # or a twin would be compiled for some
    counts = np.zeros((LANES if size <= _FEW_COUNTS else 1, size), np.int64)
    if not add_counts(many, counts):
        raise ValueError("a code is not below the number of codes")
    found: npt.NDArray[np.int64] = counts[0] if len(counts) == 1 else counts.sum(axis=0)
    return found


def looked_up(table: npt.NDArray[Cell], places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Cell]:
    """Return what stands at so many places of a table; IndexError where one lies beyond its ends.

    In half of NumPy's time: it widens all places before it looks, here those of a block.

    >>> looked_up(np.array([7, 8, 9], np.int32), np.array([2, 0, 2], np.int8)).tolist()
    [9, 7, 9]
    """
    found = np.empty(len(places), table.dtype)
    for start in range(0, len(places), _BLOCK):
        part = places[start : start + _BLOCK]
        if part.min() < 0 or part.max() >= len(table):
            raise IndexError("a place lies beyond the ends of the table")
        # any other mode looks for wrong places itself, and finds what it returns elsewhere
        np.take(table, part, out=found[start : start + _BLOCK], mode="wrap")
    return found


def counted(keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct keys, ascending, and how often each occurs.

    >>> [each.tolist() for each in counted(np.array([3, 1, 3]))]
    [[1, 3], [1, 2]]
    """
    return runs_of(np.sort(keys))


def runs_of(keys: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the same as `counted` of keys that ascend; they themselves, where all differ."""
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    if is_first.all():
        return keys, np.ones(len(keys), np.int64)
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(keys))
    ends -= starts
    return keys[starts], ends


def _distinct(column: pa.ChunkedArray) -> Distinct:
    if pa.types.is_dictionary(column.type):
        slots, entries = _join_dictionaries(column)
        found = _remap(slots, entries)
        assert found.code_of is not None
        used = found.counts[:-1] > 0
        if used.all():
            return found
        renumber = np.append(np.cumsum(used) - used, used.sum()).astype(np.int32)
        return Distinct(slots, found.values.filter(pa.array(used)), renumber[found.code_of])
    if pa.types.is_null(column.type):
        return Distinct(np.zeros(len(column), np.int32), pa.nulls(0))
    if pa.types.is_integer(column.type):
        counted = _count_dense(column)
        if counted is not None:
            return counted
    found = _hash(column)
    if pa.types.is_floating(found.values.type) and _has_nan_or_minus_zero(found.values):
        return _remap(found.codes, pa.chunked_array([found.values]))
    return found


def _has_nan_or_minus_zero(values: pa.Array) -> bool:
    numbers = values.to_numpy()
    return bool((np.isnan(numbers) | ((numbers == 0) & np.signbit(numbers))).any())


def _count_dense(column: pa.ChunkedArray) -> Distinct | None:
    """Return the distinct values of whole numbers that lie close together, None if they do not.

    Marking them in a table of their range is many times faster than hashing, above all where
    nearly every row has a number of its own.
    """
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None or high - low >= _DENSE_SPAN * len(column) or high > _LARGEST_INT64:
        return None
    span = high - low + 1
    slots = np.empty(len(column), np.int32)
    # differences fit, so narrow numbers need not be widened for them
    is_narrow = column.type.bit_width < 32 or pa.types.is_int32(column.type)
    wide, least = (column.type, np.int32(low)) if is_narrow else (pa.int64(), np.int64(low))
    row = 0
    for raw in column.chunks:
        chunk = raw.cast(wide)
        part = slots[row : row + len(chunk)]
        np.subtract(codes_of(chunk, low), least, out=part, casting="unsafe")
        if chunk.null_count:
            part[chunk.is_null().to_numpy(zero_copy_only=False)] = span
        row += len(chunk)
    occurs = count_codes(slots, span + 1) > 0
    occurs[span] = False  # the slot of missing values, whose code is the number of values
    code_of = np.cumsum(occurs, dtype=np.int32) - occurs
    values = pa.array(np.flatnonzero(occurs) + low).cast(column.type)
    return Distinct(slots, values, code_of.astype(np.int32))


def _hash(column: pa.ChunkedArray) -> Distinct:
    encoded = column.cast(comparable_type(column.type)).dictionary_encode()
    if encoded.num_chunks == 0:
        return Distinct(np.empty(0, np.int32), pa.nulls(0, encoded.type.value_type))
    values = encoded.chunk(0).dictionary  # all chunks share it
    return Distinct(_concatenate([chunk.indices for chunk in encoded.chunks], len(values)), values)


def _remap(slots: npt.NDArray[np.int32], entries: pa.ChunkedArray) -> Distinct:
    """Return the distinct values of entries that may be repeated, missing or doubtful."""
    if pa.types.is_floating(entries.type):
        plain = entries.cast(comparable_type(entries.type))
        entries = pc.add(pc.if_else(pc.is_nan(plain), None, plain), pa.scalar(0.0, plain.type))
        found = _hash(entries)
    elif pa.types.is_null(entries.type):
        found = _distinct(entries)
    else:
        found = _hash(entries)  # in the order of the entries, which may be the order of categories
    slot_codes = np.append(found.codes, len(found.values)).astype(np.int32)
    return Distinct(slots, found.values, slot_codes)


def _join_dictionaries(
    column: pa.ChunkedArray,
) -> tuple[npt.NDArray[np.int32], pa.ChunkedArray]:
    """Return every row's slot in the chunks' dictionaries laid end to end, and those entries."""
    dictionaries: list[pa.Array] = []
    slots = np.empty(len(column), np.int32)
    row = start = end = 0
    for chunk in column.chunks:
        if not dictionaries or not dictionaries[-1].equals(chunk.dictionary):
            dictionaries.append(chunk.dictionary)
            start, end = end, end + len(chunk.dictionary)
        part = slots[row : row + len(chunk)]
        part[:] = codes_of(chunk.indices, 0)
        part += start
        if chunk.indices.null_count:
            part[chunk.indices.is_null().to_numpy(zero_copy_only=False)] = -1
        row += len(chunk)
    slots[slots < 0] = end
    return slots, pa.chunked_array(dictionaries, column.type.value_type)


def _concatenate(chunks: list[pa.Array], null_code: int) -> npt.NDArray[np.int32]:
    codes = [codes_of(chunk, null_code) for chunk in chunks]
    return np.asarray(codes[0] if len(codes) == 1 else np.concatenate(codes), np.int32)
