"""Estimators of population uniques against their definitions, and where they have no answer."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import risk as oracle

from sfumato.risk import pitman, slide_negative_binomial, zayatz
from sfumato.risk.class_growth import pitman_risks
from sfumato.risk.pitman import Pitman, fit_pitman
from sfumato.risk.special import digamma, harmonic, log_choose

sizes = st.lists(st.integers(1, 12), min_size=2, max_size=25)


@given(sizes)
def test_no_other_pitman_model_is_likelier(classes):
    assume(sum(classes) > len(classes))
    model = fit_pitman(Counter(classes))
    assert isinstance(model, Pitman)
    assert 0 <= model.alpha < 1
    assert model.theta > -model.alpha
    best = oracle.pitman_log_likelihood(model.theta, model.alpha, classes)
    for alpha in (0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        for theta in (0.001, 0.1, 1.0, 3.0, 10.0, 100.0, 1e4, 1e6):
            other = (
                oracle.pitman_log_likelihood(theta - alpha, alpha, classes)
                if (theta - alpha > -alpha) and (alpha > 0 or theta > 0)
                else -math.inf
            )
            assert other <= best + 1e-6 * abs(best) + 1e-9


def test_pitman_fits_a_sample_of_few_repeats():
    """Its slope is lost in rounding if sums are taken as differences of large numbers."""
    model = fit_pitman({1: 2072, 2: 130, 3: 24, 4: 4, 5: 2, 6: 2})
    assert isinstance(model, Pitman)
    assert model.alpha == pytest.approx(0.7217, abs=1e-3)
    assert model.theta == pytest.approx(3032.5, rel=1e-3)


@pytest.mark.parametrize("theta", [Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 3), Fraction(4, 5)])
def test_pitman_expects_what_all_outcomes_say(theta, alpha):
    model = Pitman(float(theta), float(alpha), 4)
    states = oracle.pitman_chances(theta, alpha, (), 6)
    expected = sum(chance * state.count(1) for state, chance in states.items())
    assert model.uniques(6) == pytest.approx(float(expected))
    sample = (1, 2, 1)
    grown = oracle.pitman_chances(theta, alpha, sample, 5)
    assert sum(grown.values()) == 1
    for place, size in enumerate(sample):
        for k in (1, 2, 3, 5, 9):
            below = sum(chance for state, chance in grown.items() if state[place] < k)
            assert model.below(size, k, 9) == pytest.approx(float(below))
        inverse = sum(chance / state[place] for state, chance in grown.items())
        assert pitman_risks(np.array([size]), model, 9)[0] == pytest.approx(float(inverse))


def test_long_sums_of_pitman_risks():
    """Terms beyond the first are an integral; large classes go by two moments."""
    model, population = Pitman(120.0, 0.7, 1_000), 60_000
    rest = population - model.sample
    for size in (1, 3, 40, 200, 300):
        a, b = size - model.alpha, model.theta + model.sample - size + model.alpha
        chance, total = 1.0, []
        for x in range(rest + 1):
            total.append((chance, size + x))
            if x < rest:
                chance *= (rest - x) * (a + x) / ((x + 1) * (b + rest - x - 1))
            if chance > 1e200:
                total = [(c * 1e-200, f) for c, f in total]
                chance *= 1e-200
        weight = math.fsum(c for c, _ in total)
        exact = math.fsum(c / f for c, f in total) / weight
        found = pitman_risks(np.array([size]), model, population)[0]
        assert found == pytest.approx(exact, rel=1e-4 if size >= 200 else 1e-6)


@given(sizes, st.integers(0, 300))
def test_zayatz_is_its_formula(classes, more):
    assume(1 in classes)
    population = sum(classes) + more
    found = zayatz(Counter(classes), population)
    assert found.uniques == pytest.approx(float(oracle.zayatz_uniques(classes, population)))
    assert found.in_sample == pytest.approx(found.uniques * sum(classes) / population)


@pytest.mark.parametrize(
    ("counts", "population"),
    [
        ({1: 3792, 2: 301, 3: 79, 9: 20}, 48_842),
        ({1: 463, 2: 11, 3: 1}, 48_842),
        ({1: 2188, 2: 565, 30: 240}, 1_048_575),
    ],
)
def test_the_slid_distribution_matches_the_sample(counts, population):
    found = slide_negative_binomial(counts, population)
    model, n = found.parameters, sum(s * c for s, c in counts.items())
    ones, twos, total = oracle.slid_expectations(
        model["classes"], model["shape"], model["probability"], n / population
    )
    assert ones == pytest.approx(counts[1], rel=1e-6)
    assert twos == pytest.approx(counts[2], rel=1e-6)
    assert total == pytest.approx(population, rel=1e-5)
    uniques = model["classes"] * model["probability"] ** model["shape"]
    assert found.uniques == pytest.approx(uniques)


@pytest.mark.parametrize(
    ("estimate", "reason"),
    [
        (pitman({1: 5}, 50), "every record of the sample is unique"),
        (pitman({5: 1}, 50), "all records of the sample are in one class"),
        (slide_negative_binomial({1: 5}, 50), "classes of one record and of two"),
        (slide_negative_binomial({2: 5}, 50), "classes of one record and of two"),
        (slide_negative_binomial({1: 9087, 2: 3312, 9: 55_000}, 1_048_575), "no negative"),
    ],
)
def test_without_a_solution_there_is_a_reason_and_no_number(estimate, reason):
    assert reason in estimate.reason
    assert (estimate.uniques, estimate.share, estimate.in_sample) == (None, None, None)
    assert estimate.to_dict()["uniques"] is None


def test_no_sample_uniques_mean_none_by_zayatz():
    assert zayatz({2: 5}, 50).uniques == 0


@given(st.floats(-0.99, 1e9), st.integers(1, 300))
def test_harmonic_sums(start, count):
    exact = math.fsum(1 / (start + i) for i in range(1, count + 1))
    assert harmonic(start, count) == pytest.approx(exact, rel=1e-13)


def test_functions_against_scipy():
    special = pytest.importorskip("scipy.special")
    for x in (0.01, 0.5, 1.0, 3.3, 11.9, 12.0, 1e6):
        assert digamma(x) == pytest.approx(float(special.digamma(x)), rel=1e-13)
    assert math.exp(log_choose(30, 11)) == pytest.approx(math.comb(30, 11))
