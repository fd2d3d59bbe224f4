"""Every step against its literal oracle, over types; and what it refuses, without a value."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import recoding as oracle

from sfumato.errors import ParameterError, SchemaError
from sfumato.recoding import (
    BinInto,
    BottomCode,
    KeepPrefix,
    MapValues,
    RoundTo,
    ShiftDates,
    TopCode,
    TruncateTo,
    recode,
)
from sfumato.recoding.dates import UNITS
from sfumato.recoding.step import is_finite

DAYS = st.dates(dt.date(1700, 1, 1), dt.date(2240, 1, 1))
MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2240, 1, 1))
INTS = [pa.int8(), pa.uint8(), pa.int16(), pa.int64(), pa.uint64()]


def changed(cells, dtype, *steps):
    table = pa.table({"x": pa.array(cells, dtype)})
    return recode(table, {"x": list(steps)})["x"]


def some(values):
    return st.lists(st.none() | values, min_size=1, max_size=8)


@given(data=st.data(), dtype=st.sampled_from(INTS))
def test_bounds_of_whole_numbers(data, dtype):
    low, high = (0, 100) if str(dtype).startswith("u") else (-100, 100)
    cells = data.draw(some(st.integers(low, high)))
    end = data.draw(st.integers(low, high))
    found = changed(cells, dtype, TopCode(end))
    assert found.type == dtype
    assert found.to_pylist() == [oracle.top(cell, end) for cell in cells]
    assert changed(cells, dtype, BottomCode(end)).to_pylist() == [
        oracle.bottom(cell, end) for cell in cells
    ]


@given(cells=some(DAYS), end=DAYS, text=st.booleans())
def test_bounds_of_dates(cells, end, text):
    step = TopCode(end.isoformat() if text else end)
    assert step.to_json() == {"top": end.isoformat()}
    for dtype in (pa.date32(), pa.date64()):
        found = changed(cells, dtype, step)
        assert found.type == dtype
        assert found.to_pylist() == [oracle.top(cell, end) for cell in cells]


@given(cells=some(MOMENTS), end=MOMENTS)
def test_bounds_of_moments(cells, end):
    found = changed(cells, pa.timestamp("us"), BottomCode(end))
    assert found.to_pylist() == [oracle.bottom(cell, end) for cell in cells]


def test_a_bound_without_a_zone_is_one_of_the_columns_zone():
    zone = pa.timestamp("s", "Europe/Berlin")
    cells = (
        pa.array([1_600_000_000, 1_700_000_000])
        .cast(pa.timestamp("s"))
        .cast(pa.timestamp("s", "UTC"))
        .cast(zone)
    )
    found = recode(pa.table({"x": cells}), {"x": TopCode("2021-01-01")})["x"]
    assert found.type == zone
    assert [str(moment) for moment in found.to_pylist()] == [
        "2020-09-13 14:26:40+02:00",
        "2021-01-01 00:00:00+01:00",
    ]


@pytest.mark.parametrize(
    ("cells", "dtype", "end", "wanted"),
    [
        ([1.25, None, 0.1, float("inf")], pa.float64(), 0.1, [0.1, None, 0.1, 0.1]),
        ([1.5, 0.25], pa.float32(), 1, [1.0, 0.25]),
        ([1.5, 0.25], pa.float16(), 0.5, [0.5, 0.25]),
        (
            [Decimal("9.99"), Decimal("1.10")],
            pa.decimal128(5, 2),
            2.5,
            [Decimal("2.50"), Decimal("1.10")],
        ),
        ([dt.time(8), dt.time(23, 5)], pa.time32("s"), "20:00:00", [dt.time(8), dt.time(20)]),
        ([5, 90], pa.duration("s"), 60, [dt.timedelta(seconds=5), dt.timedelta(seconds=60)]),
        ([7, 200], pa.uint8(), 300, [7, 200]),
        ([7, 2], pa.int64(), 5.0, [5, 2]),
        ([None, None], pa.null(), 5, [None, None]),
    ],
)
def test_bounds_of_other_types(cells, dtype, end, wanted):
    found = changed(cells, dtype, TopCode(end))
    assert found.type == dtype
    assert found.to_pylist() == wanted


@given(
    cells=some(st.integers(-(2**40), 2**40)),
    step=st.integers(1, 1000) | st.sampled_from([5.0, 10.0]),
)
def test_rounding_of_whole_numbers(cells, step):
    found = changed(cells, pa.int64(), RoundTo(step))
    assert found.type == pa.int64()
    assert found.to_pylist() == [oracle.rounded(cell, step) for cell in cells]


@given(
    cells=some(st.floats(-1e12, 1e12, allow_nan=False)),
    step=st.sampled_from([0.1, 0.05, 0.25, 0.3, 1, 2.5, 1000, 1e-7]),
)
def test_rounding_of_floats_leaves_no_binary_dust(cells, step):
    found = changed(cells, pa.float64(), RoundTo(step)).to_pylist()
    for cell, value in zip(cells, found, strict=True):
        wanted = oracle.rounded(cell, step)
        assert (value is None) == (wanted is None)
        if wanted is not None:
            assert value == float(wanted)  # the double nearest to the true multiple


@given(
    counts=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8),
    step=st.sampled_from([0.1, 0.05, 0.3, 7, 2.5]),
    narrow=st.booleans(),
)
def test_halves_as_they_are_written(counts, step, narrow):
    """Halfway between two multiples, or a hair beside it, where a quotient of doubles may err."""
    cells = [float(Fraction(str(step)) * (2 * count + 1) / 2) for count in counts]
    cells += [float(np.nextafter(cell, np.inf)) for cell in cells]
    dtype = pa.float32() if narrow else pa.float64()
    texts = pa.array(cells, dtype).cast(pa.string()).to_pylist()
    found = changed(cells, dtype, RoundTo(step))
    wanted = [float(oracle.rounded(text, step)) for text in texts]
    assert found.to_pylist() == pa.array(wanted, dtype).to_pylist()


def test_rounded_floats_print_as_multiples():
    found = changed([12.34, 12.35, 1.15, 0.299999999], pa.float64(), RoundTo(0.1)).to_pylist()
    assert [str(value) for value in found] == ["12.3", "12.4", "1.2", "0.3"]
    narrow = changed([12.34], pa.float32(), RoundTo(0.1)).cast(pa.string())
    assert narrow.to_pylist() == ["12.3"]
    assert changed([12.5], pa.float16(), RoundTo(5)).cast(pa.float32()).to_pylist() == [10.0]


@given(cells=some(st.decimals(-999, 999, places=2)), step=st.sampled_from([0.05, 0.5, 5]))
def test_rounding_of_decimals(cells, step):
    found = changed(cells, pa.decimal128(7, 2), RoundTo(step))
    assert found.type == pa.decimal128(7, 2)
    wanted = [oracle.rounded(cell, step) for cell in cells]
    assert [None if v is None else Fraction(v) for v in found.to_pylist()] == wanted


EDGES = st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True).map(sorted)


@given(data=st.data(), edges=EDGES, ends=st.tuples(st.booleans(), st.booleans()))
def test_bins(data, edges, ends):
    first, last = (edges[0], edges[-1])
    opened = [None if ends[0] else first, *edges[1:-1], None if ends[1] else last]
    if not [edge for edge in opened if edge is not None]:
        return
    whole = data.draw(st.booleans())
    numbers = st.integers(first, last) if whole else st.decimals(first, last, places=1)
    cells = [cell if whole or cell is None else float(cell) for cell in data.draw(some(numbers))]
    step = BinInto(opened)
    found = changed(cells, pa.int64() if whole else pa.float64(), step)
    assert found.type.ordered
    assert found.chunk(0).dictionary.to_pylist() == list(step.labels(whole=whole))
    codes = found.chunk(0).indices.to_pylist()
    assert codes == [oracle.bin_of(cell, opened) for cell in cells]


def test_labels_of_bins():
    assert BinInto([0, 18, 65, 120]).labels(whole=True) == ("0 to 17", "18 to 64", "65 to 120")
    assert BinInto([0, 1, 2.5, None]).labels(whole=True) == ("0", "1 to 2", "3 and over")
    assert BinInto([None, 1.5, 3.5]).labels(whole=True) == ("under 2", "2 to 3")
    assert BinInto([0, 0.5, 1]).labels(whole=False) == ("0 to under 0.5", "0.5 to 1")
    assert BinInto([float("-inf"), 18, float("inf")]).to_json() == {"bins": [None, 18, None]}
    assert BinInto([None, 18, None]).labels(whole=True) == ("under 18", "18 and over")
    # between 0.5 and 0.7 lies no whole number, so there is no such label
    found = changed([0, 1], pa.int64(), BinInto([0, 0.5, 0.7, 1]))
    assert found.chunk(0).dictionary.to_pylist() == ["0", "1"]
    assert found.to_pylist() == ["0", "1"]


@given(cells=some(DAYS), unit=st.sampled_from(UNITS[3:]))
def test_truncated_dates(cells, unit):
    for dtype in (pa.date32(), pa.date64()):
        found = changed(cells, dtype, TruncateTo(unit))
        assert found.type == dtype
        assert found.to_pylist() == [oracle.truncated(cell, unit) for cell in cells]


@given(cells=some(MOMENTS), unit=st.sampled_from(UNITS))
def test_truncated_moments(cells, unit):
    found = changed(cells, pa.timestamp("us"), TruncateTo(unit))
    assert found.to_pylist() == [oracle.truncated(cell, unit) for cell in cells]


def test_moments_with_a_zone_are_cut_by_its_clock():
    zone = pa.timestamp("s", "Europe/Berlin")
    # the last hour of winter time, twice in the night of 2026-10-25
    utc = [dt.datetime(2026, 10, 25, hour, 40, tzinfo=dt.UTC) for hour in (0, 1)]
    cells = pa.array(utc, pa.timestamp("s", "UTC")).cast(zone)
    hours = recode(pa.table({"x": cells}), {"x": TruncateTo("hour")})["x"]
    assert hours.type == zone
    assert [moment.astimezone(dt.UTC).hour for moment in hours.to_pylist()] == [0, 1]
    days = recode(pa.table({"x": cells}), {"x": TruncateTo("day")})["x"].to_pylist()
    assert {str(moment) for moment in days} == {"2026-10-25 00:00:00+02:00"}


def test_truncated_times_of_day():
    found = changed([dt.time(13, 44, 5), None], pa.time64("us"), TruncateTo("hour"))
    assert found.to_pylist() == [dt.time(13), None]


@given(cells=some(st.text(max_size=6)), keep=st.integers(1, 4))
def test_masks(cells, keep):
    found = changed(cells, pa.string(), KeepPrefix(keep))
    assert found.to_pylist() == [oracle.masked(cell, keep) for cell in cells]


def test_masks_tell_no_length():
    found = changed(["13", "130", "1302", "13021"], pa.string(), KeepPrefix(2))
    assert set(found.to_pylist()) == {"13*"}
    assert changed([13021, 48104], pa.int64(), KeepPrefix(3)).to_pylist() == ["130*", "481*"]


WORDS = st.sampled_from(["Flu", "Fever", "HIV", "n/a", "", "*"])


@given(
    cells=some(WORDS),
    pairs=st.dictionaries(WORDS, st.none() | WORDS, min_size=1),
    otherwise=st.just(...) | st.none() | WORDS,
)
def test_maps(cells, pairs, otherwise):
    step = MapValues(pairs) if otherwise is ... else MapValues(pairs, otherwise)
    wanted = [oracle.mapped(cell, pairs, otherwise) for cell in cells]
    assert changed(cells, pa.string(), step).to_pylist() == wanted


@pytest.mark.parametrize(
    ("cells", "dtype", "step", "wanted", "kept"),
    [
        ([1, 99, None], pa.int8(), MapValues({99: None}), [1, None, None], True),
        ([1, 99], pa.int64(), MapValues({"99": "unknown"}), ["1", "unknown"], False),
        ([1.0, 2.5], pa.float64(), MapValues({"1.0": 3}), [3.0, 2.5], True),
        ([True, False], pa.bool_(), MapValues({True: "yes", False: "no"}), ["yes", "no"], False),
        ([True, False], pa.bool_(), MapValues({True: 1, False: 0}), ["1", "0"], False),
        ([dt.date(2026, 1, 31)], pa.date32(), MapValues({"2026-01-31": "2026-02-01"}),
         [dt.date(2026, 2, 1)], True),
        ([1, 2], pa.int64(), MapValues({1: 5}, otherwise=0), [5, 0], True),
        ([Decimal("1.00")], pa.decimal128(5, 2), MapValues({1: 5}), [Decimal("5.00")], True),
        ([Decimal("1.00")], pa.decimal128(5, 2), MapValues({1: 0.125}), ["0.125"], False),
        ([1, 2], pa.int64(), MapValues({1: "05"}), ["05", "2"], False),
        ([1, 2], pa.int64(), MapValues({1: 2.5}), ["2.5", "2"], False),
    ],
)  # fmt: skip
def test_maps_keep_the_type_where_all_new_values_are_of_it(cells, dtype, step, wanted, kept):
    found = changed(cells, dtype, step)
    assert found.to_pylist() == wanted
    assert found.type == (dtype if kept else pa.string())


def test_maps_of_ordered_labels_keep_their_order():
    ages = [3, 30, 70, None]
    joined = MapValues({"0 to 17": "young", "18 to 64": "young", "65 and over": "old"})
    found = changed(ages, pa.int64(), BinInto([0, 18, 65, None]), joined)
    assert found.type.ordered
    assert found.chunk(0).dictionary.to_pylist() == ["young", "old"]
    assert found.to_pylist() == ["young", "young", "old", None]
    torn = MapValues({"0 to 17": "dependent", "65 and over": "dependent"})
    found = changed(ages, pa.int64(), BinInto([0, 18, 65, None]), torn)
    assert found.type == pa.string()
    assert found.to_pylist() == ["dependent", "18 to 64", "dependent", None]


def test_order_matters():
    assert changed([93], pa.int64(), {"top": 92}, {"round": 5}).to_pylist() == [90]
    assert changed([93], pa.int64(), {"round": 5}, {"top": 92}).to_pylist() == [92]


SECRET = "SECRET-7f3a"


@pytest.mark.parametrize(
    ("cells", "step"),
    [
        ([SECRET], TopCode(5)),
        ([True], BottomCode(1)),
        ([1, 2], TopCode(1.5)),
        ([7], TopCode(-(10**30))),
        ([dt.date(2026, 1, 1)], TopCode(2020)),
        ([SECRET], RoundTo(5)),
        ([dt.date(2026, 1, 1)], RoundTo(5)),
        ([1, 2], RoundTo(0.5)),
        ([Decimal("1.25")], RoundTo(0.001)),
        ([2**63 - 2], RoundTo(10)),
        ([1.7e308], RoundTo(1e308)),
        ([SECRET], BinInto([0, 5])),
        ([dt.date(2026, 1, 1)], BinInto([0, 5])),
        ([77], BinInto([0, 5])),
        ([SECRET], TruncateTo("month")),
        ([5], TruncateTo("month")),
        ([dt.date(2026, 1, 1)], TruncateTo("hour")),
        ([dt.time(5)], TruncateTo("month")),
        ([1.5], KeepPrefix(3)),
        ([-77], KeepPrefix(3)),
        ([SECRET], ShiftDates(3)),
        ([5], ShiftDates(3)),
        ([dt.time(5)], ShiftDates(3)),
        ([1.0], MapValues({"1": "a", "1.0": "b"})),
        ([[1]], TopCode(5)),
    ],
)
def test_a_step_that_does_not_fit_names_column_and_step_and_no_value(cells, step):
    with pytest.raises(SchemaError) as refusal:
        recode(pa.table({"salary": cells}), {"salary": step})
    message = str(refusal.value)
    assert "'salary'" in message
    assert step.key in message or "recode" in message
    assert SECRET not in message and "77" not in message and "2026" not in message


@pytest.mark.parametrize(
    "make",
    [
        lambda: TopCode(None),
        lambda: TopCode(True),
        lambda: TopCode(float("nan")),
        lambda: TopCode(""),
        lambda: RoundTo(0),
        lambda: RoundTo("5"),
        lambda: RoundTo(float("inf")),
        lambda: BinInto([5]),
        lambda: BinInto(5),
        lambda: BinInto([0, None, 5]),
        lambda: BinInto([5, 0]),
        lambda: BinInto([None, None]),
        lambda: BinInto(["a", "b"]),
        lambda: BinInto([float("inf"), 5]),
        lambda: TruncateTo("fortnight"),
        lambda: ShiftDates(0),
        lambda: ShiftDates(2.5),
        lambda: ShiftDates(10**6),
        lambda: KeepPrefix(0),
        lambda: KeepPrefix(True),
        lambda: MapValues({}),
        lambda: MapValues({"a": [1]}),
        lambda: MapValues({None: "a"}),
        lambda: MapValues({1: "a", "1": "b"}),
        lambda: MapValues({"a": "b"}, otherwise=[1]),
    ],
)
def test_impossible_steps(make):
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize("step", [10**27, 10**28, 10**38, 1e28, 1e300])
def test_steps_of_many_digits(step):
    assert RoundTo(step).recode(pa.array([0, 7, 2**62]), "age").to_pylist() == [0, 0, 0]
    wide = pa.array([Decimal("7.5"), Decimal(0)], pa.decimal256(70, 40))
    assert RoundTo(step).recode(wide, "age").to_pylist() == [0, 0]


def test_steps_that_many_places_hold():
    wide = pa.array([Decimal("7.5"), Decimal(3)], pa.decimal256(70, 40))
    assert RoundTo(5).recode(wide, "age").to_pylist() == [10, 5]
    with pytest.raises(SchemaError, match="cannot hold"):
        RoundTo(1e-41).recode(wide, "age")


def test_a_number_that_no_float_comes_near_is_none():
    assert is_finite(10**300)
    assert not is_finite(10**400)
