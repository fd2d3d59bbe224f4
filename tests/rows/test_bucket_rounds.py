"""Rounds that take from the largest buckets, against the sort-every-round definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.randomness import Randomness
from sfumato.rows.bucket_rounds import deal_unique, rounds_of_largest

COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=9)


def literal(counts: list[int], ell: int) -> tuple[int, list[int]]:
    """Return the number of rounds and what is left in the buckets, largest first."""
    left, rounds = sorted(counts, reverse=True), 0
    while len(left) >= ell and left[ell - 1] > 0:
        left = sorted([n - 1 for n in left[:ell]] + left[ell:], reverse=True)
        rounds += 1
    return rounds, left


def buckets_of(counts: list[int]) -> list[int]:
    """Return the bucket of each item."""
    return [bucket for bucket, n in enumerate(counts) for _ in range(n)]


@settings(max_examples=300)
@given(COUNTS, st.integers(1, 5))
def test_rounds_take_one_item_from_each_of_the_largest_buckets(counts, ell):
    rounds, count = rounds_of_largest(np.array(counts, np.int64), ell)
    expected, left = literal(counts, ell)
    assert count == expected
    assert len(rounds) == sum(counts)
    assert set(rounds.tolist()) <= {-1, *range(count)}
    owners = buckets_of(counts)
    for number in range(count):
        taken = [owners[item] for item in np.flatnonzero(rounds == number)]
        assert len(set(taken)) == len(taken) == ell
    residue = Counter(owners[item] for item in np.flatnonzero(rounds < 0))
    assert sorted(residue.values(), reverse=True) == [n for n in left if n]


@settings(max_examples=300)
@given(COUNTS, st.integers(1, 5))
def test_an_eligible_multiset_leaves_fewer_than_l_single_items(counts, ell):
    assume(max(counts) * ell <= sum(counts) > 0)
    rounds, count = rounds_of_largest(np.array(counts, np.int64), ell)
    owners = buckets_of(counts)
    residue = Counter(owners[item] for item in np.flatnonzero(rounds < 0))
    assert count == sum(counts) // ell
    assert len(residue) < ell
    assert all(n == 1 for n in residue.values())


@settings(max_examples=200)
@given(COUNTS, st.integers(1, 5), st.integers(0, 3))
def test_dealing_leaves_no_item_over_and_no_two_of_a_bucket_together(counts, ell, seed):
    assume(max(counts) * ell <= sum(counts) > 0)
    rng = Randomness.test(seed).generator("deal")
    groups, count = deal_unique(np.array(counts, np.int64), ell, rng)
    assert set(groups.tolist()) == set(range(count))
    owners = buckets_of(counts)
    for number in range(count):
        taken = [owners[item] for item in np.flatnonzero(groups == number)]
        assert len(set(taken)) == len(taken)
        assert ell <= len(taken) < 2 * ell


def test_an_item_left_over_may_join_any_group_without_its_bucket():
    """Thirteen items in three buckets make six pairs and one item left over."""
    counts = np.array([4, 5, 4], np.int64)
    joined = set()
    for seed in range(60):
        groups, count = deal_unique(counts, 2, Randomness.test(seed).generator("deal"))
        sizes = np.bincount(groups, minlength=count)
        joined.add(int(sizes.argmax()))
        assert sorted(sizes.tolist()) == [2] * 5 + [3]
    owners = np.array(buckets_of([4, 5, 4]))
    rounds, count = rounds_of_largest(counts, 2)
    (rest,) = np.flatnonzero(rounds < 0)
    free = set(range(count)) - set(rounds[(owners == owners[rest]) & (rounds >= 0)].tolist())
    assert joined == free
