"""Workbooks: what a sheet's cells become, which sheet is read, and what is refused."""

from __future__ import annotations

import datetime
import sys
import zipfile

import pyarrow as pa
import pytest
import xlsxwriter

from sfumato.errors import EngineUnavailable, InputError
from sfumato.io.read import read_table

SECRET = "SECRET-7f3a"
ERROR = object()
DAY = datetime.date(2026, 1, 31)
MOMENT = datetime.datetime(2026, 1, 31, 10, 5)
TIME = datetime.time(10, 5)


@pytest.fixture
def workbook(tmp_path):
    """Return a writer of workbooks: sheets by name, rows of cells, from any place on."""

    def write(name="data.xlsx", start=(0, 0), **sheets):
        path = tmp_path / name
        book = xlsxwriter.Workbook(path)
        formats = {
            datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm"}),
            datetime.time: book.add_format({"num_format": "hh:mm"}),
        }
        for title, rows in sheets.items():
            sheet = book.add_worksheet(title)
            for row, cells in enumerate(rows, start=start[0]):
                for column, cell in enumerate(cells, start=start[1]):
                    if cell is ERROR:
                        sheet.write_formula(row, column, "=NA()", None, "#N/A")
                    elif isinstance(cell, str) and cell.startswith("="):
                        sheet.write_formula(row, column, cell, None, 42)
                    elif isinstance(cell, str):
                        sheet.write_string(row, column, cell)
                    elif cell is not None:
                        sheet.write(row, column, cell, formats.get(type(cell)))
        book.close()
        return path

    return write


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        ([33, 41], pa.int64(), [33, 41]),
        ([33, None, 41.5], pa.float64(), [33, None, 41.5]),
        ([1e20, 2.0], pa.float64(), [1e20, 2.0]),
        (["x", "y"], pa.string(), ["x", "y"]),
        (["01234", "12345"], pa.string(), ["01234", "12345"]),
        (["12", "13"], pa.string(), ["12", "13"]),  # texts in the sheet, whatever they spell
        ([1, "x", 2.5], pa.string(), ["1", "x", "2.5"]),
        ([True, False], pa.bool_(), [True, False]),
        ([True, 7], pa.int64(), [1, 7]),
        ([DAY, None], pa.date32(), [DAY, None]),
        ([MOMENT, DAY], pa.timestamp("ms"), [MOMENT, datetime.datetime(2026, 1, 31)]),
        ([TIME], pa.time32("ms"), [TIME]),
        ([5, ERROR], pa.int64(), [5, None]),
        (["x", ERROR], pa.string(), ["x", None]),
        (["x", "  "], pa.string(), ["x", None]),
        ([ERROR, None], pa.null(), [None, None]),
        (["=6*7", 1], pa.int64(), [42, 1]),
    ],
)
def test_types(workbook, cells, dtype, values, caplog):
    rows = [["a", "b"], *([cell, "z"] for cell in cells)]
    table = read_table(workbook(S=rows))
    assert table["a"].type == dtype
    assert table["a"].to_pylist() == values
    assert caplog.records == []


def test_a_type_comes_from_all_rows(workbook):
    rows = [["a", "b"], *([n, "z"] for n in range(3000)), ["x", "z"]]
    assert read_table(workbook(S=rows))["a"].to_pylist()[-2:] == ["2999", "x"]


def test_a_table_may_lie_anywhere_with_empty_rows_and_columns(workbook):
    rows = [["a", None, "b"], [1, None, 2], [None, None, None], [3, " ", None]]
    table = read_table(workbook(start=(4, 3), S=rows))
    assert table.to_pydict() == {"a": [1, 3], "b": [2, None]}


def test_an_empty_cell_of_a_single_column_is_missing(workbook):
    assert read_table(workbook(S=[["a"], [1], [None], [3]]))["a"].to_pylist() == [1, None, 3]


def test_the_one_sheet_with_cells_is_read(workbook):
    assert read_table(workbook(Empty=[], People=[["a"], [1]])).column_names == ["a"]


def test_a_sheet_is_chosen_by_its_name(workbook, tmp_path):
    path = workbook(People=[["a"], [1]], Codes=[["b"], [2]])
    assert read_table(f"{path}#Codes").to_pydict() == {"b": [2]}
    with pytest.raises(InputError, match=r"'People', 'Codes'; name one of them as 'data.xlsx#Peo"):
        read_table(path)
    with pytest.raises(InputError, match=r"no sheet 'codes'; there are 'People', 'Codes'"):
        read_table(f"{path}#codes")
    path.rename(tmp_path / "data.xlsx#Codes")
    with pytest.raises(InputError, match="unknown kind of file"):  # a file of that very name
        read_table(tmp_path / "data.xlsx#Codes")


