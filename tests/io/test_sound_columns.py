"""Texts that are no texts, and times in zones that nobody knows, are refused when read."""

from __future__ import annotations

import sqlite3

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError
from sfumato.io.read import open_table, read_table
from sfumato.io.sound_columns import refuse_bad_texts

SECRET = b"SECRET-7f3a\xff"
FINE = "Köln".encode()


def texts(dtype: pa.DataType, *values: bytes | None) -> pa.Array:
    """Return bytes as texts that nobody has looked at."""
    if pa.types.is_large_string(dtype):
        return pa.array(values, pa.large_binary()).view(dtype)
    return pa.array(values, pa.binary()).view(pa.string()).cast(dtype)


def coded(index: pa.DataType, *values: bytes) -> pa.Array:
    places = pa.array([*range(len(values)), 0], index)
    return pa.DictionaryArray.from_arrays(places, texts(pa.string(), *values))


BAD = {
    "string": texts(pa.string(), FINE, None, SECRET),
    "large_string": texts(pa.large_string(), FINE, SECRET),
    "string_view": texts(pa.string_view(), FINE, SECRET),
    "half a character at an end": texts(pa.string(), FINE[:2], FINE[2:]),
    "dictionary": coded(pa.int32(), FINE, SECRET),
    "dictionary that Arrow looks at": coded(pa.int64(), FINE, SECRET),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_column_of_texts_that_are_none(tmp_path, kind):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [1] * len(BAD[kind]), "town": BAD[kind]}), path)
    for names in (None, ["town"]):
        with pytest.raises(InputError, match="column 'town' has texts that are not UTF-8") as said:
            read_table(path, names)
        assert "SECRET" not in str(said.value)
        assert "people.parquet" in str(said.value)
    assert read_table(path, ["age"]).num_rows == len(BAD[kind])


def test_a_bad_part_of_a_column(tmp_path):
    pq.write_table(pa.table({"town": ["Bonn"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"town": texts(pa.string(), SECRET)}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: column 'town'"):
        open_table(tmp_path)["town"]


@pytest.mark.parametrize("dtype", [pa.string(), pa.large_string(), pa.string_view()])
def test_sound_texts_are_read(tmp_path, dtype):
    path = tmp_path / "people.parquet"
    towns = ["Köln", None, "", "Bonn", "日本"]
    pq.write_table(pa.table({"town": pa.array(towns, dtype)}), path)
    assert read_table(path)["town"].to_pylist() == towns


def test_only_the_own_part_of_a_slice_counts():
    column = texts(pa.string(), FINE, b"plain", SECRET)
    refuse_bad_texts(pa.table({"town": column.slice(0, 2)}), "here")
    with pytest.raises(InputError):
        refuse_bad_texts(pa.table({"town": column.slice(1)}), "here")


def test_texts_of_a_database_that_are_none(tmp_path):
    pytest.importorskip("adbc_driver_sqlite")
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (town TEXT)")
        connection.execute("INSERT INTO people VALUES (CAST(x'534543524554FF' AS TEXT))")
    connection.close()
    with pytest.raises(InputError, match="column 'town' has texts that are not UTF-8") as said:
        read_table(f"{path}#people")
    assert "SECRET" not in str(said.value)


@pytest.mark.parametrize("zone", ["Mars/Phobos", "GMT+3", "utc "])
def test_an_unknown_time_zone(tmp_path, zone):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"born": pa.array([0, 1], pa.timestamp("us", zone))}), path)
    with pytest.raises(InputError, match=r"column .born. has times in a time zone .* in UTC"):
        open_table(path)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Rome", "+02:00", None])
def test_known_time_zones(tmp_path, zone):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"born": pa.array([0, 1], pa.timestamp("us", zone))}), path)
    assert len(read_table(path)["born"].to_pylist()) == 2
