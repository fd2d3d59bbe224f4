"""The p and eta of randomised sets keep t for the worst set, found by looking at every one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import sets as oracle

from sfumato.errors import Infeasible, ParameterError
from sfumato.measures.set_randomization import (
    Randomization,
    choose,
    expected_l2,
    largest_p,
    mass_interval,
    reached_distance,
)

WEIGHTS = st.lists(st.integers(0, 12), min_size=2, max_size=6).filter(any)
TS = st.integers(1, 19).map(lambda n: n / 20)
DISTANCES = st.sampled_from([oracle.equal, oracle.ordered])


def exactly(number: float) -> Fraction:
    return Fraction(str(number))


# --- the chances ----------------------------------------------------------------------------------


@given(st.integers(2, 6), st.data(), st.integers(1, 20))
def test_chances_are_those_of_the_draw(d, data, twentieths):
    eta, p = data.draw(st.integers(1, d)), Fraction(twentieths, 20)
    every = list(oracle.all_sets(d, eta))
    assert sum(oracle.chance(drawn, 0, p, d) for drawn in every) == 1
    how = Randomization(float(p), eta, d)
    for value, stated in ((0, how.contains_own), (d - 1, how.contains_other)):
        contained = sum(oracle.chance(drawn, 0, p, d) for drawn in every if value in drawn)
        assert stated == pytest.approx(float(contained))
    assert how.telling == pytest.approx(how.contains_own - how.contains_other, abs=1e-12)
    # a set without a value, against one with it
    inside = oracle.chance(every[0], min(every[0]), p, d)
    for value in set(range(d)) - every[0]:
        outside = oracle.chance(every[0], value, p, d)
        assert how.outside / how.contains_own == pytest.approx(float(outside / inside))


def test_a_vanishing_p_tells_as_much_as_it_says():
    assert Randomization(1e-12, 3, 10).telling == pytest.approx(1e-12 * 7 / 9, rel=1e-12)


def test_a_domain_of_one_value_has_no_other():
    assert Randomization(1.0, 1, 1).contains_own == 1
    assert Randomization(1.0, 1, 1).contains_other == 0
    assert Randomization(0.5, 1, 1).telling == 1


@pytest.mark.parametrize(
    ("p", "eta", "d"),
    [
        (0, 1, 2),
        (1.1, 1, 2),
        (math.nan, 1, 2),
        (True, 1, 2),
        ("1", 1, 2),
        (None, 1, 2),
        (1, 0, 2),
        (1, 3, 2),
        (1, True, 2),
        (1, 1.0, 2),
        (1, None, 2),
    ],
)
def test_impossible_draws_are_refused(p, eta, d):
    with pytest.raises(ParameterError):
        Randomization(p, eta, d)


# --- closeness of the worst set -------------------------------------------------------------------


@given(WEIGHTS, TS, DISTANCES, st.data())
def test_a_free_choice_keeps_t_for_any_prior_and_every_set(weights, t, distance, data):
    d = len(weights)
    least = data.draw(st.none() | st.integers(1, max(d - 1, 1)))
    how = choose(1000, d, l=least if d > 2 else None, t=t)
    assert how.eta >= (least or 1) or d == 2
    assert oracle.worst(oracle.shares(weights), exactly(how.p), how.eta, distance) <= exactly(t)


@given(WEIGHTS, TS, DISTANCES)
def test_a_choice_from_the_data_keeps_t_for_their_prior(weights, t, distance):
    how = choose(1000, len(weights), t=t, shares=weights)
    assert oracle.worst(oracle.shares(weights), exactly(how.p), how.eta, distance) <= exactly(t)


@given(st.integers(2, 6), TS, st.data())
def test_every_largest_p_is_safe_and_not_only_the_chosen(d, t, data):
    eta = data.draw(st.integers(1, d))
    weights = data.draw(st.lists(st.integers(0, 9), min_size=d, max_size=d).filter(any))
    prior = oracle.shares(weights)
    free = largest_p(t, eta, d)
    known = largest_p(t, eta, d, mass_interval(weights, eta))
    assert 0 < free <= known <= 1
    for p in (free, known):
        assert oracle.worst(prior, exactly(p), eta, oracle.equal) <= exactly(t)


@given(st.integers(2, 6), TS, DISTANCES, st.data())
def test_no_larger_p_is_safe_for_every_prior(d, t, distance, data):
    """All the mass on the ends of the order, of which a set holds one: both distances reach t."""
    eta = data.draw(st.integers(1, d - 1))
    mass = (1 - exactly(t)) / 2
    prior = [mass, *[Fraction(0)] * (d - 2), 1 - mass]
    p = exactly(largest_p(t, eta, d))
    assert oracle.worst(prior, p, eta, distance) <= exactly(t)
    assert oracle.worst(prior, p + Fraction(1, 10**9), eta, distance) > exactly(t)


def test_grids_of_priors_on_three_values_keep_t():
    grid = [(a, b, 12 - a - b) for a in range(13) for b in range(13 - a)]
    for t in (0.1, 0.25, 0.5):
        for eta in (1, 2):
            p = exactly(largest_p(t, eta, 3))
            reached = max(oracle.worst(oracle.shares(w), p, eta, oracle.equal) for w in grid)
            assert 0.9 * t < reached <= exactly(t)


def test_the_printed_algorithm_1_would_have_failed():
    """The commonest value alone may stand there in clear, so everybody's does."""
    prior, t = oracle.shares([90, 5, 5]), Fraction(1, 5)
    p, eta = oracle.printed_algorithm_1(prior, t, 1000)
    assert (p, eta) == (1, 1)
    assert oracle.worst(prior, p, eta, oracle.equal) == Fraction(95, 100)
    ours = choose(1000, 3, t=0.2, shares=[90, 5, 5])
    assert oracle.worst(prior, exactly(ours.p), ours.eta, oracle.equal) <= t


