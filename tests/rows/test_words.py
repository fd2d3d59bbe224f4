"""Words that loops look at: what they make of them is what NumPy draws, and no more is gone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.randomness import Randomness
from sfumato.rows.words import _AT_A_TIME, Words, WordSource, below, is_tails


def generators(seed: int) -> list[np.random.Generator]:
    """Return one generator of each kind: that of releases, and one that keeps half a word."""
    return [Randomness.test(seed).generator("words"), np.random.default_rng(seed)]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("counts", [[1], [2] * 9, [7, 1, 3], [3_000_000_000 % 2**31, 5]])
def test_numbers_are_those_that_numpy_draws_one_by_one(kind, counts):
    ours, theirs = generators(5)[kind], generators(5)[kind]
    source = WordSource(ours)
    words = source.at_least(len(counts) + 64)
    found = [below(words, count) for count in counts]
    assert found == [int(theirs.integers(0, count)) for count in counts]
    source.give_back()
    assert ours.integers(0, 1 << 62) == theirs.integers(0, 1 << 62)


def test_a_word_that_would_make_some_numbers_likelier_is_passed_over():
    # 2**32 leaves a rest of 1 by 3: of the words, 0 alone is one too many
    words = Words(np.array([0, 1 << 31], np.uint32), np.zeros(1, np.int64))
    assert below(words, 3) == 1
    assert words.used[0] == 2
    # and none by 4
    assert below(Words(np.zeros(1, np.uint32), np.zeros(1, np.int64)), 4) == 0


@pytest.mark.parametrize("drawn", [[], [0]])
def test_where_words_run_out_none_is_used(drawn):
    words = Words(np.array([7, *drawn], np.uint32), np.ones(1, np.int64))
    assert below(words, 3) == -1
    assert words.used[0] == 1


@pytest.mark.parametrize("kind", [0, 1])
def test_tosses_are_those_that_numpy_draws_one_by_one(kind):
    ours, theirs = generators(6)[kind], generators(6)[kind]
    words = WordSource(ours).at_least(200)
    tosses = [is_tails(words) for _ in range(200)]
    assert tosses == [theirs.integers(0, 2) == 0 for _ in range(200)]


@given(
    st.lists(st.tuples(st.integers(0, 2 * _AT_A_TIME), st.floats(0, 1)), max_size=5),
    st.integers(0, 1),
)
def test_what_nobody_looked_at_is_given_back(steps, kind):
    """Whatever is asked for, and however much of it is used."""
    ours, theirs = generators(8)[kind], generators(8)[kind]
    source, used = WordSource(ours), []
    for count, share in steps:
        words = source.at_least(count)
        assert len(words.drawn) - words.used[0] >= count
        first = int(words.used[0])
        words.used[0] += int(share * count)
        used.append(words.drawn[first : int(words.used[0])])
    source.give_back()
    drawn = np.concatenate([np.zeros(0, np.uint32), *used])
    assert np.array_equal(drawn, theirs.integers(0, 1 << 32, len(drawn), np.uint32))
    assert ours.integers(0, 1 << 62) == theirs.integers(0, 1 << 62)
