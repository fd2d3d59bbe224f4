"""Distances of reconstructed tables: the paper's numbers, and the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.measures.distances import hellinger, l1, l2

COUNTS = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1, max_size=8)


def test_the_examples_of_the_paper():
    """Section II.C: equal by L1 and L2, and far from equal by Hellinger."""
    assert l1([10, 100], [10, 80]) == l1([10, 25], [10, 5]) == 20
    assert l2([10, 100], [10, 80]) == l2([10, 25], [10, 5]) == 20
    assert hellinger([10, 25], [10, 5]) == pytest.approx(1.95, abs=0.005)
    assert hellinger([10, 100], [10, 80]) == pytest.approx(0.7465, abs=1e-4)  # printed: 0.74


@given(COUNTS)
def test_the_definitions(pairs):
    one, other = (list(each) for each in zip(*pairs, strict=True))
    gaps = [a - b for a, b in pairs]
    roots = [math.sqrt(a) - math.sqrt(b) for a, b in pairs]
    assert l1(one, other) == pytest.approx(sum(map(abs, gaps)))
    assert l2(one, other) == pytest.approx(math.sqrt(sum(g * g for g in gaps)))
    assert hellinger(one, other) == pytest.approx(math.sqrt(sum(r * r for r in roots) / 2))


def test_tables_of_any_number_of_attributes():
    one, other = np.zeros((2, 3)), np.full((2, 3), 4)
    assert (l1(one, other), l2(one, other)) == (24, pytest.approx(math.sqrt(96)))
    assert hellinger(one, other) == pytest.approx(math.sqrt(12))
    assert l1(np.array([0], np.uint8), np.array([1], np.uint8)) == 1  # and does not wrap around


@pytest.mark.parametrize("distance", [l1, l2, hellinger])
def test_tables_of_other_shapes_are_refused(distance):
    with pytest.raises(ValueError, match="one shape"):
        distance(np.zeros((2, 3)), np.zeros(3))
