"""Fakes: twins of people whose group takes them in without becoming less diverse."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.incompatible import are_twins, holds_for_everybody
from oracles.incompatible import incompatible_pairs as literal_pairs

from sfumato.columns.incompatible import incompatible_pairs
from sfumato.errors import Infeasible
from sfumato.models import KAnonymity, LDiversity
from sfumato.predicates.incompatible import Incompatible
from sfumato.randomness import Randomness
from sfumato.rows.exclusions import Exclusions
from sfumato.rows.fakes import with_fakes
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Groups, Table, decode, encode

SECRETS = ("illness", "pay")
# Fair draws exceed these in one of a million tests of so many degrees of freedom. Seeds are fixed,
# so a test that passes once always does.
CHI_SQUARE_4 = 33.4
CHI_SQUARE_9 = 46.3


def rng(seed: int = 0) -> np.random.Generator:
    return Randomness.test(seed).generator("fakes")


def table_of(**columns) -> Table:
    roles = {"age": "quasi-identifier", "illness": "sensitive", "pay": "sensitive"}
    return encode(pa.table(columns), Schema.of({name: roles[name] for name in columns}))


def in_one_group(table: Table) -> Groups:
    return Groups(np.zeros(table.rows, np.int32), 1)


def chi_square(found: Counter, shares: dict) -> float:
    total = found.total()
    assert found.keys() <= shares.keys()
    return sum((found[v] - total * p) ** 2 / (total * p) for v, p in shares.items())


@settings(max_examples=150)
@given(
    samples(people=False, max_rows=30),
    st.integers(0, 12),
    st.integers(1, 3),
    st.sampled_from([0.25, 0.5, 2.0]),
    st.integers(0, 20),
)
def test_groups_are_diverse_with_and_without_their_fakes(sample: Sample, count, ell, expected, n):
    exclusions = Exclusions.of(sample.table, incompatible_pairs(sample.table, expected=expected))
    pairs = literal_pairs(sample.rows, sample.quasi, SECRETS, (), expected)
    models = [KAnonymity(2), *(LDiversity(name, ell) for name in SECRETS)]
    try:
        groups = mondrian(sample.table, models, rng=rng(n), exclusions=exclusions, strict=False)
        whole, grown = with_fakes(
            sample.table, groups, count, l=ell, exclusions=exclusions, rng=rng(n)
        )
    except Infeasible:
        return
    rows = decode(whole).to_pylist()
    names = (*sample.quasi, *SECRETS)
    assert whole.rows == len(rows) == len(sample.rows) + count
    assert rows[: len(sample.rows)] == [{k: row[k] for k in names} for row in sample.rows]
    assert grown.ids[: len(sample.rows)].tolist() == groups.ids.tolist()
    for group in range(groups.count):
        people = sample.members(groups, group)
        everybody = [row for row, g in zip(rows, grown.ids, strict=True) if g == group]
        assert are_twins(people, everybody[len(people) :], sample.quasi)
        for name in SECRETS:
            values = [row[name] for row in everybody]
            for several in (values, values[: len(people)]):
                assert holds_for_everybody(people, several, sample.quasi, name, pairs, ell)


def test_several_attributes_are_diverse_at_once():
    """A fake that one attribute refuses must not have made room for others in another.

    The first group has no room for a common value, unless a rare one comes before.
    """
    table = table_of(
        age=[20] * 20 + [90] * 4,
        illness=[*"ab" * 10, *"cabc"],
        pay=[*"p" * 10, *"q" * 10, *"rpqr"],
    )
    groups = Groups(np.array([0] * 20 + [1] * 4, np.int32), 2)
    for seed in range(100):
        whole, grown = with_fakes(table, groups, 6, l=2, exclusions=None, rng=rng(seed))
        for name in SECRETS:
            for group in range(2):
                counts = Counter(whole[name].codes[grown.ids == group].tolist())
                assert 2 * max(counts.values()) <= counts.total()


def test_what_is_impossible_for_all_of_a_group_does_not_crowd_it():
    """Men drop it; but who does not know that they are men must not find it in most records."""
    men, women = 12, 48
    data = pa.table(
        {
            "sex": ["m"] * men + ["f"] * women,
            "illness": [*"ab" * 6, *["ovaries", "a", "ovaries", "b"] * 12],
        }
    )
    table = encode(data, Schema.of(sex="quasi-identifier", illness="sensitive"))
    rule = Incompatible.parse("sex = 'm' AND illness = 'ovaries'")
    exclusions = Exclusions.of(table, incompatible_pairs(table, [rule], expected=None))
    groups = Groups(np.array([i // 4 for i in range(men + women)], np.int32), 15)
    for seed in range(20):
        whole, grown = with_fakes(table, groups, 60, l=2, exclusions=exclusions, rng=rng(seed))
        for group in range(15):
            counts = Counter(whole["illness"].codes[grown.ids == group].tolist())
            assert 2 * max(counts.values()) <= counts.total()


def test_values_are_as_common_as_in_the_table():
    rows = 4_000
    shares = {"a": 0.3, "b": 0.25, "c": 0.2, "d": 0.15, "e": 0.1}
    illness = [value for value, share in shares.items() for _ in range(round(rows * share))]
    # groups of twenty in which every value is as common as in the table
    ids = np.arange(rows) % (rows // 20)
    table = table_of(age=[i % 10 for i in range(rows)], illness=illness)
    groups = Groups(ids.astype(np.int32), rows // 20)
    whole, grown = with_fakes(table, groups, 2_000, l=2, exclusions=None, rng=rng(3))
    fakes = decode(whole).slice(rows).to_pylist()
    assert chi_square(Counter(row["illness"] for row in fakes), shares) < CHI_SQUARE_4
    ages = dict.fromkeys(range(10), 0.1)
    assert chi_square(Counter(row["age"] for row in fakes), ages) < CHI_SQUARE_9
    assert grown.count == groups.count and grown.sizes.sum() == 6_000


def test_kept_values_are_drawn_on_their_own():
    rows = 1_000
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute("illness", Role.SENSITIVE),
            Attribute("ward", Role.INSENSITIVE, keep=True),
        )
    )
    numbers = [i % 5 for i in range(rows)]
    data = pa.table(
        {"age": numbers, "illness": [f"v{i}" for i in numbers], "ward": [f"w{i}" for i in numbers]}
    )
    table = encode(data, schema)
    whole, _ = with_fakes(table, in_one_group(table), 2_000, l=None, exclusions=None, rng=rng(5))
    fakes = decode(whole).slice(rows).to_pylist()
    fifths = dict.fromkeys([f"w{i}" for i in range(5)], 0.2)
    assert chi_square(Counter(row["ward"] for row in fakes), fifths) < CHI_SQUARE_4
    for one, other in (("age", "ward"), ("illness", "ward"), ("age", "illness")):
        same = sum(str(row[one])[-1] == str(row[other])[-1] for row in fakes)
        assert abs(same - 400) < 4 * (2_000 * 0.2 * 0.8) ** 0.5


def test_none_is_nothing():
    table = table_of(age=[1, 2], illness=["a", "b"])
    groups = in_one_group(table)
    assert with_fakes(table, groups, 0, l=2, exclusions=None, rng=rng()) == (table, groups)


def test_groups_without_room_are_refused():
    table = table_of(age=[1, 2], illness=["telltale", "b"])
    with pytest.raises(Infeasible, match=r"only 0 of 1 fakes fit.*2-diverse; ask for fewer") as no:
        with_fakes(table, in_one_group(table), 1, l=2, exclusions=None, rng=rng())
    assert "telltale" not in str(no.value)


def test_without_l_everything_fits():
    table = table_of(age=[1, 2], illness=["a", "b"])
    whole, groups = with_fakes(table, in_one_group(table), 9, l=None, exclusions=None, rng=rng())
    assert whole.rows == 11 and groups.sizes.tolist() == [11]


def test_a_missing_value_fits_everywhere():
    table = table_of(age=[1, 2, 3, 4], illness=["a", "b", None, None])
    whole, _ = with_fakes(table, in_one_group(table), 7, l=2, exclusions=None, rng=rng())
    found = Counter(row["illness"] for row in decode(whole).slice(4).to_pylist())
    assert found.keys() == {None}
