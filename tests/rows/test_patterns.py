"""Flag patterns: undersized ones reach k together, nothing is lost, little is withheld."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import PLACES, SIZES, partition, samples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sfumato.errors import Infeasible
from sfumato.models import KAnonymity
from sfumato.randomness import Randomness, repeatable
from sfumato.rows.local_groups import local_groups
from sfumato.rows.mondrian import mondrian
from sfumato.rows.patterns import MOST_TOGETHER, Patterns
from sfumato.rows.top_down import top_down
from sfumato.schema import Schema
from sfumato.table import Groups, encode

# Greedy unions withhold at most so many times the cells of the best ones (3.3 is the most found).
GREED = 4


@st.composite
def patterns_of_people(draw, *, least: int = 1) -> tuple[Patterns, list[int]]:
    """Return a few different patterns and the people of each."""
    attributes = draw(st.integers(1, 4))
    row = st.tuples(*[st.booleans()] * attributes)
    flags = draw(st.lists(row, min_size=least, max_size=6, unique=True))
    people = draw(st.lists(st.integers(1, 12), min_size=len(flags), max_size=len(flags)))
    ids = np.repeat(np.arange(len(flags), dtype=np.int32), people)
    return Patterns(Groups(ids, len(flags)), np.array(flags, dtype=np.bool_)), people


def withheld(flags: np.ndarray, sizes: list[int]) -> int:
    """Return how many cells are mixed in one group of patterns with these flags and sizes."""
    mixed = flags.any(axis=0) & ~flags.all(axis=0)
    return int(mixed.sum()) * sum(sizes)


def cost(patterns: Patterns, people: list[int], k: int, block: tuple[int, ...], host) -> int:
    """Return the cells that a union withholds, with k people of its host if it has one."""
    guests = [] if host is None else [host]
    sizes = [people[p] for p in block] + [k] * len(guests)
    return withheld(patterns.flags[[*block, *guests]], sizes)


def set_partitions(items: list[int]) -> Iterator[list[tuple[int, ...]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for blocks in set_partitions(rest):
        yield [(first,), *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], (first, *block), *blocks[i + 1 :]]


def least_cost(patterns: Patterns, people: list[int], k: int) -> int:
    """Return the fewest withheld cells of all ways to unite the undersized patterns."""
    small = [p for p, n in enumerate(people) if n < k]
    hosts: list[int | None] = [p for p, n in enumerate(people) if n >= k]
    costs = []
    for blocks in set_partitions(small):
        choices = [
            [
                cost(patterns, people, k, block, host)
                for host in [*hosts, None]
                if host is not None or sum(people[p] for p in block) >= k
            ]
            for block in blocks
        ]
        if all(choices):
            costs.append(sum(map(min, choices)))
    return min(costs)


# --- patterns -------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_rows_are_together_just_if_all_their_flags_agree(rows):
    flags = [np.array(column) for column in zip(*rows, strict=True)]
    patterns = Patterns.of(flags, len(rows))
    assert partition(patterns.groups) == {
        frozenset(i for i, row in enumerate(rows) if row == pattern) for pattern in rows
    }
    for row, pattern in zip(rows, patterns.groups.ids.tolist(), strict=True):
        assert patterns.flags[pattern].tolist() == list(row)


def test_without_flags_all_rows_are_one_pattern():
    patterns = Patterns.of([], 3)
    assert (patterns.groups.count, patterns.flags.shape) == (1, (1, 0))
    assert patterns.unions(np.array([3]), 3) == []


# --- unions ---------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(patterns_of_people(), st.integers(1, 12))
def test_every_union_reaches_k_and_every_undersized_pattern_is_in_one(drawn, k):
    patterns, people = drawn
    if sum(people) < k:
        with pytest.raises(Infeasible, match=f"use k <= {sum(people)}$"):
            patterns.unions(np.array(people), k)
        return
    unions = patterns.unions(np.array(people), k)
    united = [p for union in unions for p in union.patterns]
    assert sorted(united) == [p for p, n in enumerate(people) if n < k]
    for union in unions:
        assert union.people == sum(people[p] for p in union.patterns)
        flags = patterns.flags[list(union.patterns)]
        assert union.any.tolist() == flags.any(axis=0).tolist()
        assert union.all.tolist() == flags.all(axis=0).tolist()
        if union.host is None:
            assert union.people >= k
        else:
            assert people[union.host] >= k


@settings(max_examples=300)
@given(patterns_of_people(), st.integers(2, 8))
def test_unions_withhold_not_much_more_than_the_best_ones(drawn, k):
    patterns, people = drawn
    assume(sum(people) >= k)
    unions = patterns.unions(np.array(people), k)
    spent = sum(cost(patterns, people, k, union.patterns, union.host) for union in unions)
    assert spent <= GREED * least_cost(patterns, people, k)


@settings(max_examples=300)
@given(patterns_of_people(least=2), st.integers(2, 8), st.data())
def test_a_single_undersized_pattern_goes_where_it_costs_least(drawn, k, data):
    patterns, people = drawn
    people = [data.draw(st.integers(1, k - 1)), *(n + k for n in people[1:])]
    (union,) = patterns.unions(np.array(people), k)
    assert cost(patterns, people, k, (0,), union.host) == least_cost(patterns, people, k)


def greedy(patterns: Patterns, people: list[int], k: int) -> set[tuple[frozenset[int], int | None]]:
    """Return greedy unions, literally: the smallest joins what costs least, a host if in doubt.

    A union has the place of the pattern that others have joined; equal ones go by their places.
    """
    waiting = {p: (p,) for p, n in enumerate(people) if n < k}
    hosts = [p for p, n in enumerate(people) if n >= k]
    done: dict[int, tuple[int, ...]] = {}
    visiting = set()
    while waiting:
        place = min(waiting, key=lambda u: (sum(people[p] for p in waiting[u]), u))
        smallest = waiting.pop(place)
        others = waiting or ({} if hosts else done)
        choices = [(cost(patterns, people, k, smallest, host), 0, host) for host in hosts]
        choices += [
            (cost(patterns, people, k, block + smallest, None), 1, u) for u, block in others.items()
        ]
        _, joins, other = min(choices)
        if not joins:
            visiting.add((frozenset(smallest), other))
            continue
        joined = others.pop(other) + smallest
        (done if sum(people[p] for p in joined) >= k else waiting)[other] = joined
    return visiting | {(frozenset(block), None) for block in done.values()}


@settings(max_examples=300)
@given(patterns_of_people(), st.integers(2, 8))
def test_unions_are_those_of_literal_greed(drawn, k):
    patterns, people = drawn
    assume(sum(people) >= k)
    unions = patterns.unions(np.array(people), k)
    assert {(frozenset(u.patterns), u.host) for u in unions} == greedy(patterns, people, k)


def test_more_flags_than_a_number_has_bits():
    flags = np.zeros((3, 150), dtype=np.bool_)
    flags[1, 149] = flags[2, :75] = True
    patterns = Patterns(Groups(np.array([0, 1, 2], np.int32), 3), flags)
    (union,) = patterns.unions(np.array([9, 2, 9]), 3)
    assert (union.patterns, union.host) == ((1,), 0)
    assert union.any.tolist() == flags[1].tolist()


@pytest.fixture
def few_together(monkeypatch):
    monkeypatch.setattr("sfumato.rows.patterns.MOST_TOGETHER", 4)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sets(st.tuples(*[st.booleans()] * 5), min_size=5, max_size=32),
    st.integers(2, 9),
    st.randoms(use_true_random=False),
)
def test_unions_of_blocks_reach_k_too(few_together, flags, k, random):
    people = [random.randint(1, 12) for _ in flags]
    assume(sum(people) >= k)
    ids = np.repeat(np.arange(len(flags), dtype=np.int32), people)
    patterns = Patterns(Groups(ids, len(flags)), np.array(sorted(flags), dtype=np.bool_))
    unions = patterns.unions(np.array(people), k)
    united = [p for union in unions for p in union.patterns]
    assert sorted(united) == [p for p, n in enumerate(people) if n < k]
    for union in unions:
        assert union.people == sum(people[p] for p in union.patterns)
        assert union.people >= k or people[union.host] >= k


def test_many_patterns_are_united_at_nearly_the_cost_of_comparing_all(monkeypatch):
    """Thousands of patterns, of one or two people each."""
    rng = repeatable(2)
    flags = np.unique(rng.random((12_000, 13)) < 0.35, axis=0)
    people = rng.integers(1, 3, len(flags)).tolist()
    ids = np.repeat(np.arange(len(flags), dtype=np.int32), people)
    patterns = Patterns(Groups(ids, len(flags)), flags)
    assert len(flags) > 3 * MOST_TOGETHER
    spent = []
    for together in (MOST_TOGETHER, len(flags)):
        monkeypatch.setattr("sfumato.rows.patterns.MOST_TOGETHER", together)
        unions = patterns.unions(np.array(people), 5)
        assert min(union.people for union in unions) >= 5
        assert sum(len(union.patterns) for union in unions) == len(flags)
        spent.append(sum(cost(patterns, people, 5, u.patterns, u.host) for u in unions))
    assert spent[0] <= 1.1 * spent[1]


def test_as_many_patterns_as_rows_take_seconds():
    rng = repeatable(3)
    flags = [rng.random(60_000) < 0.5 for _ in range(70)]
    start = perf_counter()
    patterns = Patterns.of(flags, 60_000)
    unions = patterns.unions(patterns.groups.sizes, 4)
    assert perf_counter() - start < 20
    assert min(union.people for union in unions) >= 4


# --- local groups ---------------------------------------------------------------------------------


def partitioner(table, k: int, way: str):
    rng = Randomness.test(1).generator("groups")
    if way == "ncp":
        return lambda columns, within: top_down(
            table, k, rng=rng, quasi_identifiers=columns, within=within
        )
    refine = partial(mondrian, table, [KAnonymity(k)], rng=rng)
    return lambda columns, within: refine(quasi_identifiers=columns, within=within)


@settings(max_examples=150)
@given(
    samples(people=False, max_rows=30),
    st.integers(1, 6),
    st.sampled_from(["mdp", "ncp"]),
    st.data(),
)
def test_local_groups_have_k_rows_and_mix_no_patterns_but_undersized_ones(sample, k, way, data):
    rows = len(sample.rows)
    columns = sample.table.quasi_identifiers
    share = data.draw(st.sampled_from([0, 1, 4]))
    some = st.lists(st.integers(0, 4).map(lambda n: n < share), min_size=rows, max_size=rows)
    flags = [np.array(data.draw(some)) if data.draw(st.booleans()) else None for _ in columns]
    find = partitioner(sample.table, k, way)
    if rows < k:
        with pytest.raises(Infeasible):
            local_groups(columns, flags, k, find)
        return
    groups = local_groups(columns, flags, k, find)
    assert groups.sizes.sum() == rows
    assert groups.sizes.min() >= k
    told = [tuple(bool(f[i]) for f in flags if f is not None) for i in range(rows)]
    sizes = {pattern: told.count(pattern) for pattern in told}
    for part in partition(groups):
        here = {told[i] for i in part}
        large = [pattern for pattern in here if sizes[pattern] >= k]
        assert len(here) == 1 or len(large) <= 1
        # an undersized pattern is never parted: adversaries who know its people gain nothing
        for pattern in here - set(large):
            assert {i for i in range(rows) if told[i] == pattern} <= part


@settings(max_examples=150)
@given(
    samples(people=False, max_rows=20),
    st.integers(1, 4),
    st.sampled_from(["mdp", "ncp"]),
    st.data(),
)
def test_local_groups_do_not_depend_on_what_is_secret(sample, k, way, data):
    """Not even by the range or the domain that losses are relative to."""
    rows = len(sample.rows)
    assume(rows >= k)
    some = st.lists(st.booleans(), min_size=rows, max_size=rows)
    flags = {name: data.draw(some) for name in sample.quasi}
    others = {
        "age": st.sampled_from([-1000, 3, 1000, None]),
        "job": st.sampled_from(["never seen", "v", None]),
        "size": st.sampled_from([*SIZES, None]),
        "place": st.sampled_from([*PLACES, None]),
    }
    changed = [
        row | {name: data.draw(others[name]) for name in sample.quasi if flags[name][i]}
        for i, row in enumerate(sample.rows)
    ]
    found = []
    for each in (sample, replace(sample, rows=changed)):
        masks = [np.array(flags[column.name]) for column in each.table.quasi_identifiers]
        groups = local_groups(
            each.table.quasi_identifiers, masks, k, partitioner(each.table, k, way)
        )
        found.append(groups.ids.tolist())
    assert found[0] == found[1]


def test_several_unions_do_not_pile_up_in_one_group_of_their_host():
    """Each of two lone rows costs 1 attribute x 3 people; in one group they would cost 2 x 4.

    (Together without a host they would cost 2 x 2; being greedy the first finds a host.)
    """
    ages = pa.table({"age": [10, 10, 20, 20, 30, 30, 10, 20], "town": ["x"] * 8})
    table = encode(ages, Schema.of(age="quasi-identifier", town="quasi-identifier"))
    flags = [np.arange(8) == 6, np.arange(8) == 7]
    groups = local_groups(table.columns, flags, 2, partitioner(table, 2, "mdp"))
    assert sorted(groups.sizes.tolist()) == [2, 3, 3]
    assert groups.ids[6] != groups.ids[7]


def test_a_table_whose_patterns_are_all_undersized_is_one_group():
    ages = pa.table({"age": [1, 2, 3], "size": [1, 2, 3], "pay": [1, 2, 3]})
    table = encode(ages, Schema.of(dict.fromkeys(ages.column_names, "quasi-identifier")))
    flags = [np.arange(3) == i for i in range(3)]
    groups = local_groups(table.columns, flags, 3, partitioner(table, 3, "ncp"))
    assert groups.count == 1
