"""Shards of a staged table: each is published by the method as it stands, and written to be united.

A shard's outcome depends on its rows and on the seed alone: its rows are put into the order of what
they hold, and its randomness is that of its number.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.audit.parts import ShownValues, shown_values
from sfumato.engines.spark.exchange import exchange
from sfumato.engines.spark.staged import Staged, from_codes
from sfumato.errors import Infeasible
from sfumato.methods import Method
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.release.files import write_part
from sfumato.release.union import PartSummary
from sfumato.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of a shard; `refusal` says why the method found no solution in it."""

    number: int
    summary: PartSummary | None = None
    shown: ShownValues | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard to publish: its number, its rows, and how many are in the shards before it.

    One that is `alone` is the whole table, and is published as the local engine would.
    """

    number: int
    rows: int
    before: int
    alone: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ShardMaker:
    """Publishes shards: all that a task needs to know of the run.

    `finish` gives a release what the policy knows and the method does not.
    """

    frame: Table
    method: Method
    randomness: Randomness
    folder: str
    finish: Callable[[Release], Release]

    def publish(self, shard: Shard, parts: Iterator[pa.Table]) -> Outcome:
        """Return the outcome of a shard, whose tables are then in its folder."""
        frame, method, randomness = self.frame, self.method, self.randomness
        whole = frame.whole
        assert whole is not None
        if shard.alone:
            frame = replace(frame, whole=None)
        else:
            method = method.for_shard(shard.before, shard.rows, whole.rows)
            randomness = randomness.part(shard.number)
        table = from_codes(pa.concat_tables(parts), frame)
        if table.rows != shard.rows:
            raise AssertionError("a shard does not have the rows that were counted")
        try:
            release = method.release(table, randomness)
        except Infeasible as error:
            return Outcome(shard.number, refusal=str(error))
        release = self.finish(release)
        for name, cells in release.tables.items():
            put_part(cells, name, release, shard_file(self.folder, shard.number, name))
        return Outcome(shard.number, PartSummary.of(release), shown_values(release))


def publish_shards(
    session: SparkSession,
    staged: Staged,
    shards: Sequence[Shard],
    shard_of: Callable[[pa.Table], Codes],
    columns: Sequence[str],
    maker: ShardMaker,
) -> list[Outcome]:
    """Return the outcomes of shards; `shard_of` says which shard each of some rows is in."""
    numbers = np.array(sorted(shard.number for shard in shards), np.int64)
    by_place = sorted(shards, key=lambda shard: shard.number)

    def hand_out(task: int) -> Iterator[tuple[int, pa.Table]]:
        held: dict[int, list[pa.Table]] = {}
        for batch in staged.read(task):
            found = shard_of(batch)
            codes = batch.select(list(columns))
            place = np.minimum(np.searchsorted(numbers, found), len(numbers) - 1)
            place = np.where(numbers[place] == found, place, len(numbers))
            order = np.argsort(place, kind="stable")
            sizes = np.bincount(place, minlength=len(numbers) + 1)
            ends = np.cumsum(sizes)
            ordered = codes.take(pa.array(order))
            for at in np.flatnonzero(sizes[:-1]).tolist():
                rows = ordered.slice(ends[at] - sizes[at], sizes[at])
                held.setdefault(at, []).append(rows)
        for at in sorted(held):
            yield at, pa.concat_tables(held.pop(at)).combine_chunks()

    def work_on(at: int, parts: Iterator[pa.Table]) -> Outcome:
        return maker.publish(by_place[at], parts)

    return exchange(session, staged.files, hand_out, len(numbers), work_on)


def shard_file(folder: str, number: int, table: str) -> Path:
    """Return where a table of a shard lies."""
    return Path(folder, f"{number:06}-{table}.parquet")


def put_part(cells: pa.Table, name: str, release: Release, path: Path) -> None:
    """Write a table of a release under a name at which it appears whole, whoever else writes it."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        write_part(cells, name, release.manifest, unfinished)
        os.replace(unfinished, path)  # noqa: PTH105 -- a path may hold any character
    finally:
        unfinished.unlink(missing_ok=True)


def tables_of(folder: str, number: int, names: Sequence[str]) -> Mapping[str, pa.Table]:
    """Return the tables of a shard."""
    return {name: pq.ParquetFile(shard_file(folder, number, name)).read() for name in names}
