"""Weights of records, against a literal count over all of them."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attacks.set_kernels import BLOCK, Weights, add_sets, first_bits, sums_of
from sfumato.attacks.set_weights import room


@pytest.mark.parametrize("count", [1, 2, 63, 64])
def test_the_bits_of_a_last_word_are_those_that_there_are(count):
    assert int(first_bits(count)) == (1 << count) - 1
    assert int(first_bits(64 + count)) == (1 << count) - 1


@pytest.mark.parametrize("records", [1, 64, 130, BLOCK, BLOCK + 70])
@pytest.mark.parametrize("hard", [0, 1, 3])
def test_sums_are_those_of_all_records_that_hold_what_is_certain(records, hard):
    rng = np.random.default_rng(records + hard)
    people, attributes = 3, 3
    held = rng.random((people * attributes, records)) < 0.7
    padded = np.zeros((len(held), -(-records // 64) * 64), np.uint8)
    padded[:, :records] = held
    words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    at = np.arange(people * attributes).reshape(people, attributes) * words.shape[1]
    inside, outside = np.array([1.0, 0.5, 2.0]), np.array([0.25, 0.75, 0.125])
    weights = Weights(words.ravel(), at, hard, inside, outside, records)

    of_person = held.reshape(people, attributes, records)
    factors = np.where(of_person, inside[:, None], outside[:, None])
    factors[:, :hard] *= of_person[:, :hard]
    literal = factors.prod(axis=1)

    sums = np.zeros((people, 4))
    sums_of(0, people, weights, weights, True, room(), room(), sums)
    assert np.allclose(sums[:, 0], literal.sum(axis=1))
    assert np.allclose(sums[:, 1], literal.max(axis=1))
    assert np.allclose(sums[:, 3], (literal**2).sum(axis=1))
    apart = np.zeros((people, 4))
    sums_of(0, people, weights, weights, False, room(), room(), apart)
    assert (sums == apart).all()

    members = rng.integers(0, 5, (records, 2)).astype(np.int32)
    norms, by_value, total = rng.random(records), np.zeros((people, 5)), np.zeros(people)
    add_sets(0, people, weights, members, norms, room(), by_value, total)
    assert np.allclose(total, literal @ norms)
    for value in range(5):
        times = (members == value).sum(axis=1)
        assert np.allclose(by_value[:, value], literal @ (norms * times))
