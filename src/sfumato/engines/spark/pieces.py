"""The input as pieces that tasks read for themselves: row groups of Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import EngineUnavailable, InputError
from sfumato.io.parquet_files import parquet_parts
from sfumato.io.partitions import partition_columns
from sfumato.io.read import table_files
from sfumato.io.sound_columns import refuse_bad_texts

_SUFFIXES = (".parquet", ".pq")
# Rows that a task reads from one piece at a time; about how many it reads in all, at most and at
# least; and how many tasks there are to be, if that leaves them enough rows.
_BATCH_ROWS = 1 << 18
_TASK_ROWS = 1 << 20
_LEAST_TASK_ROWS = 10_000
_TASKS = 16


@dataclass(frozen=True, slots=True)
class Piece:
    """A row group of a file, and what the folders around the file tell of its rows.

    `state` is that of the file when it was listed: its size, and when it was changed last.
    """

    file: str
    group: int
    rows: int
    told: Mapping[str, pa.Scalar]
    state: tuple[int, int]


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
            for own in _batches(piece, [name for name in columns if name not in piece.told]):
                cells = [
                    pa.repeat(piece.told[name], own.num_rows) if name in piece.told else own[name]
                    for name in columns
                ]
                try:
                    rows = pa.table(cells, names=list(columns)).cast(wanted)
                except pa.ArrowException:  # the message may hold a cell
                    raise InputError(
                        f"{piece.file}: it has values that do not fit the types of all files "
                        "together; write all parts with the same types"
                    ) from None
                yield rows


def _batches(piece: Piece, columns: Sequence[str]) -> Iterator[pa.Table]:
    if not columns:
        yield pa.table({"": pa.nulls(piece.rows)})  # only how many rows there are counts
        return
    _refuse_changed(piece)
    with pq.ParquetFile(piece.file) as file:
        for batch in file.iter_batches(
            _BATCH_ROWS, row_groups=[piece.group], columns=list(columns)
        ):
            rows = pa.Table.from_batches([batch]).replace_schema_metadata(None)
            refuse_bad_texts(rows, piece.file)
            yield rows


def _refuse_changed(piece: Piece) -> None:
    """Refuse (InputError) a file that is not the one that was listed.

    Identifiers, dictionaries and codes are read at different times, and must be of the same rows.
    """
    try:
        status = Path(piece.file).stat()
    except OSError as error:
        words = error.strerror or "I/O error"
        raise InputError(f"{piece.file}: cannot be read ({words})") from None
    # a file may have another number on another machine
    if (status.st_size, status.st_mtime_ns) != piece.state:
        raise InputError(f"{piece.file}: the file was changed while it was read; run again")


def listed(path: str | os.PathLike[str]) -> Source:
    """Return the pieces of a Parquet file, or of all files of a folder or pattern.

    Only the files' footers are read. Refuses (InputError) what is no Parquet file, columns that
    are not the same, and types that do not go together; EngineUnavailable for other formats.
    """
    files, cells = table_files(path)
    for file in files:
        if file.suffix.lower() not in _SUFFIXES:
            raise EngineUnavailable(
                f"{file.name}: --engine spark reads Parquet files; convert the data, or leave out "
                "--engine spark"
            )
    try:
        parts, united = parquet_parts(files, cells)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or 'I/O error'})") from None
    told = partition_columns(cells, [1] * len(parts))
    pieces = [
        Piece(
            str(part.path.resolve()),
            at,
            size,
            {name: told[name][number] for name in told},
            part.state[1:],
        )
        for number, part in enumerate(parts)
        for at, size in enumerate(part.groups)
        if size
    ]
    rows = sum(piece.rows for piece in pieces)
    if rows == 0:
        raise InputError(f"{path}: there is a header and no rows; there is nothing to publish")
    fields = [*united, *(pa.field(name, told[name].type) for name in told)]
    return Source(_shared_out(pieces), pa.schema(fields), rows)


def _shared_out(pieces: Sequence[Piece]) -> tuple[tuple[Piece, ...], ...]:
    """Return the pieces of each task: neighbours, until they have enough rows."""
    tasks: list[tuple[Piece, ...]] = []
    own: list[Piece] = []
    held = 0
    rows = sum(piece.rows for piece in pieces)
    enough = min(_TASK_ROWS, max(rows // _TASKS, _LEAST_TASK_ROWS))
    for piece in pieces:
        if own and held + piece.rows > enough:
            tasks.append(tuple(own))
            own, held = [], 0
        own.append(piece)
        held += piece.rows
    return (*tasks, tuple(own))
