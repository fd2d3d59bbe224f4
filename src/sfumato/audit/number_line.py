"""Values of numeric attributes on one exact line, so that they compare with the domain's ends.

An end may lie outside what the data type can hold, or have another precision, so it is never cast
to the type: numbers compare as the decimals that are written, moments in nanoseconds.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import comparable
from sfumato.release import Bounds
from sfumato.schema.text import from_texts, to_texts

Point = Decimal | int
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def read_values(texts: pa.Array, dtype: pa.DataType) -> pa.Array | None:
    """Return the values that the texts stand for; None where one is not the text of a value.

    >>> read_values(pa.array(["33", "7"]), pa.int8()).to_pylist()
    [33, 7]
    >>> read_values(pa.array(["007"]), pa.int8()) is None
    True
    """
    if not len(texts):
        return pa.nulls(0, dtype)
    try:
        values = from_texts(texts, dtype)
        return values if to_texts(values).equals(texts) else None
    except (ValueError, pa.ArrowException):
        return None


def bounds_of(domain: Bounds, dtype: pa.DataType) -> tuple[Point, Point] | None:
    """Return the ends of a domain; None where they do not read as such, or are in disorder.

    >>> bounds_of(Bounds(min=15, max=90.5), pa.int32())
    (Decimal('15'), Decimal('90.5'))
    """
    low, high = (_point(str(end), dtype) for end in (domain.min, domain.max))
    return None if low is None or high is None or low > high else (low, high)


def lie_within(values: pa.Array, ends: tuple[Point, Point]) -> bool:
    """Return whether no value lies outside the ends."""
    if not len(values):
        return True
    extremes = pc.min_max(comparable(values))
    # As texts, so that a float is the decimal that it prints as.
    texts = (extremes[end].cast(pa.string()).as_py() for end in ("min", "max"))
    low, high = (_point(text, values.type) for text in texts)
    return low is not None and high is not None and ends[0] <= low and high <= ends[1]


def _point(text: str, dtype: pa.DataType) -> Point | None:
    kinds = pa.types
    try:
        if kinds.is_timestamp(dtype):
            return _moment(text, dtype)
        if kinds.is_date(dtype):
            return _nanoseconds(pa.array([text]).cast(pa.date32()).cast(pa.timestamp("s")))
        if kinds.is_time(dtype):
            return _moment(f"1970-01-01T{text}", pa.timestamp("ns"))
        number = Decimal(text)
    except (ValueError, pa.ArrowException, InvalidOperation):
        return None
    return number if number.is_finite() else None


def _moment(text: str, dtype: pa.DataType) -> int:
    # Nanoseconds do not reach beyond three centuries, microseconds do.
    for unit, zone in (("ns", dtype.tz), ("us", dtype.tz), ("us", None)):
        try:
            return _nanoseconds(pa.array([text]).cast(pa.timestamp(unit, zone)))
        except pa.ArrowException:
            continue
    raise ValueError("not a moment")


def _nanoseconds(moment: pa.Array) -> int:
    value: int = moment[0].value
    return value * _NANOSECONDS[moment.type.unit]
