"""Sheets of workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) as Arrow tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import InputError
from sfumato.extras import reader
from sfumato.io.csv_text import refuse_nameless, refuse_repeated
from sfumato.io.excel_container import refuse_unsound
from sfumato.io.whole import whole_numbers
from sfumato.schema.text import to_texts

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_DAY = 24 * 60 * 60 * 1000  # milliseconds
# Day 0 of workbooks, where a time of day without a date lies; programs differ by one.
_DAY_ZERO = (-25569 * _DAY, (-25567) * _DAY)


def read_excel(path: Path, sheet: str | None = None) -> pa.Table:
    """Return the cells of one sheet: the first used row names the columns, empty rows are skipped.

    Cells are as last computed; errors such as #N/A, and cells of blanks only, are missing. A
    column of numbers and texts, or of dates and others, is text; truth values among numbers are
    1 and 0.

    Refuses (InputError) what is no workbook, a damaged, protected or oversized one, several
    sheets with cells of which none is chosen, a sheet that is not there or is empty, and columns
    without a name or with a repeated one; (EngineUnavailable) to work without fastexcel.
    """
    engine = reader("fastexcel", "excel", "Excel files")
    refuse_unsound(path)
    with _quiet():
        try:
            book = engine.read_excel(path)
            chosen = _chosen(book, path, sheet)
            header = _load(book, chosen, header_row=None, n_rows=1, dtypes="string")
            table = _load(book, chosen, header_row=0)
        except BaseException as error:  # fastexcel's fits of panic are no exceptions
            if isinstance(error, InputError) or not _is_of(engine, error):
                raise
            raise InputError(  # its own message may quote a cell
                f"{path}: this is no workbook, or a damaged one; save it again"
            ) from None
    return _named(table, header, path)


def join_excel(parts: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of sheets one after the other, each column in the type of all its cells.

    Numbers that are all whole become integers, moments at midnight dates; a column that has
    numbers in one part and texts in another is text.
    """
    names = parts[0].column_names
    return pa.table([_joined([part[name] for part in parts]) for name in names], names=names)


def _joined(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    filled = [column for column in columns if column.null_count < len(column)]
    if not filled:
        return pa.chunked_array([pa.nulls(sum(map(len, columns)))])
    types = {column.type for column in filled}
    dtype = types.pop() if len(types) == 1 else pa.string()
    chunks: list[pa.Array] = []
    for column in columns:
        for chunk in column.chunks:
            if chunk.null_count == len(chunk):
                chunks.append(pa.nulls(len(chunk), dtype))
            else:
                chunks.append(to_texts(chunk) if dtype == pa.string() else chunk)
    return _refined(pa.chunked_array(chunks, dtype))


def _refined(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column in the narrower type that all of its cells have."""
    if pa.types.is_floating(column.type):
        return whole_numbers(column)
    if pa.types.is_timestamp(column.type):
        ticks = column.cast(pa.timestamp("ms")).cast(pa.int64())
        ends = pc.min_max(ticks)
        if _DAY_ZERO[0] <= ends["min"].as_py() and ends["max"].as_py() < _DAY_ZERO[1]:
            return column.cast(pa.time32("ms"))
        days = pc.multiply(pc.divide(ticks, _DAY), _DAY)
        if pc.all(pc.equal(ticks, days)).as_py():
            return column.cast(pa.date32())
    return column


def _chosen(book: Any, path: Path, sheet: str | None) -> str:
    names: list[str] = book.sheet_names
    if sheet is not None:
        if sheet not in names:
            raise InputError(f"{path}: there is no sheet '{sheet}'; there are {_listed(names)}")
        return sheet
    # a workbook may have empty sheets beside the one that matters
    used = names if len(names) == 1 else [name for name in names if _is_used(book, name)]
    if len(used) > 1:
        raise InputError(
            f"{path}: several sheets have cells: {_listed(used)}; name one of them as "
            f"'{path.name}#{used[0]}'"
        )
    if not used:
        raise InputError(f"{path}: its sheets are empty; a table needs a header and rows")
    return used[0]


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _is_used(book: Any, name: str) -> bool:
    return bool(_load(book, name, header_row=None, n_rows=1, dtypes="string").num_columns)


def _load(book: Any, sheet: str, **options: Any) -> pa.Table:
    found = book.load_sheet(
        sheet,
        schema_sample_rows=None,  # types come from all cells
        whitespace_as_null=True,
        **options,
    )
    if found.width == 0:
        return pa.table({})
    return pa.Table.from_batches([found.to_arrow()])


def _named(table: pa.Table, header: pa.Table, path: Path) -> pa.Table:
    if header.num_columns == 0 or header.num_rows == 0:
        raise InputError(f"{path}: the sheet is empty; it needs a header and rows")
    names = [(column[0].as_py() or "").strip() for column in header.columns]
    # a column without name and cells is a leftover of formatting
    kept = [
        place
        for place, name in enumerate(names)
        if name or table.column(place).null_count < table.num_rows
    ]
    names = [names[place] for place in kept]
    refuse_nameless(names, path)
    refuse_repeated(names, path)
    table = table.select(kept).rename_columns(names)
    if len(names) == 1:  # an empty cell is a missing value, as in CSV
        return table
    filled = pc.is_valid(table.column(0))
    for column in table.columns[1:]:
        filled = pc.or_(filled, pc.is_valid(column))
    return table if pc.all(filled).as_py() else table.filter(filled)


def _is_of(engine: Any, error: BaseException) -> bool:
    return isinstance(error, engine.FastExcelError) or type(error).__name__ == "PanicException"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep fastexcel from logging what it thinks of columns without cells."""
    logger = logging.getLogger("fastexcel.types.dtype")
    was = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = was
