"""What a workbook is before its cells are read: a sound container of a size that fits.

A workbook is a zip archive (only `.xls` is not), whose members may unfold to any size, and a
sheet is read as one rectangle, which two cells in far corners make as large as they please: a
reader that runs out of memory ends the whole process, so both are measured first.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path

from sfumato.errors import InputError

LARGEST_CONTENT = 4 * 2**30  # bytes of all members of a workbook, unfolded
LARGEST_SHEET = 200_000_000  # cells of the rectangle around all cells of a sheet
_CHUNK = 4 * 2**20
_OLE = bytes.fromhex("D0CF11E0A1B11AE1")  # `.xls`, and the wrapper of an encrypted workbook
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_ROW = re.compile(rb' r="([0-9]{1,7})"')
# Columns beyond Z only: the first 26 cannot make a sheet too large.
_FAR_COLUMN = re.compile(rb' r="([A-Z]{2,3})[0-9]')
_OVERLAP = 16  # bytes that both of two chunks see, since a place may lie across their border
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def refuse_unsound(path: Path) -> None:
    """Refuse (InputError) a workbook that is encrypted, damaged, or too large to be read."""
    with path.open("rb") as file:
        magic = file.read(len(_OLE))
    if path.suffix.lower() == ".xls":
        return  # at most 65,536 rows and 256 columns
    if magic == _OLE:
        raise InputError(
            f"{path}: the workbook is protected by a password, or is an old .xls file by another "
            "name; save it as .xlsx without a password"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > LARGEST_CONTENT:
                raise InputError(
                    f"{path}: the workbook unfolds to more than {LARGEST_CONTENT // 2**30} GiB; "
                    "save the table as CSV"
                )
            for member in members:
                _read_through(archive, member, path)
    except _BROKEN:  # among them a member that unfolds to more than it declares
        raise InputError(
            f"{path}: this is no workbook, or a damaged or protected one; save it again"
        ) from None


def _read_through(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Read a member to its end, which checks its sum; measure it if it is a sheet."""
    is_sheet = _SHEET.fullmatch(member.filename) is not None
    rows, columns = 0, 26
    tail = b""
    with archive.open(member) as file:
        while chunk := file.read(_CHUNK):
            if not is_sheet:
                continue
            text = tail + chunk
            rows = max(rows, *map(int, _ROW.findall(text)), 0)
            columns = max(columns, *map(_column_number, set(_FAR_COLUMN.findall(text))), 0)
            tail = text[-_OVERLAP:]
    if rows * columns > LARGEST_SHEET:
        raise InputError(
            f"{path}: the cells of a sheet span {rows} rows and {columns} columns, more than "
            f"{LARGEST_SHEET} cells; delete cells far outside the table, or save it as CSV"
        )


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
