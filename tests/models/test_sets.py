"""Models of randomised sets hold exactly as far as the draw of the sets allows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import sets as oracle

from sfumato.errors import ParameterError
from sfumato.measures.set_randomization import Randomization, largest_p, mass_interval
from sfumato.models import SetAnonymity, SetCloseness, SetDiversity, from_claim

TS = st.integers(1, 19).map(lambda n: n / 20)


@pytest.mark.parametrize(
    "model",
    [
        SetDiversity("a", 3),
        SetDiversity("a", 2.5, "entropy"),
        SetCloseness("a", 0.2),
        SetCloseness("a", 0.2, "ordered", "data"),
        SetAnonymity("a", 4),
    ],
)
def test_claims_read_back(model):
    assert from_claim(model.claim()) == model
    assert model.needs == ("a",)
    with pytest.raises(ParameterError, match="randomised sets"):
        model.bind({})


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "set-diversity", "attribute": "a", "l": 0},
        {"model": "set-diversity", "attribute": "a", "l": 2.5},
        {"model": "set-diversity", "attribute": "a", "l": 0.5, "variant": "entropy"},
        {"model": "set-diversity", "attribute": "a", "l": 2, "variant": "distinct"},
        {"model": "set-diversity", "attribute": "a"},
        {"model": "set-closeness", "attribute": "a", "t": 0},
        {"model": "set-closeness", "attribute": "a", "t": 1.5},
        {"model": "set-closeness", "attribute": "a", "t": 0.5, "distance": "hierarchical"},
        {"model": "set-closeness", "attribute": "a", "t": 0.5, "prior": "known"},
        {"model": "set-anonymity", "attribute": "a", "k": 1.5},
        {"model": "set-anonymity", "attribute": "a", "k": 2, "l": 2},
    ],
)
def test_claims_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ParameterError):
        from_claim(wrong)


@given(st.integers(2, 6), st.data(), st.integers(1, 20))
def test_diversity_bounds_the_posterior_of_a_uniform_prior(d, data, twentieths):
    eta, p = data.draw(st.integers(1, d)), Fraction(twentieths, 20)
    how = Randomization(float(p), eta, d)
    after = oracle.posterior([Fraction(1, d)] * d, frozenset(range(eta)), p)
    assert max(after) <= Fraction(1, eta)
    for l in range(1, d + 1):  # noqa: E741
        holds = eta >= l
        assert SetDiversity("a", l).holds_for(how) == holds
        assert SetDiversity("a", l, "entropy").holds_for(how) == holds
        assert SetAnonymity("a", l).holds_for(how) == holds
    assert SetDiversity("a", 1).level(how) == SetAnonymity("a", 1).level(how) == eta


def test_diversity_is_no_bound_for_another_prior():
    """Which the audit says: a set of three holds the commonest value with 90 in 92."""
    after = oracle.posterior(oracle.shares([90, 1, 1, 8]), frozenset({0, 1, 2}), Fraction(1))
    assert SetDiversity("a", 3).holds_for(Randomization(1.0, 3, 4))
    assert max(after) > Fraction(97, 100)


@given(st.integers(2, 6), TS, st.data())
def test_closeness_holds_up_to_the_largest_p(d, t, data):
    eta = data.draw(st.integers(1, d - 1))
    p = largest_p(t, eta, d)
    for distance in ("equal", "ordered"):
        model = SetCloseness("a", t, distance)
        assert model.holds_for(Randomization(p, eta, d))
        assert model.level(Randomization(p, eta, d)) == pytest.approx(t)
        # whatever masses are stated, they are not asked for
        assert model.holds_for(Randomization(p, eta, d), (0.0, 0.01))
        beyond = Randomization(p + 1e-9, eta, d)
        assert not model.holds_for(beyond)
        assert not model.holds_for(beyond, (0.0, 0.01))
        assert model.holds_for(Randomization(1.0, d, d))


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), TS, st.data())
def test_closeness_to_the_data_needs_their_masses(weights, t, data):
    d = len(weights)
    eta = data.draw(st.integers(1, d - 1))
    model, masses = SetCloseness("a", t, prior="data"), mass_interval(weights, eta)
    p = largest_p(t, eta, d, masses)
    how = Randomization(p, eta, d)
    assert model.holds_for(how, masses)
    assert model.level(how, masses) <= t + 1e-9
    if p < 1:
        assert model.level(how, masses) == pytest.approx(t)
        assert not model.holds_for(Randomization(min(p + 1e-9, 1.0), eta, d), masses)
    with pytest.raises(ParameterError, match="masses"):
        model.holds_for(how)
    with pytest.raises(ParameterError, match="masses"):
        model.level(how)
