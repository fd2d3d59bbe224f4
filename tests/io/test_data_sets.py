"""Parquet data sets: many files are one table, read by columns; folders may be cells."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError
from sfumato.io.read import open_table, read_table
from sfumato.schema.lazy_table import LazyTable

SECRET = "SECRET-7f3a"


def write(path, **columns) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_partitions_are_columns_after_those_of_the_files(tmp_path):
    write(tmp_path / "year=2021" / "part-0.parquet", age=[41])
    write(tmp_path / "year=2020" / "part-1.parquet", age=[28])
    write(tmp_path / "year=2020" / "part-0.parquet", age=[33, 34])
    table = read_table(tmp_path)
    assert table.to_pydict() == {"age": [33, 34, 28, 41], "year": [2020, 2020, 2020, 2021]}
    assert read_table(tmp_path, columns=["year"]).to_pydict() == {"year": [2020, 2020, 2020, 2021]}
    assert read_table(tmp_path / "year=*" / "*.parquet").equals(table)
    assert read_table(tmp_path / "**" / "*.parquet").equals(table)


def test_whoever_names_a_partition_has_chosen_its_rows(tmp_path):
    write(tmp_path / "year=2021" / "part-0.parquet", age=[41])
    for place in ("year=2021", "year=2021/part-0.parquet", "year=2021/*.parquet"):
        assert read_table(tmp_path / place).to_pydict() == {"age": [41]}


@pytest.mark.parametrize(
    ("names", "dtype", "values"),
    [
        (["01", "02"], pa.string(), ["01", "02"]),
        (["2020-01-31", "2020-02-01"], pa.date32(), [datetime.date(2020, 1, 31)]),
        (["1.5", "2"], pa.float64(), [1.5]),
        (["a%20b%2Fc", "d"], pa.string(), ["a b/c"]),
        (["1", "__HIVE_DEFAULT_PARTITION__"], pa.int64(), [1, None]),
    ],
)
def test_partitions_have_the_type_that_all_of_them_spell(tmp_path, names, dtype, values):
    for name in names:
        write(tmp_path / f"p={name}" / "0.parquet", a=[1])
    column = read_table(tmp_path)["p"]
    assert column.type == dtype
    assert column.to_pylist()[: len(values)] == values


def test_partitions_within_partitions(tmp_path):
    write(tmp_path / "c=x" / "d=1" / "0.parquet", a=[1])
    write(tmp_path / "c=y" / "d=2" / "0.parquet", a=[2])
    assert read_table(tmp_path).to_pydict() == {"a": [1, 2], "c": ["x", "y"], "d": [1, 2]}


def test_partitions_of_other_formats(tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "data.csv").write_text(f"a\n{year % 100}\n")
    assert read_table(tmp_path).to_pydict() == {"a": [20, 21], "year": [2020, 2021]}


def test_columns_are_read_when_they_are_asked_for(tmp_path):
    write(tmp_path / "1.parquet", a=pa.array([1], pa.int8()), b=["x"])
    write(tmp_path / "2.parquet", b=["y"], a=pa.array([300], pa.int32()))
    table = open_table(tmp_path)
    assert isinstance(table, LazyTable)
    assert (table.column_names, table.num_rows) == (["a", "b"], 2)
    assert table.schema.field("a").type == table["a"].type == pa.int32()
    assert table["a"].to_pylist() == [1, 300]
    assert table.select(["b"]).to_table().to_pydict() == {"b": ["x", "y"]}
    assert pa.table(table).equals(read_table(tmp_path))
    (tmp_path / "2.parquet").unlink()
    with pytest.raises(InputError, match=r"2\.parquet: cannot be read"):
        table["b"]


def test_a_name_with_a_point_is_one_column(tmp_path):
    write(tmp_path / "1.parquet", **{"a": [1], "a.b": [2]})
    assert open_table(tmp_path)["a"].to_pylist() == [1]
    assert open_table(tmp_path)["a.b"].to_pylist() == [2]


def test_a_file_that_changes_between_two_columns_is_refused(tmp_path):
    write(tmp_path / "1.parquet", a=[1, 2], b=[3, 4])
    table = open_table(tmp_path / "1.parquet")
    assert table["a"].to_pylist() == [1, 2]
    write(tmp_path / "other.parquet", a=[1, 2], b=[4, 3])
    (tmp_path / "other.parquet").replace(tmp_path / "1.parquet")
    with pytest.raises(InputError, match="changed while it was read"):
        table["b"]


def test_links_are_followed_and_loops_are_refused(tmp_path):
    write(tmp_path / "else" / "x.parquet", a=[1])
    (tmp_path / "data" / "year=2020").mkdir(parents=True)
    (tmp_path / "data" / "year=2020" / "0.parquet").symlink_to(tmp_path / "else" / "x.parquet")
    (tmp_path / "data" / "year=2021").symlink_to(tmp_path / "else")
    assert read_table(tmp_path / "data").to_pydict() == {"a": [1, 1], "year": [2020, 2021]}
    (tmp_path / "else" / "year=2022").symlink_to(tmp_path / "data")
    with pytest.raises(InputError, match="in a partition of 'year' already"):
        read_table(tmp_path / "data")


def test_what_lies_beside_parts_is_left_out(tmp_path):
    write(tmp_path / "year=2020" / "0.parquet", a=[1])
    (tmp_path / "_delta").mkdir()
    (tmp_path / "year=2020" / ".0.parquet.crc").write_text("x")
    (tmp_path / "year=2020" / "README.md").write_text("x")
    assert read_table(tmp_path).num_rows == 1


def refused(place) -> str:
    with pytest.raises(InputError) as caught:
        open_table(place)
    message = str(caught.value)
    assert SECRET not in message
    assert "\n" not in message
    return message


def test_parts_that_do_not_go_together_are_refused(tmp_path):
    write(tmp_path / "names" / "1.parquet", a=[1])
    write(tmp_path / "names" / "2.parquet", b=[SECRET])
    assert "2.parquet: its columns are not those of" in refused(tmp_path / "names")
    write(tmp_path / "types" / "1.parquet", a=[1])
    write(tmp_path / "types" / "2.parquet", a=[SECRET])
    assert "column 'a' has types in the 2 files" in refused(tmp_path / "types")
    write(tmp_path / "layout" / "year=2020" / "1.parquet", a=[1])
    write(tmp_path / "layout" / "2.parquet", a=[1])
    assert "'year' is only in one of the paths" in refused(tmp_path / "layout")
    write(tmp_path / "both" / "a=2020" / "1.parquet", a=[1])
    assert "'a' is a column of the file and of the folders" in refused(tmp_path / "both")
    write(tmp_path / "mixed" / "1.parquet", a=[1])
    (tmp_path / "mixed" / "2.csv").write_text("a\n1\n")
    assert "several formats" in refused(tmp_path / "mixed")


def test_places_without_a_table_are_refused(tmp_path):
    (tmp_path / "empty" / "year=2020").mkdir(parents=True)
    assert "no file that ends in" in refused(tmp_path / "empty")
    (tmp_path / "false").mkdir()
    (tmp_path / "false" / "1.parquet").write_text(SECRET)
    assert "not a Parquet file" in refused(tmp_path / "false")
    write(tmp_path / "no rows" / "1.parquet", a=pa.array([], pa.int8()))
    assert "no rows" in refused(tmp_path / "no rows")
    write(tmp_path / "other" / "2020" / "1.parquet", a=[1])
    assert "folders in it that are no partitions" in refused(tmp_path / "other")
