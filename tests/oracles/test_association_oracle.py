"""The literal (alpha, beta, gamma, delta) against the paper's own counting, and by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from . import association
from .association import Reached, divisions, of_rows, reached, within
from .transactions import ATTRIBUTES, DIVIDED, GROUPS, ROWS


def test_the_paper_counts_the_ways_to_put_alice_together():
    """Of 24 ways to join the two tables of her group, six have Alice's quasi-identifiers."""
    group = ROWS[:4]
    first, second = ([tuple(row[n] for n in part) for row in group] for part in DIVIDED)
    ways = list(permutations(second))
    right = [way for way in ways if (first[0], second[0]) in zip(first, way, strict=True)]
    assert (len(ways), len(right)) == (24, 6)
    found = of_rows(ROWS, GROUPS, DIVIDED, "salary")
    assert found[0].alpha == Fraction(len(right), len(ways))


def test_the_worked_numbers():
    found = of_rows(ROWS, GROUPS, DIVIDED, "salary")
    quarter, half, both = Fraction(1, 4), Fraction(1, 2), Fraction(1, 32)
    assert found == {
        0: Reached(quarter, half, both, quarter),
        1: Reached(half, quarter, both, quarter),
    }


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("pq")), min_size=1, max_size=5))
def test_alpha_bounds_the_chance_of_any_second_half(pairs):
    """Whoever knows one half of a person is right about the other in so many of all joins."""
    first, second = zip(*pairs, strict=True)
    ways = list(permutations(second))
    for person, own in enumerate(second):
        chance = Fraction(sum(1 for way in ways if way[person] == own), len(ways))
        assert chance <= reached([first, second], ["x"], ["x"]).alpha


def test_missing_values_count_for_nothing():
    values, everywhere = ["a", "a", None, None, "b"], ["a", "a", None, None, "b", "c", "c", "c"]
    found = reached(["vwxyz"], values, everywhere)
    assert found == (Fraction(1, 5), Fraction(2, 3), Fraction(2, 15), Fraction(1, 2))
    assert reached(["v"], [None], everywhere) is None
    assert not within(None, dict.fromkeys(association.KEYS, 1))


def test_a_parameter_is_the_decimal_that_it_prints_as():
    tenth = reached(["abcdefghij"], list("abcdefghij"), list("abcdefghij"))
    asked = {"alpha": 0.1, "beta": 0.1, "gamma": 0.01, "delta": 1e-300}
    assert within(tenth, asked)
    for key in ("alpha", "beta", "gamma"):
        assert not within(tenth, asked | {key: asked[key] * 0.999999})
    third = reached(["abc"], list("abc"), list("abc"))
    assert not within(third, dict.fromkeys(association.KEYS, 1 / 3) | {"gamma": 1})


@pytest.mark.parametrize(
    ("most", "expected"),
    [(2, {"age zipcode", "job gender"}), (None, {"age zipcode gender", "job"})],
)
def test_the_division_of_the_example(most, expected):
    names = ("gender", "job", "age", "zipcode")
    columns = [ATTRIBUTES[name] for name in names]
    (found,) = divisions(columns, columns, 2, most)
    assert {" ".join(names[i] for i in table) for table in found} == expected
