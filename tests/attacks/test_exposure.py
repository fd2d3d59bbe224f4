"""The worst cases of a release: as counted literally in its files, and in hand-made ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from oracles.exposure import worst_cases

import sfumato as sf
from sfumato.attacks.exposure import exposure
from sfumato.jobs.policy import Policy
from sfumato.randomness import Randomness

QUASI = ["age", "sex"]


def people(rows: int = 120) -> pa.Table:
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "sex": np.array(["F", "M"])[rng.integers(0, 2, rows)],
            "disease": np.array([f"d{n}" for n in rng.permutation(np.arange(rows) % 6)]),
        }
    )


def released(method: dict, rows: int = 120, **of_age) -> sf.Release:
    roles = {name: {"role": "quasi-identifier"} for name in QUASI}
    roles["age"] |= of_age
    roles["disease"] = {"role": "sensitive"}
    rules = Policy.of({"attributes": roles, "method": method})
    return rules.method().publish(people(rows), rules.schema(), randomness=Randomness.test(4))


@pytest.mark.parametrize(
    "method",
    [
        {"name": "mondrian", "k": 5, "l": 3},
        {"name": "mondrian", "k": 4},
        {"name": "full-domain", "k": 7, "suppression": 0.1},
        {"name": "lgb", "k": 4, "l": 3},
        {"name": "anatomy", "l": 4},
        {"name": "arp", "l": 3, "initial": "mondrian"},
        {"name": "aip", "l": 3},
        {"name": "slppa", "beta": 0.4},
    ],
    ids=lambda method: method["name"],
)
def test_as_counted_in_the_files(method, tmp_path):
    needs_levels = method["name"] == "full-domain"
    release = released(method, **({"hierarchy": {"width": 10}} if needs_levels else {}))
    release.save(tmp_path / "release")
    found = exposure(release)
    expected = worst_cases(tmp_path / "release", QUASI, "disease")
    assert (found.reidentification, found.inference["disease"]) == expected


def test_sliced_records_hide_nobody():
    found = exposure(released({"name": "slicing", "l": 3}))
    assert found.reidentification == 1
    assert found.highest_inference <= Fraction(1, 3)


def test_sets_that_are_dealt_hold_one_of_l():
    found = exposure(released({"name": "rating", "l": 4}))
    assert (found.reidentification, found.inference) == (1, {"disease": Fraction(1, 4)})


def test_random_sets_tell_by_the_shares_of_values():
    """Of six values that are equally common a set of three says a third, or hardly more."""
    found = exposure(released({"name": "sensitive-qid", "l": 3}, rows=20_000))
    assert Fraction(1, 3) <= found.inference["disease"] < Fraction(2, 5)


def test_replaced_cells_hide_nobody():
    found = exposure(released({"name": "pram"}))
    assert (found.reidentification, found.inference) == (1, {"disease": Fraction(1)})


def test_missing_values_count_where_they_are_protected():
    """Of four people two have no value and two one each: a half, or a half of all four."""
    rows = pa.table({"age": [1, 1, 1, 1], "disease": ["a", "b", None, None]})
    for missing, expected in (("excluded", Fraction(1, 2)), ("value", Fraction(1, 2))):
        attributes = {
            "age": {"role": "quasi-identifier"},
            "disease": {"role": "sensitive", "l": 2, "missing": missing},
        }
        rules = Policy.of({"attributes": attributes, "method": {"name": "mondrian", "k": 2}})
        assert exposure(rules.method().publish(rows, rules.schema())).highest_inference == expected
    rows = pa.table({"age": [1] * 5, "disease": ["a", "b", None, None, None]})
    attributes["disease"]["l"] = 1
    rules = Policy.of({"attributes": attributes, "method": {"name": "mondrian", "k": 2}})
    found = exposure(rules.method().publish(rows, rules.schema()))
    assert found.highest_inference == Fraction(3, 5)
