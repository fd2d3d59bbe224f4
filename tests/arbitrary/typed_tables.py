"""Arbitrary small columns of every type that can be coded."""

from __future__ import annotations

import datetime as dt

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_TEXT = st.text(max_size=4)
_MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))


def _integers(bits: int, signed: bool = True):
    low = -(2 ** (bits - 1)) if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    return st.integers(low, high) | st.integers(0, min(high, 5))


def _decimals(precision: int, scale: int):
    limit = 10**precision - 1
    return st.integers(-limit, limit).map(lambda whole: _decimal(whole, scale))


def _decimal(whole: int, scale: int):
    from decimal import Context, Decimal

    return Decimal(whole).scaleb(-scale, Context(prec=80))


PLAIN = {
    pa.bool_(): st.booleans(),
    pa.int8(): _integers(8),
    pa.int16(): _integers(16),
    pa.int32(): _integers(32),
    pa.int64(): _integers(64),
    pa.uint8(): _integers(8, signed=False),
    pa.uint16(): _integers(16, signed=False),
    pa.uint32(): _integers(32, signed=False),
    pa.uint64(): _integers(64, signed=False),
    pa.float16(): st.floats(width=16, allow_infinity=False).map(np.float16),
    pa.float32(): st.floats(width=32, allow_infinity=False),
    pa.float64(): st.floats(allow_infinity=False),
    pa.decimal32(7, 2): _decimals(7, 2),
    pa.decimal64(15, 3): _decimals(15, 3),
    pa.decimal128(20, 10): _decimals(20, 10),
    pa.decimal256(50, 2): _decimals(50, 2),
    pa.string(): _TEXT,
    pa.large_string(): _TEXT,
    pa.string_view(): _TEXT,
    pa.date32(): st.dates(),
    pa.date64(): st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1)),
    pa.timestamp("s"): _MOMENTS.map(lambda moment: moment.replace(microsecond=0)),
    pa.timestamp("us"): _MOMENTS,
    pa.timestamp("ns"): _MOMENTS,
    pa.timestamp("us", "Europe/Madrid"): _MOMENTS,
    pa.timestamp("ms", "+02:00"): _MOMENTS.map(lambda moment: moment.replace(microsecond=0)),
    pa.time32("s"): st.times().map(lambda time: time.replace(microsecond=0)),
    pa.time64("us"): st.times(),
    pa.duration("ms"): st.integers(-(10**12), 10**12),
    pa.null(): st.none(),
}
DICTIONARIES = tuple(
    pa.dictionary(index, value, ordered)
    for index in (pa.int8(), pa.uint32())
    for value in (pa.string(), pa.large_string(), pa.string_view(), pa.int64(), pa.float64())
    for ordered in (False, True)
)
TYPES = (*PLAIN, *DICTIONARIES)


@st.composite
def chunked(draw, dtype: pa.DataType, rows: int) -> pa.ChunkedArray:
    """Return a column of the type, with missing and repeated values, in one chunk or two."""
    if pa.types.is_dictionary(dtype):
        # Entries may be repeated, missing and unused: Arrow allows it all.
        entries = draw(_values(dtype.value_type, draw(st.integers(1, 6))))
        places = st.none() | st.integers(0, len(entries) - 1)
        indices = pa.array(draw(st.lists(places, min_size=rows, max_size=rows)), dtype.index_type)
        array = pa.DictionaryArray.from_arrays(indices, entries, ordered=dtype.ordered)
    else:
        array = draw(_values(dtype, rows))
    cut = draw(st.integers(0, rows))
    return pa.chunked_array([array[:cut], array[cut:]] if 0 < cut < rows else [array], dtype)


@st.composite
def _values(draw, dtype: pa.DataType, size: int) -> pa.Array:
    pool = draw(st.lists(PLAIN[dtype], min_size=1, max_size=5))
    cells = draw(st.lists(st.none() | st.sampled_from(pool), min_size=size, max_size=size))
    return pa.array(cells, dtype)


@st.composite
def tables(draw, max_rows: int = 8) -> pa.Table:
    """Return a table of one to four columns of any types."""
    rows = draw(st.integers(1, max_rows))
    types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=4))
    return pa.table(
        [draw(chunked(dtype, rows)) for dtype in types],
        names=[f"c{place} é" for place in range(len(types))],
    )


def plain(column: pa.ChunkedArray) -> list:
    """Return the cells as Python sees them, with NaN as missing."""
    cells = []
    for chunk in column.chunks:
        if pa.types.is_dictionary(chunk.type):
            entries = chunk.dictionary.to_pylist()
            places = chunk.indices.to_pylist()
            cells += [None if place is None else entries[place] for place in places]
        elif pa.types.is_temporal(chunk.type) and not pa.types.is_date(chunk.type):
            bits = pa.int32() if chunk.type.bit_width == 32 else pa.int64()
            cells += pc.cast(chunk.view(bits), pa.int64()).to_pylist()
        else:
            cells += chunk.to_pylist()
    return [None if cell != cell else cell for cell in cells]  # noqa: PLR0124 -- NaN alone differs
