"""Weights and households in a policy, from the data to answers and their worth."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from cli.cli_files import SECRET, write_policy

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")


def weight_of(n: int) -> float:
    return 10 + n / 4


@pytest.fixture
def survey(place):
    """The 24 people with weights, two to a household."""
    lines = (place / "data.csv").read_text().splitlines()
    rows = [f"{line},{weight_of(n)},{n // 2}" for n, line in enumerate(lines[1:])]
    (place / "data.csv").write_text("\n".join([f"{lines[0]},w,home", *rows]) + "\n")
    write_policy(place, more="weight: w\nhousehold: home")
    return place


def test_a_survey_from_end_to_end(survey, sfumato):
    code, out, err = sfumato(*RUN)
    assert code == 0, err
    records = pq.read_table(survey / "release" / "records.parquet")
    total = sum(weight_of(n) for n in range(24))
    assert sum(records["w"].to_pylist()) == pytest.approx(total, rel=1e-6)
    assert "home" not in records.column_names
    manifest = json.loads((survey / "release" / "manifest.json").read_text())
    assert manifest["parameters"]["household"] is True
    assert manifest["tables"][0]["weight"] == "w"
    code, out, err = sfumato("audit", "release")
    assert code == 0
    assert "holds, counts households; given the stated counts" in out
    code, out, _ = sfumato("query", "release", "SELECT COUNT(*)", "--json")
    found = json.loads(out)
    assert found["rows"][0]["value"] == pytest.approx(total, rel=1e-6)
    assert found["rows"][0]["low"] <= total <= found["rows"][0]["high"]
    assert any("weighted by 'w'" in note for note in found["notes"])
    code, out, err = sfumato("query", "release", "SELECT COUNT(*)", "--unweighted")
    assert code == 0
    assert out.splitlines()[1].split() == ["24", "24", "24", "0"]
    assert any("leave out their weights" in line for line in err)


@pytest.mark.parametrize("policy", [(), ("--policy", "policy.yaml")])
def test_worth_is_weighted(survey, sfumato, policy):
    assert sfumato(*RUN, "--test-seed", 1)[0] == 0
    ask = ("utility", "release", "--original", "data.csv", *policy, "--test-seed", 2, "--json")
    code, out, err = sfumato(*ask)
    assert (code, err) == (0, [])
    found = json.loads(out)
    assert "distributions, answers and truths are weighted by 'w'" in found["notes"]
    assert found["ok"]
    assert all(each["missed"] == 0 for each in found["queries"])
    diseases = next(each for each in found["margins"] if each["attributes"] == ["disease"])
    assert diseases["l1"] > 0  # diseases are published as they are, and their weights as means


def test_an_original_without_its_weights_is_another(survey, sfumato):
    assert sfumato(*RUN, "--test-seed", 1)[0] == 0
    lines = [line.split(",") for line in (survey / "data.csv").read_text().splitlines()]
    (survey / "bare.csv").write_text("\n".join(",".join(line[:4]) for line in lines) + "\n")
    code, _, err = sfumato("utility", "release", "--original", "bare.csv")
    assert code == 2
    assert "the original has no column 'w'" in err[0]


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        ("{name: anatomy, l: 2}", "weight: w", "anatomy cannot publish the weights of 'w'"),
        ("{name: anatomy, l: 2}", "household: home", "anatomy counts rows, and some households"),
        ("{name: mondrian, k: 13}", "household: home", "12"),
    ],
)
def test_what_cannot_be_kept_is_refused(survey, sfumato, method, more, message):
    unused = {"weight: w": "home", "household: home": "w"}[more]
    write_policy(survey, method=method, more=more, **{unused: "{role: insensitive}"})
    code, out, err = sfumato(*RUN)
    assert (code != 0, out, len(err)) == (True, "", 1)
    assert message in err[0]
    assert SECRET not in err[0]
    assert not (survey / "release").exists()
    if method.startswith("{name: anatomy"):
        code, out, _ = sfumato("check", "data.csv", "--policy", "policy.yaml")
        assert (code, message in out) == (1, True)


@pytest.mark.parametrize("key", ["weight: w", "household: w"])
def test_weights_and_households_are_not_recoded(survey, sfumato, key):
    write_policy(
        survey,
        more=key,
        w="{role: insensitive, recode: [{round: 5}]}",
        home="{role: insensitive}",
    )
    code, _, err = sfumato(*RUN)
    assert code == 2
    assert "weights and households are taken as they are" in err[0]


def test_weights_are_not_kept_as_they_are(survey, sfumato):
    write_policy(
        survey, more="weight: w", w="{role: insensitive, keep: true}", home="{role: insensitive}"
    )
    code, _, err = sfumato(*RUN)
    assert code == 2
    assert "the weight is column 'w', which is insensitive and published" in err[0]
