"""Local buckets against literal ones: Algorithm 2 by recursion, t-close deals by trying all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import models as oracle

from sfumato.models import TCloseBuckets
from sfumato.models.counting import column_total
from sfumato.randomness import Randomness
from sfumato.rows.local_buckets import close_buckets, unique_buckets
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Column, Groups, encode

STANDARD_DEVIATIONS = 4.5
PATHS = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]
# No distance of so few cells is equal to these: at a tie the models err towards refusal.
SHARES = st.sampled_from([0.0517, 0.1371, 0.2633, 0.3119, 0.5137, 0.7719, 1.0])


def generator(seed: int) -> np.random.Generator:
    return Randomness.test(seed).generator("buckets")


def deal(codes: Sequence[int], ell: int, *, cardinality: int = 10, seed: int = 0) -> Groups:
    """Return l-unique buckets; the code `cardinality` is a missing cell."""
    return unique_buckets(np.array(codes, np.int32), cardinality, ell, rng=generator(seed))


def contents(codes: Sequence[int], groups: Groups) -> list[list[int]]:
    """Return the codes of each bucket, ascending."""
    return [sorted(codes[i] for i in groups.members(b)) for b in range(groups.count)]


def eligible(values: Sequence[int], ell: int) -> bool:
    """Whether values can be split into l-unique buckets; a set without values is not to be made."""
    return bool(values) and max(Counter(values).values()) * ell <= len(values)


def _with_feasible_l(codes: list[int]) -> st.SearchStrategy[tuple[list[int], int]]:
    most = len(codes) // max(Counter(codes).values())
    return st.tuples(st.just(codes), st.integers(1, min(most, 5)))


# Cells and an l for which they are eligible.
ELIGIBLE = st.lists(st.integers(0, 9), min_size=1, max_size=40).flatmap(_with_feasible_l)


def algorithm_2(values: Sequence[int], ell: int) -> list[list[int]]:
    """Return what the paper's recursion hands to `divide_buckets`, in order of value."""
    ranked = sorted(values)
    median = ranked[(len(ranked) - 1) // 2]
    small = [value for value in ranked if value <= median]
    big = [value for value in ranked if value > median]
    if eligible(small, ell) and eligible(big, ell):
        return algorithm_2(small, ell) + algorithm_2(big, ell)
    return [ranked]


# --- l-unique buckets -----------------------------------------------------------------------------


@settings(max_examples=400)
@given(ELIGIBLE, st.integers(0, 3))
def test_buckets_are_those_of_the_recursion(drawn, seed):
    codes, ell = drawn
    buckets = contents(codes, deal(codes, ell, seed=seed))
    assert sorted(code for bucket in buckets for code in bucket) == sorted(codes)
    ranges = algorithm_2(codes, ell)
    left = list(buckets)
    for expected in ranges:
        low, high = expected[0], expected[-1]
        inside = [bucket for bucket in left if low <= bucket[0] and bucket[-1] <= high]
        assert sorted(code for bucket in inside for code in bucket) == expected
        assert len(inside) == len(expected) // ell  # the residue makes no bucket of its own
        left = [bucket for bucket in left if bucket not in inside]
    assert left == []
    for one, other in pairwise(ranges):
        assert one[-1] < other[0]


@settings(max_examples=400)
@given(ELIGIBLE, st.integers(0, 3))
def test_no_bucket_holds_a_value_twice_or_fewer_than_l(drawn, seed):
    codes, ell = drawn
    for bucket in contents(codes, deal(codes, ell, seed=seed)):
        assert len(set(bucket)) == len(bucket)
        assert ell <= len(bucket) < 2 * ell


@settings(max_examples=200)
@given(ELIGIBLE, st.integers(1, 30), st.randoms(use_true_random=False))
def test_missing_cells_are_spread_evenly_and_change_nothing_else(drawn, missing, random):
    codes, ell = drawn
    mixed = [*codes, *[10] * missing]
    random.shuffle(mixed)
    buckets = contents(mixed, deal(mixed, ell))
    gaps = [bucket.count(10) for bucket in buckets]
    assert sum(gaps) == missing
    assert max(gaps) - min(gaps) <= 1
    for bucket in buckets:
        known = [code for code in bucket if code != 10]
        assert len(set(known)) == len(known) >= ell
    assert len(buckets) == sum(len(each) // ell for each in algorithm_2(codes, ell))


def test_the_worked_example():
    ages = [24, 31, 29, 34]
    assert sorted(contents(ages, deal(ages, 2, cardinality=99))) == [[24, 29], [31, 34]]


def test_the_same_seed_gives_the_same_buckets_and_others_differ():
    codes = [0, 1, 2, 3] * 10
    assert deal(codes, 2, seed=1).ids.tolist() == deal(codes, 2, seed=1).ids.tolist()
    assert len({tuple(deal(codes, 2, seed=seed).ids.tolist()) for seed in range(20)}) == 20


@pytest.mark.parametrize("codes", [[0, 0, 1, 1, 2], [0, 1, 2, 2, 1, 0], [3, 3, 0, 1, 0, 1, 2]])
def test_cells_of_one_value_are_dealt_as_if_they_had_no_place_in_the_input(codes):
    """Whoever knows the order of the input learns nothing from who shares a bucket.

    Two partitions of the rows that differ by the places of equal cells must be equally likely.
    """
    tries = 3000
    seen: Counter[frozenset[frozenset[int]]] = Counter()
    for seed in range(tries):
        groups = deal(codes, 2, cardinality=4, seed=seed)
        seen[frozenset(frozenset(groups.members(b).tolist()) for b in range(groups.count))] += 1
    kinds: dict[Any, list[int]] = {}
    for parts, count in seen.items():
        kind = tuple(sorted(tuple(sorted(codes[i] for i in part)) for part in parts))
        kinds.setdefault(kind, []).append(count)
    for counts in kinds.values():
        share = sum(counts) / len(counts)
        assert max(abs(count - share) for count in counts) < STANDARD_DEVIATIONS * share**0.5


@pytest.mark.parametrize("ways", [unique_buckets, close_buckets], ids=lambda way: way.__name__)
def test_missing_cells_are_dealt_as_if_they_had_no_place_in_the_input(ways):
    """Four missing cells in two buckets: which two share one says nothing about their places."""
    codes = np.array([2, 2, 0, 1, 0, 1, 2, 2], np.int32)
    column = encode(pa.table({"x": ["a", "b"]}), Schema.of(x="sensitive"))["x"]
    total = column_total(column, np.array([2, 2, 4]), 4)
    rule = TCloseBuckets("x", 0.2).bind({"x": total}).rule
    partners: Counter[int] = Counter()
    tries = 600
    for seed in range(tries):
        rng = generator(seed)
        if ways is unique_buckets:
            groups = unique_buckets(codes, 2, 2, rng=rng)
        else:
            groups = close_buckets(codes, 2, rule, rng=rng)
        assert groups.count == 2
        (partner,) = (i for i in (1, 6, 7) if groups.ids[i] == groups.ids[0])
        partners[partner] += 1
    share = tries / 3
    assert max(abs(partners[i] - share) for i in (1, 6, 7)) < STANDARD_DEVIATIONS * share**0.5


# --- t-close buckets ------------------------------------------------------------------------------


def literal_deal(values: Sequence[Any], count: int) -> list[list[Any]]:
    """Return sorted values dealt round-robin into so many buckets."""
    return [list(values[start::count]) for start in range(count)]


def most_close(values: Sequence[Any], t: float, ground: oracle.GroundDistance) -> int:
    """Return the largest number of buckets that are all t-close with two values; 0 for none."""
    for count in range(len(values), 0, -1):
        buckets = literal_deal(values, count)
        if all(
            len(set(bucket)) > 1 and oracle.t_closeness(bucket, values, t, ground)
            for bucket in buckets
        ):
            return count
    return 0


def coded_column(values: Sequence[Any], distance: str) -> Column:
    hierarchy = Hierarchy.from_rows(PATHS, "x") if distance == "hierarchical" else None
    attribute = Attribute("x", Role.SENSITIVE, hierarchy=hierarchy)
    kind = pa.int64() if distance == "ordered" else pa.string()
    return encode(pa.table({"x": pa.array(values, kind)}), Schema((attribute,)))["x"]


def close(column: Column, t: float, distance: str, seed: int = 0) -> Groups | None:
    counts = np.bincount(column.codes, minlength=column.null_code + 1).astype(np.int64)
    model = TCloseBuckets("x", t, distance)
    rule = model.bind({"x": column_total(column, counts, int(counts[:-1].sum()))}).rule
    return close_buckets(column.codes, column.null_code, rule, rng=generator(seed))


LETTERS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=18)
NUMBERS = st.lists(st.integers(0, 5), min_size=1, max_size=18)


@settings(max_examples=150)
@given(
    st.one_of(
        st.tuples(LETTERS, st.just("equal")),
        st.tuples(NUMBERS, st.just("ordered")),
        st.tuples(LETTERS, st.just("hierarchical")),
    ),
    SHARES,
    st.integers(0, 3),
    st.integers(0, 5),
    st.randoms(use_true_random=False),
)
def test_there_are_as_many_close_buckets_as_a_deal_can_make(drawn, t, seed, missing, random):
    values, distance = drawn
    cells = [*values, *[None] * missing]
    random.shuffle(cells)
    column = coded_column(cells, distance)
    groups = close(column, t, distance, seed)
    known = column.values.to_pylist()
    ranked = sorted(values, key=known.index)  # in the order of the codes: leaves of a hierarchy
    ground = oracle.ground_distance(distance, values, hierarchy=PATHS)
    best = most_close(ranked, t, ground)
    if groups is None:
        assert best == 0
        assert len(set(values)) == 1  # one bucket of all cells is as close as can be
        return
    assert groups.count == best
    buckets = [[cells[i] for i in groups.members(b)] for b in range(groups.count)]
    found = sorted(sorted(v for v in bucket if v is not None) for bucket in buckets)
    assert found == sorted(map(sorted, literal_deal(ranked, best)))
    gaps = [bucket.count(None) for bucket in buckets]
    assert sum(gaps) == missing
    assert max(gaps) - min(gaps) <= 1


def test_close_buckets_of_two_values_by_hand():
    """Three in ten are men: t = 0.2 allows pairs (0.5 - 0.3), but not a pair without a man."""
    column = coded_column(["m"] * 3 + ["w"] * 7, "equal")
    groups = close(column, 0.2001, "equal")
    assert groups is not None
    assert groups.count == 3
    assert sorted(contents(column.codes.tolist(), groups)) == [
        [0, 1, 1],
        [0, 1, 1],
        [0, 1, 1, 1],
    ]


def test_a_close_deal_differs_by_seed():
    column = coded_column(["m"] * 20 + ["w"] * 20, "equal")
    deals = {tuple(close(column, 0.3, "equal", seed).ids.tolist()) for seed in range(10)}
    assert len(deals) == 10
