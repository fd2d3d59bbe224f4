"""`sfumato query`: one table a query, JSON that scripts rely on, and refusals in one line."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET, write_policy
from sfumato.answers.digits import ROUND_CEILING, ROUND_FLOOR, _number

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release", "--test-seed", 1)


@pytest.fixture
def release(place, sfumato):
    """A release of 24 people with four diseases, by anatomy."""
    write_policy(place, method="{name: anatomy, l: 2}")
    assert sfumato(*RUN)[0] == 0
    return "release"


def test_numbers_are_printed(release, sfumato):
    code, out, err = sfumato("query", release, "SELECT COUNT(*) WHERE age >= 30")
    assert (code, err) == (0, [])
    head, line = (line.split() for line in out.splitlines())
    assert head == ["value", "low", "high", "se"]
    assert line == ["14", "14", "14", "0"]


def test_groups_are_printed_and_notes_go_to_stderr(release, sfumato):
    ask = "SELECT disease, AVG(age) WHERE disease IN ('Flu', 'HIV') GROUP BY disease"
    code, out, err = sfumato("query", release, ask)
    assert code == 0
    head, *lines = (line.split() for line in out.splitlines())
    assert head == ["disease", "value", "low", "high", "se"]
    assert [line[0] for line in lines] == ["Flu", "HIV"]
    assert all(20 <= float(line[2]) <= float(line[1]) <= float(line[3]) <= 43 for line in lines)
    (note,) = err
    assert note.startswith("note: standard errors take the rows of different tables as matched")


def test_json_is_what_scripts_rely_on(release, sfumato):
    ask = "SELECT disease, COUNT(*) WHERE age < 25 AND disease = 'Flu' GROUP BY disease"
    code, out, err = sfumato("query", release, ask, "--json")
    assert (code, err) == (0, [])
    found = json.loads(out)
    (row,) = found["rows"]
    assert list(row) == ["disease", "value", "low", "high", "se"]
    assert row["disease"] == "Flu"
    assert row["low"] <= row["value"] <= row["high"]
    assert row["se"] > 0
    assert len(found["notes"]) == 1
    code, out, _ = sfumato("query", release, "SELECT AVG(age) WHERE age > 99", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"rows": [dict.fromkeys(("value", "low", "high", "se"))], "notes": []},
    )


def test_a_file_of_queries(release, sfumato, place):
    lines = ["-- ages", "SELECT SUM(age)", "", "SELECT COUNT(*) WHERE disease = 'Flu';"]
    (place / "queries.sql").write_text("\n".join(lines) + "\n")
    code, out, err = sfumato("query", release, "--file", "queries.sql")
    assert (code, err) == (0, [])
    first, second = out.split("\n\n")
    assert first.splitlines()[0] == lines[1]
    assert first.splitlines()[2].split()[0] == str(sum(range(20, 44)))
    assert second.splitlines()[2].split()[0] == "6"
    code, out, _ = sfumato("query", release, "--file", "queries.sql", "--json")
    answers = json.loads(out)["answers"]
    assert [each["query"] for each in answers] == [lines[1], lines[3]]
    assert answers[1]["rows"][0]["value"] == 6
    (place / "queries.sql").write_text("SELECT COUNT(*)\n\nSELECT MAX(age)\n")
    code, out, err = sfumato("query", release, "--file", "queries.sql")
    assert (code, out) == (2, "")
    assert err[0].startswith("error: queries.sql, line 3: query, character 8: `MAX` is not")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either one query"),
        (["SELECT COUNT(*)", "--file", "queries.sql"], "give either one query"),
        (["--file", "nothing.sql"], "nothing.sql: cannot be read"),
        (["--file", "empty.sql"], "no line holds a query"),
        (["--file", "data.bin"], "line 2 is not UTF-8 text"),
        (["age > 30"], "query, character 1: a query begins with SELECT"),
        (["SELECT COUNT(*) WHERE agee > 30"], "character 23: there is no column 'agee'; did you"),
        (["SELECT COUNT(*) WHERE name = 'Ann'"], "there is no column 'name'"),
        (["SELECT COUNT(*) WHERE age > 'old'"], "query, character 29: column 'age' holds int64"),
        (["SELECT SUM(disease)"], "query, character 12: column 'disease' holds string; SUM needs"),
        (["SELECT AVG(disease)"], "query, character 12: column 'disease' holds string; AVG needs"),
        (
            ["SELECT disease, AVG(age) WHERE age IN (1, '2') GROUP BY disease"],
            "query, character 43: column 'age' holds int64 and is compared with a text",
        ),
        (
            ["SELECT sex, SUM(disease) WHERE age > 99 GROUP BY sex"],
            "query, character 17: column 'disease' holds string; SUM needs",
        ),
        (
            ["SELECT sex, AVG(disease) WHERE age > 99 GROUP BY sex"],
            "query, character 17: column 'disease' holds string; AVG needs",
        ),
        (
            ["SELECT COUNT(*) WHERE (age IS NOT DISTINCT FROM 30)"],
            "query, character 35: IS DISTINCT FROM is not part",
        ),
        (["SELECT COUNT(*) WHERE (sex = -5)"], "query, character 30: column 'sex' holds string"),
        (["\n  SELECT COUNT(*)\n WHERE agee = 1"], "query, character 27: there is no column"),
        (["--file", "blanks.sql"], "blanks.sql, line 4: query, character 32: column 'age' holds"),
        (["--file", "types.sql"], "types.sql, line 2: query, character 29: column 'age' holds"),
        (["SELECT COUNT(*) ORDER BY age"], "character 17: groups are listed in the order"),
        (["SELECT COUNT(*)", "another"], "another"),
    ],
)
def test_bad_input_takes_one_line(release, sfumato, place, arguments, message):
    (place / "empty.sql").write_text("-- nothing\n")
    (place / "blanks.sql").write_text("\n \t\n\n  \tSELECT COUNT(*) WHERE\tage > 'old'  \n")
    (place / "data.bin").write_bytes(b"SELECT COUNT(*)\n\xff\n")
    (place / "types.sql").write_text("SELECT COUNT(*)\r\nSELECT COUNT(*) WHERE age > 'old'\r\n")
    code, out, err = sfumato("query", release, *arguments)
    assert (code, out, len(err)) == (2, "", 1)
    assert message in err[0]
    assert SECRET not in err[0]


def test_lines_of_a_file_end_at_line_feeds_alone(release, sfumato, place):
    lines = "SELECT COUNT(*) WHERE disease = 'a\u2028b\x0cc\x85'\r\nSELECT COUNT(*)\r\n"
    (place / "queries.sql").write_bytes(lines.encode())
    code, out, err = sfumato("query", release, "--file", "queries.sql", "--json")
    assert (code, err) == (0, [])
    answers = json.loads(out)["answers"]
    assert [each["rows"][0]["value"] for each in answers] == [0, 24]
    assert answers[0]["query"].endswith("'a\u2028b\x0cc\x85'")


def test_an_average_over_no_rows_has_no_value(release, sfumato):
    code, out, _ = sfumato("query", release, "SELECT AVG(age) WHERE age > 99")
    assert (code, out.splitlines()[1].split()) == (0, ["no", "value"])


def test_a_text_that_reads_like_a_missing_value_is_told_apart(place, sfumato):
    lines = ["name,age,sex,disease", *(f"p{n},{n},F,{'null' if n % 2 else ''}" for n in range(8))]
    (place / "data.csv").write_text("\n".join(lines) + "\n")
    write_policy(place, "{name: mondrian, k: 2}", disease="{role: sensitive}")
    assert sfumato(*RUN)[0] == 0
    ask = ("query", "release", "SELECT disease, COUNT(*) GROUP BY disease")
    _, out, _ = sfumato(*ask)
    assert sorted(line.split()[0] for line in out.splitlines()[1:]) == ['"null"', "null"]
    rows = json.loads(sfumato(*ask, "--json")[1])["rows"]
    assert {row["disease"] for row in rows} == {"null", None}


def test_a_folder_that_is_no_release(place, sfumato):
    code, out, err = sfumato("query", "nowhere", "SELECT COUNT(*)")
    assert (code, out, len(err)) == (2, "", 1)


def test_bounds_stay_bounds_when_they_are_shown():
    assert _number(1234.5678, ROUND_FLOOR) == "1234.56"
    assert _number(-0.00001, ROUND_FLOOR) == "-0.0001"
    assert _number(100.0001, ROUND_FLOOR) == "100"
    assert _number(1e300, ROUND_CEILING) == str(int(1e300))
    assert _number(float("inf"), ROUND_CEILING) == "no bound"
    assert _number(float("nan"), ROUND_CEILING) == ""
