"""Local suppression against all partitions, and against a plain greedy."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.suppression import cost_of, greedy, optimum

from sfumato.errors import Infeasible, ParameterError
from sfumato.randomness import repeatable
from sfumato.rows.local_suppression import local_suppression
from sfumato.rows.reveal import reveal
from sfumato.schema import Schema
from sfumato.table import Table, encode


def coded(rows: list[tuple[int | None, ...]]) -> Table:
    names = [f"a{i}" for i in range(len(rows[0]))]
    data = pa.table({n: pa.array([r[i] for r in rows], pa.int64()) for i, n in enumerate(names)})
    return encode(data, Schema.of(dict.fromkeys(names, "quasi-identifier")))


def found_cost(rows, k, weights, seed=1) -> float:
    groups = local_suppression(coded(rows), k, np.array(weights, float), rng=repeatable(seed))
    members = [groups.members(g).tolist() for g in range(groups.count)]
    assert min(map(len, members)) >= k
    return cost_of(rows, members, weights)


@st.composite
def small_tables(draw, most: int = 7):
    attributes = draw(st.integers(1, 4))
    cell = st.one_of(st.integers(0, 2), st.none()) if draw(st.booleans()) else st.integers(0, 2)
    rows = draw(st.lists(st.tuples(*[cell] * attributes), min_size=2, max_size=most))
    k = draw(st.integers(2, min(4, len(rows))))
    weights = draw(st.sampled_from([[1.0] * attributes, [1.0, 2.0, 0.5, 3.0][:attributes]]))
    return rows, k, weights


@settings(max_examples=80)
@given(small_tables())
def test_between_the_optimum_and_the_greedy(case):
    rows, k, weights = case
    cost = found_cost(rows, k, weights)
    assert optimum(rows, k, weights) - 1e-9 <= cost <= greedy(rows, k, weights) + 1e-9


def test_the_optimum_is_nearly_always_found():
    """Of random tables of 7 rows with 3 attributes; the plain greedy finds far fewer."""
    rng = np.random.default_rng(3)
    hits = plain = 0
    for _ in range(80):
        rows = [tuple(row) for row in rng.integers(0, 3, (7, 3)).tolist()]
        best = optimum(rows, 2, [1.0] * 3)
        hits += found_cost(rows, 2, [1.0] * 3) == best
        plain += greedy(rows, 2, [1.0] * 3) == best
    assert hits >= 77 and plain <= 60, (hits, plain)


@settings(max_examples=20)
@given(st.integers(0, 99))
def test_never_worse_than_the_greedy_on_larger_tables(seed):
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.integers(0, 4, (40, 4)).tolist()]
    assert found_cost(rows, 3, [1.0] * 4) <= greedy(rows, 3, [1.0] * 4)


def test_values_that_k_rows_share_stay_as_they_are():
    rows = [(1, 1)] * 3 + [(2, 2)] * 4
    assert found_cost(rows, 3, [1.0, 1.0]) == 0


def test_a_lone_row_takes_the_fewest_others_along():
    """One row differs from fifty in one cell: two of these lend themselves, and no more."""
    rows = [(1, 1, 1)] * 50 + [(1, 1, 2)]
    assert found_cost(rows, 3, [1.0] * 3) == 3


def test_weights_say_which_cells_go():
    rows = [(1, 1), (1, 2), (2, 1), (2, 2)]
    groups = local_suppression(coded(rows), 2, np.array([5.0, 1.0]), rng=repeatable(2))
    assert groups.ids[0] == groups.ids[1] != groups.ids[2] == groups.ids[3]


def test_the_cost_does_not_depend_on_the_order_of_the_input():
    rng = np.random.default_rng(7)
    rows = [tuple(row) for row in rng.integers(0, 5, (60, 3)).tolist()]
    costs = {found_cost([rows[i] for i in rng.permutation(60)], 4, [1.0] * 3) for _ in range(5)}
    assert len(costs) == 1


def test_too_few_rows_and_too_many_attributes_are_refused():
    with pytest.raises(Infeasible, match="use k <= 2"):
        local_suppression(coded([(1,), (1,)]), 3, np.ones(1), rng=repeatable(0))
    with pytest.raises(ParameterError, match="62 quasi-identifiers"):
        local_suppression(coded([(1,) * 63] * 3), 2, np.ones(63), rng=repeatable(0))


def test_many_attributes_are_no_trouble():
    rng = np.random.default_rng(8)
    rows = [tuple(row) for row in rng.integers(0, 2, (60, 20)).tolist()]
    assert found_cost(rows, 3, [1.0] * 20) < 60 * 20


@given(small_tables(most=30))
def test_parting_from_above_gives_groups_of_k(case):
    rows, k, weights = case
    codes = np.array([[9 if cell is None else cell for cell in row] for row in rows], np.int32)
    groups = reveal(codes, np.array(weights), k)
    sizes = np.bincount(groups)
    assert sizes.min() >= k and sizes.sum() == len(rows)
