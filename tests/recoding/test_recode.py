"""Whole tables: one secret shift a person, orders of bins, and the words of policies."""

from __future__ import annotations

import datetime as dt
import json

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import ReleaseDamaged, SchemaError
from sfumato.randomness import Randomness
from sfumato.recoding import (
    ShiftDates,
    TopCode,
    recode,
    recorded_steps,
    recording,
    steps_from_policy,
    with_orders,
)

DAY = dt.date(2026, 1, 31)
STEPS = [
    {"top": 90},
    {"bottom": "2020-01-01"},
    {"round": 0.5},
    {"bins": [None, 18, 65]},
    {"truncate": "month"},
    {"shift": {"days": 30}},
    {"mask": 3},
    {"map": {"a": "b", "c": None}},
    {"map": {"a": 1}, "otherwise": "Other"},
]


def shifted(count, days=30, seed=1, **columns):
    cells = {name: pa.array([DAY] * count) for name in ("seen", "left")}
    table = pa.table({**cells, **columns})
    steps = {"seen": {"shift": {"days": days}}, "left": [{"shift": {"days": days}}]}
    unit = next(iter(columns), None)
    rng = Randomness.test(seed).generator("date shift")
    found = recode(table, steps, unit=unit, rng=rng)
    return [[(day - DAY).days for day in found[name].to_pylist()] for name in ("seen", "left")]


def test_a_person_has_one_shift_in_all_columns_and_rows():
    people = [n % 40 for n in range(200)]
    seen, left = shifted(200, person=pa.array(people))
    assert seen == left
    by_person = {person: set() for person in people}
    for person, days in zip(people, seen, strict=True):
        by_person[person].add(days)
    assert all(len(own) == 1 for own in by_person.values())
    assert len({next(iter(own)) for own in by_person.values()}) > 20


def test_without_a_unit_every_row_has_a_shift_uniform_over_all_days():
    seen, left = shifted(30_500, days=30)
    assert seen == left
    counts = {day: seen.count(day) for day in range(-30, 31)}
    assert sum(counts.values()) == 30_500  # none beyond
    assert min(counts.values()) > 400 and max(counts.values()) < 600  # 500 each, give or take


def test_the_seed_decides_and_the_system_draws_otherwise():
    assert shifted(50, seed=1) == shifted(50, seed=1) != shifted(50, seed=2)
    table = pa.table({"seen": [DAY] * 50})
    once, again = (recode(table, {"seen": ShiftDates(300)}) for _ in range(2))
    assert not once.equals(again)


@given(
    stamps=st.lists(
        st.none() | st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2200, 1, 1)),
        min_size=1,
        max_size=6,
    ),
    dtype=st.sampled_from(
        [pa.timestamp("us"), pa.timestamp("ms"), pa.date64(), pa.timestamp("us", "UTC")]
    ),
)
def test_shifts_are_whole_days_at_the_same_time(stamps, dtype):
    stamps = [None if s is None else s.replace(microsecond=0) for s in stamps]
    if pa.types.is_date(dtype):
        stamps = [None if s is None else dt.datetime(s.year, s.month, s.day) for s in stamps]
    cells = pa.array(stamps, pa.timestamp("us")).cast(dtype)
    found = recode(pa.table({"seen": cells}), {"seen": ShiftDates(9)})["seen"]
    assert found.type == dtype
    after = found.cast(pa.timestamp("us", getattr(dtype, "tz", None))).cast(pa.int64())
    before = cells.cast(pa.timestamp("us", getattr(dtype, "tz", None))).cast(pa.int64())
    for old, new in zip(before.to_pylist(), after.to_pylist(), strict=True):
        assert (old is None) == (new is None)
        if old is not None:
            days, rest = divmod(new - old, 86_400 * 10**6)
            assert rest == 0
            assert -9 <= days <= 9


def test_shifts_keep_the_clock_of_a_zone_through_the_change_of_time():
    zone = pa.timestamp("s", "Europe/Berlin")
    noon = dt.datetime(2026, 3, 28, 11, tzinfo=dt.UTC)  # a day before summer time
    cells = pa.array([noon] * 60, pa.timestamp("s", "UTC")).cast(zone)
    found = recode(pa.table({"seen": cells}), {"seen": ShiftDates(9)})["seen"]
    assert {moment.hour for moment in found.to_pylist()} == {12}
    assert len({moment.utcoffset() for moment in found.to_pylist()}) == 2


def test_shifts_beyond_what_a_type_can_hold_are_refused():
    last = pa.array([2**63 - 10], pa.int64()).cast(pa.timestamp("ns"))
    table = pa.table({"seen": pa.chunked_array([last] * 40)})
    with pytest.raises(SchemaError, match=r"'seen'.*`shift`"):
        recode(table, {"seen": ShiftDates(9)})


