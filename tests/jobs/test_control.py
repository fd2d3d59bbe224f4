"""Control over generalisation from a policy file: caps, weights, and what may be withheld."""

from __future__ import annotations

import json

import pytest

from sfumato.audit import audit
from sfumato.errors import ParameterError, SchemaError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.check import check
from sfumato.jobs.policy import Policy
from sfumato.jobs.utility import utility
from sfumato.methods import FullDomain, Mondrian
from sfumato.models import LDiversity
from sfumato.randomness import Randomness

FULL = "{name: full-domain, k: 4, suppression: 0.3}"
AGE = "{role: quasi-identifier, hierarchy: {width: 5}, max_level: 2, loss_weight: 2}"


def test_a_policy_states_it(policy):
    rules = Policy.load(policy(FULL, age=AGE))
    assert rules.method() == FullDomain(4, (LDiversity("disease", 3),), 0.3)
    age = rules.schema()["age"]
    assert (age.loss_weight, age.max_level, age.max_width) == (2, 2, None)
    method = Policy.load(policy("{name: mondrian, k: 4, suppression: 0.1}")).method()
    assert method == Mondrian(4, (LDiversity("disease", 3),), suppression=0.1)


@pytest.mark.parametrize("method", [FULL, "{name: mondrian, k: 4, suppression: 0.3}"])
def test_outliers_are_counted_recorded_and_warned_of(patients, policy, tmp_path, method):
    lines = patients.read_text().splitlines()
    lines[7] = lines[7].replace(lines[7].split(",")[1], "90", 1)  # one person far from all others
    patients.write_text("\n".join(lines) + "\n")
    age = AGE if "full" in method else "{role: quasi-identifier, max_width: 15}"
    path = policy(method, age=age, disease="{role: sensitive}")
    record = tmp_path / "record.json"
    made = anonymize(patients, path, tmp_path / "out", record=record)
    rows = json.loads(record.read_text())["suppressed_rows"]
    assert 7 in rows
    assert made.manifest.suppressed == len(rows) == 40 - made.manifest.rows
    assert not made.manifest.suppressed_by_value
    assert f"{len(rows)} records were withheld as outliers (`suppression`)" in made.warnings
    assert audit(tmp_path / "out").ok
    # the release tells no row numbers, and measures can be taken of it
    assert "suppressed_rows" not in (tmp_path / "out" / "manifest.json").read_text()
    found = utility(
        tmp_path / "out", patients, policy=path, queries=5, randomness=Randomness.test(1)
    )
    loss = found.metrics["ncp"]
    assert loss["mean"] == pytest.approx(
        (loss["mean_published"] * made.manifest.rows + len(rows)) / 40
    )
    assert found.missed == 0


def test_full_domain_is_warned_of_unprotected_values_too(policy):
    warnings = Policy.load(policy(FULL, age=AGE, disease="{role: sensitive}")).warnings()
    assert any("does not protect 'disease'" in warning for warning in warnings)


def test_a_check_finds_caps_that_cannot_be_kept(patients, policy):
    cap = "{role: quasi-identifier, max_width: 1}"
    report = check(patients, policy(age=cap))
    assert any("'age' binds most" in problem for problem in report.problems)
    report = check(patients, policy("{name: full-domain, k: 4}"))
    assert any("needs a hierarchy for 'age'" in problem for problem in report.problems)
    assert check(patients, policy(FULL, age=AGE)).fits


@pytest.mark.parametrize("key", ["max_level: 1", "loss_weight: 0.5"])
def test_other_methods_do_not_pass_over_it(patients, policy, tmp_path, key):
    sex = f"{{role: quasi-identifier, hierarchy: {{mask: right}}, {key}}}"
    with pytest.raises(ParameterError, match=r"of 'sex'; use mondrian or full-domain"):
        anonymize(patients, policy("{name: anatomy}", sex=sex), tmp_path / "out")


def test_a_cap_on_a_sensitive_attribute_is_refused(policy):
    rules = Policy.load(policy(income="{role: sensitive, max_width: 3}"))
    with pytest.raises(SchemaError, match="`max_width` is for quasi-identifiers"):
        rules.schema()
