"""CSV text: nothing is lost, and a spreadsheet runs nothing."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.release.csv_cells import guard, read_csv, restored, unguard, write_csv
from sfumato.release.tables import text_column

# Arrow's reader goes astray at a zero byte; no cell of the grammar holds one, but a name may.
names = st.text(min_size=1, max_size=5) | st.text(
    alphabet="=\0\ufeff\n,'\"", min_size=1, max_size=4
)
cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
texts = cells | st.text(alphabet="=+-@\t\r\n'\",;1.e ", max_size=5)


def coded(values) -> pa.Array:
    return text_column(pa.chunked_array([pa.array(values, pa.string())]))


def written(table: pa.Table, formula_guard: bool = True) -> bytes:
    sink = io.BytesIO()
    write_csv(table, sink, formula_guard)
    return sink.getvalue()


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.none() | texts, st.none() | texts), max_size=6),
    st.lists(names, min_size=2, max_size=2, unique=True),
    st.booleans(),
)
@example([("\ufeff", "")], ["0\0", "\U00010000"], True)
def test_any_texts_read_back(tmp_path_factory, rows, names, formula_guard):
    columns = [coded([row[i] for row in rows]) for i in range(2)]
    table = pa.Table.from_arrays(columns, names=names)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(written(table, formula_guard))
    again = read_csv(path, formula_guard)
    assert again.column_names == names
    assert [column.to_pylist() for column in again.columns] == [c.to_pylist() for c in columns]


@settings(deadline=None)
@given(st.lists(st.none() | texts, max_size=6))
def test_a_single_column_reads_back(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "single.csv"
    path.write_bytes(written(pa.table({"only": coded(values)})))
    assert read_csv(path, True)["only"].to_pylist() == values


@settings(deadline=None)
@given(texts)
def test_no_guarded_field_starts_a_formula(text):
    [field] = guard(pa.array([text])).to_pylist()
    assert unguard(pa.array([field])).to_pylist() == [text]
    if field[:1] in {"=", "@", "\t", "\r"}:
        pytest.fail("a spreadsheet would run this")
    if field[:1] in {"+", "-"}:
        float(field)


@pytest.mark.parametrize("text", ["-5", "+5", "-0.5", "-.5", "-5.", "-1e-7", "+1E+20", "5", "a=b"])
def test_numbers_and_plain_texts_are_not_guarded(text):
    assert guard(pa.array([text])).to_pylist() == [text]


@pytest.mark.parametrize("sign", "＝＋－＠")
def test_what_looks_like_a_formula_in_full_width_is_guarded(sign):
    assert guard(pa.array([f"{sign}1+1"])).to_pylist() == [f"'{sign}1+1"]
    assert guard(pa.array([f"1{sign}1"])).to_pylist() == [f"1{sign}1"]


@pytest.mark.parametrize(
    "text", ["=1", "+a", "-a", "-", "@x", "\tx", "\rx", "'x", "-1-1", "-1e", "--1", "-1\n", "-٣"]
)
def test_what_a_spreadsheet_would_run_is_guarded(text):
    assert guard(pa.array([text])).to_pylist() == ["'" + text]


def test_the_bytes_are_those_of_the_format():
    table = pa.table(
        {
            "age": coded(["[25, 28]", "*", None]),
            "=sum": coded(["", "=1+1", '"Colic, mild"']),
            "count": pa.array([1, -2, None], pa.int32()),
        }
    )
    assert written(table).decode() == (
        'age,\'=sum,count\n"[25, 28]","",1\n*,\'=1+1,-2\n,"""Colic, mild""",\n'
    )
    assert b"\n*,=1+1,-2\n" in written(table, formula_guard=False)


def test_other_readers_agree():
    spelled = ['"Colic, mild"', "{a, b}", "plain", "it's"]
    lines = io.StringIO(written(pa.table({"x": coded(spelled), "y": coded(spelled)})).decode())
    assert list(csv.reader(lines)) == [["x", "y"], *([cell, cell] for cell in spelled)]


def test_more_rows_than_a_batch(tmp_path):
    numbers = pa.array(range(150_000), pa.int32())
    table = pa.table({"n": numbers, "t": coded([None if i % 3 else "x" for i in range(150_000)])})
    path = tmp_path / "long.csv"
    path.write_bytes(written(table))
    again = read_csv(path, True)
    assert restored(again["n"], pa.int32()).equals(numbers)
    assert again["t"].to_pylist() == table["t"].to_pylist()


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"a,a\n1,2\n", b'"a\n', b"a,b\n1\n", b"a\n1,2\n", b"a\n\xff\n", b"\xff\n1\n"],
)
def test_malformed_files_are_refused(tmp_path, data):
    path = tmp_path / "bad.csv"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        read_csv(path, True)


@pytest.mark.parametrize(
    ("values", "dtype", "result"),
    [
        (["33", None, "-4"], pa.int32(), [33, None, -4]),
        (["0.1", "1e+20"], pa.float64(), [0.1, 1e20]),
        (["true", "false"], pa.bool_(), [True, False]),
        ([None, None], pa.date32(), [None, None]),
        ([], pa.int8(), []),
        (["33", "[25, 28]"], pa.int32(), ["33", "[25, 28]"]),
        (["007"], pa.int32(), ["007"]),
        (["0x1F"], pa.int32(), ["0x1F"]),
        (["300"], pa.int8(), ["300"]),
        (["1", "0"], pa.bool_(), ["1", "0"]),
        (["*"], pa.timestamp("us", "UTC"), ["*"]),
        (["33"], pa.string(), ["33"]),
    ],
)
def test_texts_become_values_only_if_each_is_the_text_of_one(values, dtype, result):
    column = restored(pa.chunked_array([pa.array(values, pa.string())]), dtype)
    assert column.to_pylist() == result
    if result != values or not any(values):
        assert column.type == dtype
