"""Table division: the worked example, and a literal greedy on any columns."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import association as oracle
from oracles.refining import in_intervals
from oracles.transactions import ATTRIBUTES

from sfumato.columns.association import coarse_codes
from sfumato.columns.tables import check_division, divide_columns
from sfumato.errors import ParameterError
from sfumato.measures.association import phi_squared
from sfumato.measures.entropy import entropy
from sfumato.randomness import repeatable
from sfumato.schema import Schema
from sfumato.table import Column, encode

QUASI = ("gender", "job", "age", "zipcode")


def coded(**columns) -> list[Column]:
    table = encode(pa.table(columns), Schema.of(dict.fromkeys(columns, "quasi-identifier")))
    return [table[name] for name in columns]


def names(divided: list[list[Column]]) -> list[list[str]]:
    return [[column.name for column in part] for part in divided]


@pytest.fixture(scope="module")
def example() -> dict[str, Column]:
    """The quasi-identifiers of the paper's Table 1."""
    columns = coded(**{name: ATTRIBUTES[name] for name in QUASI})
    return dict(zip(QUASI, columns, strict=True))


# --- the worked example ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "nats"), [("age", 1.7329), ("job", 1.3209), ("zipcode", 1.2555), ("gender", 0.6616)]
)
def test_the_entropies_of_the_example(name, nats, example):
    found = entropy(np.bincount(example[name].codes).astype(np.int64))
    assert round(float(found), 4) == nats
    assert round(oracle.entropy(ATTRIBUTES[name]), 4) == nats


@pytest.mark.parametrize(
    ("one", "other", "strength"),
    [
        ("age", "zipcode", 1),
        ("age", "gender", 1),
        ("age", "job", 0.7222),
        ("job", "zipcode", 0.6296),
        ("gender", "zipcode", 0.2889),
        ("gender", "job", 0.1111),
    ],
)
def test_the_associations_of_the_example(one, other, strength, example):
    found = phi_squared(coarse_codes(example[one]), coarse_codes(example[other]))
    assert round(found, 4) == strength
    assert round(float(oracle.phi_squared(ATTRIBUTES[one], ATTRIBUTES[other])), 4) == strength


@pytest.mark.parametrize(
    ("cap", "expected"),
    [
        ("even", [["age", "zipcode"], ["job", "gender"]]),
        (2, [["age", "zipcode"], ["job", "gender"]]),
        (3, [["age", "zipcode", "gender"], ["job"]]),
        (None, [["age", "zipcode", "gender"], ["job"]]),
    ],
)
def test_the_division_of_the_example(cap, expected, example):
    for order in permutations(QUASI):  # no two weights tie
        assert names(divide_columns([example[name] for name in order], 2, cap)) == expected


def test_the_default_is_even_tables(example):
    assert names(divide_columns(list(example.values()), 2)) == [
        ["age", "zipcode"],
        ["job", "gender"],
    ]


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        (1, [["age", "job", "zipcode", "gender"]]),
        (3, [["age", "gender"], ["job"], ["zipcode"]]),
        (4, [["age"], ["job"], ["zipcode"], ["gender"]]),
    ],
)
def test_other_numbers_of_tables(tables, expected, example):
    """Gender goes with age (1), not with the zip code (0.2889) nor with the job (0.1111)."""
    for cap in ("even", None):
        assert names(divide_columns(list(example.values()), tables, cap)) == expected


def test_the_association_is_the_mean_over_a_tables_columns(example):
    """Gender with age and zip code: the mean of 1 and 0.2889 is 0.6444, against 0.1111."""
    gender = ATTRIBUTES["gender"]
    both = [oracle.phi_squared(gender, ATTRIBUTES[name]) for name in ("age", "zipcode")]
    assert round(float(sum(both) / 2), 4) == 0.6444
    # beside one that tells it by half, a column of a crowded table must tell it by more
    letters = {"a": "aabbccdd", "b": "xyxyxyxy", "c": "pqrspqrs", "d": "mmmmnnnn"}
    columns = coded(**{name: list(values) for name, values in letters.items()})
    # d is told by a (1), c opens the other table; b is told by c (1), not by a and d (0)
    assert names(divide_columns(columns, 2, None)) == [["a", "d"], ["c", "b"]]


# --- any columns ----------------------------------------------------------------------------------


