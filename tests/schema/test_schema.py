"""Schemas: which are valid, and how they fit a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import SchemaError
from sfumato.schema import Attribute, Role, Schema

SCHEMA = Schema(
    (
        Attribute("name", Role.IDENTIFIER),
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("sex", Role.SEMI_SENSITIVE, density=0.5),
        Attribute("job", Role.SENSITIVE_QUASI_IDENTIFIER),
        Attribute("disease", Role.SENSITIVE),
        Attribute("note", Role.INSENSITIVE),
    )
)


def test_a_schema_answers_by_name_order_and_role():
    assert SCHEMA.names == ("name", "age", "sex", "job", "disease", "note")
    assert len(SCHEMA) == 6
    assert [attribute.name for attribute in SCHEMA] == list(SCHEMA.names)
    assert SCHEMA["age"].role is Role.QUASI_IDENTIFIER
    assert [a.name for a in SCHEMA.quasi_identifiers] == ["age"]
    assert [a.name for a in SCHEMA.sensitive] == ["disease"]
    both = SCHEMA.with_role(Role.SENSITIVE, Role.SEMI_SENSITIVE)
    assert [a.name for a in both] == ["sex", "disease"]


def test_an_unknown_column_is_refused_with_the_nearest_name():
    with pytest.raises(SchemaError, match="did you mean 'disease'"):
        SCHEMA["desease"]
    with pytest.raises(SchemaError, match="known are 'name', 'age'"):
        SCHEMA["qqqqqqq"]


def test_a_column_with_two_roles_is_refused():
    with pytest.raises(SchemaError, match="two roles: 'age'"):
        Schema((Attribute("age", Role.SENSITIVE), Attribute("age", Role.QUASI_IDENTIFIER)))


def test_a_schema_without_attributes_is_refused():
    with pytest.raises(SchemaError, match="role"):
        Schema(())


def test_an_unknown_role_is_refused_with_the_nearest_one():
    with pytest.raises(SchemaError, match=r"'age'.*did you mean 'quasi-identifier'"):
        Schema.of(age="quasi_identifier")


def test_names_that_are_no_python_words():
    schema = Schema.of({"marital-status": "sensitive", "unit": "insensitive"}, self="identifier")
    assert schema.names == ("marital-status", "unit", "self")
    assert schema.unit is None


def test_aligning_follows_the_table_and_keeps_the_unit():
    schema = Schema(SCHEMA.attributes, unit="name")
    aligned = schema.aligned(reversed(SCHEMA.names))
    assert aligned.names == tuple(reversed(SCHEMA.names))
    assert aligned.unit == "name"


def test_many_forgotten_columns_are_counted():
    with pytest.raises(SchemaError, match="and 8 more"):
        Schema.of(age="sensitive").aligned(["age", *(f"column {n}" for n in range(20))])


def test_infer_reads_any_frame():
    schema = Schema.infer(pa.record_batch({"patient_id": [1, 1, 2], "age": [30, 31, 32]}))
    assert schema["patient_id"].role is Role.IDENTIFIER
    assert schema.unit == "patient_id"
    assert schema["age"].role is Role.QUASI_IDENTIFIER
