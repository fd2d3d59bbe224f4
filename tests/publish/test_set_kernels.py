"""Random sets: every choice equally likely, whatever the size of the domain."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sfumato.measures.set_randomization import Randomization
from sfumato.publish import set_kernels
from sfumato.publish.set_kernels import picker, random_sets
from sfumato.randomness import Randomness

# A fair draw is taken for an unfair one in a run of a thousand; seeds are fixed, so a test that
# passes once always does.
LEAST_P_VALUE = 0.001
# Shares of so many draws lie within so many standard deviations of what is said of them.
STANDARD_DEVIATIONS = 4.0


def rng(purpose: str = "sets") -> np.random.Generator:
    return Randomness.test(5).generator(purpose)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), d=st.integers(1, 400), p=st.sampled_from([1.0, 0.5, 0.01]))
def test_sets_are_sorted_of_one_size_and_within_the_domain(data, d, p):
    eta = data.draw(st.integers(1, min(d, 40)))
    codes = np.array(data.draw(st.lists(st.integers(0, d - 1), max_size=20)), np.int32)
    sets = random_sets(codes, p=p, eta=eta, d=d, rng=rng(), dtype=np.uint16)
    assert sets.shape == (len(codes), eta)
    assert (np.diff(sets.astype(int), axis=1) > 0).all()
    assert not sets.size or sets.max() < d
    if p == 1:
        assert (sets == codes[:, None]).any(axis=1).all()


@pytest.mark.parametrize("by_table", [True, False], ids=["table", "Floyd"])
@pytest.mark.parametrize(("m", "k"), [(2, 1), (5, 2), (6, 5), (7, 3), (9, 4)])
def test_every_subset_is_equally_likely(m, k, by_table, monkeypatch):
    if not by_table:
        monkeypatch.setattr(set_kernels, "_TABLE", 0)
    drawn = picker(m, k, np.uint8)(50_000, rng(f"{m} {k} {by_table}"))
    found = Counter(map(tuple, drawn.tolist()))
    wanted = list(combinations(range(m), k))
    assert set(found) <= set(wanted)
    assert stats.chisquare([found[each] for each in wanted]).pvalue > LEAST_P_VALUE


def test_many_choices_from_a_large_domain_are_uniform_in_every_place():
    m, k, rows = 300, 30, 20_000
    drawn = picker(m, k, np.uint16)(rows, rng("large"))
    counts = np.bincount(drawn.ravel(), minlength=m)
    # members of a set differ, which makes counts less spread than independent ones
    spread = rows * (k / m) * (1 - k / m)
    statistic = ((counts - rows * k / m) ** 2).sum() / spread * (m - 1) / m
    assert stats.chi2.sf(statistic, m - 1) > LEAST_P_VALUE
    assert stats.chi2.cdf(statistic, m - 1) > LEAST_P_VALUE


def test_numbers_that_would_favour_an_outcome_are_drawn_again():
    """With 16 bits and 2,380 subsets, some numbers would favour some subsets."""
    span, count = 1 << 16, comb(17, 4)
    table = np.array(list(combinations(range(17), 4)), np.uint8)
    bits = np.arange(span, dtype=np.uint16)
    out = np.empty((span, 4), np.uint8)
    again = set_kernels._by_table(bits, np.arange(span), table, 16, span, out)
    assert again.sum() == span % count
    counts = Counter(map(tuple, out[~again].tolist()))
    assert set(counts.values()) == {span // count}


def slow_set(own: int, how: Randomization, source: np.random.Generator) -> frozenset[int]:
    """Return a set as the paper says it, value by value."""
    if source.random() < how.p:
        others = [code for code in range(how.d) if code != own]
        return frozenset([own, *source.permutation(others)[: how.eta - 1].tolist()])
    return frozenset(source.permutation(how.d)[: how.eta].tolist())


@pytest.mark.parametrize("p", [1.0, 0.6])
def test_the_kernel_draws_as_the_paper_says(p):
    how, rows = Randomization(p=p, eta=2, d=4), 8_000
    fast = random_sets(np.ones(rows, np.int32), p=p, eta=2, d=4, rng=rng(), dtype=np.uint8)
    source = np.random.default_rng(3)
    slow = Counter(slow_set(1, how, source) for _ in range(rows))
    quick = Counter(frozenset(line) for line in fast.tolist())
    kinds = sorted(set(slow) | set(quick), key=sorted)
    table = [[counts[kind] for kind in kinds] for counts in (slow, quick)]
    assert stats.chi2_contingency(table).pvalue > LEAST_P_VALUE


@pytest.mark.parametrize(("p", "eta", "d"), [(0.3, 1, 5), (0.7, 3, 6), (1.0, 2, 9), (0.5, 9, 80)])
def test_sets_contain_their_own_value_and_others_as_often_as_stated(p, eta, d):
    rows, own = 40_000, 2
    how = Randomization(p=p, eta=eta, d=d)
    codes = np.full(rows, own, np.int32)
    sets = random_sets(codes, p=p, eta=eta, d=d, rng=rng(f"{p}"), dtype=np.uint8)
    shares = np.bincount(sets.ravel(), minlength=d) / rows
    for code, share in enumerate(shares):
        stated = how.contains_own if code == own else how.contains_other
        error = STANDARD_DEVIATIONS * np.sqrt(stated * (1 - stated) / rows)
        assert abs(share - stated) <= error


def test_the_same_generator_gives_the_same_sets():
    codes = np.arange(200_000, dtype=np.int32) % 7
    one, same, other = (
        random_sets(codes, p=0.5, eta=3, d=7, rng=rng(purpose), dtype=np.uint8)
        for purpose in ("a", "a", "b")
    )
    assert (one == same).all()
    assert (one != other).any()


# The coin


@pytest.mark.parametrize("numerator", range(1, 64))
def test_coins_are_exact_where_words_end(numerator, monkeypatch):
    """With words of four outcomes and a p in 64ths, every third word decides."""
    monkeypatch.setattr(set_kernels, "_COIN", 4)
    every = [np.repeat(np.arange(4), 16), np.tile(np.repeat(np.arange(4), 4), 4)]
    every.append(np.tile(np.arange(4), 16))
    drawn: list[np.ndarray] = []

    def bits(count, word, source):
        """Return the next words of those coins that the words before left open."""
        left = np.arange(64)
        p = Fraction(numerator, 64)
        for words in every[: len(drawn)]:
            sure, p = divmod(p * 4, 1)
            left = left[words[left] == sure]
        drawn.append(left)
        assert len(left) == count
        return every[len(drawn) - 1][left].astype(word)

    monkeypatch.setattr(set_kernels, "_bits", bits)
    assert set_kernels._coins(64, Fraction(numerator, 64), rng()).sum() == numerator


def test_a_p_below_the_fineness_of_a_word_is_drawn_all_the_same(monkeypatch):
    """Half of 2**-32: where a word is 0, the next one decides."""
    words = iter([np.zeros(4, np.uint32), np.array([0, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)])
    monkeypatch.setattr(set_kernels, "_bits", lambda count, word, source: next(words))
    coins = set_kernels._coins(4, Fraction(1, 2**33), rng())
    assert coins.tolist() == [True, True, False, False]


def test_the_decimals_of_p_are_meant(monkeypatch):
    seen = []

    def coins(count, p, source):
        seen.append(p)
        return np.zeros(count, bool)

    monkeypatch.setattr(set_kernels, "_coins", coins)
    random_sets(np.zeros(3, np.int32), p=1e-12, eta=2, d=5, rng=rng(), dtype=np.uint8)
    random_sets(np.zeros(3, np.int32), p=0.1, eta=2, d=5, rng=rng(), dtype=np.uint8)
    assert seen == [Fraction(1, 10**12), Fraction(1, 10)]
