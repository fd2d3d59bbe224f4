"""Whatever goes into `encode` comes out of `decode`."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import duckdb
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from arbitrary.typed_tables import TYPES, chunked, plain, tables
from hypothesis import given, settings

from sfumato.schema import Role, Schema
from sfumato.table import decode, encode


def all_quasi_identifiers(names) -> Schema:
    return Schema.of(dict.fromkeys(names, "quasi-identifier"))


@settings(deadline=None)
@given(tables())
def test_any_table_comes_back_with_its_types_order_and_values(data):
    table = encode(data, all_quasi_identifiers(data.column_names))
    back = decode(table)
    assert back.column_names == data.column_names
    assert [field.type for field in back.schema] == [field.type for field in data.schema]
    for name in data.column_names:
        assert plain(back[name]) == plain(data[name])
    back.validate(full=True)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@settings(deadline=None)
@given(data=st.data())
def test_codes_stand_for_sorted_distinct_values_of_every_type(dtype, data):
    cells = data.draw(chunked(dtype, data.draw(st.integers(1, 7))))
    column = encode(pa.table({"c": cells}), all_quasi_identifiers(["c"]))["c"]
    values = [None if v is None else v for v in plain(pa.chunked_array([column.values]))]
    assert None not in values
    assert len(set(values)) == len(values) == column.cardinality
    looked_up = [*values, None]
    assert [looked_up[code] for code in column.codes] == plain(cells)
    assert set(column.codes.tolist()) >= set(range(column.cardinality)), "every value occurs"
    assert (column.codes == column.null_code).any() == (None in plain(cells))
    if not (pa.types.is_dictionary(dtype) and dtype.ordered):
        assert values == sorted(values)
    assert column.codes.dtype == np.int32
    assert not column.codes.flags.writeable
    assert column.dtype == dtype


@settings(deadline=None)
@given(tables())
def test_encoding_leaves_its_input_alone(data):
    copy = [plain(column) for column in data.columns]
    encode(data, all_quasi_identifiers(data.column_names))
    assert [plain(column) for column in data.columns] == copy


def test_pandas_frames_are_read_without_their_index_and_not_changed():
    frame = pd.DataFrame(
        {
            "i": pd.array([3, None, 1], dtype="Int64"),
            "f": [1.5, np.nan, -0.0],
            "c": pd.Categorical(["b", "a", None], categories=["b", "a", "unused"], ordered=True),
            "u": pd.Categorical(["b", "a", "b"]),
            "s": pd.array(["x", None, "é"], dtype="string"),
            "o": ["x", None, np.nan],
            "b": pd.array([True, None, False], dtype="boolean"),
            "t": pd.to_datetime(["2020-01-01", None, "2021-05-05"]).tz_localize("Europe/Madrid"),
            "d": pd.to_timedelta([1, 2, 2], unit="h"),
            "u8": np.array([1, 2, 255], np.uint8),
        },
        index=pd.Index([7, 7, 9], name="i"),
    )
    copy = frame.copy(deep=True)
    table = encode(frame, all_quasi_identifiers(frame.columns))
    pd.testing.assert_frame_equal(frame, copy)
    back = decode(table).to_pandas()
    assert list(back.columns) == list(frame.columns)
    assert table["c"].kind == "ordinal"
    assert table["c"].values.to_pylist() == ["b", "a"]
    assert back["c"].cat.ordered
    assert back["c"].astype(object).tolist()[:2] == ["b", "a"]
    assert table["u"].kind == "categorical"
    assert table["u"].values.to_pylist() == ["a", "b"]
    assert table["f"].values.to_pylist() == [0.0, 1.5]
    assert all((table[c].codes == table[c].null_code).any() for c in "fo")
    assert back["u8"].dtype == np.uint8
    assert str(back["t"].dtype) == "datetime64[ns, Europe/Madrid]"
    pd.testing.assert_series_equal(back["d"], frame["d"].reset_index(drop=True))


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "e": pl.Series(["low", "high", None], dtype=pl.Enum(["low", "mid", "high"])),
            "c": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
            "s": ["é", None, ""],
            "t": [dt.time(1), None, dt.time(2)],
            "d": [dt.timedelta(days=1)] * 3,
            "n": [Decimal("1.5"), None, Decimal("-2.0")],
            "u8": pl.Series([1, 2, 3], dtype=pl.UInt8),
            "f": [float("nan"), None, 1.0],
        }
    )


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_frames_come_back_as_they_were(lazy):
    frame = polars_frame()
    table = encode(frame.lazy() if lazy else frame, all_quasi_identifiers(frame.columns))
    assert table["e"].kind == "ordinal"
    assert table["e"].values.to_pylist() == ["low", "high"]
    assert table["c"].kind == "categorical"
    back = pl.DataFrame(decode(table))
    expected = frame.with_columns(pl.col("f").fill_nan(None))
    for name in frame.columns:
        assert back[name].to_list() == expected[name].to_list(), name
    same_type = [name for name in frame.columns if name not in "ec"]
    assert [back[name].dtype for name in same_type] == [frame[name].dtype for name in same_type]
    assert frame.equals(polars_frame())


class Capsule:
    """A frame of which nothing is known but the Arrow PyCapsule interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Interchange:
    """A frame of which nothing is known but the data frame interchange protocol."""

    def __init__(self, table):
        self.table = table

    def __dataframe__(self, **options):
        return self.table.__dataframe__(**options)


def test_every_arrow_readable_frame_encodes_alike():
    arrow = pa.table({"age": [41, 33, None], "job": ["cook", "clerk", "cook"]})
    batch = arrow.to_batches()[0]
    connection = duckdb.connect()
    connection.register("people", arrow)
    frames = [
        arrow,
        batch,
        pa.RecordBatchReader.from_batches(batch.schema, [batch, batch.slice(0, 0)]),
        Capsule(arrow),
        Interchange(arrow),
        connection.sql("SELECT * FROM people"),
        pl.DataFrame(arrow),
        arrow.to_pandas(),
    ]
    for frame in frames:
        table = encode(frame, all_quasi_identifiers(arrow.column_names))
        assert table.rows == 3
        assert table["age"].codes.tolist() == [1, 0, 2]
        assert table["job"].codes.tolist() == [1, 0, 1]
        assert table["job"].values.to_pylist() == ["clerk", "cook"]
    connection.close()


def test_columns_that_are_not_published_are_not_coded_and_not_decoded():
    data = pa.table({"name": ["a", "b"], "note": ["x", "y"], "age": [1, 2], "tag": ["t", "t"]})
    schema = Schema.of(age="quasi-identifier", tag="sensitive", note="insensitive",
                       name="identifier")  # fmt: skip
    table = encode(data, schema)
    assert decode(table).column_names == ["age", "tag"]
    assert table.schema.names == ("name", "note", "age", "tag"), "the order of the input"
    assert table.schema["age"] is table["age"].attribute
    assert [a.name for a in table.schema.with_role(Role.IDENTIFIER)] == ["name"]


def test_long_columns_are_decoded_in_chunks():
    cells = pa.array(["x" * 20, "y", None]).take(pa.array(np.arange(1_100_000) % 3))
    data = pa.table({"c": cells})
    back = decode(encode(data, all_quasi_identifiers(["c"])))["c"]
    assert back.num_chunks == 2
    assert back.equals(data["c"])
