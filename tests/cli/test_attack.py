"""`sfumato attack`: what it prints, its exit codes, and that a seed repeats it."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET

RUN = ("attack", "release", "--original", "data.csv")


@pytest.fixture
def release(place, sfumato):
    command = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")
    assert sfumato(*command, "--test-seed", "1")[0] == 0
    return place / "release"


def test_a_table_sentences_and_three_questions(release, sfumato):
    code, out, err = sfumato(*RUN, "--test-seed", "1")
    assert (code, err) == (0, [])
    lines = out.splitlines()
    assert lines[0].split()[:2] == ["attack", "on"]
    assert any(line.startswith("record linkage (prosecutor)") for line in lines)
    assert any(line.startswith("table linkage (a record fits)") for line in lines)
    assert [line.split(" (")[0] for line in lines[-5:-2]] == [
        "singling out",
        "linkability",
        "inference",
    ]
    assert lines[-2].startswith("nothing to attack in this release for: ")
    sentences = [line for line in lines if ", knowing " in line]
    assert len(set(sentences)) == len(sentences)
    assert "24 of 24 people" in lines[-1]
    assert SECRET not in out
    assert "anonymous" not in out


def test_json_is_repeatable_by_seed(release, sfumato):
    one, again, other = (
        json.loads(sfumato(*RUN, "--json", "--sample", "10", "--test-seed", seed)[1])
        for seed in ("1", "1", "2")
    )
    assert one == again
    assert one != other
    assert (one["sample"], one["population"], one["family_wise_error"]) == (10, 24, 0.05)
    first = one["outcomes"][0]
    assert {"attack", "success", "blind", "control", "verdict", "sentence"} <= first.keys()
    assert set(first["success"]) == {"share", "interval", "hits", "tried"}
    assert [each["criterion"] for each in one["gdpr"]] == [
        "singling out",
        "linkability",
        "inference",
    ]
    assert SECRET not in json.dumps(one)


def test_some_attacks_and_controls(release, sfumato, place):
    others = (place / "data.csv").read_text().replace(f"{SECRET}-F", f"{SECRET}-M")
    (place / "others.csv").write_text(others)
    code, out, _ = sfumato(
        *RUN, "--controls", "others.csv", "--attack", "membership", "--json", "--test-seed", "1"
    )
    found = json.loads(out)
    assert code == 0
    assert found["controls_are"] == "people of a table of controls"
    assert {each["name"] for each in found["outcomes"]} == {"membership"}


def test_exit_codes(release, sfumato, place):
    code, _, err = sfumato(*RUN, "--attack", "memberschip")
    assert (code, len(err)) == (2, 1)
    assert "did you mean 'membership'?" in err[0]
    code, _, err = sfumato("attack", "release", "--original", "nowhere.csv")
    assert (code, len(err)) == (2, 1)
    code, _, err = sfumato(*RUN, "--sample", "0")
    assert (code, len(err)) == (2, 1)
    (place / "odd.csv").write_text("age\n31\n")
    code, _, err = sfumato(*RUN, "--controls", "odd.csv")
    assert (code, len(err)) == (2, 1)
    assert "the controls have no column 'sex'" in err[0]


def test_how_attacks_are_run_is_told_once_if_asked(release, sfumato):
    run = (*RUN, "--attack", "record-linkage", "--test-seed", "1")
    plain, told = sfumato(*run)[1], sfumato(*run, "--explain")[1]
    assert "The control is a belief" not in plain
    assert told.count("record linkage (prosecutor): One of the records that fit is drawn") == 1


def test_an_attack_without_a_meaning_is_refused(release, sfumato):
    code, _, err = sfumato(*RUN, "--attack", "joint-bayes", "--fail-on-risk")
    assert (code, len(err)) == (2, 1)
    assert "'joint-bayes' has no meaning for this release" in err[0]
    assert "record-linkage" in err[0]


def test_fail_on_risk(place, sfumato):
    (place / "policy.yaml").write_text(
        "attributes:\n"
        "  name: {role: identifier}\n"
        "  age: {role: quasi-identifier}\n"
        "  sex: {role: quasi-identifier}\n"
        "  disease: {role: sensitive}\n"
        "method: {name: mondrian, k: 1}\n"
    )
    command = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")
    sfumato(*command)
    assert (place / "release").exists()
    assert sfumato(*RUN, "--attack", "record-linkage")[0] == 0
    code, out, _ = sfumato(*RUN, "--attack", "record-linkage", "--fail-on-risk")
    assert code == 1
    assert "cases are certain from the files alone: this is a risk" in out
