"""Orders that are NumPy's own, word for word, however they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.randomness import Randomness
from sfumato.table.permutation import _FEW, Mix, permutation, shuffle, shuffled_by_code


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


@pytest.mark.parametrize("count", [0, 1, 2, 7, _FEW, _FEW + 1, 2 * _FEW, 700_001])
@pytest.mark.parametrize("kind", [0, 1])
def test_cells_are_put_in_that_order_at_once_or_later(count, kind):
    ours, theirs = generators(12)[kind], generators(12)[kind]
    cells = np.arange(count) * 3
    orders = [theirs.permutation(count) for _ in range(3)]
    at_once = cells.copy()
    shuffle(ours, at_once)
    mixes = [Mix.draw(ours, count) for _ in range(2)]
    later = [cells.copy() for _ in mixes]
    for mix, own in reversed(list(zip(mixes, later, strict=True))):
        mix.shuffle(own)
    for found, order in zip([at_once, *later], orders, strict=True):
        assert np.array_equal(found, cells[order])
    assert ours.integers(0, 1 << 62) == theirs.integers(0, 1 << 62)


@pytest.mark.parametrize(("rows", "cores"), [(9, 2), (400_000, None), (400_000, 2), (400_000, 5)])
def test_rows_by_code_are_mixed_in_the_order_that_numpy_draws(rows, cores, monkeypatch):
    monkeypatch.setattr("sfumato.table.groups.os.cpu_count", lambda: cores)
    codes = (np.arange(rows) * 7 % 5).astype(np.int32)
    found = shuffled_by_code(codes, 3, np.random.default_rng(3))
    chosen = np.flatnonzero(codes < 3)
    drawn = chosen[np.random.default_rng(3).permutation(len(chosen))]
    assert np.array_equal(found, drawn[np.argsort(codes[drawn], kind="stable")])
    everyone = shuffled_by_code(codes, 5, np.random.default_rng(3))
    drawn = np.random.default_rng(3).permutation(rows)
    assert np.array_equal(everyone, drawn[np.argsort(codes[drawn], kind="stable")])
