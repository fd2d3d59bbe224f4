"""Parquet files as one table whose columns are read when they are asked for.

Of a file only its names, types and number of rows are read at first: a table may be larger than
memory, and whoever codes it needs one column at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import InputError
from sfumato.io.csv_text import refuse_repeated
from sfumato.io.partitions import Cells, partition_columns, refuse_in_both
from sfumato.io.sound_columns import bad_texts, refuse_bad_texts, refuse_unknown_zones
from sfumato.schema.headers import look_like_cells
from sfumato.schema.lazy_table import LazyTable
from sfumato.schema.unfolding import refuse_unfolding

Result = TypeVar("Result")
State = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class ParquetPart:
    """What the footer of a file says: its columns, and the rows of each row group."""

    path: Path
    schema: pa.Schema
    groups: tuple[int, ...]
    state: State

    @property
    def rows(self) -> int:
        """The rows of the file."""
        return sum(self.groups)


def open_parquet(files: Sequence[Path], cells: Cells) -> LazyTable:
    """Return the rows of the files one after the other, as a table that is yet to be read.

    `cells` are those that the names of folders tell (see `partitions.py`).

    Refuses (InputError) what is not a Parquet file, empty or repeated column names, files with
    different columns or with types that cannot be united, times in unknown zones; on reading,
    files that were changed, and texts that are not UTF-8.
    """
    parts, united = parquet_parts(files, cells)
    rows = [part.rows for part in parts]

    def read(wanted: Sequence[str]) -> pa.Table:
        own = [name for name in wanted if name not in cells]
        table = _joined([_cells(part, own) for part in parts]) if own else None
        told = partition_columns({name: cells[name] for name in wanted if name in cells}, rows)
        columns = [told[n] if n in told or table is None else table[n] for n in wanted]
        return pa.table(columns, names=list(wanted))

    for field in united:  # columns are read and coded one at a time
        refuse_unfolding(sum(rows), pa.schema([field]))
    told = partition_columns(cells, [0] * len(rows))
    fields = [*united, *(pa.field(n, told[n].type) for n in told)]
    return LazyTable(pa.schema(fields), sum(rows), read)


def parquet_parts(files: Sequence[Path], cells: Cells) -> tuple[list[ParquetPart], pa.Schema]:
    """Return the footers of the parts of a table, and the columns in which all parts fit.

    Refuses (InputError) what `open_parquet` refuses.
    """
    parts = [_part(file) for file in files]
    names = parts[0].schema.names
    for part in parts[1:]:
        refuse_other_columns(part.path, part.schema.names, files[0], names)
    refuse_in_both(cells, names, files[0])
    united = _joined([part.schema.empty_table().select(names) for part in parts]).schema
    return parts, united


def refuse_other_columns(
    file: Path, columns: Sequence[str], first: Path, names: Sequence[str]
) -> None:
    """Refuse (InputError) a part of a table with other columns than its first part."""
    if odd := set(names) ^ set(columns):
        which = f"'{min(odd)}' is only in one"
        if look_like_cells(names) or look_like_cells(columns):
            which = "their names look like data; do the files have headers?"
        raise InputError(
            f"{file}: its columns are not those of {first}: {which}; "
            "the parts of a table have the same columns"
        )


def _part(path: Path) -> ParquetPart:
    def look(file: pq.ParquetFile) -> tuple[pa.Schema, tuple[int, ...]]:
        sizes = (file.metadata.row_group(at).num_rows for at in range(file.num_row_groups))
        return file.schema_arrow, tuple(sizes)

    state = _state(path)
    schema, groups = _opened(path, look)
    if not all(name.strip() for name in schema.names):
        raise InputError(f"{path}: a column has no name; give every column a name")
    refuse_repeated(schema.names, path)
    refuse_unknown_zones(schema, path)
    return ParquetPart(path, schema.remove_metadata(), groups, state)


def _cells(part: ParquetPart, names: Sequence[str]) -> pa.Table:
    try:
        # Columns are read at different times, and must be of the same rows.
        if _state(part.path) != part.state:
            raise InputError(f"{part.path}: the file was changed while it was read; run again")
        table = _opened(part.path, lambda file: _read(file, names, part.path))
    except OSError as error:
        raise InputError(f"{part.path}: cannot be read ({error.strerror or 'I/O error'})") from None
    # `a` also gives a column `a.b`, which Arrow takes for a part of it
    table = table.select(list(names))
    refuse_bad_texts(table, part.path)
    return table


def _read(file: pq.ParquetFile, names: Sequence[str], path: Path) -> pa.Table:
    try:
        return file.read(columns=list(names))
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        # Of some dictionaries Arrow looks at the texts itself, and does not say which column.
        if len(names) == 1:
            raise bad_texts(names[0], path) from None
        return pa.table({name: _read(file, [name], path)[name] for name in names})


def _opened(path: Path, look: Callable[[pq.ParquetFile], Result]) -> Result:
    try:
        # Not `read_table`, which takes folder names such as `year=2026` for columns.
        with pq.ParquetFile(path) as file:
            return look(file)
    except (MemoryError, InputError):  # the former is Arrow's own lack of memory, too
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # it cannot be opened; one without a number is about what is in the file
        raise InputError(
            f"{path}: this is not a Parquet file, or a damaged one; write it again"
        ) from None


def _state(path: Path) -> State:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _joined(parts: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException:
        name = next(n for n in parts[0].column_names if len({p.field(n).type for p in parts}) > 1)
        raise InputError(
            f"column '{name}' has types in the {len(parts)} files that do not go together; "
            "write all parts with the same types"
        ) from None
