"""Deals to shards: each has its share of every value, and none is dealt that has no solution."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.rows.coarse_deal import Deal, fewer, plan_deal, ranks
from sfumato.rows.shard_conditions import HasValues
from sfumato.table.whole import counted

VALUES = st.lists(st.integers(0, 4), min_size=1, max_size=60)
MISSING = 4


def plan(values: list[int], shards: int, l: int = 1) -> Deal:  # noqa: E741
    strata = counted([np.array(values)], np.ones(len(values), np.int64))
    return plan_deal(["v"], strata, [HasValues("v", MISSING, Fraction(1, l))], shards)


def dealt(deal: Deal, values: list[int], seed: int = 0) -> list[list[int]]:
    """Return the values in each shard."""
    codes = np.array(values, np.int32)
    hashes = np.random.default_rng(seed).integers(0, 2**64, len(values), dtype=np.uint64)
    stratum = deal.stratum_of({"v": codes}, len(codes))
    shard = deal.shard_of(stratum, ranks(stratum, hashes))
    return [codes[shard == number].tolist() for number in range(deal.shards)]


def is_eligible(values: list[int], l: int) -> bool:  # noqa: E741
    known = [value for value in values if value != MISSING]
    return bool(known) and max(Counter(known).values()) * l <= len(known)


@given(VALUES, st.integers(1, 8), st.integers(1, 3), st.integers(0, 9))
def test_every_shard_is_eligible_and_has_its_share(
    values: list[int],
    shards: int,
    l: int,  # noqa: E741
    seed: int,
) -> None:
    deal = plan(values, shards, l)
    found = dealt(deal, values, seed)
    assert sorted(value for part in found for value in part) == sorted(values)
    assert 1 <= deal.shards <= shards
    if deal.shards == 1:
        return
    assert all(is_eligible(part, l) for part in found)
    for value in set(values):
        held = [part.count(value) for part in found]
        assert max(held) - min(held) <= 1


def test_shards_that_leave_no_room_still_come_out_even() -> None:
    """Half of the rows have one value: every shard must have as many of the other."""
    values = [0] * 14 + [1] * 14
    deal = plan(values, 4, l=2)
    assert deal.shards == 4
    assert [part.count(0) for part in dealt(deal, values)] == [4, 4, 3, 3]
    assert all(is_eligible(part, 2) for part in dealt(deal, values))


def test_fewer_shards_are_dealt_where_more_have_no_solution() -> None:
    assert plan([0, 0, 1, 1, 2], 5, l=2).shards < 5
    assert plan([0, 1], 2, l=2).shards == 1
    assert plan([MISSING] * 6, 3).shards == 1


@pytest.mark.parametrize("shards", [2, 3, 9, 1_000])
def test_the_next_try_has_fewer_shards(shards: int) -> None:
    assert 1 <= fewer(shards) < shards


def test_without_columns_rows_are_dealt_as_they_come() -> None:
    deal = plan_deal([], counted([], np.array([7])), [], 3)
    stratum = deal.stratum_of({}, 7)
    shard = deal.shard_of(stratum, ranks(stratum, np.arange(7, dtype=np.uint64)))
    assert shard.tolist() == [0, 0, 0, 1, 1, 2, 2]
