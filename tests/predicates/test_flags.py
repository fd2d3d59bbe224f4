"""Flags of semi-sensitive cells: from a column, from a rule, and never published."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from sfumato.errors import ParameterError, SchemaError
from sfumato.methods import LGB
from sfumato.predicates.flags import flagged
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode

PEOPLE = pa.table(
    {
        "age": [30, 40, 50, 60],
        "job": ["Nurse", "Cook", None, "Nurse"],
        "ward": ["a", "b", "a", "b"],
        "disease": ["Flu", "HIV", "Cold", "Gout"],
        "hide": [True, None, False, False],
    }
)


def people_schema(job_role=Role.QUASI_IDENTIFIER, **flags):
    return Schema(
        (
            Attribute("age", Role.SEMI_SENSITIVE, **flags),
            Attribute("job", job_role),
            Attribute("ward", Role.INSENSITIVE),
            Attribute("disease", Role.SENSITIVE),
        )
    )


def flags_of(data, schema):
    return flagged(encode(data, schema), data).flags["age"].tolist()


def test_a_column_of_flags_and_a_missing_flag_counts_as_sensitive():
    assert flags_of(PEOPLE, people_schema(flag="hide")) == [True, True, False, False]


def test_a_rule_reads_quasi_identifiers_and_dropped_columns():
    data = PEOPLE.drop_columns(["hide"])
    assert flags_of(data, people_schema(when="job = 'Nurse'")) == [True, False, False, True]
    rule = "ward = 'b' and not (job = 'Nurse')"
    assert flags_of(data, people_schema(when=rule)) == [False, True, False, False]
    # what compares with a missing value is not true, nor is its negation
    assert flags_of(data, people_schema(when="job != 'Nurse'")) == [False, True, False, False]


@pytest.mark.parametrize("column", ["disease", "age"])
def test_a_rule_may_not_read_what_must_stay_hidden(column):
    data = PEOPLE.drop_columns(["hide"])
    literal = "30" if column == "age" else "'HIV'"
    with pytest.raises(SchemaError, match="may read only quasi-identifiers and insensitive") as no:
        flags_of(data, people_schema(when=f"{column} = {literal}"))
    assert literal.strip("'") not in str(no.value)


def test_a_rule_may_not_read_an_identifier_or_a_column_without_a_role():
    data = PEOPLE.set_column(1, "job", pa.array(["w", "x", "y", "z"])).drop_columns(["hide"])
    with pytest.raises(SchemaError, match="'job', which is identifier"):
        flags_of(data, people_schema(Role.IDENTIFIER, when="job = 'w'"))
    with pytest.raises(SchemaError, match="'hide', which has no role"):
        schema = people_schema(when="hide")
        flagged(encode(data, schema), data)


def test_a_rule_that_does_not_parse_says_where():
    with pytest.raises(ParameterError, match=r"^column 'age', `when`: predicate, character 7"):
        flags_of(PEOPLE.drop_columns(["hide"]), people_schema(when="job = = 'Nurse'"))


def test_a_rule_that_compares_what_cannot_be_compared_names_both_columns():
    with pytest.raises(
        ParameterError, match=r"^column 'age', `when`: predicate, character 7: column 'job'"
    ):
        flags_of(PEOPLE.drop_columns(["hide"]), people_schema(when="job > 3"))


@pytest.mark.parametrize(("slip", "hint"), [("jobb", r" \(did you mean 'job'\?\)"), ("xyz", "")])
def test_a_rule_with_a_slip_is_told_the_nearest_column_that_it_may_read(slip, hint):
    with pytest.raises(SchemaError, match=f"reads '{slip}', which has no role{hint}; whether"):
        flags_of(PEOPLE.drop_columns(["hide"]), people_schema(when=f"{slip} = 'Nurse'"))


def test_flags_must_be_there_and_boolean():
    with pytest.raises(SchemaError, match="'hid', which is not in the table"):
        flags_of(PEOPLE, people_schema(flag="hid"))
    data = PEOPLE.set_column(4, "hide", pa.array(["yes", "no", "no", "no"]))
    with pytest.raises(SchemaError, match="make it boolean"):
        flags_of(data, people_schema(flag="hide"))


def test_a_flag_column_cannot_have_a_published_role():
    schema = Schema(
        (*people_schema(flag="hide").attributes, Attribute("hide", Role.QUASI_IDENTIFIER))
    )
    with pytest.raises(SchemaError, match="never published"):
        flags_of(PEOPLE, schema)


def test_flag_columns_are_not_in_the_release(tmp_path):
    data = PEOPLE.set_column(4, "hide", pa.array([True, True, False, False]))
    LGB(k=2, l=2).publish(data, people_schema(flag="hide")).save(tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert "hide" not in [entry["name"] for entry in manifest["attributes"]]
    published = b"".join(f.read_bytes() for f in (tmp_path / "release").rglob("*") if f.is_file())
    assert b"hide" not in published
