"""Whether every row is a person of its own: no identifier may be missing or repeat.

Identifiers are never published and so have no codes. They are compared by two hashes of their
texts, 128 bits together, so that no value leaves the process that read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.engines.spark.exchange import exchange
from sfumato.engines.spark.pieces import Source
from sfumato.schema import Role, Schema
from sfumato.schema.distinct import distinct
from sfumato.schema.text import to_texts
from sfumato.table.units import refuse_repeats

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def refuse_repeated_people(session: SparkSession, source: Source, schema: Schema) -> None:
    """Refuse (SchemaError) an identifier that is missing or repeats in some rows."""
    names = [attribute.name for attribute in schema.with_role(Role.IDENTIFIER)]
    if not names:
        return
    each = len(source.tasks)

    def hand_out(task: int) -> Iterator[tuple[int, pa.Table]]:
        held: dict[int, list[pa.Table]] = {}
        for batch in source.read(task, names):
            for at, name in enumerate(names):
                hashes = _hashes(batch[name], name)
                bucket = hashes["first"].to_numpy() % np.uint64(each)
                for own in np.unique(bucket).tolist():
                    part = hashes.filter(pa.array(bucket == own))
                    held.setdefault(at * each + own, []).append(part)
        for bucket in sorted(held):
            yield bucket, pa.concat_tables(held.pop(bucket)).combine_chunks()

    def work_on(_: int, parts: Iterator[pa.Table]) -> tuple[int, int]:
        found = list(parts)
        if not found:
            return 0, 0
        rows = pl.DataFrame(pa.concat_tables(found))
        return rows.height, rows.n_unique()

    counts = exchange(session, len(source.tasks), hand_out, each * len(names), work_on)
    for at, name in enumerate(names):
        own = counts[at * each : (at + 1) * each]
        present, different = (sum(pair[i] for pair in own) for i in (0, 1))
        refuse_repeats(name, source.rows, different, source.rows - present)


def _hashes(column: pa.ChunkedArray, name: str) -> pa.Table:
    """Return two hashes of each value that is there."""
    found = distinct(column, name)
    codes = found.codes[found.codes < len(found.values)]
    texts = pl.Series(to_texts(found.values).cast(pa.string()))
    pairs = pa.table({"first": texts.hash(1).to_numpy(), "second": texts.hash(2).to_numpy()})
    return pairs.take(pa.array(codes))
