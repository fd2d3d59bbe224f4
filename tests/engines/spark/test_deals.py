"""The shard of a row, found by halving, against a walk over all limits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.engines.spark.deals import HASH, HashedDeal
from sfumato.randomness import repeatable
from sfumato.rows.coarse_deal import Deal
from sfumato.table.whole import Joint


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 8, 13])
def test_a_row_goes_to_the_last_shard_whose_limit_it_reaches(shards):
    rng = repeatable(shards)
    strata, rows = 5, 400
    limits = np.sort(rng.integers(0, 50, (strata, shards)), axis=1).astype(np.uint64)
    limits[:, 0] = 0
    limits[3, 1:] = np.iinfo(np.uint64).max  # all of this stratum is in shard 0
    joint = Joint((np.arange(strata),), np.full(strata, rows))
    deal = Deal(("town",), joint, np.ones((strata, shards), np.int64))
    town, hashes = rng.integers(0, strata, rows), rng.integers(0, 50, rows).astype(np.uint64)
    found = HashedDeal(deal, limits).shard_of(pa.table({"town": town, HASH: hashes}))
    expected = [
        max(shard for shard in range(shards) if limits[stratum, shard] <= own)
        for stratum, own in zip(town, hashes, strict=True)
    ]
    assert found.tolist() == expected
    assert len(set(expected)) == shards
