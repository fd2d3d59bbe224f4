"""The first rows of a file: as in the whole table, from its head alone."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.io import first_rows as module
from sfumato.io.first_rows import first_rows
from sfumato.io.read import read_table

TABLE = pa.table(
    {
        "name": [f"P{n}" for n in range(500)],
        "age": pa.array([n % 90 for n in range(500)], pa.int16()),
        "sex": pa.array(["F", None, "M", "F", "F"] * 100).dictionary_encode(),
    }
)


def test_a_parquet_file_tells_its_rows_and_types(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(TABLE, path, row_group_size=30)
    found = first_rows(path, 50)
    assert (found.rows, found.types_hold) == (500, True)
    assert found.table.to_pylist() == TABLE.slice(0, 30).to_pylist()  # one group of rows is read
    assert found.table.schema.types == read_table(path).schema.types


def test_a_parquet_file_without_rows_tells_its_names(tmp_path):
    pq.write_table(TABLE.slice(0, 0), tmp_path / "t.pq")
    found = first_rows(tmp_path / "t.pq", 50)
    assert (found.rows, found.table.num_rows) == (0, 0)
    assert found.table.column_names == TABLE.column_names


@pytest.mark.parametrize("head", [2**18, 100])
def test_of_a_text_only_the_head_is_read(tmp_path, monkeypatch, head):
    monkeypatch.setattr(module, "_HEAD", head)
    path = tmp_path / "t.csv"
    lines = [f"P{n};{n % 90}" for n in range(500)]
    path.write_text("\n".join(["name;age", *lines, ""]))
    found = first_rows(path, 5)
    is_whole = head > 100
    assert (found.rows, found.types_hold) == (500 if is_whole else None, is_whole)
    assert found.table.to_pylist() == [{"name": f"P{n}", "age": n} for n in range(5)]


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.xlsx", "missing.csv"])
def test_what_cannot_be_read_has_none(tmp_path, name):
    if not name.startswith("missing"):
        (tmp_path / name).write_bytes(b"\x00\xff")
    assert first_rows(tmp_path / name, 5) is None


def test_a_head_that_ends_inside_a_quoted_cell_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_HEAD", 30)
    (tmp_path / "t.csv").write_text('a,b\n1,"' + "x\n" * 100 + '"\n')
    assert first_rows(tmp_path / "t.csv", 5) is None
