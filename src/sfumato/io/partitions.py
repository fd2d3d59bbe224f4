"""Partitioned layouts: folders such as `year=2020`, whose names are cells of the files in them.

Only folders below what was named literally count. `data` and `data/year=*/*.parquet` have a column
`year`; `data/year=2020` has none, since whoever names one folder has chosen its rows.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.io.cell_types import typed

Cells = Mapping[str, Sequence[str | None]]
_MISSING = "__HIVE_DEFAULT_PARTITION__"  # as all programs spell it that write such folders


def literal_part(place: str) -> Path:
    """Return the part of a path or pattern before its first wildcard.

    >>> literal_part("data/year=*/part-?.parquet").as_posix()
    'data'
    """
    path = Path(place)
    if not glob.has_magic(place) or path.exists():
        return path
    parts = path.parts
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first])


def entries_below(folder: Path, known: frozenset[str] = frozenset()) -> list[Path]:
    """Return what lies in a folder and in the partitions below it, in the order of their paths.

    Names that begin with `_` or `.` are left out: what other programs leave beside their data.

    Refuses (InputError) folders that are no partitions, and partitions of a column within
    partitions of the same one, as in a link that leads back.
    """
    try:
        entries = sorted(entry for entry in folder.iterdir() if entry.name[0] not in "._")
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from None
    found: list[Path] = []
    for entry in entries:
        if not entry.is_dir():
            found.append(entry)
            continue
        column = _cell(entry.name)[0]
        if not column:
            raise InputError(
                f"{folder}: the folder has folders in it that are no partitions such as "
                f"'year=2020'; name the files with a pattern such as '{folder}/**/*.parquet'"
            )
        if column in known:
            raise InputError(f"{entry}: this lies in a partition of '{column}' already")
        found += entries_below(entry, known | {column})
    return found


def partition_cells(files: Sequence[Path], base: Path) -> Cells:
    """Return by column the text of each file's cell, None where it is missing.

    Refuses (InputError) files that lie in partitions of different columns.

    >>> files = [Path("data/year=2020/a.parquet"), Path("data/year=2021/b.parquet")]
    >>> partition_cells(files, Path("data"))
    {'year': ['2020', '2021']}
    """
    cells: dict[str, list[str | None]] = {}
    for number, file in enumerate(files):
        inside = file.parent.parts[len(base.parts) :]
        own = dict(cell for cell in map(_cell, inside) if cell[0])
        if number and own.keys() != cells.keys():
            odd = min(own.keys() ^ cells.keys())
            raise InputError(
                f"{file}: it does not lie in partitions of the same columns as {files[0]}: "
                f"'{odd}' is only in one of the paths"
            )
        for name, text in own.items():
            cells.setdefault(name, []).append(text)
    return cells


def partition_columns(cells: Cells, rows: Sequence[int]) -> dict[str, pa.ChunkedArray]:
    """Return the columns of files that have so many rows each, in the type that all cells spell.

    >>> partition_columns({"year": ["2020", "2021"]}, [2, 1])["year"].to_pylist()
    [2020, 2020, 2021]
    """
    columns = {}
    for name, texts in cells.items():
        coded = pa.array(texts, pa.string()).dictionary_encode()
        columns[name] = _column(typed(pa.chunked_array([coded])), rows)
    return columns


def refuse_in_both(cells: Cells, names: Sequence[str], file: Path) -> None:
    """Refuse (InputError) a column that both folders and the files in them have."""
    if both := cells.keys() & set(names):
        raise InputError(
            f"{file}: '{min(both)}' is a column of the file and of the folders around it; "
            "rename one of them, or name the files so that the folders do not count"
        )


def _column(cells: pa.ChunkedArray, rows: Sequence[int]) -> pa.ChunkedArray:
    chunks = [pa.repeat(cell, count) for cell, count in zip(cells, rows, strict=True)]
    return pa.chunked_array(chunks, cells.type)


def _cell(folder: str) -> tuple[str, str | None]:
    """Return the column and the text that the name of a folder gives; ('', None) if it does not."""
    name, sign, text = folder.partition("=")
    if not sign or not name.strip():
        return "", None
    return unquote(name), None if text == _MISSING else unquote(text)
