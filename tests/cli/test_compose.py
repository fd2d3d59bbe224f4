"""`sfumato compose`: counts and a sentence, never a cell."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET, write_policy

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out")
ORIGINALS = ("--original", "data.csv", "--original", "data.csv")


@pytest.fixture
def pair(place, sfumato):
    """Two releases of the same people."""
    assert sfumato(*RUN, "one")[0] == 0
    write_policy(place, method="{name: anatomy, l: 2}", disease="{role: sensitive}")
    assert sfumato(*RUN, "two")[0] == 0
    return "one", "two"


def test_classes_are_counted(pair, sfumato):
    code, out, err = sfumato("compose", *pair)
    assert (code, err) == (0, [])
    assert "combinations of overlapping classes" in out
    assert out.splitlines()[-1].startswith("together the releases leave one 'disease' in ")
    assert SECRET not in out


def test_people_are_counted(pair, sfumato):
    code, out, err = sfumato("compose", *pair, *ORIGINALS, "--identifier", "name")
    assert (code, err) == (0, [])
    assert "people in all originals" in out
    assert "24, examined 24" in out
    assert "people were recognised by the column 'name'\n" in out
    assert "own value among the candidates" in out
    assert "100.0%" in out
    assert out.splitlines()[-1].startswith("together the releases give away the 'disease' of ")
    assert SECRET not in out


def test_json(pair, sfumato):
    rule = f"sex = '{SECRET}-M' AND disease = 'HIV'"
    code, out, err = sfumato("compose", *pair, *ORIGINALS, "--json", "--sample", 7, "--knows", rule)
    assert (code, err) == (0, [])
    fields = json.loads(out)
    assert (fields["releases"], fields["matched_by"], fields["sample"]) == (2, "values", 7)
    (finding,) = fields["findings"]
    people = finding["people"]
    assert (people["found"], people["examined"]) == (24, 7)
    assert people["interval"][0] <= people["share"] <= people["interval"][1]
    assert 0 <= people["matches"]["true"] <= people["matches"]["total"]
    assert SECRET not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one"], "two releases or more"),
        (["one", "nowhere"], "is not the folder of a release"),
        (["one", "two", "--attribute", "sex"], "'sex' is not a sensitive attribute"),
        (["one", "two", "--original", "data.csv"], "one original a release"),
        (["one", "two", "--identifier", "name"], "there are none"),
        (["one", "two", *ORIGINALS, "--identifier", "nam"], "did you mean 'name'?"),
        (["one", "two", "--knows", f"sex = '{SECRET}'"], "an incompatible pair"),
        (["one", "two", "--sample", "0"], "`sample`"),
        (["one", "two", "--original", "none.csv", "--original", "none.csv"], "no such file"),
    ],
)
def test_usage_errors_take_one_line(pair, sfumato, arguments, message):
    code, out, err = sfumato("compose", *arguments)
    assert (code, out, len(err)) == (2, "", 1)
    assert message in err[0]
    assert SECRET not in err[0]
