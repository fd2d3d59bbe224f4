"""`sfumato reconstruct`: the largest counts on a terminal, all of them in files and JSON."""

from __future__ import annotations

import csv
import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.cli_files import SECRET, write_policy
from sfumato.release import AttributeEntry, Manifest, Release, TableEntry
from sfumato.schema import Kind, Role

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out")
JOBS = ["=Cook", "Nurse", None]


@pytest.fixture
def sets(place):
    """A release of four records: sets of jobs, and exact ages with a comma in their name."""
    attributes = (
        AttributeEntry(
            name="job",
            role=Role.SENSITIVE_QUASI_IDENTIFIER,
            kind=Kind.CATEGORICAL,
            type="string",
            domain=tuple(JOBS),
        ),
        AttributeEntry(
            name="age, years", role=Role.QUASI_IDENTIFIER, kind=Kind.NUMERIC, type="int32"
        ),
    )
    manifest = Manifest(
        method="sensitive-qid",
        layout="sets",
        software="by hand",
        created=date(2026, 1, 31),
        rows=4,
        attributes=attributes,
        tables=(TableEntry(name="records", attributes=("job", "age, years")),),
        parameters={"sets": {"job": {"p": 1.0, "eta": 2}}},
    )
    job = [[JOBS[0], None], [JOBS[0], None], JOBS[:2], [JOBS[0], None]]
    ages = pa.array([30, 30, 40, 30], pa.int32())
    Release(manifest, {"records": pa.table({"job": job, "age, years": ages})}).save("sets")
    return "sets"


def test_counts_are_printed(sets, sfumato):
    code, out, err = sfumato("reconstruct", sets, "--attributes", "job", "--method", "inverse")
    assert (code, err) == (0, [])
    assert out.splitlines()[0] == "inverse: 4 records over 3 combinations of 'job'"
    head, *lines = (line.split() for line in out.splitlines()[1:])
    assert head == ["job", "count", "standard", "error"]
    # 1 is added for each of two values that are named, and 1 taken off for the third
    assert [line[:2] for line in lines] == [["=Cook", "4.0"], ["null", "2.0"], ["Nurse", "-2.0"]]


def test_json_has_all_counts(sets, sfumato):
    names = 'job, "age, years"'
    code, out, err = sfumato("reconstruct", sets, "--attributes", names, "--json")
    assert (code, err) == (0, [])
    found = json.loads(out)
    assert found["attributes"] == ["job", "age, years"]
    assert (found["method"], found["records"], found["se"]) == ("bayes", 4, None)
    assert found["steps"] >= 1
    assert found["values"] == [["=Cook", "Nurse", None], ["30", "40"]]
    assert sum(map(sum, found["counts"])) == pytest.approx(4)
    assert sum(row[0] for row in found["counts"]) == pytest.approx(3)


def test_files(sets, sfumato, place):
    ask = ("reconstruct", sets, "--attributes", "job", "--method", "inverse", "--out")
    code, out, err = sfumato(*ask, "table.csv")
    assert (code, err) == (0, [])
    assert out.endswith("wrote table.csv\n")
    with (place / "table.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    assert head == ["job", "count", "se"]
    # a spreadsheet must not run a cell
    assert [line[:2] for line in lines] == [["'=Cook", "4"], ["Nurse", "-2"], ["", "2"]]
    code, out, err = sfumato(*ask, "table.parquet", "--json")
    assert json.loads(out)["out"] == "table.parquet"
    assert "counts" not in json.loads(out)
    assert pq.read_table("table.parquet")["job"].to_pylist() == JOBS


def test_random_and_value_adding_keep_the_total(sets, sfumato):
    for method in ("random", "value-adding"):
        ask = ("reconstruct", sets, "--attributes", "job", "--json", "--method", method)
        assert sum(json.loads(sfumato(*ask)[1])["counts"]) == pytest.approx(4)


def test_many_combinations_are_not_all_printed(sets, sfumato, monkeypatch):
    monkeypatch.setattr("sfumato.cli.reconstruct._SHOWN", 2)
    _, out, _ = sfumato("reconstruct", sets, "--attributes", "job")
    assert len(out.splitlines()) == 5
    assert out.endswith("the 2 largest are shown; --out FILE.csv writes all of them\n")


def test_steps_that_did_not_end_are_told(sets, sfumato, monkeypatch):
    monkeypatch.setattr("sfumato.answers.set_estimators.MOST_VISITS", 1)
    code, _, err = sfumato("reconstruct", sets, "--attributes", "job")
    assert code == 0
    assert err == ["warning: bayes ended after 1 steps, before they had become small"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--attributes", "jobs"], "no attribute 'jobs'; did you mean 'job'?"),
        (["--attributes", ""], "--attributes lists names"),
        (["--attributes", "job", "--method", "guess"], "guess"),
        (["--attributes", "job", "--out", "table.xlsx"], "must end in .csv or .parquet"),
        (["--attributes", "job", "--out", "data.csv"], "'data.csv' exists"),
        (["--attributes", "job", "--out", "nowhere/table.csv"], "'nowhere' is not a folder"),
        ([], "--attributes"),
    ],
)
def test_usage_errors_take_one_line(sets, sfumato, place, arguments, message):
    before = sorted(path.name for path in place.iterdir())
    code, out, err = sfumato("reconstruct", sets, *arguments)
    assert (code, out, len(err)) == (2, "", 1)
    assert message in err[0]
    assert sorted(path.name for path in place.iterdir()) == before


def test_any_layout_is_counted(place, sfumato):
    assert sfumato(*RUN, "release")[0] == 0
    ask = ("reconstruct", "release", "--attributes", "age,disease", "--test-seed", "3", "--json")
    code, out, err = sfumato(*ask)
    assert (code, err) == (0, [])
    found = json.loads(out)
    assert (found["method"], found["tables"], found["records"]) == ("plausible", 10, 24)
    assert sum(map(sum, found["counts"])) == pytest.approx(24)
    assert sfumato(*ask)[1] == out
    code, out, err = sfumato(*ask[:-1], "--tables", "0")
    assert (code, out, len(err)) == (2, "", 1)
    assert "1 to 1000 plausible tables" in err[0]


def test_methods_of_sets_are_for_sets(place, sfumato):
    assert sfumato(*RUN, "release")[0] == 0
    ask = ("reconstruct", "release", "--attributes", "sex", "--method", "bayes")
    code, out, err = sfumato(*ask)
    assert (code, out, len(err)) == (2, "", 1)
    assert "use `plausible`" in err[0]
    assert SECRET not in err[0]


def test_a_text_that_reads_like_a_missing_value_is_told_apart(place, sfumato):
    lines = ["name,age,sex,disease", *(f"p{n},{n},F,{'null' if n % 2 else ''}" for n in range(8))]
    (place / "data.csv").write_text("\n".join(lines) + "\n")
    write_policy(place, "{name: mondrian, k: 2}", disease="{role: sensitive}")
    assert sfumato(*RUN, "release")[0] == 0
    _, out, _ = sfumato("reconstruct", "release", "--attributes", "disease")
    assert sorted(line.split()[0] for line in out.splitlines()[2:]) == ['"null"', "null"]


@pytest.mark.parametrize("listed", ["age\nsex", ",", "age,", '"age', ""])
def test_names_that_are_none_are_refused(sets, sfumato, listed):
    code, _, err = sfumato("reconstruct", sets, "--attributes", listed)
    assert code == 2
    assert "--attributes lists names" in err[0]
