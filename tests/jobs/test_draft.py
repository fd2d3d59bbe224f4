"""Drafts: loadable, runnable, and with a reason for every column."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.audit import audit
from sfumato.datasets import census, hospital
from sfumato.errors import InputError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.draft import draft, draft_of
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_text import AttributeText, policy_text, spelled
from sfumato.jobs.yaml_file import read_yaml
from sfumato.schema import Role


def publish(data: pa.Table, tmp_path):
    """Draft a policy for the data, run it as it is, and return it with the release's folder."""
    pq.write_table(data, tmp_path / "data.parquet")
    made = draft(tmp_path / "data.parquet", tmp_path / "policy.yaml")
    assert made.warnings == ()
    out = tmp_path / "out"
    anonymize(tmp_path / "data.parquet", tmp_path / "policy.yaml", out)
    assert audit(out).ok
    return Policy.load(tmp_path / "policy.yaml")


@pytest.mark.parametrize("make", [hospital, census])
def test_a_draft_for_synthetic_data_runs_as_it_is(make, tmp_path):
    policy = publish(make(400), tmp_path)
    text = (tmp_path / "policy.yaml").read_text()
    assert text.count("\n  # ") == make(1).num_columns
    assert policy.warnings() == ()


def test_a_draft_for_adult_runs_as_it_is(shared, tmp_path):
    policy = publish(pq.read_table(shared / "data" / "adult.parquet").slice(0, 3000), tmp_path)
    assert policy.content.attributes["sex"].role is Role.QUASI_IDENTIFIER


def test_too_uneven_attributes_get_a_closeness(tmp_path):
    data = pa.table(
        {"age": list(range(40)), "disease": ["Flu"] * 30 + ["HIV"] * 10, "sex": ["F", "M"] * 20}
    )
    attribute = publish(data, tmp_path).content.attributes["disease"]
    assert (attribute.l, attribute.t) == (None, 0.2)


def test_repeated_and_incomplete_identifiers(tmp_path):
    data = pa.table(
        {
            "patient_id": [1, 1, 2, 3, 4, 5, 6, 7],
            "email": ["a@b.de", None, "c@d.de", "e@f.de", "g@h.de", "i@j.de", "k@l.de", "m@n.de"],
            "age": [33, 33, 41, 50, 61, 70, 75, 80],
            "disease": ["Flu", "HIV", "Flu", "Fever", "HIV", "Fever", "Flu", "HIV"],
        }
    )
    policy = publish(data, tmp_path)
    assert policy.content.unit == "patient_id"
    assert policy.content.attributes["email"].role is Role.INSENSITIVE
    assert "1 missing" in (tmp_path / "policy.yaml").read_text()


def test_small_tables_get_a_small_k(tmp_path):
    data = pa.table({"age": [33, 41, 58], "disease": ["Flu", "HIV", "Fever"]})
    assert publish(data, tmp_path).method().k == 3


def test_names_and_values_that_yaml_would_misread(tmp_path):
    awkward = ["no", "12", "a: b", "# x", "a\nb", 'q"\\', "é – 漢", "*", "x" * 300, " y ", "1.10"]
    data = pa.table({name: ["very low", "low", "high", "low"] for name in awkward})
    (tmp_path / "policy.yaml").write_text(draft_of(data, "odd\nfile").text)
    schema = Policy.load(tmp_path / "policy.yaml").schema()
    assert list(schema.names) == awkward


def test_what_cannot_run_says_why():
    made = draft_of(pa.table({"name": ["Ann", "Bob"], "disease": ["Flu", "HIV"]}), "people")
    assert any("quasi-identifier" in warning for warning in made.warnings)
    assert "# Before it can run: " in made.text


def test_values_spelled_in_yaml_read_back(tmp_path):
    values = [
        "no",
        "null",
        "01",
        "1",
        "a\tb",
        "\x85\u2028",
        "{",
        "'",
        "",
        "true",
        "~",
        "=",
        "\U0001f600",
    ]
    text = policy_text([], [AttributeText(v, {"order": values}, "") for v in values], {"k": 1})
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    read = read_yaml(tmp_path / "policy.yaml")["attributes"]
    assert list(read) == values
    assert all(keys == {"order": values} for keys in read.values())
    assert spelled([1, 2.5, True]) == "[1, 2.5, true]"


def test_a_draft_replaces_only_policies_and_only_by_force(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("age,disease\n33,Flu\n41,HIV\n")
    out = tmp_path / "policy.yaml"
    out.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        draft(data, out)
    assert out.read_text() == "mine"
    draft(data, out, force=True)
    assert "attributes:" in out.read_text()
    with pytest.raises(InputError, match="another kind of file"):
        draft(data, data, force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "policy.yaml"]


def flagged_patients(flags: list[object], sexes: str = "FM") -> pa.Table:
    return pa.table(
        {
            "age": [20 + n % 30 for n in range(60)],
            "age_private": flags,
            "sex": [sexes[n % len(sexes)] for n in range(60)],
            "sex_private": flags,
            "disease": [f"d{n % 6}" for n in range(60)],
        }
    )


def test_columns_of_flags_make_others_semi_sensitive(tmp_path):
    flags = [None if n == 0 else n % 3 == 0 for n in range(60)]
    policy = publish(flagged_patients(flags), tmp_path)
    attributes = policy.content.attributes
    assert policy.method().name == "lgb"
    assert (attributes["age"].role, attributes["age"].flag) == (Role.SEMI_SENSITIVE, "age_private")
    assert attributes["age"].l == 3
    assert (attributes["sex"].l, attributes["sex"].t) == (None, 0.2)  # two values, no l to spare
    assert attributes["age_private"].role is Role.INSENSITIVE
    assert attributes["disease"].role is Role.SENSITIVE
    text = (tmp_path / "policy.yaml").read_text()
    assert "column 'age_private' flags its sensitive cells" in text
    assert "semi-sensitive (some people's cells are sensitive" in text


@pytest.mark.parametrize(
    "data",
    [
        flagged_patients(["yes", "no"] * 30),  # no flags as yet
        flagged_patients([False] * 60),
        flagged_patients([n < 1 for n in range(60)]),  # one cell, which no bucket can hide
    ],
)
def test_flags_that_cannot_be_heeded_are_left_out(data, tmp_path):
    policy = publish(data, tmp_path)
    assert policy.method().name == "mondrian"
    assert policy.content.attributes["age"].role is Role.QUASI_IDENTIFIER


def test_flags_are_not_heeded_where_people_have_several_rows(tmp_path):
    data = flagged_patients([n % 2 == 0 for n in range(60)])
    data = data.append_column("patient_id", pa.array([n // 2 for n in range(60)]))
    assert publish(data, tmp_path).method().name == "mondrian"
