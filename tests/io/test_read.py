"""Reading tables: what comes out of good files, and the one line that bad ones get."""

from __future__ import annotations

import datetime
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError
from sfumato.io.read import read_table

SECRET = "SECRET-7f3a"


@pytest.fixture
def write(tmp_path):
    def write(content: bytes | str, name: str = "data.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_are_found(write, separator):
    path = write(f"age{separator}job\n33{separator}Nurse\n41{separator}Cook\n")
    assert read_table(path).to_pydict() == {"age": [33, 41], "job": ["Nurse", "Cook"]}


def test_a_separator_inside_names_or_quotes_does_not_count(write):
    assert read_table(write('"name (last, first)";age\n"a, b";1\n')).num_columns == 2
    assert read_table(write("name, first, middle;age\na;1\nb;2\n")).column_names[1] == "age"


def test_a_byte_order_mark_is_no_part_of_the_first_name(write):
    assert read_table(write(b"\xef\xbb\xbfage,job\n1,x\n")).column_names == ["age", "job"]


def test_quotes(write):
    table = read_table(write('a,b\n"one ""two""","x\ny"\n"c,d",z\n'))
    assert table.to_pydict() == {"a": ['one "two"', "c,d"], "b": ["x\ny", "z"]}


def test_only_an_unquoted_empty_field_is_missing_in_text(write):
    assert read_table(write('a,b\n,x\n"",y\n'))["a"].to_pylist() == [None, ""]


def test_a_quoted_empty_field_is_missing_among_numbers(write):
    assert read_table(write('a,b\n"",x\n"5",y\n'))["a"].to_pylist() == [None, 5]


def test_an_empty_line_is_a_row_of_a_single_column(write):
    assert read_table(write("a\n1\n\n3\n"))["a"].to_pylist() == [1, None, 3]
    assert read_table(write("a,b\n1,2\n\n3,4\n"))["a"].to_pylist() == [1, 3]


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        (["01234", "12345"], pa.string(), ["01234", "12345"]),
        (["0", "-12"], pa.int64(), [0, -12]),
        ([" 12", "7 "], pa.int64(), [12, 7]),
        (["99999999999999999999", "1"], pa.string(), ["99999999999999999999", "1"]),
        (["1.5", "2"], pa.float64(), [1.5, 2.0]),
        (["1e-05", "2.5E3"], pa.float64(), [1e-05, 2500.0]),
        (["1E50", "2E10"], pa.string(), ["1E50", "2E10"]),
        (["true", "false"], pa.bool_(), [True, False]),
        (["yes", "no"], pa.string(), ["yes", "no"]),
        (["2026-01-31"], pa.date32(), [datetime.date(2026, 1, 31)]),
        (["2026-02-31"], pa.string(), ["2026-02-31"]),
        (["2026-01-31 10:05"], pa.timestamp("us"), [datetime.datetime(2026, 1, 31, 10, 5)]),
        (["1", "x"], pa.string(), ["1", "x"]),
        (["", ""], pa.null(), [None, None]),
    ],
)
def test_types(write, cells, dtype, values):
    table = read_table(write("a,b\n" + "".join(f"{cell},x\n" for cell in cells)))
    assert table["a"].type == dtype
    assert table["a"].to_pylist() == values


def test_zoned_timestamps_are_moments(write):
    table = read_table(write("a,b\n2026-01-31T10:00:00Z,1\n2026-01-31T12:00:00+02:00,1\n"))
    first, second = table["a"].to_pylist()
    assert first == second == datetime.datetime(2026, 1, 31, 10, tzinfo=datetime.UTC)


def test_parquet_keeps_types_and_order(tmp_path):
    table = pa.table({"b": pa.array([1, None], pa.int16()), "a": pa.array(["x", "y"])})
    pq.write_table(table, tmp_path / "data.parquet")
    assert read_table(tmp_path / "data.parquet").equals(table)
    assert read_table(tmp_path / "data.parquet", columns=["a"]).column_names == ["a"]


def test_a_folder_and_a_pattern_join_their_files_by_name(tmp_path, write):
    write("zip,n\n01,1\n", "b.csv")
    write("n,zip\n2,99\n", "a.csv")
    write("", "_SUCCESS")
    for place in (tmp_path, tmp_path / "*.csv"):
        # types come from all parts: 99 alone would be a number
        assert read_table(place).to_pydict() == {"n": [2, 1], "zip": ["99", "01"]}


