"""`sfumato utility`: all metrics in a table or as JSON, and an exit code that says no."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET, write_policy

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")
ASK = ("utility", "release", "--original", "data.csv", "--queries", "20", "--test-seed", "1")


@pytest.fixture
def release(place, sfumato):
    assert sfumato(*RUN)[0] == 0
    return place


def test_metrics_are_printed(release, sfumato):
    code, out, err = sfumato(*ASK)
    assert (code, err) == (0, [])
    lines = out.splitlines()
    assert lines[0] == "mondrian (generalized): 24 records of 24 rows"
    names = [line.split("  ")[0] for line in lines]
    for name in ("ncp (mean)", "discernibility", "distortion", "age", "l1, mean", "COUNT(*)"):
        assert name in names
    assert "glp of disease" in names
    counts = [line.split() for line in lines if line.startswith("COUNT(*)")]
    assert [line[1:3] for line in counts] == [["1", "20"], ["2", "20"], ["3", "20"]]
    assert all("100.0%" in line for line in counts)
    assert SECRET not in out


def test_json_has_it_all_and_repeats(release, sfumato):
    code, out, err = sfumato(*ASK, "--json")
    assert (code, err) == (0, [])
    found = json.loads(out)
    assert (found["ok"], found["method"], found["layout"]) == (True, "mondrian", "generalized")
    assert [each["attributes"] for each in found["margins"]] == [["age"], ["sex"], ["disease"]]
    assert found["pairs"]["examined"] == found["pairs"]["of"] == 3
    assert {each["coverage"] for each in found["queries"]} == {1.0}
    assert found["queries"][0]["queries"] == 20
    assert found["metrics"]["ncp"]["by_attribute"].keys() == {"age", "sex"}
    assert found["learning"] is None
    assert sfumato(*ASK, "--json")[1] == out
    assert json.loads(sfumato(*ASK, "--json", "--selectivity", "0.5")[1])["selectivity"] == 0.5


def test_a_policy_may_be_given(release, sfumato):
    without, given = (
        json.loads(sfumato(*ASK, "--json", *more)[1]) for more in ((), ("--policy", "policy.yaml"))
    )
    assert without["metrics"] == given["metrics"]


def test_other_data_make_bounds_fail_and_the_exit_code_tells(release, sfumato):
    rows = (release / "data.csv").read_text().splitlines()
    cells = [row.split(",") for row in rows[1:]]
    swapped = [",".join([*row[:3], cells[0][3]]) for row in cells]
    (release / "other.csv").write_text("\n".join([rows[0], *swapped]) + "\n")
    ask = ("utility", "release", "--original", "other.csv", "--test-seed", "1")
    code, out, err = sfumato(*ask)
    assert code == 1
    assert "do not contain the truth" in err[-1]
    code, out, _ = sfumato(*ask, "--json")
    assert (code, json.loads(out)["ok"]) == (1, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--learn", "disease"], "needs the policy"),
        (["--learn", "diseas", "--policy", "policy.yaml"], "'diseas'; did you mean 'disease'?"),
        (["--learn", "name", "--policy", "policy.yaml"], "there is no column 'name'"),
        (["--queries", "0"], "1 query or more"),
        (["--selectivity", "2"], "selectivity"),
        (["--policy", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_usage_errors_take_one_line(release, sfumato, arguments, message):
    code, out, err = sfumato(*ASK, *arguments)
    assert (code, out, len(err)) == (2, "", 1)
    assert message in err[0]


def test_data_of_another_size_are_refused(release, sfumato):
    rows = (release / "data.csv").read_text().splitlines()
    (release / "data.csv").write_text("\n".join(rows[:-1]) + "\n")
    code, out, err = sfumato(*ASK)
    assert (code, out, len(err)) == (2, "", 1)
    assert "of 24 rows and the original has 23" in err[0]
    assert SECRET not in err[0]


def test_learning_is_measured(place, sfumato):
    pytest.importorskip("sklearn")
    diseases = ["Flu" if n % 100 < 50 else "HIV" for n in range(400)]
    rows = [f"p{n},{n % 100},{'FM'[n % 2]},{diseases[n]}" for n in range(400)]
    (place / "data.csv").write_text("\n".join(["name,age,sex,disease", *rows]) + "\n")
    write_policy(place, "{name: mondrian, k: 3}", disease="{role: sensitive}")
    assert sfumato(*RUN)[0] == 0
    code, out, _ = sfumato(*ASK, "--policy", "policy.yaml", "--learn", "disease", "--json")
    learned = json.loads(out)["learning"]
    assert code == 0
    assert learned["mean"] > learned["baseline"] + 0.2
    assert "predicted right" in sfumato(*ASK, "--policy", "policy.yaml", "--learn", "disease")[1]


def test_learning_from_sets(place, sfumato):
    """Rows are drawn from random sets, and parts of joint attributes are columns of them."""
    pytest.importorskip("sklearn")
    rows = [f"p{n},{n % 5},{'FM'[n % 2]},{'xyz'[n % 5 % 3]}" for n in range(900)]
    (place / "data.csv").write_text("\n".join(["name,age,sex,disease", *rows]) + "\n")
    method = "{name: sensitive-qid, l: 2, joint: [[age, disease]]}"
    sensitive = "{role: sensitive-quasi-identifier}"
    write_policy(place, method, age=sensitive, disease=sensitive)
    assert sfumato(*RUN)[0] == 0
    ask = (*ASK, "--policy", "policy.yaml", "--queries", "3", "--json")
    code, out, err = sfumato(*ask, "--learn", "disease")
    assert code == 0
    learned = json.loads(out)["learning"]
    assert learned["mean"] > learned["baseline"] + 0.2
    code, out, err = sfumato(*ask, "--learn", "age & disease")
    assert (code, out, len(err)) == (2, "", 1)


def test_folds_are_published_as_the_policy_says(place, sfumato):
    """A third of the rows have a disease that is too common for l = 2 without withholding."""
    pytest.importorskip("sklearn")
    diseases = ["Flu" if n % 3 else "HIV" for n in range(300)]
    rows = [f"p{n},{n % 100},{'FM'[n % 2]},{diseases[n]}" for n in range(300)]
    (place / "data.csv").write_text("\n".join(["name,age,sex,disease", *rows]) + "\n")
    write_policy(place, "{name: anatomy, l: 2}", "on_infeasible: suppress")
    assert sfumato(*RUN)[0] == 0
    ask = (*ASK, "--policy", "policy.yaml", "--learn", "disease", "--json")
    code, out, _ = sfumato(*ask)
    found = json.loads(out)
    assert code == 0
    assert "learning" not in found["undefined"]
    assert found["learning"]["mean"] > 0
    assert any(
        note.startswith("learning: 80 to 80 of the rows of each fold were withheld")
        for note in found["notes"]
    )
    assert not any("something else" in note for note in found["notes"])


def test_the_policy_of_another_method_is_refused(release, sfumato):
    pytest.importorskip("sklearn")
    ask = (*ASK, "--policy", "policy.yaml", "--learn", "disease")
    write_policy(release, "{name: anatomy, l: 2}")
    code, out, err = sfumato(*ask)
    assert (code, out, len(err)) == (2, "", 1)
    assert "made by mondrian and the policy is for anatomy" in err[0]
    assert sfumato(*ASK, "--policy", "policy.yaml")[0] == 0  # which tells of hierarchies alone
    write_policy(release, "{name: mondrian, k: 4}")
    code, out, _ = sfumato(*ask)
    assert code == 0
    assert "the policy asks for something else than the release states (k-anonymity)" in out
    write_policy(release)
    assert "something else" not in sfumato(*ask)[1]


def test_bounds_that_are_none_have_no_width(place, sfumato):
    """Where rows are withheld, sums have no bounds."""
    diseases = ["Flu" if n % 3 else "HIV" for n in range(60)]
    rows = [f"p{n},{n % 100},{'FM'[n % 2]},{diseases[n]}" for n in range(60)]
    (place / "data.csv").write_text("\n".join(["name,age,sex,disease", *rows]) + "\n")
    write_policy(place, "{name: anatomy, l: 2}", "on_infeasible: suppress")
    assert sfumato(*RUN)[0] == 0
    code, out, _ = sfumato(*ASK)
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("SUM")]
    assert "no bound" in line
    assert "inf" not in line and "nan" not in line
