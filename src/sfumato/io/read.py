"""Tables from files: one file of a known format, or a folder or pattern of such files."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path

import pyarrow as pa

from sfumato.databases.session import read_source
from sfumato.databases.source import Source
from sfumato.errors import InputError
from sfumato.io.csv_files import join_csv, read_csv
from sfumato.io.excel_files import SUFFIXES as EXCEL
from sfumato.io.excel_files import join_excel, read_excel
from sfumato.io.parquet_files import open_parquet, refuse_other_columns
from sfumato.io.partitions import (
    Cells,
    entries_below,
    literal_part,
    partition_cells,
    partition_columns,
    refuse_in_both,
)
from sfumato.io.sound_columns import refuse_bad_texts, refuse_unknown_zones
from sfumato.io.statistical_files import SUFFIXES as STATISTICAL
from sfumato.io.statistical_files import join_statistical, read_statistical
from sfumato.schema.headers import look_like_cells
from sfumato.schema.lazy_table import Columns, LazyTable
from sfumato.short_memory import told_as_lack_of_memory


@dataclass(frozen=True, slots=True)
class _Format:
    read: Callable[[Path], pa.Table]
    join: Callable[[Sequence[pa.Table]], pa.Table]


_CSV = _Format(read_csv, join_csv)
_EXCEL = _Format(read_excel, join_excel)
_STATISTICAL = _Format(read_statistical, join_statistical)
# None: Parquet, whose columns are read when they are asked for
_FORMATS: dict[str, _Format | None] = {
    **{".csv": _CSV, ".tsv": _CSV, ".txt": _CSV, ".parquet": None, ".pq": None},
    **dict.fromkeys(EXCEL, _EXCEL),
    **dict.fromkeys(STATISTICAL, _STATISTICAL),
}
SUFFIXES = tuple(_FORMATS)
# `patients.xlsx#Ward 3`: a sheet of a workbook, or of all workbooks that a pattern names
_SHEET = re.compile(rf"(?P<file>.*({'|'.join(map(re.escape, EXCEL))}))#(?P<sheet>.+)", re.I | re.S)


def read_table(path: str | os.PathLike[str], columns: Iterable[str] | None = None) -> pa.Table:
    """Return the table in a file, in all files of a folder or pattern, or in a database.

    Reads CSV, Parquet, workbooks (`file.xlsx#sheet` names the sheet), SPSS, Stata and SAS. The
    parts of a table have the same format and columns; they are joined in the order of their names.
    Folders such as `year=2020` below what is named are a column. `columns` chooses some of them.
    A table or query of a database is `ADDRESS#schema.table` or `ADDRESS#SELECT …`.

    Refuses (InputError) what is missing, unreadable, empty, of an unknown format or damaged, or
    more than memory holds; the message names files, columns and lines, never a cell.
    EngineUnavailable where the reader of a format is not installed.
    """
    table = open_table(path)
    if columns is not None:
        wanted = list(columns)
        for name in wanted:
            if name not in table.column_names:
                close = get_close_matches(name, table.column_names, n=1, cutoff=0.5)
                may_tell = bool(close) and not look_like_cells(table.column_names)
                hint = f"; did you mean '{close[0]}'?" if may_tell else ""
                place = Source.of(path) or path
                raise InputError(f"{place}: there is no column '{name}'{hint}")
        table = table.select(wanted)
    return table.to_table() if isinstance(table, LazyTable) else table


def open_table(path: str | os.PathLike[str]) -> Columns:
    """Return the table of `read_table`, of Parquet with columns that are read when asked for.

    So a table that is coded column by column need not fit into memory.

    Refuses what `read_table` refuses.
    """
    if (source := Source.of(path)) is not None:
        found = read_source(source)
        if found.num_rows == 0:
            raise InputError(f"{source}: there are no rows; there is nothing to publish")
        refuse_unknown_zones(found.schema, source)
        refuse_bad_texts(found, source)
        return found
    place, sheet = _place(os.fspath(path))
    files = _files(place)
    try:
        formats = {_format(file) for file in files}
        if len(formats) > 1:
            raise InputError(
                f"{path}: files of several formats lie together; name one kind of them"
            )
        cells = partition_cells(files, literal_part(place))
        format = formats.pop()
        with told_as_lack_of_memory(path):
            table = (
                open_parquet(files, cells) if format is None else _read(files, format, sheet, cells)
            )
    except OSError as error:
        where = error.filename if isinstance(error.filename, str) else path
        raise InputError(f"{where}: cannot be read ({error.strerror or 'I/O error'})") from None
    if table.num_rows == 0:
        raise InputError(f"{path}: there is a header and no rows; there is nothing to publish")
    return table


def table_files(path: str | os.PathLike[str]) -> tuple[list[Path], Cells]:
    """Return the files of a table, by name, and the cells that the folders around them tell.

    Refuses (InputError) what is missing, and folders and patterns without such files.
    """
    place, _ = _place(os.fspath(path))
    files = _files(place)
    return files, partition_cells(files, literal_part(place))


def _place(path: str) -> tuple[str, str | None]:
    """Return the file or pattern that is named, and the sheet, if one is."""
    named = None if os.path.lexists(path) else _SHEET.fullmatch(path)
    return (path, None) if named is None else (named["file"], named["sheet"])


def _read(files: Sequence[Path], format: _Format, sheet: str | None, cells: Cells) -> pa.Table:
    parts: list[pa.Table] = []
    names: list[str] = []
    read = format.read if sheet is None else partial(read_excel, sheet=sheet)
    for file in files:
        part = read(file)
        names = names or part.column_names
        refuse_other_columns(file, part.column_names, files[0], names)
        parts.append(part.select(names))
    refuse_in_both(cells, names, files[0])
    table = format.join(parts)
    for name, column in partition_columns(cells, [part.num_rows for part in parts]).items():
        table = table.append_column(name, column)
    return table


def _files(path: str) -> list[Path]:
    if "://" in path:
        raise InputError(
            "unknown kind of database; write postgresql://user@host/database, or export the table "
            "to a file"
        )
    place = Path(path)
    if place.is_dir():
        return _files_of_folder(place)
    if os.path.lexists(place):
        return [place]
    if not glob.has_magic(path):
        raise InputError(f"{path}: no such file or folder")
    matches = glob.glob(path, recursive=True)  # noqa: PTH207 -- the pattern may be absolute
    files = sorted(file for file in map(Path, matches) if file.is_file())
    if not files:
        raise InputError(f"{path}: no file matches this pattern")
    return files


def _files_of_folder(folder: Path) -> list[Path]:
    files = [entry for entry in entries_below(folder) if entry.suffix.lower() in _FORMATS]
    if not files:
        raise InputError(f"{folder}: the folder has no file that ends in {', '.join(_FORMATS)}")
    return files


def _format(file: Path) -> _Format | None:
    if file.suffix.lower() not in _FORMATS:
        raise InputError(
            f"{file}: unknown kind of file; name one that ends in {', '.join(_FORMATS)}"
        )
    return _FORMATS[file.suffix.lower()]
