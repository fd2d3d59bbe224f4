"""The one text form of a value, used by hierarchies, cells, domains and CSV files.

Integers and decimals in plain digits, floats in their shortest exact form, booleans `true` and
`false`, dates and timestamps in ISO form (UTC where they have a zone), durations as counts of
their unit. Every text reads back to the value it came from.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def to_texts(values: pa.Array) -> pa.Array:
    """Return the text of every value; nulls stay null.

    >>> import datetime
    >>> to_texts(pa.array([datetime.date(2026, 1, 31), None])).to_pylist()
    ['2026-01-31', None]
    >>> to_texts(pa.array([33.0, 0.1])).to_pylist()
    ['33', '0.1']
    """
    if pa.types.is_string(values.type):
        return values
    if pa.types.is_duration(values.type):
        values = values.cast(pa.int64())
    if pa.types.is_decimal(values.type):
        # Arrow would write small ones with an exponent
        numbers = values.to_pylist()
        return pa.array([None if n is None else f"{n:f}" for n in numbers], type=pa.string())
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        # in one zone, since historic offsets of others may have seconds, which do not read back
        values = values.cast(pa.timestamp(values.type.unit, "UTC"))
    texts = values.cast(pa.string())
    if pa.types.is_timestamp(values.type):
        texts = pc.replace_substring(texts, " ", "T", max_replacements=1)
    return texts


def from_texts(texts: pa.Array, dtype: pa.DataType) -> pa.Array:
    """Return the values that the texts stand for; ValueError where one does not read as `dtype`.

    >>> from_texts(pa.array(["33", None]), pa.int32()).to_pylist()
    [33, None]
    """
    if pa.types.is_duration(dtype):
        return texts.cast(pa.int64()).cast(dtype)
    if pa.types.is_time(dtype):
        # Arrow reads times of day only as part of a timestamp
        moments = pc.binary_join_element_wise(pa.scalar("1970-01-01T"), texts, "")
        return moments.cast(pa.timestamp("ns")).cast(pa.time64("ns")).cast(dtype)
    return texts.cast(dtype)


def readable_texts(texts: tuple[str, ...], dtype: pa.DataType) -> tuple[str, ...]:
    """Return the texts that are those of values of the type: a hierarchy may list others too.

    >>> readable_texts(("33", "033", "unknown"), pa.int32())
    ('33',)
    """
    if pa.types.is_string(dtype):
        return texts
    try:
        whole = to_texts(from_texts(pa.array(texts, pa.string()), dtype)).to_pylist()
        return tuple(text for text, read in zip(texts, whole, strict=True) if text == read)
    except (ValueError, pa.ArrowException):  # one of them at least
        return tuple(text for text in texts if _is_readable(text, dtype))


def _is_readable(text: str, dtype: pa.DataType) -> bool:
    try:
        return bool(to_texts(from_texts(pa.array([text]), dtype)).to_pylist() == [text])
    except (ValueError, pa.ArrowException):
        return False
