"""MDAV against the published algorithm, and what it promises."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mdav import mdav as literal
from oracles.mdav import standardised

from sfumato.errors import Infeasible
from sfumato.randomness import repeatable
from sfumato.rows.mdav import mdav
from sfumato.schema import Schema
from sfumato.table import Groups, Table, encode


def coded(columns: list[list[float | None]]) -> Table:
    data = pa.table({f"x{i}": pa.array(column) for i, column in enumerate(columns)})
    return encode(data, Schema.of(dict.fromkeys(data.column_names, "quasi-identifier")))


def members(groups: Groups) -> list[list[int]]:
    return [groups.members(g).tolist() for g in range(groups.count)]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 60), k=st.integers(1, 7))
def test_groups_are_those_of_the_published_algorithm(seed, rows, k):
    k = min(k, rows)
    points = [tuple(p) for p in np.random.default_rng(seed).normal(size=(rows, 3)).tolist()]
    groups = mdav(coded([list(c) for c in zip(*points, strict=True)]), k, rng=repeatable(1))
    expected = literal(standardised(points), k)
    assert sorted(map(sorted, members(groups))) == sorted(map(sorted, expected))


@given(
    data=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=80),
    k=st.integers(1, 9),
    most=st.sampled_from([2, 5, 1000]),
)
def test_groups_have_k_to_2k_less_one_rows(data, k, most):
    """Also where rows are equal, and where they were parted before."""
    table = coded([list(column) for column in zip(*data, strict=True)])
    if len(data) < k:
        with pytest.raises(Infeasible, match=f"use k <= {len(data)}"):
            mdav(table, k, rng=repeatable(2), most_points=most)
        return
    groups = mdav(table, k, rng=repeatable(2), most_points=most)
    assert groups.sizes.sum() == len(data)
    assert k <= groups.sizes.min() and groups.sizes.max() <= 2 * k - 1


def test_values_of_groups_do_not_depend_on_the_order_of_the_input():
    rng = np.random.default_rng(4)
    data = rng.integers(0, 6, (90, 3))
    found = set()
    for seed in range(4):
        shuffled = data[rng.permutation(90)]
        groups = mdav(coded(shuffled.T.tolist()), 4, rng=repeatable(seed))
        found.add(str(sorted(sorted(map(tuple, shuffled[m].tolist())) for m in members(groups))))
    assert len(found) == 1


def test_rows_that_miss_other_attributes_are_apart():
    ages = [1.0, 2.0, 3.0, 4.0, None, None, None]
    groups = mdav(coded([ages, [5.0] * 7]), 3, rng=repeatable(3))
    assert sorted(map(sorted, members(groups))) == [[0, 1, 2, 3], [4, 5, 6]]
    with pytest.raises(Infeasible, match="3 rows miss values in a combination"):
        mdav(coded([ages, [5.0] * 7]), 4, rng=repeatable(3))


def test_units_do_not_matter():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=50), rng.normal(size=50)
    one = mdav(coded([x.tolist(), y.tolist()]), 5, rng=repeatable(1))
    other = mdav(coded([(x * 1e200).tolist(), (y + 1000).tolist()]), 5, rng=repeatable(1))
    assert np.array_equal(one.ids, other.ids)
