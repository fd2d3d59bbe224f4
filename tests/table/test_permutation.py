"""Orders that are NumPy's own, word for word, however they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.randomness import Randomness
from sfumato.table.permutation import _FEW, permutation, shuffled_where


def generators(seed: int) -> list[np.random.Generator]:
    """Return one generator of each kind: that of releases, and one that keeps half a word."""
    return [Randomness.test(seed).generator("order"), np.random.default_rng(seed)]


# about where the words need one bit more, and where other ways begin and end
@pytest.mark.parametrize(
    "count", [0, 1, 2, 7, _FEW, _FEW + 1, _FEW + 2, 2 * _FEW - 1, 2 * _FEW, 2 * _FEW + 1, 700_001]
)
@pytest.mark.parametrize("kind", [0, 1])
def test_an_order_is_the_one_that_numpy_draws_and_leaves_the_generator_as_it_does(count, kind):
    ours, theirs = generators(11)[kind], generators(11)[kind]
    for _ in range(2):
        assert np.array_equal(permutation(ours, count), theirs.permutation(count))
    assert ours.integers(0, 1 << 62) == theirs.integers(0, 1 << 62)
    assert ours.integers(0, 1 << 32, dtype=np.uint32) == theirs.integers(
        0, 1 << 32, dtype=np.uint32
    )


def test_chosen_rows_come_in_the_order_that_numpy_draws():
    chosen = np.arange(400_000) % 3 > 0
    found = shuffled_where(chosen, np.random.default_rng(3))
    rows = np.flatnonzero(chosen)
    assert np.array_equal(found, rows[np.random.default_rng(3).permutation(len(rows))])
    everyone = shuffled_where(np.ones(300_000, np.bool_), np.random.default_rng(3))
    assert np.array_equal(everyone, np.random.default_rng(3).permutation(300_000))