@st.composite
def cases(draw):
    rows = draw(st.integers(1, 30))
    count = draw(st.integers(1, 5))
    columns = {}
    for i in range(count):
        kind = draw(st.sampled_from(["text", "number", "many numbers", "copy", "coarser"]))
        if kind in ("copy", "coarser") and columns:
            other = columns[draw(st.sampled_from(sorted(columns)))]
            values = other if kind == "copy" else [None if v is None else str(v)[0] for v in other]
        elif kind == "text":
            pool = st.sampled_from("abcde"[: draw(st.integers(1, 5))])
            values = draw(st.lists(st.none() | pool, min_size=rows, max_size=rows))
        else:
            top = 4 if kind == "number" else 60
            values = draw(st.lists(st.integers(0, top), min_size=rows, max_size=rows))
        columns[f"c{i}"] = values
    tables = draw(st.integers(1, count))
    least = -(-count // tables)
    cap = draw(st.sampled_from(["even", None, *range(least, count + 1)]))
    return columns, tables, cap


@settings(max_examples=100)
@given(cases())
def test_the_division_is_that_of_the_literal_rule(case):
    """Ties of weights or associations may go any way."""
    columns, tables, cap = case
    values = list(columns.values())
    coarse = [v if any(isinstance(c, str) for c in v) else in_intervals(v) for v in values]
    most = -(-len(columns) // tables) if cap == "even" else cap
    arrays = {
        name: pa.array(v, pa.string() if any(isinstance(c, str) for c in v) else pa.int64())
        for name, v in columns.items()
    }
    divided = names(divide_columns(coded(**arrays), tables, cap))
    found = tuple(tuple(int(name[1:]) for name in part) for part in divided)
    assert found in oracle.divisions(values, coarse, tables, most)
    assert sorted(name for part in divided for name in part) == sorted(columns)
    assert len(divided) == tables
    assert most is None or max(map(len, divided)) <= most


def test_numbers_with_many_values_go_by_intervals_but_weigh_by_their_values():
    """A hundred ages would tell every other column, were they not cut into ten."""
    numbers = list(range(100))
    columns = coded(
        age=numbers,
        unit=[f"{n % 10}" for n in numbers],
        tens=[f"{n // 10}" for n in numbers],
        even=[f"{n % 2}" for n in numbers],
    )
    assert names(divide_columns(columns, 2)) == [["age", "tens"], ["unit", "even"]]


def test_ties_go_to_the_column_and_the_table_that_come_first():
    """Five equal columns: the first two open the tables, and the first table has room."""
    equal = {name: [1, 2, 3, 3] for name in "abcde"}
    assert names(divide_columns(coded(**equal), 2, None)) == [["a", "c", "d", "e"], ["b"]]
    assert names(divide_columns(coded(**equal), 2)) == [["a", "c", "d"], ["b", "e"]]
    constant = {name: ["same"] * 3 for name in "abc"}
    assert names(divide_columns(coded(**constant), 2, None)) == [["a", "c"], ["b"]]


def test_many_columns_of_many_rows_are_divided_in_time():
    rng = repeatable(3)
    columns = coded(**{f"c{i}": rng.integers(0, 50 + i, 100_000) for i in range(20)})
    divided = names(divide_columns(columns, 4))
    assert [len(part) for part in divided] == [5] * 4
    # of independent columns the finest have the greatest entropy
    assert [part[0] for part in divided] == ["c19", "c18", "c17", "c16"]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("tables", [0, -1, 1.0, True, "2", None, [2]])
def test_a_number_of_tables_that_is_none(tables):
    with pytest.raises(ParameterError, match="slppa: `tables` must be a whole number"):
        check_division(tables, "even", "slppa")


@pytest.mark.parametrize("cap", [0, -1, 1.5, True, "odd", "", [2], "null", ("even",)])
def test_a_cap_that_is_none(cap):
    with pytest.raises(ParameterError, match="slppa: `cap` must be even, a whole number"):
        check_division(2, cap, "slppa")


@pytest.mark.parametrize("cap", ["even", None, 1, 10**6])
def test_a_cap_that_is_one(cap):
    assert check_division(2, cap, "slppa") is None


def test_more_tables_than_columns(example):
    columns = list(example.values())
    for cap in ("even", None, 4):
        with pytest.raises(ParameterError, match=r"`tables` is 5, and there are 4 .* at most 4"):
            divide_columns(columns, 5, cap)


def test_too_small_a_cap(example):
    with pytest.raises(ParameterError, match="2 tables of at most 1 columns do not hold 4"):
        divide_columns(list(example.values()), 2, 1)
