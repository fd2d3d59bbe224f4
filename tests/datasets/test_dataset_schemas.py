"""Schemas of the built-in tables: a role for every column, hierarchies for every value."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.datasets import (
    adult_schema,
    census,
    census_schema,
    hospital,
    hospital_schema,
    load_adult,
)
from sfumato.errors import SchemaError
from sfumato.schema.attribute import Kind, Role
from sfumato.schema.hierarchy import Hierarchy
from sfumato.table import encode


@pytest.mark.parametrize(
    ("make", "schema"), [(hospital, hospital_schema()), (census, census_schema())]
)
def test_every_column_has_a_role_and_every_value_an_entry(make, schema):
    table = make(20_000)
    assert schema.names == tuple(table.column_names)
    hierarchies = [a for a in schema if isinstance(a.hierarchy, Hierarchy)]
    assert len(hierarchies) >= 3
    for attribute in hierarchies:
        texts = table[attribute.name].drop_null().cast(pa.string()).unique().to_pylist()
        assert attribute.hierarchy.report(texts).missing == ()
        assert attribute.hierarchy.bind(texts).domain_size >= len(texts)
    for name in table.column_names:
        if name.endswith("_private"):
            assert not schema[name].is_published


@pytest.mark.parametrize(
    ("make", "schema"), [(hospital, hospital_schema()), (census, census_schema())]
)
def test_tables_can_be_coded(make, schema):
    table = encode(make(500), schema)
    assert table.rows == 500
    assert len(table.quasi_identifiers) == len(schema.quasi_identifiers)
    assert len(table.sensitive) == 1


def test_default_roles():
    schema = hospital_schema()
    assert schema["name"].role is Role.IDENTIFIER
    assert [a.name for a in schema.sensitive] == ["disease"]
    schema = census_schema()
    assert len(schema.quasi_identifiers) == 8
    assert [a.name for a in schema.sensitive] == ["salary"]
    assert schema["education"].kind is Kind.ORDINAL
    assert schema["education"].order[0] == "Primary"


def test_roles_can_be_chosen():
    schema = hospital_schema(quasi_identifiers=["age"], sensitive=["disease", "salary"])
    assert [a.name for a in schema.quasi_identifiers] == ["age"]
    assert {a.name for a in schema.sensitive} == {"disease", "salary"}
    assert schema["zipcode"].role is Role.INSENSITIVE


def test_adult_with_the_hierarchies_of_a_folder(shared):
    plain = adult_schema()
    assert plain.names == tuple(load_adult(shared / "data" / "adult.parquet").column_names)
    assert all(attribute.hierarchy is None for attribute in plain)
    rich = adult_schema(hierarchies=shared / "data" / "hierarchies")
    assert isinstance(rich["native-country"].hierarchy, Hierarchy)
    assert rich["fnlwgt"].hierarchy is None


def test_wrong_columns_are_refused():
    with pytest.raises(SchemaError, match=r"'zipcod'.*did you mean 'zipcode'"):
        hospital_schema(quasi_identifiers=["zipcod"])
    with pytest.raises(SchemaError, match="'age' is named both"):
        census_schema(quasi_identifiers=["age"], sensitive=["age"])