def test_workbooks_are_joined(workbook, tmp_path):
    workbook("b.xlsx", S=[["zip", "n", "d"], ["0123", 1.5, None]], T=[["x"], [1]])
    workbook("a.xlsx", S=[["n", "zip", "d"], [2, 99, DAY]], T=[["x"], [1]])
    table = read_table(tmp_path / "*.xlsx#S")
    assert table.to_pydict() == {"n": [2.0, 1.5], "zip": ["99", "0123"], "d": [DAY, None]}
    assert table["d"].type == pa.date32()
    with pytest.raises(InputError, match="several sheets"):
        read_table(tmp_path)


OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
ODS_CELLS = {
    str: lambda cell: f'office:value-type="string"><text:p>{cell}</text:p>',
    int: lambda cell: f'office:value-type="float" office:value="{cell}">',
    datetime.date: lambda cell: f'office:value-type="date" office:date-value="{cell}">',
}


def test_open_documents_are_read(tmp_path):
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell {ODS_CELLS[type(cell)](cell)}</table:table-cell>" for cell in row
        )
        + "</table:table-row>"
        for row in (["n", "day", "name"], [33, DAY, "x"], [41, DAY, "y"])
    )
    spaces = " ".join(f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "table", "text"))
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(tmp_path / "data.ods", "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="S">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
        archive.writestr(
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="{OFFICE}:manifest:1.0"><m:file-entry m:full-path="/" '
            f'm:media-type="{kind}"/></m:manifest>',
        )
    table = read_table(tmp_path / "data.ods")
    assert table.to_pydict() == {"n": [33, 41], "day": [DAY, DAY], "name": ["x", "y"]}
    assert table["day"].type == pa.date32()


def cases(workbook, tmp_path):
    """Return bad workbooks with what is said of them."""
    whole = workbook("whole.xlsx", S=[["a", "b"], [SECRET, 1]] * 50).read_bytes()
    encrypted = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(600)
    files = {
        "empty.xlsx": (b"", "no workbook"),
        "text.xlsx": (SECRET.encode(), "no workbook"),
        "cut.xlsx": (whole[: len(whole) // 2], "no workbook"),
        "encrypted.xlsx": (encrypted, "password"),
        "text.xls": (SECRET.encode(), "no workbook"),
        "damaged.xls": (encrypted, "no workbook"),
        "text.ods": (b"PK\x03\x04" + SECRET.encode(), "no workbook"),
        "text.xlsb": (SECRET.encode(), "no workbook"),
    }
    for name, (content, expected) in files.items():
        (tmp_path / name).write_bytes(content)
        yield tmp_path / name, expected
    with zipfile.ZipFile(tmp_path / "other.xlsx", "w") as archive:
        archive.writestr("a.txt", SECRET)
    yield tmp_path / "other.xlsx", "no workbook"
    yield workbook("none.xlsx", S=[], T=[]), "sheets are empty"
    yield workbook("blank.xlsx", S=[]), "sheet is empty"
    yield workbook("header.xlsx", S=[["a", "b"]]), "no rows"
    yield workbook("twice.xlsx", S=[["a", "a"], [SECRET, 1]]), "more than once: 'a'"
    yield workbook("nameless.xlsx", S=[["a", None], [1, SECRET]]), "column 2 of 2 has no name"


def test_bad_workbooks_are_refused_in_one_line_without_cells(workbook, tmp_path):
    for path, expected in cases(workbook, tmp_path):
        with pytest.raises(InputError) as refused:
            read_table(path)
        message = str(refused.value)
        assert expected in message, path
        assert str(path) in message
        assert "\n" not in message
        assert SECRET not in message


def test_a_flipped_byte_is_found(workbook):
    path = workbook(S=[["a", "b"], *([n, f"text {n}"] for n in range(200))])
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("xl/worksheets/sheet1.xml").header_offset
    content = bytearray(path.read_bytes())
    content[start + 200] ^= 255
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        read_table(path)


def test_a_workbook_that_unfolds_too_far_is_refused(workbook, monkeypatch):
    path = workbook(S=[["a"], *(["same text"] for _ in range(5000))])
    monkeypatch.setattr("sfumato.io.excel_container.LARGEST_CONTENT", path.stat().st_size * 2)
    with pytest.raises(InputError, match="unfolds to more than"):
        read_table(path)


def test_cells_in_far_corners_are_refused_before_the_sheet_is_laid_out(tmp_path, monkeypatch):
    book = xlsxwriter.Workbook(tmp_path / "far.xlsx")
    sheet = book.add_worksheet()
    sheet.write(0, 16_383, 1)
    sheet.write(1_048_575, 0, 1)
    book.close()
    for chunk in (4 * 2**20, 40):  # also where the place of a cell lies across two chunks
        monkeypatch.setattr("sfumato.io.excel_container._CHUNK", chunk)
        with pytest.raises(InputError, match="span 1048576 rows and 16384 columns"):
            read_table(tmp_path / "far.xlsx")


def test_without_the_reader_its_extra_is_named(workbook, monkeypatch):
    path = workbook(S=[["a"], [1]])
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'sfumato\[excel\]'"):
        read_table(path)
