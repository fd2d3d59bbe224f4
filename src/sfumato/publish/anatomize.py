"""The `anatomized` layout: quasi-identifiers and sensitive values in tables of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe
from sfumato.publish.exact import SortedDictionary, exact_column, is_text, spelled, typed_column
from sfumato.release import TableEntry
from sfumato.schema.distinct import count_codes
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import BLOCK, packed
from sfumato.table.permutation import permutation

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_HELD = 1024  # keys that stay in the cache while their codes are read off


def anatomized_tables(
    table: Table,
    groups: Groups,
    qi_tables: Sequence[Sequence[Column]] | None = None,
    *,
    rng: np.random.Generator,
) -> Published:
    """Return tables that share only the group: `qi_1` .., `sensitive_1` .. and kept columns.

    Each has one row a distinct combination in a group, with its count; `qi_tables` says which
    quasi-identifiers stay together (default: all).
    """
    public_ids = random_ids(groups.count, rng)
    ids = public_ids[groups.ids]
    if qi_tables is None:
        qi_tables = [table.quasi_identifiers] if table.quasi_identifiers else []
    named: list[tuple[str, Sequence[Column]]] = [
        *((f"qi_{i}", part) for i, part in enumerate(qi_tables, start=1)),
        *((f"sensitive_{i}", [c]) for i, c in enumerate(table.sensitive, start=1)),
        *((f"kept_{i}", [c]) for i, c in enumerate(table.kept, start=1)),
    ]
    with ThreadPoolExecutor(os.cpu_count()) as threads, ThreadPoolExecutor(1) as drawing:
        found = list(threads.map(partial(_distinct, ids), (part for _, part in named)))
        # drawn one after the other, so that what is drawn depends on no thread
        orders = drawing.map(partial(permutation, rng), (len(each.counts) for each in found))
        tables = [_table(each, order, threads) for each, order in zip(found, orders, strict=True)]
    return Published(
        "anatomized",
        {name: made for (name, _), made in zip(named, tables, strict=True)},
        [
            TableEntry(
                name=name, attributes=tuple(c.name for c in part), group="group", count="count"
            )
            for name, part in named
        ],
        [describe(column) for column in table.columns],
    )


class _Distinct(NamedTuple):
    """The distinct combinations of codes: packed into keys, `bits` a code, or at some rows."""

    columns: Sequence[Column]
    parts: Sequence[Codes]
    counts: Codes
    keys: Ints | None
    rows: Ints | None
    bits: Sequence[int]


def _distinct(ids: Codes, columns: Sequence[Column]) -> _Distinct:
    """Return each distinct combination of codes in a group."""
    parts = [ids, *(column.codes for column in columns)]
    bits = [int(part.max(initial=0)).bit_length() for part in parts]
    # one sort of packed keys needs a fraction of the memory of a hash table of rows
    if sum(bits) < 64:
        # keys alone are sorted several times faster than rows by their keys, and say all there is
        keys = np.asarray(pl.Series(_packed_by_bits(parts, bits)).sort().to_numpy())
        starts, counts = _runs(keys)
        keys = keys if len(starts) == len(keys) else keys[starts]
        return _Distinct(columns, parts, counts, keys, None, bits)
    keys = packed(parts)
    rows = np.argsort(keys)
    starts, counts = _runs(keys[rows])
    return _Distinct(columns, parts, counts, None, rows[starts], bits)


def _packed_by_bits(parts: Sequence[Codes], bits: Sequence[int]) -> Ints:
    """Return one number a row, in the order of the codes, each code in so many bits of it."""
    keys = np.zeros(len(parts[0]), np.int64)
    for start in range(0, len(keys), BLOCK):
        key = keys[start : start + BLOCK]
        for part, width in zip(parts, bits, strict=True):
            key <<= width
            key |= part[start : start + BLOCK]
    return keys


def _runs(keys: Ints) -> tuple[Ints, Codes]:
    """Return where each run of equal keys starts, and how long it is."""
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(keys))
    return starts, np.subtract(ends, starts, dtype=np.int32, casting="unsafe")


def _table(found: _Distinct, order: Ints, threads: Executor) -> pa.Table:
    """Return the combinations with their counts, in the given order."""
    if found.keys is None:
        assert found.rows is not None
        first = found.rows[order]
        cells = [exact_column(c, c.codes[first]) for c in found.columns]
        group, counts = found.parts[0][first], found.counts[order]
    else:
        texts = [_dictionary(column) if is_text(column) else None for column in found.columns]
        places = [None if each is None else each.place for each in texts]
        group, *codes, counts = _unpacked(found, order, places, threads)
        cells = [
            typed_column(column, own) if each is None else each.column(own)
            for column, each, own in zip(found.columns, texts, codes, strict=True)
        ]
    named = {column.name: own for column, own in zip(found.columns, cells, strict=True)}
    return pa.table({"group": group, **named, "count": counts})


def _dictionary(column: Column) -> SortedDictionary:
    return SortedDictionary.of(spelled(column), count_codes(column.codes, column.null_code + 1) > 0)


def _unpacked(
    found: _Distinct, order: Ints, places: Sequence[Codes | None], threads: Executor
) -> Sequence[Codes]:
    """Return the groups, the codes of each column and the counts, of keys taken in an order.

    Where a column has `places`, these are returned instead of its codes.
    """
    assert found.keys is not None
    is_once = bool(len(order) and found.counts.max() == 1)
    shifts = np.cumsum([0, *reversed(found.bits)])[-2::-1]
    known = [np.zeros(0, np.int32) if each is None else each for each in (None, *places)]
    first = np.cumsum([0, *map(len, known)])
    # one array for all: what is compiled does not depend on how many columns there are
    filled = np.empty((len(found.bits) + 1, len(order)), np.int32)
    step = -(-len(order) // (os.cpu_count() or 1)) or 1
    tasks = [
        threads.submit(
            _unpack,
            found.keys,
            found.counts[:1] if is_once else found.counts,  # nothing to fetch
            order[start : start + step],
            np.array(shifts, np.int64),
            np.array([(1 << width) - 1 for width in found.bits], np.int64),
            np.concatenate(known),
            first,
            filled[:, start : start + step],
        )
        for start in range(0, len(order), step)
    ]
    for task in tasks:
        task.result()
    return list(filled)


@numba.njit(cache=True, nogil=True)
def _unpack(
    keys: Ints,
    counts: Codes,
    order: Ints,
    shifts: Ints,
    masks: Ints,
    places: Codes,
    first: Ints,
    filled: Codes,
) -> None:
    """Fill a line for each code of the keys, and a last one with their counts.

    Codes of column c are replaced by their `places` from `first[c]` on, if it has any.
    """
    held = np.empty(_HELD, np.int64)
    for start in range(0, len(order), _HELD):
        rows = order[start : start + _HELD]
        for i in range(len(rows)):
            held[i] = keys[rows[i]]
        for column in range(len(shifts)):
            line = filled[column, start : start + len(rows)]
            shift, mask = shifts[column], masks[column]
            own = places[first[column] : first[column + 1]]
            if len(own) == 0:
                for i in range(len(rows)):
                    line[i] = held[i] >> shift & mask
            else:
                for i in range(len(rows)):
                    line[i] = own[np.uint64(held[i] >> shift & mask)]
        line = filled[len(shifts), start : start + len(rows)]
        for i in range(len(rows)):
            line[i] = counts[rows[i]] if len(counts) > 1 else counts[0]
