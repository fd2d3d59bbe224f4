"""Judges say both verdicts, and leave open what was not measured."""

from __future__ import annotations

import pytest

from sfumato.papers.claims import (
    Case,
    Claim,
    Verdict,
    always_grows,
    always_less,
    judged,
    verdict,
)
from sfumato.papers.grid import NotMeasured


def test_less_in_every_case():
    cases = [Case("a", 1, 2), Case("b", 0, 0), Case("c", 3, 4)]
    found = always_less(cases, ("x", "y"))
    assert found.verdict is Verdict.HOLDS
    assert found.numbers == {"cases": 3, "outright": 2, "exceptions": 0}
    assert "3 of 3 cases, 2 outright" in found.measured


def test_one_exception_is_enough():
    cases = [Case("a", 1, 2), Case("b", 2.5, 2), Case("c", 9, 2)]
    found = always_less(cases, ("x", "y"), why_not="so it is")
    assert (found.verdict, found.why) == (Verdict.FAILS, "so it is")
    assert found.numbers["exceptions"] == 2
    assert ", but 9.000 and 2.000 (c)" in found.measured  # the worst


def test_equal_is_not_less_but_slack_allows_it():
    assert always_less([Case("a", 2, 2)], ("x", "y")).verdict is Verdict.FAILS
    assert always_less([Case("a", 2.1, 2)], ("x", "y"), slack=0.1).verdict is Verdict.HOLDS
    assert always_less([Case("a", 2.3, 2)], ("x", "y"), slack=0.1).verdict is Verdict.FAILS
    assert always_less([Case("a", 2.1, 2)], ("x", "y"), chance=0.2).verdict is Verdict.HOLDS
    assert always_less([Case("a", 2.3, 2)], ("x", "y"), chance=0.2).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("values", "how", "expected"),
    [
        ([1, 2, 3], {}, Verdict.HOLDS),
        ([1, 2, 1.9], {}, Verdict.FAILS),
        ([1, 2, 1.9], {"slack": 0.2}, Verdict.HOLDS),
        ([3, 2, 1], {}, Verdict.FAILS),
        ([3, 2, 1], {"falls": True}, Verdict.HOLDS),
        ([1, 2, 3], {"falls": True}, Verdict.FAILS),
    ],
)
def test_series_grow_or_fall(values, how, expected):
    assert always_grows({"x": values}, **how).verdict is expected


def test_nothing_is_judged_by_nothing():
    with pytest.raises(NotMeasured):
        always_less([], ("x", "y"))
    for series in ({}, {"x": [1.0]}):
        with pytest.raises(NotMeasured):
            always_grows(series)


@pytest.mark.parametrize("quick", [True, False])
def test_a_claim_about_other_points_stays_open(by_hand, quick):
    results = by_hand(("by l", {"l": 3}, {"x": 1}), quick=quick)

    def by_k(results):
        return verdict(results.one("by k")["x"] > 0, "never")

    def by_l(results):
        return verdict(results.one("by l")["x"] > 0, "1")

    first, second = judged([Claim("k", "k", "1", by_k), Claim("l", "l", "2", by_l)], results)
    assert first.judgement.verdict is Verdict.OPEN
    assert "by k" in first.judgement.why
    assert ("quick" in first.judgement.why) == quick
    assert second.judgement.verdict is Verdict.HOLDS
    assert second.data == "adult"
