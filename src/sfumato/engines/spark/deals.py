"""A deal of staged rows: every row's hash, and the hashes at which the next shard begins.

A row is told apart from equal ones by a number, so equal rows must come together first; then each
has a keyed hash, and its shard is found by comparing that with the limits of its stratum. Limits
are exact: hashes are counted by their first bits, and only those near a limit are looked at singly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.exchange import each_task, exchange
from sfumato.engines.spark.staged import Staged, mixed
from sfumato.rows.coarse_deal import Deal
from sfumato.rows.keyed_hash import copies, row_hashes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

HASH = "hash"
_MOST_CELLS = 1 << 22
_MOST_BITS = 12


def stage_hashes(
    session: SparkSession, staged: Staged, folder: str, names: Sequence[str], key: bytes
) -> Staged:
    """Return the rows staged again, each with its hash."""
    hashed = Staged(folder, staged.files)

    def hand_out(task: int) -> Iterator[tuple[int, pa.Table]]:
        held: dict[int, list[pa.Table]] = {}
        for batch in staged.read(task, names):
            bucket = mixed([batch[name].to_numpy() for name in names]) % np.uint64(hashed.files)
            order = np.argsort(bucket, kind="stable")
            ordered, sizes = batch.take(pa.array(order)), np.bincount(bucket.astype(np.int64))
            start = 0
            for at, size in enumerate(sizes.tolist()):
                if size:
                    held.setdefault(at, []).append(ordered.slice(start, size))
                start += size
        for at in sorted(held):
            yield at, pa.concat_tables(held.pop(at)).combine_chunks()

    def work_on(bucket: int, parts: Iterator[pa.Table]) -> int:
        rows = pa.concat_tables([*parts])
        if not rows.num_rows:
            return 0
        codes = [rows[name].to_numpy() for name in names]
        hashes = row_hashes([*codes, copies(codes)], key)
        return hashed.write(bucket, [rows.append_column(HASH, pa.array(hashes))])

    exchange(session, staged.files, hand_out, hashed.files, work_on)
    return hashed


@dataclass(frozen=True, slots=True, eq=False)
class HashedDeal:
    """A deal by hashes: rows of stratum i go to shard j if `limits[i, j]` is the last below them.

    A stratum's limits are the hashes of the first rows of its shards.
    """

    deal: Deal
    limits: Words = field(repr=False)

    def shard_of(self, rows: pa.Table) -> Codes:
        """Return the shard of each row."""
        stratum = _strata(self.deal, rows)
        hashes = rows[HASH].to_numpy()
        found = np.zeros(len(hashes), np.int32)
        # halving: the last shard whose limit is not above the hash. One that gets nothing of a
        # stratum begins where the next one does
        step = 1 << (self.deal.shards - 1).bit_length()
        while step := step >> 1:
            further = np.minimum(found + step, self.deal.shards - 1)
            reached = hashes >= self.limits[stratum, further]
            found = np.where(reached, further, found).astype(np.int32)
        return found


def hashed_deal(session: SparkSession, hashed: Staged, deal: Deal) -> HashedDeal:
    """Return the limits of a deal's shards in each stratum."""
    strata, shards = deal.quotas.shape
    starts = np.cumsum(deal.quotas, axis=1) - deal.quotas  # rank of each shard's first row
    limits = np.zeros((strata, shards), np.uint64)
    if shards == 1:
        return HashedDeal(deal, limits)
    bits = _bits(strata)
    shift = np.uint64(64 - bits)

    def count(task: int) -> tuple[Ints, Ints]:
        cells = np.zeros(strata << bits, np.int64)
        for batch in hashed.read(task, [*deal.columns, HASH]):
            stratum = _strata(deal, batch)
            place = (stratum << bits) + (batch[HASH].to_numpy() >> shift).astype(np.int64)
            cells += np.bincount(place, minlength=len(cells))
        used = np.flatnonzero(cells)
        return used, cells[used]

    cells = np.zeros(strata << bits, np.int64)
    for used, counts in each_task(session, hashed.files, count):
        cells[used] += counts
    cells = cells.reshape(strata, -1)
    before = np.cumsum(cells, axis=1) - cells
    # the cell in which each limit lies; past the last row there is none
    total = cells.sum(axis=1)
    inside = (starts < total[:, None]) & (starts > 0)
    rows, places = np.nonzero(inside)
    cell = np.array(
        [
            np.searchsorted(before[row], starts[row, place], side="right") - 1
            for row, place in zip(rows.tolist(), places.tolist(), strict=True)
        ],
        np.int64,
    )
    wanted = np.unique((rows.astype(np.int64) << bits) + cell)

    def look(task: int) -> tuple[Ints, Words]:
        found: list[tuple[Ints, Words]] = []
        for batch in hashed.read(task, [*deal.columns, HASH]):
            hashes = batch[HASH].to_numpy()
            place = (_strata(deal, batch) << bits) + (hashes >> shift).astype(np.int64)
            here = np.isin(place, wanted)
            found.append((place[here], hashes[here]))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.uint64)
        return np.concatenate([p for p, _ in found]), np.concatenate([h for _, h in found])

    seen = each_task(session, hashed.files, look) if len(wanted) else []
    place = np.concatenate([p for p, _ in seen]) if seen else np.zeros(0, np.int64)
    hashes = np.concatenate([h for _, h in seen]) if seen else np.zeros(0, np.uint64)
    order = np.lexsort((hashes, place))
    place, hashes = place[order], hashes[order]
    limits[starts >= total[:, None]] = np.iinfo(np.uint64).max
    for row, at, own in zip(rows.tolist(), places.tolist(), cell.tolist(), strict=True):
        first = np.searchsorted(place, (row << bits) + own)
        limits[row, at] = hashes[first + starts[row, at] - before[row, own]]
    return HashedDeal(deal, limits)


def _strata(deal: Deal, rows: pa.Table) -> Ints:
    return deal.stratum_of({name: rows[name].to_numpy() for name in deal.columns}, rows.num_rows)


def _bits(strata: int) -> int:
    bits = _MOST_BITS
    while bits > 1 and (strata << bits) > _MOST_CELLS:
        bits -= 1
    return bits
