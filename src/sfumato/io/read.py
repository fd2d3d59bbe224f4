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

from sfumato.errors import InputError
from sfumato.io.csv_files import join_csv, read_csv
from sfumato.io.excel_files import SUFFIXES as EXCEL
from sfumato.io.excel_files import join_excel, read_excel
from sfumato.io.parquet_files import join_parquet, read_parquet
from sfumato.io.statistical_files import SUFFIXES as STATISTICAL
from sfumato.io.statistical_files import join_statistical, read_statistical


@dataclass(frozen=True, slots=True)
class _Format:
    read: Callable[[Path], pa.Table]
    join: Callable[[Sequence[pa.Table]], pa.Table]


_CSV = _Format(read_csv, join_csv)
_PARQUET = _Format(read_parquet, join_parquet)
_EXCEL = _Format(read_excel, join_excel)
_STATISTICAL = _Format(read_statistical, join_statistical)
_FORMATS = {
    **{".csv": _CSV, ".tsv": _CSV, ".txt": _CSV, ".parquet": _PARQUET, ".pq": _PARQUET},
    **dict.fromkeys(EXCEL, _EXCEL),
    **dict.fromkeys(STATISTICAL, _STATISTICAL),
}
SUFFIXES = tuple(_FORMATS)
# `patients.xlsx#Ward 3`: a sheet of a workbook, or of all workbooks that a pattern names
_SHEET = re.compile(rf"(?P<file>.*({'|'.join(map(re.escape, EXCEL))}))#(?P<sheet>.+)", re.I | re.S)


def read_table(path: str | os.PathLike[str], columns: Iterable[str] | None = None) -> pa.Table:
    """Return the table in a file, or in all files of a folder or pattern.

    Reads CSV, Parquet, workbooks (`file.xlsx#sheet` names the sheet), SPSS, Stata and SAS. The
    parts of a table have the same format and columns; they are joined in the order of their names.
    `columns` chooses some of them.

    Refuses (InputError) what is missing, unreadable, empty, of an unknown format or damaged; the
    message names files, columns and lines, never a cell. EngineUnavailable where the reader of a
    format is not installed.
    """
    place, sheet = _place(os.fspath(path))
    files = _files(place)
    try:
        formats = {_format(file) for file in files}
        if len(formats) > 1:
            raise InputError(
                f"{path}: files of several formats lie together; name one kind of them"
            )
        table = _read(files, formats.pop(), sheet)
    except OSError as error:
        where = error.filename if isinstance(error.filename, str) else path
        raise InputError(f"{where}: cannot be read ({error.strerror or 'I/O error'})") from None
    if table.num_rows == 0:
        raise InputError(f"{path}: there is a header and no rows; there is nothing to publish")
    if columns is None:
        return table
    wanted = list(columns)
    for name in wanted:
        if name not in table.column_names:
            close = get_close_matches(name, table.column_names, n=1, cutoff=0.5)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise InputError(f"{path}: there is no column '{name}'{hint}")
    return table.select(wanted)


def table_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a table: one, or all of a folder or pattern, by name.

    Refuses (InputError) what is missing, and folders and patterns without such files.
    """
    return _files(os.fspath(path))


def _place(path: str) -> tuple[str, str | None]:
    """Return the file or pattern that is named, and the sheet, if one is."""
    named = None if os.path.lexists(path) else _SHEET.fullmatch(path)
    return (path, None) if named is None else (named["file"], named["sheet"])


def _read(files: Sequence[Path], format: _Format, sheet: str | None) -> pa.Table:
    parts: list[pa.Table] = []
    names: list[str] = []
    read = format.read if sheet is None else partial(read_excel, sheet=sheet)
    for file in files:
        part = read(file)
        names = names or part.column_names
        if odd := set(names) ^ set(part.column_names):
            raise InputError(
                f"{file}: its columns are not those of {files[0]}: '{min(odd)}' is only in one; "
                "the parts of a table have the same columns"
            )
        parts.append(part.select(names))
    return format.join(parts)


def _files(path: str) -> list[Path]:
    if "://" in path:
        raise InputError("databases cannot be read by this version; export the table to a file")
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
    try:
        # `_SUCCESS`, `.part.crc`: what other programs leave beside their data
        entries = sorted(entry for entry in folder.iterdir() if entry.name[0] not in "._")
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from None
    if any(entry.is_dir() for entry in entries):
        raise InputError(
            f"{folder}: the folder has folders in it; name the files with a pattern such as "
            f"'{folder}/**/*.parquet'"
        )
    files = [entry for entry in entries if entry.suffix.lower() in _FORMATS]
    if not files:
        raise InputError(f"{folder}: the folder has no file that ends in {', '.join(_FORMATS)}")
    return files


def _format(file: Path) -> _Format:
    format = _FORMATS.get(file.suffix.lower())
    if format is None:
        raise InputError(
            f"{file}: unknown kind of file; name one that ends in {', '.join(_FORMATS)}"
        )
    return format
