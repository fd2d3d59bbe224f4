"""Whose rows they are, and what is refused when that is not known."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sfumato.errors import SchemaError
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode
from sfumato.table.units import rows_of_one_unit


def encode_with(columns, identifiers, unit=None):
    data = pa.table({**columns, "age": pa.array(range(len(next(iter(columns.values())))))})
    attributes = tuple(
        Attribute(name, Role.IDENTIFIER if name in identifiers else Role.QUASI_IDENTIFIER)
        for name in data.column_names
    )
    return encode(data, Schema(attributes, unit))


def test_without_identifiers_rows_are_people():
    table = encode_with({"job": ["a", "a"]}, ())
    assert table.units is None
    assert table.unit_count == 2


def test_unique_identifiers_confirm_that_rows_are_people():
    assert encode_with({"id": [1, 2], "mail": ["a", "b"]}, ("id", "mail")).units is None
    assert encode_with({"id": [b"1", b"2"]}, ("id",)).units is None


def test_repeated_identifiers_are_refused_with_the_two_ways_out():
    with pytest.raises(SchemaError) as caught:
        encode_with({"name": ["Ann", "Bob", "Ann", "Ann"]}, ("name",))
    message = str(caught.value)
    assert "'name' repeats in 2 of 4 rows" in message
    assert "one row a person" in message and "`unit`" in message
    assert "Ann" not in message


def test_of_several_identifiers_every_one_must_be_unique():
    columns = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Ann"]}
    with pytest.raises(SchemaError, match="'name' repeats"):
        encode_with(columns, ("id", "name"))
    assert encode_with(columns, ("id", "name"), unit="id").units is None


def test_a_published_column_cannot_tell_people_apart():
    with pytest.raises(SchemaError, match="'who', which is quasi-identifier and published"):
        encode_with({"who": ["Ann", "Bob", "Ann", "Cid"]}, (), unit="who")


def test_a_stated_unit_numbers_the_people():
    table = encode_with({"who": ["Ann", "Bob", "Ann", "Cid"]}, ("who",), unit="who")
    units = table.units
    assert units is not None and units.dtype == np.int32
    assert units[0] == units[2]
    assert len(set(units.tolist())) == table.unit_count == 3
    assert sorted(set(units.tolist())) == [0, 1, 2]
    assert not units.flags.writeable


def test_a_stated_unit_with_one_row_each_is_no_unit():
    table = encode_with({"who": ["Ann", "Bob"]}, ("who",), unit="who")
    assert table.units is None


@pytest.mark.parametrize("unit", [None, "who"])
def test_missing_units_are_refused_with_their_count(unit):
    with pytest.raises(SchemaError, match=r"'who' .* missing in 2 of 4 rows"):
        encode_with({"who": ["Ann", None, None, "Bob"]}, ("who",), unit=unit)


def test_units_that_cannot_be_compared_are_refused():
    with pytest.raises(SchemaError, match=r"'who'.*cannot be compared"):
        encode_with({"who": [[1], [2]]}, ("who",))


def test_a_unit_that_is_no_column_is_refused():
    with pytest.raises(SchemaError, match="did you mean 'who'"):
        Schema((Attribute("who", Role.IDENTIFIER),), unit="whom")


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=20),
    st.integers(0, 4),
)
def test_rows_of_one_unit_by_definition(rows, value_count):
    codes, units = (np.array(side, np.int32) for side in zip(*rows, strict=True))
    codes = np.minimum(codes, value_count)
    people = {
        code: {unit for c, unit in zip(codes, units, strict=True) if c == code} for code in codes
    }
    expected = sum(code < value_count and len(people[code]) == 1 for code in codes)
    assert rows_of_one_unit(codes, value_count, units) == expected
    alone = np.arange(len(codes), dtype=np.int32)
    assert rows_of_one_unit(codes, value_count, None) == rows_of_one_unit(codes, value_count, alone)
