"""The first rows of a file, without reading the rest: what is shown of a large table at once."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import InputError
from sfumato.io.read import read_table

_PARQUET: Final = (".parquet", ".pq")
_TEXT: Final = (".csv", ".tsv", ".txt")
_HEAD: Final = 2**18  # bytes of a text that hold its first rows


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows; `rows` counts all of the file, None where that takes reading it.

    `types_hold` says whether the types are those of all rows, or may change with later ones.
    """

    table: pa.Table
    rows: int | None
    types_hold: bool


def first_rows(path: Path, count: int) -> FirstRows | None:
    """Return the first rows of a file, None where only reading all of it would tell.

    A file that cannot be read has None too: whoever reads it all says what is wrong.
    """
    kind = path.suffix.lower()
    try:
        if kind in _PARQUET:
            return _of_parquet(path, count)
        return _of_text(path, count) if kind in _TEXT else None
    except (InputError, OSError, ValueError, pa.ArrowException):
        return None


def _of_parquet(path: Path, count: int) -> FirstRows:
    with pq.ParquetFile(path) as file:
        batch = next(file.iter_batches(batch_size=count), None)
        batches = [] if batch is None else [batch]
        table = pa.Table.from_batches(batches, file.schema_arrow)
        return FirstRows(table, file.metadata.num_rows, types_hold=True)


def _of_text(path: Path, count: int) -> FirstRows:
    with path.open("rb") as file:
        head = file.read(_HEAD)
        is_whole = not file.read(1)
    if not is_whole:
        head = head[: head.rfind(b"\n") + 1]
    with tempfile.TemporaryDirectory() as folder:
        piece = Path(folder) / f"head{path.suffix.lower()}"
        piece.write_bytes(head)
        table = read_table(piece)
    return FirstRows(table.slice(0, count), table.num_rows if is_whole else None, is_whole)
