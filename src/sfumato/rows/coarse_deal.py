"""A coarse deal: rows dealt to shards so that each has its share of every value.

Planned from counts alone: how many rows have each combination of the values that matter (a
*stratum*). Within a stratum rows are dealt in the order of a keyed hash (`keyed_hash.py`), so that
nobody can tell who is in which shard, and it does not matter in which order rows came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.rows.shard_conditions import Condition, all_hold
from sfumato.table.whole import Joint

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Deal:
    """How many rows of each stratum each shard gets: `quotas[stratum, shard]`.

    Strata are the combinations of codes of `columns` in `strata`, in its order. The first rows of a
    stratum go to shard 0, the next to shard 1, and so on.
    """

    columns: tuple[str, ...]
    strata: Joint = field(repr=False)
    quotas: Ints = field(repr=False)

    @property
    def shards(self) -> int:
        """The number of shards."""
        return int(self.quotas.shape[1])

    def stratum_of(self, codes: Mapping[str, Codes], rows: int) -> Ints:
        """Return the stratum of each of so many rows, given the codes of `columns`."""
        return self.strata.lines_of([codes[name] for name in self.columns], rows)

    def shard_of(self, stratum: Ints, rank: Ints) -> Codes:
        """Return the shard of rows: `rank` is a row's place in its stratum, from 0."""
        ends = np.cumsum(self.quotas, axis=1)
        width = np.int64(self.strata.counts.max(initial=0)) + 1
        flat = (ends + width * np.arange(len(ends))[:, None]).ravel()
        place = np.searchsorted(flat, rank + width * stratum, side="right")
        return np.asarray(place - stratum * self.shards, np.int32)


def plan_deal(
    columns: Sequence[str],
    strata: Joint,
    conditions: Sequence[Condition],
    shards: int,
    *,
    least_rows: int = 1,
) -> Deal:
    """Return a deal to so many shards, or as many fewer as all keep the conditions in; 1 at worst.

    `strata` are the joint counts of the columns, among which are all that conditions look at.
    """
    rows = int(strata.counts.sum())
    shards = max(min(shards, rows // max(least_rows, 1)), 1)
    while shards > 1:
        for quotas in _quotas(strata.counts, shards):
            if _keeps(columns, strata, quotas, conditions):
                return Deal(tuple(columns), strata, quotas)
        shards = fewer(shards)
    return Deal(tuple(columns), strata, strata.counts[:, None])


def fewer(shards: int) -> int:
    """Return how many shards to try next."""
    return max(shards - max(shards // 4, 1), 1)


def ranks(stratum: Ints, hashes: npt.NDArray[np.uint64]) -> Ints:
    """Return the place of each row among those of its stratum, by its hash.

    >>> ranks(np.array([1, 0, 1]), np.array([9, 5, 4], np.uint64)).tolist()
    [1, 0, 0]
    """
    order = np.lexsort((hashes, stratum))
    starts = np.flatnonzero(np.diff(stratum[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return found


def _quotas(counts: Ints, shards: int) -> Iterator[Ints]:
    """Yield ways to share out strata: each shard gets its share, rounded up or down.

    First so that shards are of the same size, give or take one; then so that the same shards get
    the odd rows of all strata, which keeps shares that leave no room at all.
    """
    order = np.argsort(-counts, kind="stable")
    ends = np.empty(len(counts), np.int64)
    ends[order] = np.cumsum(counts[order])
    base, odd = np.divmod(counts, shards)
    places = np.arange(shards)
    for start in ((ends - counts) % shards, np.zeros_like(counts)):
        takes_one = (places[None, :] - start[:, None]) % shards < odd[:, None]
        yield np.asarray(base[:, None] + takes_one, np.int64)


def _keeps(
    columns: Sequence[str], strata: Joint, quotas: Ints, conditions: Sequence[Condition]
) -> bool:
    shards = quotas.shape[1]
    if not quotas.sum(axis=0).all():
        return False
    stratum, shard = (each.ravel() for each in np.indices(quotas.shape))
    lines = []
    for condition in conditions:
        codes = tuple(strata.codes[list(columns).index(name)] for name in condition.columns)
        lines.append((shard, Joint(tuple(each[stratum] for each in codes), quotas.ravel())))
    return bool(all_hold(conditions, lines, shards).all())
