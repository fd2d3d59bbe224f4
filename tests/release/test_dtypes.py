"""Data types by name."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import ReleaseDamaged, SchemaError
from sfumato.release.dtypes import dtype_from_name, dtype_name

PUBLISHABLE = [
    *(pa.null(), pa.bool_(), pa.string(), pa.date32(), pa.date64()),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64()),
    *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp("us", zone) for zone in ("UTC", "Europe/Berlin", "+02:00", "Etc/GMT-14")),
    *(pa.decimal128(10, 2), pa.decimal128(38, 38), pa.decimal256(76, 0)),
]


@pytest.mark.parametrize("dtype", PUBLISHABLE, ids=str)
def test_a_name_reads_back(dtype):
    assert dtype_from_name(dtype_name(dtype)) == dtype


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (pa.int32(), "int32"),
        (pa.date32(), "date32[day]"),
        (pa.decimal128(10, 2), "decimal128(10, 2)"),
        (pa.timestamp("us", "UTC"), "timestamp[us, tz=UTC]"),
        (pa.large_string(), "string"),
        (pa.string_view(), "string"),
        (pa.dictionary(pa.int8(), pa.large_string(), ordered=True), "string"),
        (pa.dictionary(pa.int32(), pa.date32()), "date32[day]"),
    ],
    ids=str,
)
def test_names_are_those_of_arrow_without_the_layout_in_memory(dtype, name):
    assert dtype_name(dtype) == name


@pytest.mark.parametrize(
    "dtype",
    [
        pa.binary(),
        pa.list_(pa.int32()),
        pa.struct([("a", pa.int32())]),
        pa.map_(pa.string(), pa.int32()),
        pa.decimal128(10, -2),
        pa.dictionary(pa.int8(), pa.binary()),
        pa.timestamp("us", "not a zone"),
        pa.timestamp("us", "Mars/Base"),
    ],
    ids=str,
)
def test_other_types_are_refused(dtype):
    with pytest.raises(SchemaError, match="cannot be published"):
        dtype_name(dtype)


@pytest.mark.parametrize(
    "name",
    [
        *("", "int", "int128", "list<item: int32>", "string "),
        *("decimal128(99, 2)", "decimal128(5, 6)"),
        *("timestamp[us, tz=/home/bob]", "timestamp[s, tz=Mars/Base]", "timestamp[ns, tz=../x]"),
    ],
)
def test_unknown_names_are_refused(name):
    with pytest.raises(ReleaseDamaged, match="unknown data type"):
        dtype_from_name(name)
