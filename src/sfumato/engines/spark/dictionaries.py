"""What values the columns of a table in pieces have, and how often: all that its coding needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.engines.spark.exchange import exchange, from_bytes, to_bytes
from sfumato.engines.spark.pieces import Source
from sfumato.errors import EngineUnavailable
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import comparable_type, value_type
from sfumato.schema.text import from_texts, to_texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Ints = npt.NDArray[np.int64]

# Different values of all columns together: the driver and every task hold them all.
MOST_VALUES = 20_000_000
_BUCKETS = 16
_ROW = pa.schema([("column", pa.int32()), ("text", pa.string()), ("rows", pa.int64())])


@dataclass(frozen=True, slots=True, eq=False)
class RawValues:
    """The distinct values of a column as it was read, in the order of their texts.

    `counts` says how many rows have each, and last how many have none.
    """

    values: pa.Array
    counts: Ints

    def cells(self, dtype: pa.DataType) -> pa.ChunkedArray:
        """Return every value once, as a column of the type that was read."""
        if not pa.types.is_dictionary(dtype):
            # other layouts of text, which values do not have
            return pa.chunked_array([self.values.cast(dtype)], dtype)
        order = pa.array(np.arange(len(self.values)), dtype.index_type)
        entries = self.values.cast(dtype.value_type)
        return pa.chunked_array(
            [pa.DictionaryArray.from_arrays(order, entries, ordered=dtype.ordered)]
        )


def raw_values(
    session: SparkSession, source: Source, columns: Sequence[str]
) -> dict[str, RawValues]:
    """Return the distinct values of the columns: counted in tasks, added up in others.

    Refuses (EngineUnavailable) more different values than a driver should hold.
    """
    if not columns:
        return {}

    def hand_out(task: int) -> Iterator[tuple[int, pa.Table]]:
        counted = _summed(_counted(batch) for batch in source.read(task, columns))
        # any bucket will do as long as equal values share it
        buckets = _buckets(counted)
        for bucket in np.unique(buckets):
            yield int(bucket), counted.filter(pa.array(buckets == bucket))

    def work_on(_: int, parts: Iterator[pa.Table]) -> tuple[int, bytes]:
        whole = _summed(parts)
        kept = whole if whole.num_rows <= MOST_VALUES else whole.slice(0, 0)
        return whole.num_rows, to_bytes(kept)

    found = exchange(session, len(source.tasks), hand_out, _BUCKETS, work_on)
    total = sum(size for size, _ in found)
    if total > MOST_VALUES:
        raise EngineUnavailable(
            f"the columns have {total} different values together, and --engine spark keeps at most "
            f"{MOST_VALUES} in memory: `recode` columns in which most rows differ (`round`, "
            "`bins`), or leave them out"
        )
    everything = _summed(from_bytes(data) for _, data in found)
    return {
        name: _raw(everything.filter(pc.equal(everything["column"], at)), source, name)
        for at, name in enumerate(columns)
    }


def _counted(batch: pa.Table) -> pa.Table:
    """Return each column's distinct values as texts, with their rows; a missing one is null."""
    parts = []
    for at, name in enumerate(batch.column_names):
        found = distinct(batch[name], name)
        texts = to_texts(found.values).cast(pa.string())
        texts = pa.concat_arrays([texts, pa.nulls(1, pa.string())])
        columns = [pa.array(np.full(len(texts), at, np.int32)), texts, pa.array(found.counts)]
        rows = pa.Table.from_arrays(columns, schema=_ROW)
        parts.append(rows.filter(pc.greater(rows["rows"], 0)))
    return pa.concat_tables(parts)


def _summed(parts: Iterator[pa.Table]) -> pa.Table:
    """Return the parts as one, with the rows of equal values added up."""
    held = _ROW.empty_table()
    for part in parts:
        united = pa.concat_tables([held, part])
        sums = united.group_by(["column", "text"]).aggregate([("rows", "sum")])
        held = pa.Table.from_arrays([sums[n] for n in ("column", "text", "rows_sum")], schema=_ROW)
    return held


def _buckets(counted: pa.Table) -> npt.NDArray[np.uint64]:
    """Return a bucket for each value, the same in every task."""
    rows = pl.DataFrame(counted.select(["column", "text"]))
    return rows.hash_rows(seed=0).to_numpy() % np.uint64(_BUCKETS)


def _raw(rows: pa.Table, source: Source, name: str) -> RawValues:
    missing = pc.is_null(rows["text"])
    known = rows.filter(pc.invert(missing)).sort_by("text")
    dtype = value_type(source.schema.field(name).type)
    if pa.types.is_null(dtype):  # a column in which nothing is there
        values = pa.nulls(0)
    else:
        values = from_texts(known["text"].combine_chunks(), comparable_type(dtype)).cast(dtype)
    counts = np.append(
        known["rows"].to_numpy(), pc.sum(rows.filter(missing)["rows"]).as_py() or 0
    ).astype(np.int64)
    return RawValues(values, counts)
