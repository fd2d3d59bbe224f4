"""Attributes: one that exists is valid, however its words were given."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import SchemaError
from sfumato.methods import Mondrian
from sfumato.schema import Attribute, Kind, Role, Schema


def test_words_become_roles_and_kinds():
    attribute = Attribute("ssn", "insensitive", kind="numeric")
    assert attribute.role is Role.INSENSITIVE
    assert attribute.kind is Kind.NUMERIC
    assert not attribute.is_published


def test_a_role_given_as_a_word_publishes_nothing_more():
    people = pa.table({"age": [25, 28], "sick": ["Flu", "HIV"], "ssn": ["111", "222"]})
    schema = Schema(
        (
            Attribute("age", "quasi-identifier"),
            Attribute("sick", "sensitive"),
            Attribute("ssn", "insensitive"),
        )
    )
    records = Mondrian(k=2).publish(people, schema).tables["records"]
    assert records.column_names == ["group", "age", "sick"]
    assert set(records["age"].to_pylist()) == {"[25, 28]"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "secret"},
        {"role": None},
        {"role": 5},
        {"kind": "foo"},
        {"missing": "velue"},
        {"min_width": "x"},
        {"min_width": 0},
        {"min_width": float("nan")},
        {"keep": True},
    ],
)
def test_what_is_no_attribute_is_refused(wrong):
    with pytest.raises(SchemaError, match="column 'age'"):
        Attribute(**{"name": "age", "role": Role.SENSITIVE, **wrong})
