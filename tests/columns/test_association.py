"""Association of a table's attributes: what counts as one value, and the order it makes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import refining as oracle

from sfumato.columns.association import associations, coarse_codes
from sfumato.rows.correlation import correlation_order
from sfumato.schema import Attribute, Kind, Role, Schema
from sfumato.table import Column, encode


def columns_of(**cells) -> list[Column]:
    attributes = tuple(Attribute(name, Role.QUASI_IDENTIFIER) for name in cells)
    return list(encode(pa.table(cells), Schema(attributes)).columns)


def alike(codes) -> set[frozenset[int]]:
    """Return which places hold the same code."""
    places: dict[int, list[int]] = {}
    for place, code in enumerate(codes):
        places.setdefault(code, []).append(place)
    return {frozenset(each) for each in places.values()}


NUMBERS = st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=40)
CELLS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 60),
        st.none() | st.sampled_from("abcd"),
        st.none() | st.integers(0, 30),
    ),
    min_size=1,
    max_size=40,
)


@given(NUMBERS)
def test_numbers_are_cut_into_ten_intervals_only_if_they_have_more_values(numbers):
    (column,) = columns_of(age=pa.array(numbers, pa.int64()))
    assert alike(coarse_codes(column).tolist()) == alike(oracle.in_intervals(numbers))


@given(CELLS)
def test_associations_are_those_of_the_intervals(cells):
    """A missing value is one of its own; the target is coarsened too."""
    ages, jobs, pays = (list(each) for each in zip(*cells, strict=True))
    age, job, pay = columns_of(
        age=pa.array(ages, pa.int64()),
        job=pa.array(jobs, pa.string()),
        pay=pa.array(pays, pa.int64()),
    )
    target = oracle.in_intervals(pays)
    expected = [oracle.phi_squared(oracle.in_intervals(ages), target)]
    expected.append(oracle.phi_squared(jobs, target))
    assert associations([age, job], pay) == pytest.approx([float(e) for e in expected], abs=1e-12)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([dt.date(2000, 1, 1 + day) for day in range(20)], pa.date32()),
        ([Decimal(n) / 4 for n in range(20)], pa.decimal128(12, 2)),
        ([n / 4 for n in range(20)], pa.float64()),
    ],
    ids=["dates", "decimals", "floats"],
)
def test_every_kind_of_number_has_ten_intervals(values, dtype):
    (column,) = columns_of(when=pa.array([*values, None], dtype))
    found = coarse_codes(column).tolist()
    assert alike(found) == alike([*(min(n * 10 // 19, 9) for n in range(20)), None])


def test_ten_numbers_are_ten_values_however_they_lie():
    (column,) = columns_of(age=[1, 2, 3, 4, 5, 6, 7, 8, 9, 1000])
    assert len(set(coarse_codes(column).tolist())) == 10


def test_ranks_and_categories_are_never_cut():
    order = tuple(f"grade {i:02}" for i in range(20))
    table = encode(
        pa.table({"grade": order, "job": order, "code": range(20)}),
        Schema(
            (
                Attribute("grade", Role.QUASI_IDENTIFIER, order=order),
                Attribute("job", Role.QUASI_IDENTIFIER),
                Attribute("code", Role.QUASI_IDENTIFIER, kind=Kind.CATEGORICAL),
            )
        ),
    )
    for column in table.columns:
        assert len(set(coarse_codes(column).tolist())) == 20


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**63 - 1 - i for i in range(15)], pa.int64()),
        pa.array([2**64 - 1 - i for i in range(15)], pa.uint64()),
        pa.array([-(2**63), *range(13), 2**63 - 1], pa.int64()),
        pa.array([1.7e308 * ((i - 7) / 7) for i in range(15)], pa.float64()),
        pa.array([5e-324 * i for i in range(15)], pa.float64()),
        pa.array([1.0, *(1.0 + 2.0**-52 * i for i in range(1, 15))], pa.float64()),
    ],
    ids=["large ints", "large uints", "widest ints", "largest floats", "smallest floats", "close"],
)
def test_numbers_at_the_limits_of_floats(values):
    """Ten intervals at most, the lowest number in the first and the highest in the last."""
    column, target = columns_of(number=values, letter=list("abcde" * 3))
    found = coarse_codes(column)
    assert found.min() >= 0 and found.max() <= 9
    by_value = [found[i] for i in sorted(range(15), key=lambda i: values[i].as_py())]
    assert by_value == sorted(by_value)
    (share,) = associations([column], target)
    assert 0 <= share <= 1 + 1e-12


def test_the_widest_numbers_fall_where_the_formula_says():
    numbers = [-(2**62) + i * 2**59 for i in range(17)]  # of sixteen steps, all exact floats
    (column,) = columns_of(number=pa.array(numbers, pa.int64()))
    assert alike(coarse_codes(column).tolist()) == alike(oracle.in_intervals(numbers))
    floats = [(i - 8) * 2.0**1020 for i in range(17)]
    (column,) = columns_of(number=pa.array(floats, pa.float64()))
    assert alike(coarse_codes(column).tolist()) == alike(oracle.in_intervals(floats))


# --- the order ------------------------------------------------------------------------------------


def test_the_order_is_from_the_strongest_to_the_weakest():
    illness = list("aabbccdd")
    columns = columns_of(
        none=[1, 2, 1, 2, 1, 2, 1, 2],
        all=list("ppqqrrss"),
        some=[1, 1, 1, 1, 2, 2, 2, 1],
        constant=[0] * 8,
        illness=illness,
    )
    *quasi, target = columns
    names = [column.name for column in correlation_order(quasi, [target])]
    assert names == ["all", "some", "none", "constant"]
    strength = associations(quasi, target)
    assert strength[1] == pytest.approx(1) and 0 < strength[2] < 1
    assert strength[0] == pytest.approx(0) and strength[3] == 0


def test_with_several_sensitive_attributes_the_strongest_association_counts():
    one, other = list("aabbccdd"), list("wxwxwxwx")
    first, second, illness, work = columns_of(
        first=[1, 1, 1, 1, 2, 2, 2, 1], second=[5, 6, 5, 6, 5, 6, 5, 6], illness=one, work=other
    )
    by_one = correlation_order([first, second], [illness])
    by_both = correlation_order([first, second], [illness, work])
    assert by_one[0].name == "first" and by_both[0].name == "second"


@given(CELLS)
def test_the_order_is_descending_whatever_the_table(cells):
    ages, jobs, pays = (list(each) for each in zip(*cells, strict=True))
    *quasi, target = columns_of(
        age=pa.array(ages, pa.int64()),
        job=pa.array(jobs, pa.string()),
        pay=pa.array(pays, pa.int64()),
    )
    literal = {
        "age": oracle.phi_squared(oracle.in_intervals(ages), oracle.in_intervals(pays)),
        "job": oracle.phi_squared(jobs, oracle.in_intervals(pays)),
    }
    first, second = correlation_order(quasi, [target])
    assert float(literal[first.name]) >= float(literal[second.name]) - 1e-12
