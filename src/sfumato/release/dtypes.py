"""Names of data types in the manifest: Arrow's own, such as `int32` or `decimal128(10, 2)`.

A dictionary goes by the type of its values, and every kind of text is `string`: how a column was
held in memory is nobody's business, and CSV could not keep it anyway.
"""

from __future__ import annotations

import re

import pyarrow as pa

from sfumato.errors import ReleaseDamaged, SchemaError
from sfumato.schema.kinds import is_known_zone

_UNITS = ("s", "ms", "us", "ns")
_PLAIN = {
    str(dtype): dtype
    for dtype in (
        *(pa.null(), pa.bool_(), pa.string()),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64()),
        *(pa.date32(), pa.date64()),
        *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
        *(pa.duration(unit) for unit in _UNITS),
    )
}
_DECIMAL = re.compile(r"(decimal(?:32|64|128|256))\((\d{1,3}), (\d{1,3})\)")
_TIMESTAMP = re.compile(r"timestamp\[(s|ms|us|ns)(?:, tz=([^\[\]\s]+))?\]")


def dtype_name(dtype: pa.DataType) -> str:
    """Return the manifest's name of a data type; SchemaError for one that cannot be published.

    >>> dtype_name(pa.timestamp("us", "UTC")), dtype_name(pa.dictionary(pa.int8(), pa.string()))
    ('timestamp[us, tz=UTC]', 'string')
    """
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    if is_text(dtype):
        dtype = pa.string()
    name = str(dtype)
    if _find(name) != dtype:
        raise SchemaError(f"a column of type {name} cannot be published; convert it to text first")
    return name


def dtype_from_name(name: str) -> pa.DataType:
    """Return the data type of that name; ReleaseDamaged for a name that `dtype_name` never gives.

    >>> dtype_from_name("decimal128(10, 2)")
    Decimal128Type(decimal128(10, 2))
    """
    dtype = _find(name)
    if dtype is None:
        raise ReleaseDamaged("unknown data type in the manifest")
    return dtype


def is_text(dtype: pa.DataType) -> bool:
    """Return whether values of this type are texts, however Arrow lays them out."""
    kinds = pa.types
    return bool(
        kinds.is_string(dtype) or kinds.is_large_string(dtype) or kinds.is_string_view(dtype)
    )


def _find(name: str) -> pa.DataType | None:
    if name in _PLAIN:
        return _PLAIN[name]
    if match := _TIMESTAMP.fullmatch(name):
        if match[2] is not None and not is_known_zone(match[2]):
            return None  # Arrow takes any word for a zone, until it is asked for a value
        return pa.timestamp(match[1], match[2])
    if match := _DECIMAL.fullmatch(name):
        precision, scale = int(match[2]), int(match[3])
        make = getattr(pa, match[1], None)  # the narrow ones came with later versions of Arrow
        try:  # Parquet wants digits before or behind the point, no tens
            return make(precision, scale) if make and scale <= precision else None
        except ValueError:  # more digits than the type has
            return None
    return None
