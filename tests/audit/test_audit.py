"""Verdicts on sound releases: what holds, how well, and what must be said besides."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow as pa
import pytest
from oracles import samples

from sfumato.audit import AuditReport, Verdict, audit, damaged_report
from sfumato.errors import ClaimBroken, ReleaseDamaged
from sfumato.methods import Anatomy, Mondrian
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaPresence,
    KAnonymity,
    LDiversity,
    MinimumWidth,
    TCloseness,
)
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

from .conftest import people, schema, with_claims, with_manifest


def test_a_mondrian_release_holds_all_that_it_claims(generalized):
    report = audit(generalized)
    assert report.ok
    assert report.exit_code == 0
    assert report.problems == ()
    assert [verdict.holds for verdict in report.guarantees] == [True] * 4
    assert report.guarantees[0].worst >= 5
    assert report.guarantees[1].worst >= 2
    assert 0 < report.guarantees[2].worst <= 0.7
    report.raise_if_broken()


def test_an_anatomy_release_holds_all_that_it_claims(anatomized):
    report = audit(anatomized)
    assert report.ok
    assert [verdict.claim["model"] for verdict in report.guarantees] == [
        "l-diversity",
        "l-unique-groups",
    ]
    assert all(verdict.holds and verdict.worst >= 3 for verdict in report.guarantees)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("layout", ["generalized", "anatomized"])
def test_a_folder_is_judged_like_the_release_in_memory(layout, file_format, request, tmp_path):
    release = request.getfixturevalue(layout)
    release.save(tmp_path / "release", format=file_format)
    assert audit(tmp_path / "release") == audit(release)
    assert audit(str(tmp_path / "release")).ok


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("sample", [samples.hospital, samples.transactions])
def test_the_worked_examples_hold(sample, file_format, tmp_path):
    report = audit(sample(tmp_path / "release", file_format))
    assert report.ok
    assert all(verdict.holds for verdict in report.guarantees)


def test_every_model_is_judged(generalized):
    models = [
        KAnonymity(2),
        LDiversity("disease", 2, "distinct"),
        LDiversity("disease", 1.2, "entropy"),
        LDiversity("disease", 2, "recursive", c=9.0),
        LDiversity("disease", 2, missing="value"),
        TCloseness("disease", 0.95, "equal"),
        TCloseness("disease", 0.95, "hierarchical", missing="value"),
        TCloseness("cost", 0.95, "ordered"),
        AlphaKAnonymity("disease", 0.6, 4),
        BetaLikeness("disease", 30.0),
        BetaLikeness("cost", 30.0, "enhanced"),
        MinimumWidth("cost", 0.01),
    ]
    report = audit(with_claims(generalized, *(model.claim() for model in models)))
    assert all(verdict.worst is not None for verdict in report.guarantees)
    held = [verdict.holds for verdict in report.guarantees]
    assert held[:10] == [True] * 10
    assert held[11] == (report.guarantees[11].worst >= 0.01 * (9999.5 - 0.5))


def test_worst_is_the_level_of_the_least_protected_group():
    table = pa.table({"age": [20, 20, 30, 30, 30], "disease": ["a", "b", "a", "a", "b"]})
    release = Mondrian(k=2).publish(table, Schema.of(age="quasi-identifier", disease="sensitive"))
    claims = [
        KAnonymity(2),
        LDiversity("disease", 1),
        LDiversity("disease", 2, "recursive", c=3.0),
        TCloseness("disease", 0.5),
        AlphaKAnonymity("disease", 0.7, 2),
    ]
    report = audit(with_claims(release, *(model.claim() for model in claims)))
    assert [v.worst for v in report.guarantees] == pytest.approx([2, 3 / 2, 2, 0.1, 2 / 3])
    assert report.ok


def test_a_broken_claim_is_named_and_answers_1(generalized):
    report = audit(with_claims(generalized, {"model": "k-anonymity", "k": 100}))
    assert not report.ok
    assert report.exit_code == 1
    assert report.guarantees[0].holds is False
    with pytest.raises(ClaimBroken, match="k-anonymity does not hold"):
        report.raise_if_broken()


def test_the_json_has_the_keys_that_scripts_rely_on(generalized):
    answer = json.loads(json.dumps(audit(generalized).to_json(), allow_nan=False))
    assert set(answer) == {"ok", "guarantees", "problems"}
    first = answer["guarantees"][0]
    assert set(first) == {"model", "k", "holds", "worst"}
    assert first["model"] == "k-anonymity"
    assert first["holds"] is True


def test_a_level_that_is_infinite_is_null_in_json():
    table = pa.table({"age": [20, 30, 40], "disease": pa.array([None] * 3, pa.string())})
    release = Mondrian(k=2).publish(table, Schema.of(age="quasi-identifier", disease="sensitive"))
    report = audit(with_claims(release, LDiversity("disease", 2).claim()))
    assert report.guarantees[0].worst == float("inf")
    assert report.to_json()["guarantees"][0]["worst"] is None
    assert report.ok  # nothing is said of anybody


def test_a_declared_model_is_never_said_to_hold(generalized):
    claims = [*generalized.manifest.guarantees, DeltaPresence(0.1, 0.5).claim()]
    report = audit(with_claims(generalized, *claims))
    assert report.ok
    assert report.guarantees[-1].holds is None
    assert report.to_json()["guarantees"][-1]["note"] == "declared, not checked"


def test_a_release_that_only_declares_says_that_nothing_was_checked(generalized):
    report = audit(with_claims(generalized, DeltaPresence(0.1, 0.5).claim()))
    assert report.guarantees[0].holds is None
    assert any("no claim could be checked" in problem for problem in report.problems)
    assert report.exit_code == 1


def test_an_unknown_model_cannot_be_confirmed(generalized):
    claims = [*generalized.manifest.guarantees, {"model": "zeta-privacy", "holds": True}]
    report = audit(with_claims(generalized, *claims))
    assert (report.ok, report.exit_code) == (False, 1)
    assert report.to_json()["guarantees"][-1] == {
        "model": "zeta-privacy",
        "holds": None,
        "worst": None,
        "note": "unknown model",
    }
    with pytest.raises(ClaimBroken, match="does not know"):
        report.raise_if_broken()


def test_a_release_without_claims_is_not_confirmed(generalized):
    report = audit(with_claims(generalized))
    assert (report.ok, report.exit_code) == (False, 1)
    assert any("claims nothing" in problem for problem in report.problems)


def test_a_release_from_a_test_seed_is_not_confirmed():
    release = Mondrian(k=5).publish(people(), schema(), randomness=Randomness.test(1))
    report = audit(release)
    assert report.guarantees[0].holds
    assert (report.ok, report.exit_code) == (False, 1)
    assert any("test seed" in problem for problem in report.problems)


def test_people_withheld_by_value_are_said_to_be_unprotected(generalized):
    report = audit(with_manifest(generalized, suppressed=3, suppressed_by_value=True))
    assert report.ok
    assert any("not protected" in problem for problem in report.problems)


def test_k_of_an_anatomized_release_counts_equal_quasi_identifiers():
    table = pa.table({"age": [20, 20, 30, 40], "disease": ["a", "b", "a", "b"]})
    roles = Schema.of(age="quasi-identifier", disease="sensitive")
    release = Anatomy(l=2).publish(table, roles)
    report = audit(with_claims(release, {"model": "k-anonymity", "k": 2}))
    assert report.guarantees[0].holds is False
    assert report.guarantees[0].worst == 1
    assert "quasi-identifiers" in report.guarantees[0].note


def test_an_empty_release_breaks_nothing(generalized):
    emptied = with_manifest(generalized, rows=0)
    tables = {"records": generalized.tables["records"].slice(0, 0)}
    report = audit(Release(emptied.manifest, tables, generalized.hierarchies))
    assert report.ok
    assert all(verdict.note == "no records" for verdict in report.guarantees)


def test_columns_of_many_types_are_read():
    rows = 60
    table = pa.table(
        {
            "when": pa.array(range(rows), pa.timestamp("us", "UTC")),
            "member": pa.array([i % 2 == 0 for i in range(rows)]),
            "stay": pa.array([i % 7 for i in range(rows)], pa.duration("s")),
            "price": pa.array([i % 5 for i in range(rows)], pa.int64()).cast(pa.decimal128(21, 2)),
        }
    )
    roles = Schema(
        (
            Attribute("when", Role.QUASI_IDENTIFIER),
            Attribute("member", Role.QUASI_IDENTIFIER),
            Attribute("stay", Role.QUASI_IDENTIFIER),
            Attribute("price", Role.SENSITIVE),
        )
    )
    models = (LDiversity("price", 2), TCloseness("price", 0.9, "ordered"))
    assert audit(Mondrian(k=4, models=models).publish(table, roles)).ok
    assert audit(Anatomy(l=3).publish(table, roles)).ok


def test_a_damaged_report_carries_the_line_and_answers_2():
    report = damaged_report(ReleaseDamaged("table 'records' is missing"))
    assert report == AuditReport(False, (), ("table 'records' is missing",), damaged=True)
    assert report.exit_code == 2
    assert report.to_json() == {
        "ok": False,
        "guarantees": [],
        "problems": ["table 'records' is missing"],
    }
    with pytest.raises(ReleaseDamaged, match="missing"):
        report.raise_if_broken()


def test_a_verdict_names_its_claim():
    assert str(Verdict({"model": "k-anonymity", "k": 2}, True)) == "k-anonymity"
    assert str(Verdict({"model": "l-diversity", "attribute": "x"}, True)) == "l-diversity of 'x'"


def test_the_audit_does_not_load_the_makers():
    code = (
        "import sys, sfumato.audit; "
        "rooms = ('rows', 'publish', 'methods', 'table'); "
        "print([m for m in sys.modules if m.startswith(tuple(f'sfumato.{r}' for r in rooms))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
