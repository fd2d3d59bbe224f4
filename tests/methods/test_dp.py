"""dp: what it costs, what it draws from, and that its noise is as large as it says.

OpenDP takes no seed, so tests of noise are wrong now and then: each says how rarely.
"""

from __future__ import annotations

import builtins
import math
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from oracles.verdict import verdict

from sfumato.audit import audit
from sfumato.errors import EngineUnavailable, ParameterError, SfumatoError
from sfumato.jobs.policy import Policy
from sfumato.methods import DP
from sfumato.methods import dp as dp_module
from sfumato.rows import budget as budget_module
from sfumato.rows.budget import Budget, calibrated
from sfumato.schema import Attribute, Hierarchy, Role, Schema

# A true loss is estimated beyond its limit by this many standard errors in one of 3.5 million runs.
STANDARD_ERRORS = 5.0


def loss_at_least(with_row: np.ndarray, without: np.ndarray) -> float:
    """Return what the log of the ratio of an event's two chances surely is at least."""
    chances = [np.mean(with_row), np.mean(without)]
    errors = [math.sqrt((1 - p) / (p * len(with_row))) for p in chances]
    return abs(math.log(chances[0] / chances[1])) - STANDARD_ERRORS * math.hypot(*errors)


def people(rows: int = 60) -> pa.Table:
    return pa.table(
        {
            "age": [i % 50 for i in range(rows)],
            "job": [None if i % 7 == 0 else ("nurse", "cook", "clerk")[i % 3] for i in range(rows)],
            "illness": [("Flu", "HIV", None)[(i // 2) % 3] for i in range(rows)],
        }
    )


AGE = Attribute("age", Role.QUASI_IDENTIFIER, domain=(0, 120))
JOB = Attribute("job", Role.QUASI_IDENTIFIER, domain=("nurse", "cook", "clerk", "judge"))
ILLNESS = Attribute("illness", Role.SENSITIVE, domain=("Flu", "HIV", "Fever"))
SCHEMA = Schema((AGE, JOB, ILLNESS))


# --- noise -----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_counts_of_neighbours_differ_by_their_budget_and_no_more(epsilon):
    """Each of 20,000 counts is a run of its own: 3 rows in a cell, or 4."""
    runs = 20_000
    noisy = [Budget(epsilon).noisy(np.full(runs, n), Fraction(epsilon)) for n in (4, 3)]
    events = [counts >= 4 for counts in noisy]
    assert loss_at_least(*events) <= epsilon
    # and the test can tell: with half the noise it would fail, with twice as much it is not tight
    for scale, is_caught in ((0.5, True), (2.0, False)):
        weaker = Fraction(epsilon) / Fraction(scale)
        bad = [Budget(8).noisy(np.full(runs, n), weaker) >= 4 for n in (4, 3)]
        assert (loss_at_least(*bad) > epsilon) == is_caught


def test_choices_of_neighbours_differ_by_their_budget_and_no_more():
    epsilon, runs = Fraction(1), 5_000

    def chosen(scores: list[int], cost: Fraction) -> np.ndarray:
        # vectors of disjoint rows are independent choices, and cost their budget once
        places = Budget(float(cost)).choose([np.array(scores)] * runs, cost)
        return np.array(places) == 0

    assert loss_at_least(chosen([1, 1], epsilon), chosen([0, 1], epsilon)) <= 1.0
    assert loss_at_least(chosen([1, 1], 2 * epsilon), chosen([0, 1], 2 * epsilon)) > 1.0


def repeated(times: int) -> tuple[pa.Table, Schema]:
    """Return a table of 2,000 jobs with so many people each, all of one illness."""
    jobs = [f"job {i}" for i in range(2_000)]
    data = pa.table({"job": jobs * times, "illness": ["Flu"] * (2_000 * times)})
    attributes = (
        Attribute("job", Role.QUASI_IDENTIFIER, domain=tuple(jobs)),
        Attribute("illness", Role.SENSITIVE, domain=("Flu",)),
    )
    return data, Schema(attributes)


def published_counts(times: int, epsilon: float) -> np.ndarray:
    data, schema = repeated(times)
    release = DP(epsilon=epsilon, cuts=1, cells=10_000).publish(data, schema)
    records = release.tables["records"]
    flu = records.filter(records["illness"].is_valid())["job"].drop_null().to_pylist()
    return np.bincount([int(job.split()[1]) for job in flu], minlength=2_000)


def test_published_records_of_neighbours_differ_by_half_of_epsilon(monkeypatch):
    """A release counts 2,000 jobs apart: 2,000 runs for tables that differ in one person.

    The only cut is certain, so that half of the budget is not needed.
    """
    epsilon = 2.0
    events = [published_counts(n, epsilon) >= 3 for n in (3, 2)]
    assert loss_at_least(*events) <= epsilon / 2

    def with_half_the_noise(what, cost):
        return calibrated(what, cost * 2)

    monkeypatch.setattr(budget_module, "calibrated", with_half_the_noise)
    monkeypatch.setattr(Budget, "_pay", lambda *_: None)
    events = [published_counts(n, epsilon) >= 3 for n in (3, 2)]
    assert loss_at_least(*events) > epsilon / 2


# --- the budget ------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 7.7, 1000])
@pytest.mark.parametrize("cuts", [1, 2, 7, 30])
def test_no_more_than_epsilon_is_spent(monkeypatch, epsilon, cuts):
    budgets = []

    class Watched(Budget):
        def __init__(self, limit):
            super().__init__(limit)
            budgets.append(self)

    monkeypatch.setattr(dp_module, "Budget", Watched)
    DP(epsilon=epsilon, cuts=cuts).publish(people(), SCHEMA)
    (budget,) = budgets
    assert Fraction(epsilon) / 2 < budget.spent <= Fraction(epsilon)


def test_a_spent_budget_is_refused():
    budget = Budget(1.0)
    budget.noisy(np.zeros(2, np.int64), Fraction(2, 3))
    with pytest.raises(ParameterError, match="budget"):
        budget.choose([np.zeros(2, np.int64)], Fraction(2, 3))
    assert budget.spent <= 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1, 10), Fraction(22, 7)])
