"""The coded rows of a table, in files that tasks write once and read as often as they must.

They lie beside the release that is being made, on storage that all workers see, and go with it when
the run ends. A task may run twice, or on two machines at once: a file appears whole or not at all,
and has the same rows whoever wrote it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.table import Table
from sfumato.table.whole import codes_of, flag_name, shard_table

Codes = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

_BATCH_ROWS = 1 << 18


def code_names(frame: Table) -> list[str]:
    """Return the names of all columns of codes: those of the table, then those of its flags."""
    return [*(column.name for column in frame.columns), *map(flag_name, frame.flags)]


def as_codes(table: Table) -> pa.Table:
    """Return a coded table as Arrow's: its codes, and its flags as 0 and 1."""
    return pa.table({name: codes_of(table, name).astype(np.int32) for name in code_names(table)})


def from_codes(codes: pa.Table, frame: Table) -> Table:
    """Return the coded table of the rows, in the order of what they hold."""
    arrays = {name: codes[name].to_numpy() for name in code_names(frame)}
    flags = {name: arrays[flag_name(name)].astype(np.bool_) for name in frame.flags}
    return shard_table(frame, {each.name: arrays[each.name] for each in frame.columns}, flags)


def staged_names(names: Iterable[str]) -> list[str]:
    """Return the staged columns that names (of `table.whole.codes_of`) are made of."""
    found = set()
    for name in names:
        plain = name.removesuffix(2 * RESERVED_SUFFIX)
        found |= {name} if plain == name else {plain, flag_name(plain)}
    return sorted(found)


def arrays_of(codes: pa.Table, frame: Table, names: Iterable[str]) -> dict[str, Codes]:
    """Return the codes that names (of `table.whole.codes_of`) stand for, of staged rows."""
    found = {}
    for name in names:
        plain = name.removesuffix(2 * RESERVED_SUFFIX)
        found[name] = codes[plain].to_numpy()
        if plain != name:
            hidden = codes[flag_name(plain)].to_numpy() > 0
            found[name] = np.where(hidden, np.int32(frame[plain].null_code), found[name])
    return found


@dataclass(frozen=True, slots=True)
class Staged:
    """So many files of codes in a folder; a file is read by one task."""

    folder: str
    files: int

    def write(self, number: int, batches: Iterable[pa.Table]) -> int:
        """Write the rows of a task, and return their number."""
        rows, writer = 0, None
        path = self._path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            for batch in batches:
                if writer is None:
                    writer = pq.ParquetWriter(unfinished, batch.schema, compression="lz4")
                writer.write_table(batch)
                rows += batch.num_rows
            if writer is None:
                return 0
            writer.close()
            os.replace(unfinished, path)  # noqa: PTH105 -- a path may hold any character
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise
        return rows

    def read(self, number: int, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of a file in batches; of no column at all, still their number."""
        path = self._path(number)
        if not path.exists():
            return
        with pq.ParquetFile(path) as file:
            names = None if columns is None else list(columns)
            for batch in file.iter_batches(_BATCH_ROWS, columns=names):
                yield pa.Table.from_batches([batch])

    def _path(self, number: int) -> Path:
        return Path(self.folder, f"{number:06}.parquet")


def mixed(codes: Sequence[npt.NDArray[np.integer[Any]]]) -> Words:
    """Return a number a row by which equal rows come together; it need not be hard to guess."""
    found = np.zeros(len(codes[0]), np.uint64)
    for each in codes:
        found = (found ^ each.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found