def test_parquet_parts_may_differ_in_width(tmp_path):
    pq.write_table(pa.table({"a": pa.array([1], pa.int8())}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": pa.array([300], pa.int32())}), tmp_path / "2.parquet")
    assert read_table(tmp_path)["a"].to_pylist() == [1, 300]


BAD = {
    "empty": (b"", "empty"),
    "blank": (b"\xef\xbb\xbf\n\n", "empty"),
    "header only": (b"a,b\n", "no rows"),
    "ragged": (f"a,b\n1,2\n{SECRET}\n4,5,{SECRET}\n".encode(), "2 rows have more or fewer"),
    "latin-1": (f"a,b\n1,2\n{SECRET},é\n".encode("latin-1"), "line 3 is not UTF-8"),
    "utf-16": (f"a,b\n{SECRET},1\n".encode("utf-16"), "UTF-16"),
    "cut off": (f"a,b\n{SECRET},é".encode()[:-1], "ends within a character"),
    "zero byte": (f"a,b\n{SECRET},\0\n".encode(), "line 2 holds a zero byte"),
    "repeated names": (f"a,b,a\n1,2,{SECRET}\n".encode(), "more than once: 'a'"),
    "nameless column": (f"a,,b\n1,2,{SECRET}\n".encode(), "column 2 of 3 has no name"),
    "open quote": (f'a,b\n1,2\n1,"{SECRET}\n3,4\n'.encode(), "starts on line 3"),
    "two open quotes": (f'a,b\n1,"{SECRET}\n3,4\n5,"6\n'.encode(), "starts on line 2"),
    "open quote in header": (f'a,"b\n1,{SECRET}\n'.encode(), "header is not proper CSV"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_csv_is_refused_in_one_line_without_cells(write, case):
    content, expected = BAD[case]
    path = write(content)
    with pytest.raises(InputError) as refused:
        read_table(path)
    message = str(refused.value)
    assert expected in message
    assert "\n" not in message
    assert SECRET not in message
    assert str(path) in message


def test_ragged_rows_are_told_by_line_even_after_quoted_line_breaks(write):
    with pytest.raises(InputError, match=r"1 row has more or fewer.*line 4"):
        read_table(write('a,b\n"x\ny",2\n1\n'))


def test_encoding_errors_are_told_by_offset_beyond_the_first_chunk(write, monkeypatch):
    monkeypatch.setattr("sfumato.io.csv_text._CHUNK", 7)
    with pytest.raises(InputError, match=r"line 4 .*offset 13"):
        read_table(write(b"a,b\n1,2\n3,4\n5\xff,6\n"))
    assert read_table(write("a,b\né,ü\n".encode())).num_rows == 1


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("data.parquet", b"PAR1 and nothing else", "not a Parquet file"),
        ("data.parquet", b"", "not a Parquet file"),
        ("data.doc", b"x", "unknown kind of file"),
    ],
)
def test_bad_files_of_other_kinds(write, name, content, expected):
    with pytest.raises(InputError, match=expected):
        read_table(write(content, name))


def test_parquet_with_repeated_or_empty_names(tmp_path):
    path = tmp_path / "data.parquet"
    for names, expected in ((["a", "a"], "more than once"), (["a", " "], "no name")):
        pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=names), path)
        with pytest.raises(InputError, match=expected):
            read_table(path)


def test_places_without_a_table(tmp_path, write):
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="no file matches"):
        read_table(tmp_path / "*.parquet")
    with pytest.raises(InputError, match="has no file"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="--table"):
        read_table("postgresql://somewhere/db")
    with pytest.raises(InputError, match="unknown kind of database"):
        read_table("mysql://somewhere/db")
    write("a\n1\n", "a.csv")
    write("b\n1\n", "b.csv")
    with pytest.raises(InputError, match="'a' is only in one"):
        read_table(tmp_path)
    write(b"", "c.parquet")
    with pytest.raises(InputError, match="lie together"):
        read_table(tmp_path)
    (tmp_path / "deeper").mkdir()
    with pytest.raises(InputError, match="folders in it"):
        read_table(tmp_path)


def test_an_absent_column_is_named_with_the_nearest(write):
    with pytest.raises(InputError, match="no column 'aeg'; did you mean 'age'"):
        read_table(write("age,job\n1,x\n"), columns=["aeg"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_file(write):
    path = write("a\n1\n")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        read_table(path)


def test_a_folder_in_place_of_a_file(tmp_path):
    (tmp_path / "odd.csv").mkdir()
    with pytest.raises(InputError, match="has no file"):
        read_table(tmp_path / "odd.csv")


def test_the_reader_gives_arrow_no_python_to_call():
    # Arrow calls a handler of invalid rows on its own threads; at the end of the interpreter
    # that aborted about one run in three (exit 134 after a correct error line).
    from pathlib import Path

    import sfumato.io

    for source in Path(sfumato.io.__file__).parent.glob("*.py"):
        assert "invalid_row_handler" not in source.read_text(), source.name
