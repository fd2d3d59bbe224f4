"""The input as pieces that tasks read for themselves: row groups of Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import EngineUnavailable, InputError
from sfumato.io.csv_text import refuse_repeated
from sfumato.io.parquet_files import join_parquet
from sfumato.io.read import table_files

_SUFFIXES = (".parquet", ".pq")
# Rows that a task reads from one piece at a time; about how many it reads in all, at most and at
# least; and how many tasks there are to be, if that leaves them enough rows.
_BATCH_ROWS = 1 << 18
_TASK_ROWS = 1 << 20
_LEAST_TASK_ROWS = 10_000
_TASKS = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """A row group of a file."""

    file: str
    group: int


@dataclass(frozen=True, slots=True)
class Source:
    """A table that lies in pieces: `tasks` has those that one task reads; all have one schema."""

    tasks: tuple[tuple[Piece, ...], ...]
    schema: pa.Schema
    rows: int

    def read(self, task: int, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the rows of a task's pieces in batches, in the types of the whole table."""
        wanted = pa.schema([self.schema.field(name) for name in columns])
        for piece in self.tasks[task]:
            with pq.ParquetFile(piece.file) as file:
                for batch in file.iter_batches(
                    _BATCH_ROWS, row_groups=[piece.group], columns=list(columns)
                ):
                    rows = pa.Table.from_batches([batch]).select(list(columns))
                    yield rows.replace_schema_metadata(None).cast(wanted)


def listed(path: str | os.PathLike[str]) -> Source:
    """Return the pieces of a Parquet file, or of all files of a folder or pattern.

    Only the files' footers are read. Refuses (InputError) what is no Parquet file, columns that
    are not the same, and types that do not go together; EngineUnavailable for other formats.
    """
    files = [file.resolve() for file in table_files(path)]
    for file in files:
        if file.suffix.lower() not in _SUFFIXES:
            raise EngineUnavailable(
                f"{file.name}: --engine spark reads Parquet files; convert the data, or leave out "
                "--engine spark"
            )
    pieces: list[tuple[Piece, int]] = []
    schemas: list[pa.Schema] = []
    for file in files:
        schema, sizes = _footer(file)
        if schemas and (odd := set(schema.names) ^ set(schemas[0].names)):
            raise InputError(
                f"{file}: its columns are not those of {files[0]}: '{min(odd)}' is only in one; "
                "the parts of a table have the same columns"
            )
        schemas.append(schema)
        pieces += [(Piece(str(file), at), size) for at, size in enumerate(sizes) if size]
    rows = sum(size for _, size in pieces)
    if rows == 0:
        raise InputError(f"{path}: there is a header and no rows; there is nothing to publish")
    names = schemas[0].names
    united = join_parquet([schema.empty_table().select(names) for schema in schemas]).schema
    return Source(_shared_out(pieces), united, rows)


def _footer(file: Path) -> tuple[pa.Schema, list[int]]:
    try:
        with pq.ParquetFile(file) as opened:
            schema = opened.schema_arrow.remove_metadata()
            groups = [opened.metadata.row_group(at) for at in range(opened.num_row_groups)]
            sizes = [group.num_rows for group in groups]
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or 'I/O error'})") from None
    except (pa.ArrowException, ValueError):
        raise InputError(
            f"{file}: this is not a Parquet file, or a damaged one; write it again"
        ) from None
    if not all(name.strip() for name in schema.names):
        raise InputError(f"{file}: a column has no name; give every column a name")
    refuse_repeated(schema.names, file)
    return schema, sizes


def _shared_out(pieces: Sequence[tuple[Piece, int]]) -> tuple[tuple[Piece, ...], ...]:
    """Return the pieces of each task: neighbours, until they have enough rows."""
    tasks: list[tuple[Piece, ...]] = []
    own: list[Piece] = []
    held = 0
    rows = sum(size for _, size in pieces)
    enough = min(_TASK_ROWS, max(rows // _TASKS, _LEAST_TASK_ROWS))
    for piece, size in pieces:
        if own and held + size > enough:
            tasks.append(tuple(own))
            own, held = [], 0
        own.append(piece)
        held += size
    return (*tasks, tuple(own))
