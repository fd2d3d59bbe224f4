"""Numbers of a hierarchy file in the texts of the column's values."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.schema.leaf_texts import spelled_as
from sfumato.table import encode


@pytest.mark.parametrize(
    ("leaves", "dtype", "spelled"),
    [
        (("6.0", "99.80", "7"), pa.float64(), ("6", "99.8", "7")),
        (("1e2", "1.5"), pa.int32(), ("100", "1.5")),
        (("6.0", "6"), pa.float64(), ("6.0", "6")),  # two leaves must not become one
        (("6.0", "6.00"), pa.int64(), ("6.0", "6.00")),
        (("6.0", "007", "-1.0"), pa.int64(), ("6", "007", "-1")),
        (("1e999999", "6.0"), pa.int64(), ("1e999999", "6")),
        (("1e999999", "6.0"), pa.float64(), ("1e999999", "6")),
        (("6.0",), pa.string(), ("6.0",)),
        (("0.1",), pa.float32(), ("0.1",)),
    ],
)
def test_spellings(leaves, dtype, spelled):
    hierarchy = Hierarchy.from_rows([(leaf, "low", "*") for leaf in leaves], "charges")
    assert spelled_as(hierarchy, dtype).leaves == spelled


def test_a_text_that_is_an_inner_node_stays_one():
    hierarchy = Hierarchy.from_rows([("6.0", "6", "*"), ("6.5", "6", "*")], "charges")
    assert spelled_as(hierarchy, pa.float64()) is hierarchy


def test_a_column_of_numbers_is_encoded_under_such_a_file():
    hierarchy = Hierarchy.from_rows(
        [("10.0", "[10, 20["), ("6.0", "[0, 10["), ("9.5", "[0, 10[")], "charges"
    )
    schema = Schema((Attribute("charges", Role.QUASI_IDENTIFIER, hierarchy=hierarchy),))
    column = encode(pa.table({"charges": [10.0, 6.0, 9.5]}), schema)["charges"]
    # in the order of numbers, not of lines
    assert column.values.to_pylist() == [6.0, 9.5, 10.0]
    assert str(column.attribute.kind) == "numeric"
    assert column.tree.labels == ("6", "9.5", "10", "[0, 10[", "[10, 20[", "*")
