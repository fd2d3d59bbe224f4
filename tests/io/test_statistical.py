"""SPSS, Stata and SAS: labels in the order of their codes, missing values, types, bad files."""

from __future__ import annotations

import datetime
import sys

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from sfumato.errors import EngineUnavailable, InputError
from sfumato.io.read import read_table
from sfumato.schema import Schema
from sfumato.table import encode

SECRET = "SECRET-7f3a"
DAY = datetime.date(2026, 1, 31)
MOMENT = datetime.datetime(2026, 1, 31, 10, 5, 7)
TIME = datetime.time(10, 5, 7)
EDUCATION = {3.0: "tertiary", 1.0: "primary", 2.0: "secondary"}
SPSS = {".sav": {}, ".zsav": {"compress": True}}


@pytest.fixture(params=SPSS)
def spss(tmp_path, request):
    """Return a writer of SPSS files that reads what it wrote."""

    def write(columns, **options):
        path = tmp_path / f"data{request.param}"
        pyreadstat.write_sav(pd.DataFrame(columns), path, **SPSS[request.param], **options)
        return read_table(path)

    return write


def entries(table: pa.Table, name: str) -> list[str]:
    return table[name].chunk(0).dictionary.to_pylist()


def test_labels_stand_in_the_order_of_their_codes(spss):
    table = spss(
        {"edu": [2.0, 3.0, 1.0, None], "sex": ["m", "f", "m", "m"]},
        variable_value_labels={"edu": EDUCATION, "sex": {"m": "Male", "f": "Female"}},
        variable_measure={"edu": "ordinal", "sex": "nominal"},
    )
    assert table["edu"].to_pylist() == ["secondary", "tertiary", "primary", None]
    assert entries(table, "edu") == ["primary", "secondary", "tertiary"]
    assert table["edu"].type.ordered
    assert table["sex"].to_pylist() == ["Male", "Female", "Male", "Male"]
    assert not table["sex"].type.ordered


def test_an_ordinal_column_is_encoded_in_the_order_of_its_codes(spss):
    table = spss(
        {"pain": [3.0, 1.0, 2.0], "d": ["x", "y", "z"]},
        variable_value_labels={"pain": {1.0: "none", 2.0: "mild", 3.0: "bad"}},
        variable_measure={"pain": "ordinal"},
    )
    column = encode(table, Schema.of(pain="quasi-identifier", d="sensitive"))["pain"]
    assert str(column.attribute.kind) == "ordinal"
    assert column.values.to_pylist() == ["none", "mild", "bad"]


def test_values_without_a_label_keep_the_text_of_their_code(spss):
    table = spss(
        {"n": [10.0, 2.0, 1.0], "x": [1.5, 1.0, 1.0]},
        variable_value_labels={"n": {1.0: "one"}, "x": {1.0: "one"}},
    )
    assert entries(table, "n") == ["one", "2", "10"]
    assert table["x"].to_pylist() == ["1.5", "one", "one"]


def test_codes_with_one_label_keep_apart(spss):
    table = spss(
        {"n": [1.0, 2.0, 3.0, 4.0]}, variable_value_labels={"n": {1.0: "no", 2.0: "no", 3.0: "4"}}
    )
    assert table["n"].to_pylist() == ["no (1)", "no (2)", "4 (3)", "4 (4)"]


def test_a_scale_with_some_labels_stays_numbers(spss):
    labels = {"hours": {0.0: "none", 99.0: "99 or more"}}
    columns = {"hours": [0.0, 40.0, 99.0]}
    scale = spss(columns, variable_value_labels=labels, variable_measure={"hours": "scale"})
    assert scale["hours"].to_pylist() == [0, 40, 99]
    other = spss(columns, variable_value_labels=labels)
    assert other["hours"].to_pylist() == ["none", "40", "99 or more"]