def test_the_printed_algorithm_1_fails_where_no_value_is_that_common():
    prior, t = oracle.shares([50, 30, 15, 5]), Fraction(3, 10)
    p, eta = oracle.printed_algorithm_1(prior, t, 1000)
    assert oracle.worst(prior, p, eta, oracle.equal) > t
    ours = choose(1000, 4, t=0.3, shares=[50, 30, 15, 5])
    assert exactly(ours.p) < p
    assert oracle.worst(prior, exactly(ours.p), ours.eta, oracle.equal) <= t


@given(WEIGHTS, st.integers(1, 20), st.data())
def test_the_reached_distance_is_the_worst_of_the_masses(weights, twentieths, data):
    d, p = len(weights), twentieths / 20
    eta = data.draw(st.integers(1, d))
    how, prior = Randomization(p, eta, d), oracle.shares(weights)
    found = float(oracle.worst(prior, exactly(p), eta, oracle.equal))
    assert found <= reached_distance(how, mass_interval(weights, eta)) + 1e-12
    assert found <= reached_distance(how) + 1e-12


def test_the_reached_distance_is_attained():
    how = Randomization(0.5, 2, 4)
    near = max(
        oracle.worst(oracle.shares([n, 0, 0, 200 - n]), Fraction(1, 2), 2, oracle.equal)
        for n in range(1, 200)
    )
    assert float(near) == pytest.approx(reached_distance(how), abs=1e-4)
    skewed = oracle.shares([500, 300, 150, 50])
    interval = tuple(map(float, oracle.masses(skewed, 2)))
    assert mass_interval([500, 300, 150, 50], 2) == interval == (0.2, 0.8)
    assert float(oracle.worst(skewed, Fraction(1, 2), 2, oracle.equal)) <= reached_distance(
        how, interval
    )


@given(WEIGHTS, st.data())
def test_mass_intervals_hold_all_masses_and_hardly_more(weights, data):
    eta = data.draw(st.integers(1, len(weights)))
    low, high = mass_interval(weights, eta)
    least, most = oracle.masses(oracle.shares(weights), eta)
    assert exactly(low) <= least < exactly(low) + Fraction(1, 1000)
    assert exactly(high) - Fraction(1, 1000) < most <= exactly(high)
    assert mass_interval([each / sum(weights) for each in weights], eta)[0] <= low + 1e-9


@pytest.mark.parametrize("bad", [[], [1, -1]])
def test_masses_of_no_distribution_are_refused(bad):
    with pytest.raises(ParameterError):
        mass_interval(bad, 1)


