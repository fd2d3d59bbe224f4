"""Matrices of transitions: probabilities, an inverse, and what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.measures.transitions import (
    MOST_CONDITION,
    condition,
    drawn,
    epsilon,
    estimated_shares,
    invariant,
    inverse,
    largest_posterior,
    posterior,
    problem,
    proportional,
    rounded_shares,
    tells_all,
    uniform,
)
from sfumato.randomness import repeatable

COUNTS = st.lists(st.integers(0, 5_000), min_size=2, max_size=12).filter(any)
KEEPS = st.floats(0.05, 0.99)


@given(counts=COUNTS, keep=KEEPS)
def test_every_kind_keeps_the_asked_share_and_is_a_matrix_of_probabilities(counts, keep):
    shares = rounded_shares(np.array(counts))
    size = len(shares)
    for matrix in (uniform(size, keep), proportional(shares, keep)):
        assert np.diagonal(matrix) == pytest.approx(keep, abs=1e-9)
    found = [uniform(size, keep), proportional(shares, keep)]
    if keep > shares @ shares + 1e-6:
        found.append(invariant(shares, keep))
        assert shares @ np.diagonal(found[-1]) == pytest.approx(keep, abs=1e-6)
    for matrix in found:
        assert matrix.min() > 0 and matrix.max() < 1
        assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-9)
        if condition(matrix) <= MOST_CONDITION:
            assert inverse(matrix) @ matrix == pytest.approx(np.eye(size), abs=1e-6)


@given(counts=COUNTS, keep=KEEPS)
def test_an_invariant_matrix_leaves_the_shares_as_they_are(counts, keep):
    shares = rounded_shares(np.array(counts))
    if keep <= shares @ shares:
        with pytest.raises(ParameterError, match="drawn anew"):
            invariant(shares, keep)
        return
    assert shares @ invariant(shares, keep) == pytest.approx(shares, abs=1e-9)


@given(counts=COUNTS)
def test_rounded_shares_do_not_tell_small_counts(counts):
    """Counts below a unit and a half are one unit, whatever they are."""
    counts = np.array(counts)
    rows = counts.sum()
    unit = max(10, math.ceil(rows / 1000))
    shares = rounded_shares(counts)
    units = shares * sum(max(1, math.floor(n / unit + 0.5)) for n in counts.tolist())
    assert units == pytest.approx([max(1, math.floor(n / unit + 0.5)) for n in counts.tolist()])
    small = counts < 1.5 * unit
    assert len(np.unique(shares[small].round(12))) <= 1


def test_epsilon_and_posterior_by_hand():
    matrix = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.1, 0.8]])
    ratios = [max(c) / min(c) for c in zip(*matrix.tolist(), strict=True)]
    assert epsilon(matrix) == pytest.approx(math.log(max(ratios)))
    assert largest_posterior(matrix) == pytest.approx(0.8)  # 0.8 of a column that sums to 1
    assert epsilon(np.array([[0.5, 0.5], [0.0, 1.0]])) == math.inf
    assert epsilon(np.ones((1, 1))) == 0


def test_what_is_no_usable_matrix():
    assert problem(np.array([[0.9, 0.1], [0.2, 0.7]])) == "has rows that do not add up to 1"
    assert "not probabilities" in problem(np.array([[1.1, -0.1], [0.2, 0.8]]))
    assert "condition number" in problem(np.array([[0.5, 0.5], [0.5, 0.5]]))
    assert "condition number" in problem(uniform(4, 0.2501))
    assert problem(uniform(4, 0.3)) is None
    assert tells_all(np.eye(3)[[1, 2, 0]])
    assert not tells_all(uniform(3, 0.99))


def test_values_of_chance_0_are_never_drawn_and_others_as_often_as_said():
    matrix = np.array([[0.6, 0.0, 0.4], [0.25, 0.75, 0.0], [0.0, 0.5, 0.5]])
    codes = np.repeat(np.arange(3), 40_000)
    found = drawn(matrix, codes, repeatable(3))
    counts = np.zeros((3, 3))
    np.add.at(counts, (codes, found), 1)
    assert (counts[matrix == 0] == 0).all()
    # 4 standard deviations of a share of 40,000 cells
    assert np.abs(counts / 40_000 - matrix).max() < 4 * 0.5 / math.sqrt(40_000)


def test_shares_are_estimated_and_cut_off_at_0():
    matrix = uniform(3, 0.8)
    true = np.array([700, 300, 0])
    assert estimated_shares(true @ matrix, matrix) == pytest.approx([0.7, 0.3, 0.0], abs=1e-9)
    found = estimated_shares(np.array([1000, 0, 0]), matrix)
    assert found.min() == 0 and found.sum() == pytest.approx(1)


def test_posteriors_are_those_of_bayes():
    matrix, shares = uniform(2, 0.75), np.array([0.9, 0.1])
    found = posterior(shares, matrix)
    assert found[1, 0] == pytest.approx(0.9 * 0.25 / (0.9 * 0.25 + 0.1 * 0.75))
    # a value that no share allows: all were equally likely before
    certain = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert posterior(np.array([1.0, 0.0]), certain)[1].tolist() == [0.0, 1.0]
