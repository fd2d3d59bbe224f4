"""What a data type says about an attribute: its kind, and the plain type of its values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sfumato.schema.attribute import Kind
from sfumato.schema.text import from_texts


def kind_of(dtype: pa.DataType) -> Kind | None:
    """Return the kind that the type suggests, None for types whose values cannot be published.

    >>> kind_of(pa.int8()), kind_of(pa.string()), kind_of(pa.list_(pa.int8()))
    (<Kind.NUMERIC: 'numeric'>, <Kind.CATEGORICAL: 'categorical'>, None)
    """
    if pa.types.is_dictionary(dtype):
        if kind_of(dtype.value_type) is None:
            return None
        return Kind.ORDINAL if dtype.ordered else Kind.CATEGORICAL
    if is_number(dtype):
        return Kind.NUMERIC
    if is_text(dtype) or pa.types.is_boolean(dtype) or pa.types.is_null(dtype):
        return Kind.CATEGORICAL
    return None


def is_number(dtype: pa.DataType) -> bool:
    """Return whether values of the type have a distance: numbers, dates, times, durations."""
    if pa.types.is_interval(dtype):  # a month is no fixed length of time
        return False
    return bool(
        pa.types.is_integer(dtype)
        or pa.types.is_floating(dtype)
        or pa.types.is_decimal(dtype)
        or pa.types.is_temporal(dtype)
    )


def is_text(dtype: pa.DataType) -> bool:
    """Return whether the type is one of Arrow's three layouts of text."""
    return bool(
        pa.types.is_string(dtype)
        or pa.types.is_large_string(dtype)
        or pa.types.is_string_view(dtype)
    )


def is_known_zone(zone: str) -> bool:
    """Return whether both Arrow and Python know a time zone: either may be asked for a value later.

    >>> is_known_zone("Europe/Berlin"), is_known_zone("+02:00"), is_known_zone("Mars/Base")
    (True, True, False)
    """
    try:
        moment = pa.array([0], pa.timestamp("s", zone))
        moment.cast(pa.string())
        moment.to_pylist()
    except (pa.ArrowException, LookupError, ValueError):  # pytz has an error of its own, a KeyError
        return False
    return True


def value_type(dtype: pa.DataType) -> pa.DataType:
    """Return the plain type of a column's values: layouts of text and dictionaries fall away.

    >>> value_type(pa.dictionary(pa.int8(), pa.large_string()))
    DataType(string)
    """
    if pa.types.is_dictionary(dtype):
        return value_type(dtype.value_type)
    return pa.string() if is_text(dtype) else dtype


def comparable_type(dtype: pa.DataType) -> pa.DataType:
    """Return a type that loses nothing and that Arrow can hash and sort."""
    if pa.types.is_string_view(dtype):
        return pa.large_string()
    if pa.types.is_binary_view(dtype):
        return pa.large_binary()
    if pa.types.is_float16(dtype):
        return pa.float32()
    if pa.types.is_decimal(dtype) and dtype.bit_width < 128:
        return pa.decimal128(dtype.precision, dtype.scale)
    return dtype


def stated_values(stated: tuple[Any, ...], dtype: pa.DataType) -> pa.Array:
    """Return values that a policy states, as an array of the type; ValueError where one is not.

    A policy file has texts where the column has dates, and whole numbers where it has decimals.

    >>> stated_values(("2026-01-31",), pa.date32()).to_pylist()
    [datetime.date(2026, 1, 31)]
    """
    try:
        return pa.array(list(stated), type=dtype)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    try:
        return from_texts(pa.array([str(value) for value in stated]), dtype)
    except (pa.ArrowException, ValueError):
        raise ValueError(f"not every value reads as {dtype}") from None