@pytest.mark.parametrize("what", ["choice", "counts"])
def test_a_mechanism_costs_what_it_was_made_for(what, epsilon):
    cost = Fraction(calibrated(what, epsilon).map(1))
    assert epsilon * Fraction(999_999, 1_000_000) < cost <= epsilon


# --- releases --------------------------------------------------------------------------------


def test_a_release_says_what_it_is_and_is_well_formed():
    release = DP(epsilon=1.0, cuts=4).publish(people(), SCHEMA)
    manifest = release.manifest
    assert manifest.guarantees == ({"model": "differential-privacy", "epsilon": 1.0},)
    assert manifest.layout == "generalized"
    assert manifest.rows == release.tables["records"].num_rows
    assert manifest.parameters == {"cuts": 4, "bins": 32, "cells": 1_000}
    report = audit(release)
    assert report.exit_code == 1  # nothing that is claimed can be confirmed
    assert [v.holds for v in report.guarantees] == [None]
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release", format="csv")
        assert verdict(Path(home) / "release") == 1


def test_with_a_large_epsilon_the_counts_are_right():
    """Noise of scale 1/500 is above 0 in one of 10**200 cells."""
    release = DP(epsilon=1000, cuts=3).publish(people(), SCHEMA)
    records = release.tables["records"].to_pylist()
    assert len(records) == 60
    for value in ("Flu", "HIV", None):
        expected = people()["illness"].to_pylist().count(value)
        assert sum(row["illness"] == value for row in records) == expected
    # missing jobs are a value of their own once the attribute is cut at all
    jobs = {row["job"] for row in records}
    if jobs != {"*"}:
        assert sum(row["job"] is None for row in records) == people()["job"].null_count


def test_empty_cells_are_noisy_and_domains_are_whole():
    """There are 32 cells at least, and each of the empty ones stays empty by chance of 0.51."""
    release = DP(epsilon=0.1, cuts=6).publish(people(2), SCHEMA)
    assert release.manifest.rows > 5
    by_name = {entry.name: entry for entry in release.manifest.attributes}
    assert by_name["job"].domain == ("nurse", "cook", "clerk", "judge")
    assert by_name["illness"].domain == ("Flu", "HIV", "Fever")
    assert (by_name["age"].domain.min, by_name["age"].domain.max) == (0, 120)