def test_people_must_be_told_apart():
    table = pa.table({"seen": [DAY, DAY], "person": ["a", None]})
    with pytest.raises(SchemaError, match=r"'person'.*missing in 1 of 2"):
        recode(table, {"seen": ShiftDates(9)}, unit="person")
    with pytest.raises(SchemaError, match="'nobody'"):
        recode(table, {"seen": ShiftDates(9)}, unit="nobody")


def test_one_person_has_one_number_of_days():
    table = pa.table({"seen": [DAY], "left": [DAY]})
    with pytest.raises(SchemaError, match="different `days`"):
        recode(table, {"seen": ShiftDates(9), "left": ShiftDates(8)})


def test_other_columns_and_missing_values_stay():
    frame = pd.DataFrame({"age": [33, None, 97], "sex": pd.Categorical(["F", "M", "F"])})
    found = sf.recode(frame, {"age": [{"top": 90}, {"round": 5}], "sex": {"map": {"F": "female"}}})
    assert found.to_pydict() == {"age": [35, None, 90], "sex": ["female", "M", "female"]}
    with pytest.raises(SchemaError, match="'wage'"):
        recode(frame, {"wage": TopCode(5)})


def test_many_chunks_are_one_column():
    cells = pa.chunked_array([pa.array([1, 99]), pa.array([None, 5])])
    found = recode(pa.table({"x": cells}), {"x": [{"bins": [0, 10, None]}, {"map": {"q": "r"}}]})
    assert found["x"].to_pylist() == ["0 to 9", "10 and over", None, "0 to 9"]


def test_bins_are_an_order_that_the_policy_states():
    table = pa.table({"age": [3, 70], "job": ["a", "b"]})
    steps = {"age": steps_from_policy({"bins": [0, 18, 65, None]}, "age")}
    changed = recode(table, steps)
    schema = sf.Schema.of(age="quasi-identifier", job="sensitive")
    assert with_orders(schema, changed, steps)["age"].order == (
        "0 to 17",
        "18 to 64",
        "65 and over",
    )
    stated = sf.Attribute("age", sf.Role.QUASI_IDENTIFIER, kind=sf.Kind.CATEGORICAL)
    kept = with_orders(sf.Schema((stated, schema["job"])), changed, steps)
    assert kept["age"].order is None
    coded = sf.encode(changed, schema)
    assert coded["age"].kind is sf.Kind.ORDINAL


@pytest.mark.parametrize("given", STEPS)
def test_words_of_a_policy_are_those_of_a_manifest(given):
    steps = steps_from_policy(given, "x")
    words = recording({"x": steps, "hidden": steps}, ["x"])
    assert words == {"x": [given]}
    assert recorded_steps({"recoding": json.loads(json.dumps(words))}) == {"x": steps}


def test_what_is_recorded_of_a_shift_is_the_policy_alone():
    assert steps_from_policy({"shift": {"days": 30}}, "x")[0].to_json() == {"shift": {"days": 30}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"topp": 90}, "did you mean 'top'"),
        ({"truncat": "month"}, "did you mean 'truncate'"),
        ({"top": 90, "bottom": 5}, "give several as a list"),
        ({"otherwise": "x"}, "one step"),
        ({"top": 90, "otherwise": "x"}, "goes with `map` alone"),
        ([], "empty"),
        ("top", "a mapping"),
        (None, "a mapping"),
        ([["top"]], "a mapping"),
        ({"shift": 30}, "the days"),
        ({"shift": {"weeks": 3}}, "the days"),
        ({"round": -5}, "above 0"),
        ([{"shift": {"days": 3}}, {"shift": {"days": 3}}], "twice"),
        *(
            ([step, {"shift": {"days": 3}}], "stands before `shift`.*Shift first, then")
            for step in (
                {"truncate": "year"},
                {"top": "2024-01-01"},
                {"bottom": "2024-01-01"},
                {"round": 5},
                {"bins": [0, 5, None]},
                {"mask": 4},
                {"map": {"2024-01-01": "2024-02-01"}},
                {"map": {"2024-01-01": None}, "otherwise": None},
            )
        ),
        ([{"map": {"x": None}}, {"top": 5}, {"shift": {"days": 3}}], "`top` stands before"),
    ],
)
def test_wrong_words(given, message):
    with pytest.raises(SchemaError, match=message) as refusal:
        steps_from_policy(given, "age")
    assert "column 'age'" in str(refusal.value)


@pytest.mark.parametrize(
    "stated", [5, {"age": {"top": 90}}, {"age": [{"topp": 90}]}, {"age": []}, {"age": [5]}]
)
def test_a_damaged_record_of_steps(stated):
    with pytest.raises(ReleaseDamaged, match="recoding"):
        recorded_steps({"recoding": stated})
