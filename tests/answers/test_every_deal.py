"""Answers from separate tables and blocks against all originals that fit a tiny release."""

from __future__ import annotations

from datetime import date

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from answers.every_deal import outcomes
from answers.questions import (
    AGES,
    PAYS,
    SEXES,
    any_predicates,
    nested_predicates,
    plain_predicates,
)
from hypothesis import given, settings

from sfumato.answers import Answerer, Count, Sum
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry

ENTRIES = {
    "age": AttributeEntry(
        name="age",
        role="quasi-identifier",
        kind="numeric",
        type="int64",
        domain=Bounds(min=20, max=23),
    ),
    "sex": AttributeEntry(
        name="sex", role="quasi-identifier", kind="categorical", type="string", domain=("F", "M")
    ),
    "pay": AttributeEntry(
        name="pay", role="sensitive", kind="numeric", type="int64", domain=Bounds(min=-2, max=3)
    ),
}
TYPES = {"age": pa.int64(), "sex": pa.string(), "pay": pa.int64()}
TOGETHER = st.sampled_from(
    [
        (("age", "sex", "pay"),),
        (("age", "sex"), ("pay",)),
        (("age",), ("sex", "pay")),
        (("age",), ("sex",), ("pay",)),
    ]
)


def manifest(layout: str, rows: int, tables: list[TableEntry], **parameters) -> Manifest:
    return Manifest(
        method="test",
        layout=layout,
        software="test",
        created=date(2026, 1, 31),
        rows=rows,
        attributes=tuple(ENTRIES.values()),
        tables=tuple(tables),
        parameters=parameters,
    )


def people(least: int = 1, most: int = 4) -> st.SearchStrategy:
    """Return the rows of up to two groups."""
    row = st.fixed_dictionaries(
        {"age": st.none() | AGES, "sex": st.none() | SEXES, "pay": st.none() | PAYS}
    )
    group = st.lists(row, min_size=least, max_size=most)
    return st.lists(group, min_size=1, max_size=2)


def anatomized(groups, together) -> Release:
    tables, entries = {}, []
    for number, names in enumerate(together, start=1):
        counted: dict[tuple, int] = {}
        for group, rows in enumerate(groups, start=1):
            for row in rows:
                key = (group, *(row[name] for name in names))
                counted[key] = counted.get(key, 0) + 1
        columns = list(zip(*counted, strict=True))
        cells = {name: pa.array(c, TYPES[name]) for name, c in zip(names, columns[1:], strict=True)}
        tables[f"qi_{number}"] = pa.table(
            {"group": list(columns[0]), **cells, "count": list(counted.values())}
        )
        entries.append(
            TableEntry(name=f"qi_{number}", attributes=names, group="group", count="count")
        )
    return Release(manifest("anatomized", sum(map(len, groups)), entries), tables)


def sliced(groups, together, cells=(), fakes=None) -> Release:
    """Return a sliced release; `cells` replaces the first ages by generalised ones."""
    rows = [row for group in groups for row in group]
    ages = [row["age"] for row in rows]
    if cells:
        texts = [None if age is None else str(age) for age in ages]
        ages = [*cells, *texts[len(cells) :]][: len(rows)]
    table = pa.table(
        {
            "group": [number for number, group in enumerate(groups, start=1) for _ in group],
            "age": pa.array(ages, pa.string() if cells else pa.int64()),
            **{n: pa.array([row[n] for row in rows], TYPES[n]) for n in ("sex", "pay")},
        }
    )
    entry = TableEntry(name="records", attributes=tuple(ENTRIES), group="group")
    parameters = {"columns": [list(names) for names in together]}
    if fakes is not None:
        parameters["fakes"] = fakes
    return Release(manifest("sliced", len(rows), [entry], **parameters), {"records": table})


def asked(together, predicate, summed) -> int:
    """Return how many tables a question is put to."""
    names = predicate.attributes | ({summed} if summed else set())
    return sum(1 for table in together if names & set(table))


def check(release, predicate, summed, *, exact_bounds, exact_value) -> None:
    found = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    true = outcomes(release, predicate, summed)
    assert found.low <= true.low <= true.high <= found.high
    assert found.low <= found.value <= found.high
    if exact_bounds:
        assert (found.low, found.high) == (true.low, true.high)
    if exact_value:
        assert found.value == pytest.approx(float(true.mean))


SUMMED = st.sampled_from([None, "age", "pay"])


@settings(max_examples=200)
@given(people(), TOGETHER, any_predicates, SUMMED)
def test_any_predicate_on_one_or_two_tables_is_answered_exactly(
    groups, together, predicate, summed
):
    is_simple = asked(together, predicate, summed) <= 2
    release = anatomized(groups, together)
    check(release, predicate, summed, exact_bounds=is_simple, exact_value=True)


@settings(max_examples=100)
@given(people(), nested_predicates(), SUMMED)
def test_one_place_a_table_is_answered_exactly_for_any_number_of_tables(groups, predicate, summed):
    release = anatomized(groups, (("age",), ("sex",), ("pay",)))
    check(release, predicate, summed, exact_bounds=True, exact_value=True)


@given(people(most=5), TOGETHER, any_predicates, SUMMED)
def test_groups_that_are_alike_are_worked_out_once(groups, together, predicate, summed):
    aggregate, times = Sum(summed) if summed else Count(), 50
    one, many = (
        Answerer(anatomized(each, together)).answer(aggregate, predicate)
        for each in (groups, groups * times)
    )
    assert (many.low, many.high) == (times * one.low, times * one.high)
    assert many.value == pytest.approx(times * one.value)


@settings(max_examples=60)
@given(people(), TOGETHER, any_predicates, SUMMED)
def test_blocks_of_columns_are_answered_like_tables(groups, together, predicate, summed):
    aggregate = Sum(summed) if summed else Count()
    one, other = (make(groups, together) for make in (sliced, anatomized))
    assert Answerer(one).answer(aggregate, predicate) == Answerer(other).answer(
        aggregate, predicate
    )


CELLS = st.lists(
    st.sampled_from(["[20, 21]", "[21, 23]", "{20, 23}", "{null, 21}", "{null, [20, 21]}", "22"]),
    min_size=1,
    max_size=4,
)


@settings(max_examples=100)
@given(people(most=3), TOGETHER, CELLS, plain_predicates(), st.sampled_from([None, "pay"]))
def test_generalised_cells_in_blocks(groups, together, cells, predicate, summed):
    is_simple = asked(together, predicate, summed) <= 2
    release = sliced(groups, together, cells)
    check(release, predicate, summed, exact_bounds=is_simple, exact_value=True)


@settings(max_examples=60)
@given(people(most=3), TOGETHER, CELLS, any_predicates, st.sampled_from([None, "pay"]))
def test_generalised_cells_that_are_asked_twice(groups, together, cells, predicate, summed):
    release = sliced(groups, together, cells)
    check(release, predicate, summed, exact_bounds=False, exact_value=False)


@given(people(most=3), TOGETHER, any_predicates, SUMMED, st.integers(0, 3))
def test_fakes_are_taken_off(groups, together, predicate, summed, fakes):
    groups, fakes = groups[:1], min(fakes, len(groups[0]))
    release = sliced(groups, together, fakes=fakes)
    found = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    true = outcomes(release, predicate, summed, fakes)
    assert found.low <= true.low <= true.high <= found.high
    assert found.value == pytest.approx(float(true.mean))
    if asked(together, predicate, summed) <= 2:
        assert (found.low, found.high) == (true.low, true.high)