def test_without_records_any_masses_may_be():
    assert mass_interval([0, 0, 0], 1) == mass_interval([0, 0, 0], 2) == (0, 1)
    assert choose(0, 3, t=0.3, shares=[0, 0, 0]) == choose(0, 3, t=0.3)


# --- the expected error, and the choice -----------------------------------------------------------


@given(st.integers(2, 500), st.data(), st.integers(1, 10**6))
def test_the_expected_error_of_certain_sets_is_the_simple_form(d, data, rows):
    eta = data.draw(st.integers(1, d - 1))
    simple = math.sqrt((d - 1) * (eta - 1) / (rows * (d - eta)))
    assert expected_l2(rows, d, 1.0, eta) == pytest.approx(simple)


@given(st.integers(2, 300), st.data(), st.floats(0.01, 1))
def test_the_expected_error_is_equation_9(d, data, p):
    eta = data.draw(st.integers(1, d - 1))
    printed = oracle.error(1000, d, p, eta)
    # as printed, it loses digits where terms cancel
    assert expected_l2(1000, d, p, eta) == pytest.approx(printed, rel=1e-6, abs=1e-7)


def test_sets_of_all_values_tell_nothing():
    assert expected_l2(1000, 5, 0.5, 5) == math.inf
    assert expected_l2(0, 5, 0.5, 2) == math.inf
    assert expected_l2(1000, 1, 1.0, 1) == 0


@given(st.integers(2, 40), TS, st.none() | st.integers(1, 12))
def test_the_choice_is_the_least_expected_error(d, t, max_eta):
    how = choose(1000, d, t=t, max_eta=max_eta)
    losses = {
        eta: expected_l2(1000, d, largest_p(t, eta, d), eta)
        for eta in range(1, min(d - 1, max_eta or 64) + 1)
    }
    assert how.eta in losses
    assert expected_l2(1000, d, how.p, how.eta) == min(losses.values())
    assert how.p == largest_p(t, how.eta, d)


@given(st.integers(3, 200), st.data())
def test_diversity_alone_takes_the_least_set_and_keeps_the_value(d, data):
    least = data.draw(st.integers(1, d - 1))
    assert choose(1000, d, l=least) == Randomization(1.0, least, d)


def test_an_l_that_is_not_whole_is_rounded_up():
    assert choose(1000, 10, l=2.5) == Randomization(1.0, 3, 10)


def test_domains_of_hundreds_of_values():
    how = choose(10**6, 500, l=80, t=0.2, shares=range(1, 501))
    assert (how.eta, how.d) == (80, 500)
    assert 0 < how.p < 1


def test_both_requirements_are_kept():
    how = choose(1000, 10, l=4, t=0.5)
    assert how.eta == 4
    assert how.p == largest_p(0.5, 4, 10)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"d": 2, "l": 2}, "give it `t` instead"),
        ({"d": 2, "l": 2, "t": 0.1}, "give it `t` instead"),
        ({"d": 1, "l": 2}, "give it `t` instead"),
        ({"d": 5, "l": 5}, "largest useful `l` is 4"),
        ({"d": 5, "l": 9, "t": 0.5}, "largest useful `l` is 4"),
        ({"d": 5, "t": 1e-13}, "p would vanish"),
    ],
)
def test_what_no_useful_sets_can_give_is_refused(asked, message):
    with pytest.raises(Infeasible, match=message):
        choose(1000, **asked)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"t": 0},
        {"t": 1.5},
        {"t": math.nan},
        {"l": 0},
        {"l": 3, "max_eta": 2},
        {"t": 0.5, "shares": [1, 1]},
        {"t": 0.5, "max_eta": 0},
    ],
)
def test_parameters_that_make_no_sense_are_refused(asked):
    with pytest.raises(ParameterError):
        choose(1000, 5, **asked)


def test_edges_of_the_choice():
    assert choose(1000, 2, l=1) == Randomization(1.0, 1, 2)
    assert choose(1000, 1, t=0.1) == Randomization(1.0, 1, 1)
    assert choose(0, 4, t=1) == Randomization(1.0, 1, 4)
    assert choose(1000, 2, t=0.5) == Randomization(0.8, 1, 2)