def test_declared_missing_values_are_missing(spss):
    table = spss(
        {"age": [30.0, 95.0, -1.0, 41.0], "sex": ["m", "u", "f", ""], "n": [1.0, 8.0, 2.0, 9.0]},
        variable_value_labels={"n": {8.0: "refused", 9.0: "unknown"}},
        missing_ranges={"age": [{"lo": 90, "hi": 99}, -1.0], "sex": ["u"], "n": [8.0, 9.0]},
    )
    assert table["age"].to_pylist() == [30, None, None, 41]
    assert table["sex"].to_pylist() == ["m", None, "f", None]
    # labels of missing values alone do not make texts of numbers
    assert table["n"].type == pa.int64()
    assert table["n"].to_pylist() == [1, None, 2, None]


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_types(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    columns = {
        "whole": [33.0, None, 41.0],
        "other": [1.5, 2.0, None],
        "name": ["ab  ", "", "c"],
        "day": [DAY, None, DAY],
        "moment": [MOMENT] * 3,
        "hour": [TIME] * 3,
    }
    write = {
        ".sav": pyreadstat.write_sav,
        ".dta": pyreadstat.write_dta,
        ".xpt": pyreadstat.write_xport,
    }
    write[suffix](pd.DataFrame(columns), path)
    table = read_table(path)
    assert table.to_pydict() == {**columns, "name": ["ab", None, "c"]}
    assert [str(dtype) for dtype in table.schema.types] == [
        *("int64", "double", "string", "date32[day]", "timestamp[us]", "time64[us]")
    ]


def test_stata_labels_and_letters(tmp_path):
    frame = pd.DataFrame({"edu": pd.Series([2, "a", 3, 1], dtype=object), "n": [1, 2, 3, 4]})
    pyreadstat.write_dta(
        frame,
        tmp_path / "data.dta",
        variable_value_labels={"edu": {1: "primary", 2: "secondary", "a": "refused"}},
        missing_user_values={"edu": ["a"]},
        column_labels={"edu": "Highest school"},
    )
    table = read_table(tmp_path / "data.dta")
    assert table["edu"].to_pylist() == ["secondary", None, "3", "primary"]
    assert entries(table, "edu") == ["primary", "secondary", "3"]
    assert table.schema.field("edu").metadata == {b"label": b"Highest school"}
    assert table["n"].to_pylist() == [1, 2, 3, 4]


def test_portable_files_and_files_in_pieces(tmp_path, monkeypatch):
    frame = pd.DataFrame({"N": [float(n) for n in range(2500)], "T": ["x", ""] * 1250})
    frame.loc[:1200, "N"] = None  # the first piece has no number at all
    pyreadstat.write_por(frame, tmp_path / "a.por")
    pyreadstat.write_sav(frame, tmp_path / "a.sav")
    monkeypatch.setattr("sfumato.io.statistical_files._CELLS", 1)  # a thousand rows at a time
    for path in (tmp_path / "a.por", tmp_path / "a.sav"):
        table = read_table(path)
        assert table["N"].to_pylist() == [None] * 1201 + list(range(1201, 2500))
        assert table["T"].to_pylist() == ["x", None] * 1250


def test_parts_share_one_codebook(tmp_path):
    def write(name, codes, labels):
        pyreadstat.write_sav(
            pd.DataFrame({"n": codes}),
            tmp_path / name,
            variable_value_labels={"n": labels},
            variable_measure={"n": "ordinal"},
        )

    write("a.sav", [2.0, 3.0], {2.0: "two", 3.0: "three"})
    write("b.sav", [1.0, 2.0], {1.0: "one", 2.0: "two"})
    table = read_table(tmp_path)
    assert table["n"].to_pylist() == ["two", "three", "one", "two"]
    assert {tuple(chunk.dictionary.to_pylist()) for chunk in table["n"].chunks} == {
        ("one", "two", "three")
    }
    write("c.sav", [1.0], {1.0: SECRET})
    with pytest.raises(InputError, match="column 'n': the files give different labels") as refused:
        read_table(tmp_path)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".por", ".dta", ".xpt", ".sas7bdat"])
def test_bad_files_are_refused_in_one_line_without_cells(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    for content in (b"", (SECRET * 400).encode()):
        path.write_bytes(content)
        with pytest.raises(InputError) as refused:
            read_table(path)
        message = str(refused.value)
        assert "this is not a" in message
        assert str(path) in message
        assert "\n" not in message
        assert SECRET not in message


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt"])
def test_files_that_are_cut_off(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    frame = pd.DataFrame({"n": [float(n) for n in range(500)], "t": [SECRET] * 500})
    write = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}[suffix]
    getattr(pyreadstat, write)(frame, path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 160 * 80 + 7])
    with pytest.raises(InputError, match=r"damaged|cut off"):
        read_table(path)


def test_a_damaged_catalogue_beside_a_sas_file_is_told(tmp_path):
    (tmp_path / "data.sas7bdat").write_bytes(b"x" * 2000)
    (tmp_path / "data.sas7bcat").write_bytes(b"x" * 2000)
    with pytest.raises(InputError, match=r"data\.sas7bcat: this is not a SAS catalogue"):
        read_table(tmp_path / "data.sas7bdat")


def test_without_the_reader_its_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "data.sas7bdat").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'sfumato\[stats\]'"):
        read_table(tmp_path / "data.sas7bdat")
