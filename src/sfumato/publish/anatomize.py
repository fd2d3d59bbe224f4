"""The `anatomized` layout: quasi-identifiers and sensitive values in tables of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.measures.compiled import loop
from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe
from sfumato.publish.exact import SortedDictionary, exact_column, is_text, spelled, typed_column
from sfumato.release import TableEntry
from sfumato.schema.distinct import count_codes, looked_up
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import BLOCK, packed
from sfumato.table.permutation import Mix

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_BITS = 64  # of a word
_AS_IT_IS = np.zeros(0, np.int32)


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
    ids = looked_up(public_ids, groups.ids)
    if qi_tables is None:
        qi_tables = [table.quasi_identifiers] if table.quasi_identifiers else []
    named: list[tuple[str, Sequence[Column]]] = [
        *((f"qi_{i}", part) for i, part in enumerate(qi_tables, start=1)),
        *((f"sensitive_{i}", [c]) for i, c in enumerate(table.sensitive, start=1)),
        *((f"kept_{i}", [c]) for i, c in enumerate(table.kept, start=1)),
    ]
    with ThreadPoolExecutor(os.cpu_count()) as threads, ThreadPoolExecutor(1) as drawing:
        found = [threads.submit(_distinct, ids, part) for _, part in named]
        # drawn one after the other, so that what is drawn depends on no thread
        drawn = [drawing.submit(_drawn, each, rng) for each in found]
        mixed = [threads.submit(_mixed, *each) for each in zip(found, drawn, strict=True)]
        del found, drawn
        # what has become a table is let go
        tables = [_table(mixed.pop(0).result(), threads) for _ in named]
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
    """The distinct combinations of codes in a group, and how many rows have each.

    In words, of which every part has so many `bits`: the group, the codes, and the count less one,
    unless there are `counts`. Where codes are too much for a word, the combinations are those of
    some `rows`.
    """

    columns: Sequence[Column]
    parts: Sequence[Codes]
    bits: Sequence[int]
    words: Ints | None
    rows: Ints | None
    counts: Codes | None


def _distinct(ids: Codes, columns: Sequence[Column]) -> _Distinct:
    """Return each distinct combination of codes in a group."""
    parts = [ids, *(column.codes for column in columns)]
    bits = [int(part.max(initial=0)).bit_length() for part in parts]
    # one sort of packed keys needs a fraction of the memory of a hash table of rows
    if sum(bits) < _BITS:  # the sign would upset the order
        # keys alone are sorted several times faster than rows by their keys, and say all there is
        words = _packed_by_bits(parts, bits)
        words.sort()
        own = int(_longest_run(words) - 1).bit_length()
        if sum(bits) + own > _BITS:
            starts, counts = _runs(words)
            return _Distinct(columns, parts, [*bits, 0], words[starts], None, counts)
        # where they stand: memory that nobody has touched yet takes longer than all of this
        words = words[: int(_condense(words, own))]
        return _Distinct(columns, parts, [*bits, own], words, None, None)
    keys = packed(parts)
    rows = np.argsort(keys)
    starts, counts = _runs(keys[rows])
    return _Distinct(columns, parts, bits, None, rows[starts], counts)


def _packed_by_bits(parts: Sequence[Codes], bits: Sequence[int]) -> Ints:
    """Return one number a row, in the order of the codes, each code in so many bits of it."""
    keys = np.zeros(len(parts[0]), np.int64)
    for start in range(0, len(keys), BLOCK):
        key = keys[start : start + BLOCK]
        for part, width in zip(parts, bits, strict=True):
            key <<= width
            key |= part[start : start + BLOCK]
    return keys


@loop
def _longest_run(keys: Ints) -> int:
    """Return how often the commonest of sorted keys occurs, at least 1."""
    longest, start = 1, 0
    for i in range(1, len(keys)):
        if keys[i] != keys[i - 1]:
            start = i
        elif i - start >= longest:
            longest = i - start + 1
    return longest


@loop
def _condense(keys: Ints, bits: int) -> int:
    """Put each of the sorted keys to the front once, so many bits higher, and how often it occurs,
    less one, into these bits; return how many they are."""
    done, start = 0, 0
    for i in range(1, len(keys) + 1):
        if i == len(keys) or keys[i] != keys[start]:
            keys[done] = keys[start] << bits | (i - start - 1)
            done += 1
            start = i
    return done


def _runs(keys: Ints) -> tuple[Ints, Codes]:
    """Return where each run of equal keys starts, and how long it is."""
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(keys))
    return starts, np.subtract(ends, starts, dtype=np.int32, casting="unsafe")


def _drawn(pending: Future[_Distinct], rng: np.random.Generator) -> Mix:
    """Return a random order of the combinations."""
    found = pending.result()
    some = found.rows if found.words is None else found.words
    assert some is not None
    return Mix.draw(rng, len(some))


def _mixed(pending: Future[_Distinct], drawn: Future[Mix]) -> _Distinct:
    """Return the combinations in the order that was drawn."""
    found, mix = pending.result(), drawn.result()
    if found.counts is None:
        assert found.words is not None
        mix.shuffle(found.words)
        return found
    order = np.arange(len(found.counts))
    mix.shuffle(order)
    words, rows = (None if each is None else each[order] for each in (found.words, found.rows))
    return found._replace(words=words, rows=rows, counts=found.counts[order])


def _table(found: _Distinct, threads: Executor) -> pa.Table:
    """Return the combinations with their counts."""
    if found.words is None:
        assert found.rows is not None
        cells = [exact_column(c, c.codes[found.rows]) for c in found.columns]
        group, counts = found.parts[0][found.rows], found.counts
    else:
        group, *cells, counts = threads.map(partial(_unpacked, found), range(len(found.bits)))
        counts = counts if found.counts is None else found.counts
    named = {column.name: own for column, own in zip(found.columns, cells, strict=True)}
    return pa.table({"group": group, **named, "count": counts})


def _unpacked(found: _Distinct, part: int) -> Codes | pa.Array:
    """Return what the words say in one part of theirs: groups, the cells of a column, or counts."""
    assert found.words is not None
    shift, width = sum(found.bits[part + 1 :]), found.bits[part]
    codes = np.empty(len(found.words), np.int32)
    column = found.columns[part - 1] if 0 < part <= len(found.columns) else None
    if column is not None and is_text(column):
        texts = SortedDictionary.of(
            spelled(column), count_codes(column.codes, column.null_code + 1) > 0
        )
        _unpack(found.words, shift, (1 << width) - 1, texts.place, 0, codes)
        return texts.column(codes)
    _unpack(found.words, shift, (1 << width) - 1, _AS_IT_IS, column is None and part > 0, codes)
    return codes if column is None else typed_column(column, codes)


@loop
def _unpack(words: Ints, shift: int, mask: int, places: Codes, more: int, found: Codes) -> None:
    """Fill in the numbers that stand in some bits of the words, and so much more.

    Where there are `places`, those of the numbers are filled in.
    """
    if len(places) == 0:
        for i in range(len(words)):
            found[i] = (words[i] >> shift & mask) + more
    else:
        for i in range(len(words)):
            found[i] = places[np.uint64(words[i] >> shift & mask)]
