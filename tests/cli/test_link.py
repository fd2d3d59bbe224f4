"""`sfumato link` and the audit of several releases."""

from __future__ import annotations

import json
import re

import pytest

from cli.cli_files import SECRET

POLICY = """
unit: name
tables:
  people:
    attributes:
      name:    {role: identifier}
      age:     {role: quasi-identifier}
      sex:     {role: quasi-identifier}
      disease: {role: sensitive, l: 2}
  visits:
    attributes:
      name:    {role: identifier}
      ward:    {role: quasi-identifier}
method: {name: mondrian, k: 3}
"""
ASK = ("link", "people=data.csv", "visits=visits.csv", "--policy", "linked.yaml", "--out", "linked")
KEY = bytes(range(60, 100))


@pytest.fixture
def linked(place):
    """Twenty-four people with two visits each, and a key."""
    rows = [f"{SECRET}-{n // 2},{SECRET}-{'ABC'[n % 3]}" for n in range(48)]
    (place / "visits.csv").write_text("\n".join(["name,ward", *rows]) + "\n")
    (place / "linked.yaml").write_text(POLICY)
    (place / "key").write_bytes(KEY)
    (place / "key").chmod(0o600)
    return place


def test_linked_tables_are_published_and_audited(linked, sfumato):
    code, out, err = sfumato(*ASK, "--key-file", "key")
    assert code == 0
    assert "k-anonymity (k = 3)" in out and "holds, in the join of all tables" in out
    assert "next: sfumato audit linked/people linked/visits" in out
    assert sum("pseudonymised, not anonymised" in line for line in err) == 1
    code, out, err = sfumato("audit", "linked/people", "linked/visits")
    assert (code, err) == (0, [])
    assert out.count("the audit passed") == 2 and "all together:" in out
    assert out.count("pseudonymised, not anonymised") == 2


def test_json(linked, sfumato):
    code, out, _ = sfumato(*ASK, "--key-file", "key", "--json")
    made = json.loads(out)
    assert code == 0 and list(made) == ["releases", "joined", "warnings"]
    assert list(made["releases"]) == ["people", "visits"]
    assert [each["model"] for each in made["joined"]] == ["k-anonymity", "l-diversity"]
    assert all(each["holds"] for each in made["joined"])
    code, out, _ = sfumato("audit", "linked/people", "linked/visits", "--json")
    told = json.loads(out)
    assert (code, told["ok"], list(told)) == (0, True, ["ok", "releases", "joined"])
    assert told["joined"] == made["joined"]
    assert SECRET not in str([told["joined"], made["warnings"]])


def test_deliveries_that_break_each_other_fail_together(linked, sfumato):
    sfumato(*ASK, "--key-file", "key")
    text = (linked / "data.csv").read_text().splitlines()
    ages = [line.split(",")[1] for line in text[1:]]
    rows = [line.split(",") for line in text[1:]]
    moved = [[r[0], ages[(7 * i) % 24], *r[2:]] for i, r in enumerate(rows)]
    (linked / "data.csv").write_text("\n".join([text[0], *(",".join(r) for r in moved)]) + "\n")
    assert sfumato(*ASK[:-1], "june", "--key-file", "key")[0] == 0
    assert sfumato("audit", "june/people")[0] == 0
    code, out, _ = sfumato("audit", "linked/people", "june/people")
    assert code == 1 and "does not hold, in the join of all tables" in out


def test_nobody_is_named_and_the_key_is_nowhere(linked, sfumato):
    code, out, err = sfumato(*ASK, "--key-file", "key", "--format", "csv")
    assert code == 0
    files = [path for path in (linked / "linked").rglob("*") if path.is_file()]
    texts = [out, *err, *(path.read_text() for path in files)]
    assert any(f"{SECRET}-disease" in text for text in texts)  # a value that is published
    for text in texts:
        assert not re.search(rf"{SECRET}-\d", text)
        assert KEY.decode("latin-1") not in text and KEY.hex() not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (ASK, "need the key of their pseudonyms: --key-file"),
        ((*ASK, "--key-file", "nowhere"), "nowhere: the key cannot be read"),
        ((*ASK, "--key-file", "short"), "at least 16 random bytes"),
        ((*ASK, "--key-file", "zeros"), "the key is not random"),
        (("link", "data.csv", *ASK[3:], "--key-file", "key"), "NAME=DATA"),
        (("link", "people=data.csv", *ASK[1:], "--key-file", "key"), "'people' is given twice"),
        (("anonymize", "data.csv", "--policy", "linked.yaml", "--out", "x"), "use `sfumato link`"),
        (("link", "a=data.csv", *ASK[2:], "--key-file", "key"), "the policy has no table 'a'"),
    ],
)
def test_refusals_are_one_line_without_a_secret(linked, sfumato, arguments, message):
    (linked / "short").write_bytes(b"short")
    (linked / "zeros").write_bytes(bytes(32))
    code, out, err = sfumato(*arguments)
    assert code == 2 and out == ""
    assert len(err) == 1 and message in err[0]
    assert SECRET not in err[0]
    assert not (linked / "linked").exists()


def test_a_key_that_others_can_read_is_warned_about(linked, sfumato):
    (linked / "key").chmod(0o644)
    code, _, err = sfumato(*ASK, "--key-file", "key")
    assert code == 0 and any("others can read the key" in line for line in err)


def test_releases_without_tokens_cannot_be_joined(linked, sfumato):
    for out in ("one", "two"):
        sfumato("anonymize", "data.csv", "--policy", "policy.yaml", "--out", out)
    code, _, err = sfumato("audit", "one", "two")
    assert code == 2 and "joined by pseudonyms" in err[0]


def test_anonymize_publishes_tokens_of_one_table(linked, sfumato):
    text = (
        (linked / "policy.yaml").read_text().replace("identifier}", "identifier, pseudonym: p}", 1)
    )
    (linked / "policy.yaml").write_text(text)
    ask = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "one")
    assert "--key-file" in sfumato(*ask)[2][0]
    code, _, err = sfumato(*ask, "--key-file", "key")
    assert code == 0 and any("not anonymised" in line for line in err)
    assert sfumato("audit", "one")[0] == 0
    (linked / "policy.yaml").write_text(text.replace(", pseudonym: p", ""))
    code, _, err = sfumato(*ask, "--key-file", "key", "--force")
    assert code == 2 and "no identifier has `pseudonym: true`" in err[0]