def test_a_release_may_have_no_records(monkeypatch):
    monkeypatch.setattr(Budget, "noisy", lambda self, counts, epsilon: counts - 99)
    release = DP(epsilon=1.0).publish(people(), SCHEMA)
    assert release.manifest.rows == 0
    assert [verdict.holds for verdict in audit(release).guarantees] == [None]
    with tempfile.TemporaryDirectory() as home:
        for file_format in ("csv", "parquet"):
            release.save(Path(home) / file_format, format=file_format)
            assert verdict(Path(home) / file_format) == 1


def test_cuts_follow_a_supplied_hierarchy():
    rows = [("a", "vowel"), ("e", "vowel"), ("b", "consonant"), ("c", "consonant")]
    letters = Hierarchy.from_rows(rows, "letter")
    data = pa.table(
        {"letter": ["a", "e"] * 40 + ["b"] * 80, "illness": ["Flu"] * 80 + ["HIV"] * 80}
    )
    attributes = (Attribute("letter", Role.QUASI_IDENTIFIER, hierarchy=letters), ILLNESS)
    release = DP(epsilon=500, cuts=1).publish(data, Schema(attributes))
    assert set(release.tables["records"]["letter"].to_pylist()) == {"vowel", "consonant"}
    release = DP(epsilon=500, cuts=3).publish(data, Schema(attributes))
    assert set(release.tables["records"]["letter"].to_pylist()) == {"a", "e", "b"}
    assert [verdict.holds for verdict in audit(release).guarantees] == [None]


def test_what_would_make_too_many_cells_is_not_chosen():
    """4 classes: 2 leaves are 8 cells, and the cut of jobs has 5 children."""
    release = DP(epsilon=1000, cuts=5, cells=12).publish(people(), SCHEMA)
    assert set(release.tables["records"]["job"].to_pylist()) == {"*"}
    assert len(set(release.tables["records"]["age"].to_pylist())) <= 3


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["age", "job", "illness"])
def test_a_domain_that_is_not_stated_is_refused_by_name(name):
    attributes = tuple(
        Attribute(each.name, each.role) if each.name == name else each for each in SCHEMA
    )
    with pytest.raises(ParameterError, match=f"'{name}'"):
        DP(epsilon=1.0).publish(people(), Schema(attributes))


def test_a_hierarchy_that_follows_the_data_is_refused():
    from sfumato.schema import Quantiles

    attributes = (Attribute("age", Role.QUASI_IDENTIFIER, hierarchy=Quantiles(3)), JOB, ILLNESS)
    with pytest.raises(ParameterError, match="'age' is built from the data"):
        DP(epsilon=1.0).publish(people(), Schema(attributes))


def test_kept_columns_several_sensitive_ones_and_repeated_people_are_refused():
    kept = Attribute("job", Role.INSENSITIVE, keep=True)
    with pytest.raises(ParameterError, match="'job'"):
        DP(epsilon=1.0).publish(people(), Schema((AGE, kept, ILLNESS)))
    second = Attribute("job", Role.SENSITIVE, domain=JOB.domain)
    with pytest.raises(ParameterError, match="one sensitive attribute, and there are 2"):
        DP(epsilon=1.0).publish(people(), Schema((AGE, second, ILLNESS)))
    data = people(4).append_column("name", pa.array(["Ann", "Ann", "Bob", "Eve"]))
    schema = Schema((*SCHEMA, Attribute("name", Role.IDENTIFIER)), unit="name")
    with pytest.raises(ParameterError, match="one row"):
        DP(epsilon=1.0).publish(data, schema)


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 0},
        {"epsilon": -1.0},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"epsilon": True},
        {"epsilon": 1e-9},
        {"epsilon": 1, "cuts": 0},
        {"epsilon": 1, "bins": 1.5},
        {"epsilon": 1, "cells": 10**9},
    ],
)
def test_senseless_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        DP(**parameters)


def test_without_opendp_the_way_to_get_it_is_told(monkeypatch):
    found = builtins.__import__

    def without(name, *rest):
        if name.startswith("opendp"):
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EngineUnavailable, match=r"pip install 'sfumato\[dp\]'"):
        DP(epsilon=1.0).publish(people(), SCHEMA)


def test_a_policy_cannot_declare_what_only_dp_can_claim():
    content = {
        "attributes": {"age": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}},
        "method": {"name": "mondrian", "k": 2},
        "guarantees": [{"model": "differential-privacy", "epsilon": 1.0}],
    }
    with pytest.raises(SfumatoError, match="unknown privacy model"):
        Policy.of(content).method()
