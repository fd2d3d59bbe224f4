"""Numbers of rows that k people share: always valid, and no more is lost than must be lost."""

from __future__ import annotations

from collections import Counter
from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from oracles.linked import come_down

from sfumato.rows.equal_counts import classes, drawn_rows, equal_counts


@st.composite
def numbers(draw, most_people=10, most=3):
    tables = draw(st.integers(1, 3))
    line = st.tuples(*[st.integers(0, most)] * tables)
    return draw(st.lists(line, min_size=1, max_size=most_people))


def is_valid(kept, counts, k) -> bool:
    often = Counter(kept)
    nobody_gains = all(
        a <= b for one, two in zip(kept, counts, strict=True) for a, b in zip(one, two, strict=True)
    )
    return nobody_gains and all(n >= k or not any(line) for line, n in often.items())


def kept_of(counts, k) -> list[tuple[int, ...]]:
    return [tuple(line) for line in equal_counts(np.array(counts), k).tolist()]


@settings(max_examples=400)
@given(numbers(), st.integers(1, 5))
def test_numbers_are_shared_and_no_more_is_lost_than_by_the_plainest_rule(counts, k):
    kept, plain = kept_of(counts, k), come_down(counts, k)
    assert is_valid(plain, counts, k)
    assert is_valid(kept, counts, k)
    assert sum(map(sum, kept)) >= sum(map(sum, plain))


@settings(max_examples=60)
@given(numbers(most_people=4, most=2), st.integers(2, 3))
def test_nothing_beats_the_best_of_all_ways(counts, k):
    ways = product(*[list(product(*[range(n + 1) for n in line])) for line in counts])
    best = max(sum(map(sum, way)) for way in ways if is_valid(way, counts, k))
    kept = sum(map(sum, kept_of(counts, k)))
    assert kept <= best
    if sum(map(sum, counts)) == best:  # nothing need be lost
        assert kept == best


@given(numbers(), st.integers(1, 4))
def test_the_order_of_people_does_not_matter(counts, k):
    assert kept_of(counts[::-1], k) == kept_of(counts, k)[::-1]


@pytest.mark.parametrize(
    ("counts", "k", "expected"),
    [
        ([(3,), (2,), (2,)], 2, [(2,), (2,), (2,)]),
        ([(5,), (4,), (1,), (1,)], 2, [(4,), (4,), (1,), (1,)]),  # the rare meet one another
        ([(1, 2), (1, 3), (3, 3)], 2, [(0, 0), (1, 3), (1, 3)]),
        ([(3, 1), (1, 3)], 2, [(1, 1), (1, 1)]),  # what both have
        ([(1, 0), (0, 1)], 2, [(0, 0), (0, 0)]),
        # (2, 2) must not come down with (2, 1), who finds nobody
        ([(2, 2), (2, 1), (0, 2), (0, 2), (0, 2)], 3, [(0, 2), (0, 0), (0, 2), (0, 2), (0, 2)]),
    ],
)
def test_small_cases(counts, k, expected):
    kept = kept_of(counts, k)
    assert is_valid(kept, counts, k)
    assert sum(map(sum, kept)) >= sum(map(sum, expected))


def test_people_without_any_rows_need_no_crowd():
    assert kept_of([(0, 0), (1, 1), (1, 1)], 2) == [(0, 0), (1, 1), (1, 1)]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(0, 2**32), st.data())
def test_as_many_rows_of_each_are_drawn_as_are_kept(owners, seed, data):
    units = np.array(owners)
    own = np.bincount(units, minlength=5)
    kept = np.array([data.draw(st.integers(0, int(n))) for n in own])
    rows = drawn_rows(units, kept, np.random.default_rng(seed))
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert np.bincount(units[rows], minlength=5).tolist() == kept.tolist()


def test_every_row_is_as_likely_to_stay():
    units, kept = np.array([0, 1, 0, 1, 0]), np.array([1, 2])
    rng = np.random.default_rng(3)
    drawn = Counter(int(row) for _ in range(600) for row in drawn_rows(units, kept, rng))
    assert drawn[1] == drawn[3] == 600
    assert all(150 < drawn[row] < 250 for row in (0, 2, 4))  # 200 each, 4 deviations


def test_classes_are_equal_numbers():
    found = classes(np.array([[1, 2], [0, 2], [1, 2]]))
    assert found.count == 2 and found.ids[0] == found.ids[2] != found.ids[1]
