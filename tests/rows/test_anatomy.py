"""Anatomy's partition: unique values in every group, at random, and nothing but that."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import partition, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import models as oracle

from sfumato.errors import Infeasible, ParameterError
from sfumato.models import LDiversity, LUniqueGroups
from sfumato.randomness import Randomness
from sfumato.rows.anatomy import anatomy
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Groups, Table, encode

# A fair dealer exceeds these in one of a million tests of five or nine degrees of freedom. Seeds
# are fixed, so a test that passes once always does.
CHI_SQUARE_5 = 35.9
CHI_SQUARE_9 = 44.8
RUNS = 1200


def of_values(values: str) -> Table:
    """Return a table of rows with these sensitive values, `-` being a missing one."""
    cells = [None if letter == "-" else f"secret {letter}" for letter in values]
    data = pa.table({"age": range(len(cells)), "illness": pa.array(cells, pa.string())})
    return encode(data, Schema.of(age="quasi-identifier", illness="sensitive"))


def deal(table: Table, ell: int, seed: int | None = 0) -> Groups:
    source = Randomness.fresh() if seed is None else Randomness.test(seed)
    return anatomy(table, "illness", ell, rng=source.generator("deal"))


@settings(max_examples=200)
@given(samples(people=False), st.integers(1, 4), st.integers(0, 3))
def test_groups_are_unique_and_as_large_as_they_may_be(sample, ell, seed):
    values = [row["illness"] for row in sample.rows]
    known = [value for value in values if value is not None]
    if not known:
        with pytest.raises(ParameterError, match="`illness` is missing"):
            deal(sample.table, ell, seed)
        return
    commonest = max(Counter(known).values())
    if commonest * ell > len(known):
        feasible = len(known) // commonest
        with pytest.raises(Infeasible, match=f"`illness`.*largest feasible l is {feasible}$"):
            deal(sample.table, ell, seed)
        deal(sample.table, feasible, seed)
        return
    groups = deal(sample.table, ell, seed)
    assert groups.count == len(known) // ell
    missing = []
    for part in partition(groups):
        here = [values[row] for row in part]
        assert oracle.l_unique(here, ell)
        assert oracle.frequency_diversity(here, ell)
        assert ell <= len([value for value in here if value is not None]) < 2 * ell
        missing.append(here.count(None))
    assert max(missing) - min(missing) <= 1
    for model in (LUniqueGroups("illness", ell), LDiversity("illness", ell)):
        assert sample.satisfies(groups, model)


def test_the_last_rows_join_groups_without_their_value():
    groups = deal(of_values("aaabbbc"), 2)
    assert sorted(groups.sizes.tolist()) == [2, 2, 3]
    assert deal(of_values("a"), 1).count == 1
    assert deal(of_values("aa"), 1).count == 2


def test_rows_that_miss_the_value_are_spread_over_all_groups():
    table = of_values("abab" + "-" * 101)
    groups = deal(table, 2)
    assert sorted(groups.sizes.tolist()) == [52, 53]


def test_an_l_above_the_feasible_is_refused_without_a_value():
    with pytest.raises(Infeasible) as refusal:
        deal(of_values("aaabbc-----"), 3)
    message = str(refusal.value)
    assert "l = 3" in message and "`illness`" in message and "50.0%" in message
    assert message.endswith("largest feasible l is 2")
    assert "secret" not in message


@pytest.mark.parametrize("ell", [0, -1, 2.5, True])
def test_an_l_that_is_no_whole_number_is_refused(ell):
    with pytest.raises(ParameterError, match="`l` must be a whole number of at least 1"):
        deal(of_values("ab"), ell)


def test_people_with_several_rows_are_refused():
    data = pa.table({"person": [1, 1, 2], "illness": ["a", "b", "c"]})
    attributes = (Attribute("person", Role.IDENTIFIER), Attribute("illness", Role.SENSITIVE))
    with pytest.raises(ParameterError, match="one row a person"):
        deal(encode(data, Schema(attributes, "person")), 2)


# --- at random ------------------------------------------------------------------------------------


def test_the_same_seed_deals_alike_and_fresh_runs_differ():
    table = of_values("abcdefgh" * 12)
    assert partition(deal(table, 3, seed=5)) == partition(deal(table, 3, seed=5))
    assert partition(deal(table, 3, seed=5)) != partition(deal(table, 3, seed=6))
    assert partition(deal(table, 3, seed=None)) != partition(deal(table, 3, seed=None))


def chi_square(seen: Counter, outcomes: int) -> float:
    """Return how far the counts are from being equal."""
    expected = seen.total() / outcomes
    absent = (outcomes - len(seen)) * expected
    return sum((n - expected) ** 2 / expected for n in seen.values()) + absent


def test_every_pairing_of_rows_is_equally_likely():
    """Three rows of one value and three of another: six ways to pair them."""
    table = of_values("aaabbb")
    seen = Counter(frozenset(partition(deal(table, 2, seed))) for seed in range(RUNS))
    assert len(seen) == len(list(permutations(range(3))))
    assert chi_square(seen, 6) < CHI_SQUARE_5


def test_every_row_of_another_value_is_equally_likely_to_share_a_group():
    table = of_values("ab" * 6)
    groups = [deal(table, 2, seed).ids for seed in range(RUNS)]
    seen = Counter(int(np.flatnonzero(ids[1::2] == ids[0])[0]) for ids in groups)
    assert len(seen) == 6
    assert chi_square(seen, 6) < CHI_SQUARE_5


def test_rows_that_miss_the_value_meet_each_other_at_random():
    """Six of them in two groups: ten ways to part them, whatever the order of the input."""
    table = of_values("abab" + "-" * 6)
    seen = Counter(
        frozenset(frozenset(np.flatnonzero(ids[4:] == group)) for group in (0, 1))
        for ids in (deal(table, 2, seed).ids for seed in range(RUNS))
    )
    assert len(seen) == 10
    assert chi_square(seen, 10) < CHI_SQUARE_9


def test_a_missing_value_goes_to_any_group_alike():
    table = of_values("abcdefghijkl-")
    seen = Counter(
        frozenset(np.flatnonzero(ids == ids[-1])[:-1].tolist())
        for ids in (deal(table, 2, seed).ids for seed in range(RUNS))
    )
    assert len(seen) == 6
    assert chi_square(seen, 6) < CHI_SQUARE_5
