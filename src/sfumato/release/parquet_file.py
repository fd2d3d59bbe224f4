"""Tables as Parquet files: a large one is encoded by several threads, to the same bytes.

Arrow encodes a file by one thread. Here every column of every row group is encoded as a file of its
own; their bytes are then written one after the other, and their footers united. What comes out is
what one thread would have written.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.release.parquet_footer import MAGIC, Encoded, Struct, ending, united
from sfumato.release.set_columns import plain_types
from sfumato.release.tables import is_id

# So few that the texts of the sets in them stay far below Arrow's limit of 2 GiB.
_ROWS_OF_SETS = 1 << 18
_ROWS_OF_GROUP = 1 << 20  # which is Arrow's default
_MANY_ROWS = 1 << 18  # from here on threads are worth their while
_AHEAD = 2  # row groups that are encoded while one is written
_CELLS_AT_A_TIME = 1 << 20  # of a column: a tenth quicker than a thousand, for the same bytes
_ID_ENCODING = "DELTA_BINARY_PACKED"  # ids are too many to be coded by a dictionary


def write_parquet(table: pa.Table, path: Path, threads: Executor | None = None) -> None:
    """Write a table to a file that does not exist, encoded by `threads` where it is large.

    The bytes are the same with threads and without. The threads may not be those that call this,
    which waits for them.
    """
    plain = plain_types(table.schema)
    with path.open("xb") as sink:
        if plain != table.schema:
            _write_sets(table, sink, plain)
        elif threads is None or table.num_rows < _MANY_ROWS:
            pq.write_table(table, sink, **_how(table))
        else:
            _write_side_by_side(table, sink, threads)


def _how(table: pa.Table) -> dict[str, Any]:
    """Return the options of Arrow's writer."""
    ids = [name for name in table.column_names if is_id(name)]
    return {
        **_ALWAYS,
        "row_group_size": _ROWS_OF_GROUP,
        "use_dictionary": [name for name in table.column_names if name not in ids],
        "column_encoding": dict.fromkeys(ids, _ID_ENCODING),
    }


# Without the smallest and largest values of columns: they take as long as all else, serve nobody
# where rows stand at random, and would be one thing more that files tell.
_ALWAYS: dict[str, Any] = {
    "compression": "zstd",
    "write_statistics": False,
    "write_batch_size": _CELLS_AT_A_TIME,
}


def _write_sets(table: pa.Table, sink: BinaryIO, plain: pa.Schema) -> None:
    # Arrow writes coded members as they are and cannot read them, so the file tells it to expect
    # plain values, in the place where Arrow keeps such notes itself
    note = base64.b64encode(plain.serialize().to_pybytes()).decode()
    with pq.ParquetWriter(sink, table.schema, store_schema=False, **_ALWAYS) as writer:
        writer.write_table(table, row_group_size=_ROWS_OF_SETS)
        writer.add_key_value_metadata({"ARROW:schema": note})


def _write_side_by_side(table: pa.Table, sink: BinaryIO, threads: Executor) -> None:
    sink.write(MAGIC)
    at = len(MAGIC)
    row_groups: list[Struct] = []
    ahead: deque[list[Future[Encoded]]] = deque()
    further = _encoded_columns(table, threads)
    try:
        ahead.extend(islice(further, _AHEAD))
        while ahead:
            parts = [column.result() for column in ahead.popleft()]
            ahead.extend(islice(further, 1))
            row_groups.append(united(parts, at, len(row_groups)))
            for part in parts:
                sink.write(part.data)
                at += len(part.data)
        sink.write(ending(_encoded(table.slice(0, 0)), row_groups, table.num_rows))
    except BaseException:
        for column in chain.from_iterable(ahead):
            column.cancel()
        raise


def _encoded_columns(table: pa.Table, threads: Executor) -> Iterator[list[Future[Encoded]]]:
    """Yield the columns of each row group, which the threads encode."""
    for start in range(0, table.num_rows, _ROWS_OF_GROUP):
        rows = table.slice(start, _ROWS_OF_GROUP)
        yield [threads.submit(_encoded, rows.select([name])) for name in table.column_names]


def _encoded(rows: pa.Table) -> Encoded:
    """Return rows as a Parquet file in memory, taken apart."""
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, **_how(rows))
    return Encoded.of(memoryview(sink.getvalue()))
