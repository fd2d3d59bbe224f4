"""Mean-square contingency: against its formula, against SciPy, and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import refining as oracle
from scipy.stats.contingency import association, crosstab

from sfumato.measures.association import phi_squared
from sfumato.randomness import repeatable

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30)


def codes(values) -> np.ndarray:
    return np.array(values, np.int32)


def found(one, other) -> float:
    return phi_squared(codes(one), codes(other))


@given(PAIRS)
def test_it_is_the_formula(pairs):
    one, other = zip(*pairs, strict=True)
    expected = oracle.phi_squared(one, other)
    assert found(one, other) == pytest.approx(float(expected), abs=1e-12)
    assert found(other, one) == pytest.approx(float(expected), abs=1e-12)
    assert 0 <= found(one, other) <= 1 + 1e-12


@given(PAIRS, st.integers(2, 40))
def test_only_which_rows_agree_matters_not_their_codes(pairs, gap):
    """Codes that do not occur are no values, even so many that no full table could be counted."""
    one, other = zip(*pairs, strict=True)
    apart = [value * gap for value in one], [value * 200_000 + 7 for value in other]
    assert found(*apart) == pytest.approx(found(one, other), abs=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (14, 5), (60, 60)])
def test_it_is_the_square_of_cramers_v(shape):
    rng = repeatable(1)
    one = rng.integers(0, shape[0], 3000)
    other = (one * rng.integers(0, 2, 3000) + rng.integers(0, shape[1], 3000)) % shape[1]
    table = crosstab(one, other).count
    expected = association(table, method="cramer", correction=False) ** 2
    assert found(one, other) == pytest.approx(float(expected), rel=1e-9)


def test_a_constant_has_no_association():
    assert found([3, 3, 3], [0, 1, 2]) == 0
    assert found([0, 1, 2], [3, 3, 3]) == 0
    assert found([1], [1]) == 0
    assert found([], []) == 0


def test_independence_and_determination_are_the_ends():
    assert found([0, 0, 1, 1] * 9, [0, 1, 0, 1] * 9) == 0
    assert found([0, 1, 2, 3], [3, 2, 1, 0]) == pytest.approx(1)
    assert found([0, 1, 2, 3], [0, 0, 1, 1]) == pytest.approx(1)  # the finer tells the coarser


def test_counts_beyond_32_bits_do_not_wrap():
    """Two values of 70,000 rows each: the product of their counts is more than 2**32."""
    one = np.repeat([0, 1], 70_000)
    assert found(one, one) == pytest.approx(1)
    assert found(one, np.tile([0, 1], 70_000)) == pytest.approx(0, abs=1e-12)


def test_values_that_never_repeat_are_counted_without_a_full_table():
    many = repeatable(2).permutation(50_000)
    assert found(many, many) == pytest.approx(1)
