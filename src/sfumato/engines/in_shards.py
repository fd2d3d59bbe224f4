"""A table published in shards on one machine: split, release each, unite.

What the Spark engine does on many machines, by the same plans and the same methods. No shard is
refused where the whole table is not: a shard in which a method finds no solution is joined with
its neighbour, and at worst the table is published in one piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.audit import audit
from sfumato.errors import Infeasible
from sfumato.methods import Method
from sfumato.methods.splitting import Splitting, refuse_unsplittable
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.release.union import unite_releases
from sfumato.rows.coarse_cuts import CutTree, TableCounts
from sfumato.rows.coarse_deal import Deal, fewer, ranks
from sfumato.rows.keyed_hash import KEY_BYTES, copies, row_hashes
from sfumato.table import Table
from sfumato.table.whole import (
    codes_of,
    commonest_of,
    flag_name,
    frame_of,
    joint_of,
    part_of,
    whole_of,
)

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Plan = TypeVar("Plan")


@dataclass(frozen=True, slots=True, eq=False)
class Sharded:
    """A release of a table in shards, and how many rows each shard had."""

    release: Release
    shard_rows: tuple[int, ...]


def release_in_shards(
    method: Method, table: Table, randomness: Randomness, *, shard_rows: int
) -> Sharded:
    """Return the release of a table that is published in shards of at most so many rows.

    *Refuses* (EngineUnavailable): what cannot be split; and whatever the method refuses.
    """
    method.refuse_roles(table)
    refuse_unsplittable(table, method.name)  # before rows are left out that such tables need
    whole = whole_of(table, method.joints(frame_of(table)))
    splitting = method.splitting(frame_of(table, whole))
    whole = replace(whole, commonest=commonest_of(table, splitting.commonest))
    table, frame = replace(table, whole=whole), frame_of(table, whole)
    shards = _Shards(method, table, frame, splitting, randomness, shard_rows)
    return shards.by_cuts() if splitting.by == "cuts" else shards.by_deal()


@dataclass(frozen=True, slots=True, eq=False)
class _Done:
    """The release of a part."""

    rows: Ints
    method: Method
    release: Release

    def is_of(self, rows: Ints, method: Method) -> bool:
        """Return whether it is the release of these rows by this method."""
        return self.method == method and np.array_equal(self.rows, rows)


@dataclass(frozen=True, slots=True, eq=False)
class _Shards:
    method: Method
    table: Table
    frame: Table
    splitting: Splitting
    randomness: Randomness
    shard_rows: int

    def by_cuts(self) -> Sharded:
        """Return the release in parts that are cut; a part without a solution joins the next."""
        splitting, table = self.splitting, self.table
        tree = splitting.cuts(self.frame, TableCounts(table), most_rows=self.shard_rows)

        def parts(tree: CutTree) -> Codes:
            codes = {name: codes_of(table, name) for name in tree.columns}
            return tree.part_of(codes, table.rows)

        return self._released(tree, parts, CutTree.joined)

    def by_deal(self) -> Sharded:
        """Return the release in shards that are dealt; in fewer, where one has no solution."""
        splitting, table = self.splitting, self.table
        names = [*(c.name for c in table.columns), *map(flag_name, table.flags)]
        codes = [codes_of(table, name) for name in names]
        key = self.randomness.generator("shards").bytes(KEY_BYTES)
        hashes = row_hashes([*codes, copies(codes)], key)
        strata = joint_of(table, splitting.on)

        def parts(deal: Deal) -> Codes:
            own = {name: table[name].codes for name in splitting.on}
            stratum = deal.stratum_of(own, table.rows)
            return deal.shard_of(stratum, ranks(stratum, hashes))

        wanted = -(-table.rows // self.shard_rows)
        first = splitting.deal(strata, wanted)
        return self._released(
            first, parts, lambda deal, _: splitting.deal(strata, fewer(deal.shards))
        )

    def _unsplit(self) -> Sharded:
        """Return the release in one piece; what the method refuses then, it refuses."""
        whole = part_of(self.table, np.arange(self.table.rows), None)
        return Sharded(self.method.release(whole, self.randomness), (self.table.rows,))

    def _released(
        self,
        plan: Plan,
        parts: Callable[[Plan], Codes],
        coarser: Callable[[Plan, int], Plan],
    ) -> Sharded:
        done: dict[int, _Done] = {}  # by part, most of which a retry does not change
        while True:
            part = parts(plan)
            found = np.unique(part)
            if len(found) <= 1:
                return self._unsplit()
            sizes = np.bincount(part)[found]
            before = np.cumsum(sizes) - sizes
            releases = []
            for number, start, size in zip(
                found.tolist(), before.tolist(), sizes.tolist(), strict=True
            ):
                method = self.method.for_shard(start, size, self.table.rows)
                rows = np.flatnonzero(part == number)
                if number not in done or not done[number].is_of(rows, method):
                    shard = part_of(self.table, rows, self.table.whole)
                    try:
                        release = method.release(shard, self.randomness.part(number))
                    except Infeasible:
                        plan = coarser(plan, number)
                        break
                    done[number] = _Done(rows, method, release)
                releases.append(done[number].release)
            else:
                order = self.randomness.generator("order of shards").permutation(len(releases))
                united = unite_releases([releases[i] for i in order], self.frame)
                # how many cells a shard withholds, no other shard knows: closeness may suffer
                if all(verdict.holds is not False for verdict in audit(united).guarantees):
                    return Sharded(united, tuple(sizes.tolist()))
                plan = coarser(plan, int(found[-1]))
