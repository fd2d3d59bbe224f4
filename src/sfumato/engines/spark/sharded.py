"""From a staged table to published shards: planned from counts, and anew where one fails.

The same steps as `engines/in_shards.py` takes in memory, and the same outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.counts import StagedCounts
from sfumato.engines.spark.deals import hashed_deal, stage_hashes
from sfumato.engines.spark.shards import Outcome, Shard, ShardMaker, publish_shards
from sfumato.engines.spark.staged import Staged, arrays_of, code_names
from sfumato.errors import Infeasible
from sfumato.methods import Method
from sfumato.methods.splitting import Splitting
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.coarse_cuts import CutTree
from sfumato.rows.coarse_deal import fewer
from sfumato.rows.keyed_hash import KEY_BYTES
from sfumato.table import Table
from sfumato.table.whole import Whole, flag_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ShardedTable:
    """A staged table on its way to shards; `frame` knows the counts of the whole.

    `staging` is a folder that all workers see.
    """

    session: SparkSession
    staged: Staged
    frame: Table
    splitting: Splitting
    method: Method
    randomness: Randomness
    staging: Path
    finish: Callable[[Release], Release]

    def attempts(self, shard_rows: int) -> Iterator[list[Outcome]]:
        """Yield the outcomes of all shards, by their numbers, none of them a refusal.

        Whoever cannot unite them takes the next ones, which are of fewer shards; those of the
        whole table in one piece are the last.

        Refuses (Infeasible) what has no solution in one piece either.
        """
        return (self._by_cuts if self.splitting.by == "cuts" else self._by_deal)(shard_rows)

    def _maker(self) -> ShardMaker:
        folder = self.staging / "shards"
        folder.mkdir(exist_ok=True)
        return ShardMaker(self.frame, self.method, self.randomness, str(folder), self.finish)

    def _by_cuts(self, shard_rows: int) -> Iterator[list[Outcome]]:
        counts = StagedCounts(self.session, self.staged, self.frame)
        tree = self.splitting.cuts(self.frame, counts, most_rows=shard_rows)
        columns, frame = code_names(self.frame), self.frame
        maker, done = self._maker(), dict[Shard, Outcome]()
        while True:
            (sizes,) = counts.joints(tree, tree.parts, [()])
            shards = self._shards(sizes.codes[0], sizes.counts)
            asked = [shard for shard in shards if shard not in done]

            def shard_of(rows: pa.Table, tree: CutTree = tree) -> Codes:
                return tree.part_of(arrays_of(rows, frame, tree.columns), rows.num_rows)

            found = publish_shards(self.session, self.staged, asked, shard_of, columns, maker)
            done |= dict(zip(asked, found, strict=True))
            refused = [shard for shard in shards if done[shard].refusal is not None]
            if not refused:
                yield [done[shard] for shard in shards]
            if len(shards) == 1:
                _refuse(done[shards[0]])
                return
            tree = tree.joined((refused or shards[-1:])[0].number)

    def _by_deal(self, shard_rows: int) -> Iterator[list[Outcome]]:
        names = code_names(self.frame)
        counts = StagedCounts(self.session, self.staged, self.frame)
        (strata,) = counts.whole([self.splitting.on])
        key = self.randomness.generator("shards").bytes(KEY_BYTES)
        folder = self.staging / "hashed"
        folder.mkdir()
        hashed = stage_hashes(self.session, self.staged, str(folder), names, key)
        whole = self.frame.whole
        assert whole is not None
        wanted, maker = -(-whole.rows // shard_rows), self._maker()
        while True:
            deal = self.splitting.deal(strata, wanted)
            sizes = deal.quotas.sum(axis=0)
            shards = self._shards(np.arange(deal.shards), sizes)
            shard_of = hashed_deal(self.session, hashed, deal).shard_of
            found = publish_shards(self.session, hashed, shards, shard_of, names, maker)
            if all(each.refusal is None for each in found):
                yield found
            if len(shards) == 1:
                _refuse(found[0])
                return
            wanted = fewer(deal.shards)

    def _shards(self, numbers: Ints, sizes: Ints) -> list[Shard]:
        # only methods that share numbers out ask what comes before; others need not run again
        shares = type(self.method).for_shard is not Method.for_shard
        before = np.cumsum(sizes) - sizes if shares else np.zeros_like(sizes)
        triples = zip(numbers.tolist(), sizes.tolist(), before.tolist(), strict=True)
        return [Shard(*each, alone=len(sizes) == 1) for each in triples]


def framed(
    session: SparkSession, staged: Staged, frame: Table, counts: dict[str, Ints], method: Method
) -> tuple[Table, Splitting]:
    """Return the frame with the counts of the whole that the method must know, and how to split.

    Refuses (EngineUnavailable) what runs on one machine only.
    """
    asked = StagedCounts(session, staged, frame)
    joints = list(dict.fromkeys(method.joints(frame)))
    flags = [(name, flag_name(name)) for name in frame.flags]
    found = asked.whole([*joints, *flags])
    rows = int(next(iter(counts.values())).sum())
    flagged = {
        name: _flagged(joint.codes[0][joint.codes[1] > 0], joint.counts[joint.codes[1] > 0], size)
        for (name, _), joint, size in zip(
            flags, found[len(joints) :], [len(counts[name]) for name, _ in flags], strict=True
        )
    }
    whole = Whole(rows, counts, flagged, dict(zip(joints, found, strict=False)))
    frame = replace(frame, whole=whole)
    splitting = method.splitting(frame)
    commonest = {names: asked.commonest(names) for names in dict.fromkeys(splitting.commonest)}
    return replace(frame, whole=replace(whole, commonest=commonest)), splitting


def _refuse(outcome: Outcome) -> None:
    if outcome.refusal is not None:
        raise Infeasible(outcome.refusal)


def _flagged(codes: Ints, counts: Ints, size: int) -> Ints:
    found = np.zeros(size, np.int64)
    found[codes] = counts
    return found
