"""Columns over stated domains: rows find their atom, and nothing else depends on them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

from sfumato.errors import ParameterError
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema
from sfumato.table import encode
from sfumato.table.stated import StatedColumn, stated_column

LEAVES = [("1", "low"), ("2", "low"), ("3", "high"), ("?", "none"), ("300", "high")]


def over(values: pa.Array, atoms: int = 8, **stated) -> StatedColumn:
    attribute = Attribute("x", Role.QUASI_IDENTIFIER, **stated)
    return stated_column(encode(pa.table({"x": values}), Schema((attribute,)))["x"], atoms)


# type, a value of it at some place of a scale, and the ends of the domain
NUMBERS = {
    "int8": (pa.int8(), lambda i: i - 20, -20, 79),
    "uint64": (pa.uint64(), lambda i: 2**64 - 100 + i, 2**64 - 100, 2**64 - 1),
    "beyond the type": (pa.int8(), lambda i: i - 20, -1000, 1000),
    "fractions": (pa.int64(), lambda i: i, -0.5, 99.5),
    "double": (pa.float64(), lambda i: i / 7, 0.0, 100 / 7),
    "float": (pa.float32(), lambda i: i / 4, 0, 25),
    "wide": (pa.float64(), lambda i: (i - 50) * 3e306, -1.7e308, 1.7e308),
    "decimal": (pa.decimal128(12, 2), lambda i: Decimal(i) / 100, Decimal("-0.10"), Decimal("1")),
    "long decimal": (pa.decimal256(60, 2), lambda i: 10**40 + i, 10**40, 10**40 + 100),
    "date": (
        pa.date32(),
        lambda i: dt.date(2020, 1, 1) + dt.timedelta(i),
        "2020-01-01",
        "2021-01-01",
    ),
    "moment": (
        pa.timestamp("us"),
        lambda i: dt.datetime(2020, 1, 1, 0, i % 60, 0, i),
        "2020-01-01T00:00:00",
        "2020-01-02T00:00:00",
    ),
    "time": (pa.time32("s"), lambda i: dt.time(i % 24, i % 60), "00:00:00", "23:59:59"),
}


@pytest.mark.parametrize("name", NUMBERS)
@given(places=st.lists(st.integers(0, 99) | st.none(), min_size=1, max_size=20))
def test_every_number_lies_in_its_atom(name, places):
    dtype, value_at, low, high = NUMBERS[name]
    plain = [None if i is None else value_at(i) for i in places]
    values = pa.array(plain, dtype)
    found = over(values, domain=(low, high))
    lows, highs = found.column.values.to_pylist(), found.highs.to_pylist()
    assert 1 <= len(lows) <= 8
    assert lows == sorted(lows) and highs == sorted(highs)
    for value, code in zip(values.to_pylist(), found.column.codes.tolist(), strict=True):
        if value is None:
            assert code == found.column.null_code == len(lows)
        else:
            assert lows[code] <= value <= highs[code]
    # the domain is the same for other rows
    other = over(values.slice(0, 1), domain=(low, high))
    assert other.column.values.equals(found.column.values)
    assert other.highs.equals(found.highs)


def test_whole_numbers_are_single_where_there_are_few():
    found = over(pa.array([3, 5]), atoms=10, domain=(1, 6))
    assert found.is_exact
    assert found.column.values.to_pylist() == [1, 2, 3, 4, 5, 6]
    assert found.column.codes.tolist() == [2, 4]
    assert not over(pa.array([3, 5]), atoms=5, domain=(1, 6)).is_exact


@pytest.mark.parametrize("dtype", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
@pytest.mark.parametrize(
    "stated",
    [
        {"domain": ("c", "a", "b")},
        {"order": ("c", "a", "b")},
        {"hierarchy": Hierarchy.from_rows([("c", "x"), ("a", "x"), ("b", "y")], "h")},
    ],
    ids=lambda stated: next(iter(stated)),
)
def test_listed_values_are_all_there_in_one_order(stated, dtype):
    seen = [
        over(pa.array(cells, pa.string()).cast(dtype), **stated) for cells in (["b"], ["a", None])
    ]
    for found, cells in zip(seen, (["b"], ["a", None]), strict=True):
        assert found.column.values.to_pylist() == ["c", "a", "b"]
        codes = [3 if cell is None else ["c", "a", "b"].index(cell) for cell in cells]
        assert found.column.codes.tolist() == codes
        assert found.is_exact
    assert seen[0].column.kind is seen[1].column.kind


def test_the_order_of_a_dictionary_is_data():
    hierarchy = Hierarchy.from_rows([("a", "x"), ("b", "y"), ("c", "x")], "h")
    for entries in (["a", "c", "b"], ["a", "b", "c"]):
        cells = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), entries, ordered=True)
        found = over(cells, hierarchy=hierarchy)
        assert found.column.kind is Kind.CATEGORICAL
        assert found.column.values.to_pylist() == ["a", "c", "b"]


def test_leaves_that_are_no_values_of_the_type_or_the_domain_are_left_out():
    hierarchy = Hierarchy.from_rows(LEAVES, "h")
    found = over(pa.array([2], pa.int16()), hierarchy=hierarchy)
    assert found.column.values.to_pylist() == [1, 2, 3, 300]
    found = over(pa.array([2], pa.int8()), hierarchy=hierarchy)
    assert found.column.values.to_pylist() == [1, 2, 3]
    found = over(pa.array([2], pa.int16()), hierarchy=hierarchy, domain=(2, 299))
    assert found.column.values.to_pylist() == [2, 3]


@pytest.mark.parametrize(
    "values", [pa.array([1, 2]), pa.array(["a", "b"]), pa.array([True, False]), pa.nulls(2)]
)
def test_a_domain_that_nobody_states_is_refused(values):
    with pytest.raises(ParameterError, match="'x'"):
        over(values)
