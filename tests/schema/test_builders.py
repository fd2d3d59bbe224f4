"""Builders: hierarchies for columns where nobody wrote one down."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, ParameterError, SchemaError
from sfumato.schema.builders import (
    Bins,
    Dates,
    EqualWidth,
    Mask,
    Quantiles,
    builder_from_policy,
)
from sfumato.schema.text import to_texts


def paths(builder, values, name="column"):
    hierarchy = builder.build(pa.array(values) if isinstance(values, list) else values, name)
    return {row[0]: row[1:] for row in hierarchy.rows()}


# --- intervals -------------------------------------------------------------------------------


def test_bins_of_whole_numbers_come_from_the_policy_alone():
    bins = Bins([0, 18, 65, 120])
    hierarchy = bins.build(pa.array([17, 18, 64, 120], pa.int8()), "age")
    assert hierarchy.supplied
    assert hierarchy.leaves == tuple(str(age) for age in range(121))
    assert hierarchy.rows() == bins.build(pa.array([3], pa.int64()), "age").rows()
    labels = paths(bins, [17])
    assert labels["17"] == ("[0, 17]", "*")
    assert labels["18"] == labels["64"] == ("[18, 64]", "*")
    assert labels["65"] == labels["120"] == ("[65, 120]", "*")


def test_bins_of_other_numbers_have_the_leaves_of_the_data():
    hierarchy = Bins([0, 0.5, 2]).build(pa.array([2.0, 0.5, 0.25]), "dose")
    assert not hierarchy.supplied
    assert hierarchy.rows() == [
        ("0.25", "[0, 0.5)", "*"),
        ("0.5", "[0.5, 2]", "*"),
        ("2", "[0.5, 2]", "*"),
    ]
    decimals = pa.array([Decimal("0.30"), Decimal("0.29")])
    assert paths(Bins([0, 0.3, 1]), decimals)["0.30"] == ("[0.3, 1]", "*")
    wide = Bins([0, 10**12]).build(pa.array([7]), "income")
    assert (wide.leaves, wide.supplied) == (("7",), False)


def test_bins_on_several_levels():
    labels = paths(Bins([[0, 10, 20, 30, 40], [0, 20, 40]]), [5, 40])
    assert labels["9"] == ("[0, 9]", "[0, 19]", "*")
    assert labels["10"] == ("[10, 19]", "[0, 19]", "*")
    assert labels["40"] == ("[30, 40]", "[20, 40]", "*")


def test_a_bin_of_one_whole_number_is_that_number():
    labels = paths(Bins([0, 1, 2, 5]), [0])
    assert (labels["0"], labels["1"], labels["2"]) == (("0", "*"), ("1", "*"), ("[2, 5]", "*"))


def test_values_outside_the_bins_are_counted_not_shown():
    with pytest.raises(HierarchyError, match="column 'age': 2 of 3 values lie outside") as caught:
        Bins([0, 18]).build(pa.array([-7, 5, 777]), "age")
    assert "777" not in str(caught.value)


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [0],
        [0, 0],
        [3, 1],
        "0-3",
        5,
        ["0", "3"],
        [0, True],
        [0, float("inf")],
        [[0, 1, 2], [0, 1.5, 2]],
        [[0, 1, 2], [0, 1]],
        [[0, 1], 3],
    ],
)
def test_bad_edges(edges):
    with pytest.raises(ParameterError, match="`bins`"):
        Bins(edges)


def test_equal_width_doubles_until_one_interval_holds_all():
    labels = paths(EqualWidth(width=10), [17, 23, 49])
    assert labels["17"] == ("[10, 19]", "[0, 19]", "[0, 39]", "*")
    assert labels["49"] == ("[40, 49]", "[40, 59]", "[40, 79]", "*")


def test_equal_width_with_levels_and_negative_numbers():
    assert paths(EqualWidth(width=10, levels=1), [17])["17"] == ("[10, 19]", "*")
    labels = paths(EqualWidth(width=5), [-12, -1, 0, 7])
    assert labels["-12"] == ("[-15, -11]", "[-20, -11]", "[-20, -1]", "*")
    assert labels["-1"] == ("[-5, -1]", "[-10, -1]", "[-20, -1]", "*")
    assert labels["0"] == ("[0, 4]", "[0, 9]", "[0, 19]", "*")


def test_equal_width_is_exact_in_decimal():
    labels = paths(EqualWidth(width=0.1, levels=1), [0.3, 0.7, 0.1 + 0.2])
    assert labels["0.3"] == labels["0.30000000000000004"] == ("[0.3, 0.4)", "*")
    assert labels["0.7"] == ("[0.7, 0.8)", "*")


def test_whole_numbers_in_intervals_of_fractional_width():
    labels = paths(EqualWidth(width=2.5, levels=1), [0, 2, 3, 4, 5, 7])
    assert labels["0"] == labels["2"] == ("[0, 2]", "*")
    assert labels["3"] == labels["4"] == ("[3, 4]", "*")
    assert labels["5"] == labels["7"] == ("[5, 7]", "*")


def test_equal_width_by_count_does_not_tell_the_range():
    hierarchy = EqualWidth(count=8, levels=1).build(pa.array(list(range(17, 91))), "age")
    labels = dict.fromkeys(path[0] for path in hierarchy.paths)
    assert next(iter(labels)) == "[11, 21]"
    assert len(labels) == 8
    assert paths(EqualWidth(count=3, levels=1), [5.5])["5.5"] == ("[5, 6)", "*")


def test_quantiles_hold_equal_shares_and_round_edges():
    hierarchy = Quantiles(4).build(pa.array([1, 2, 13, 18, 212, 388, 1912, 2207]), "visits")
    assert [path[:2] for path in hierarchy.paths[::2]] == [
        ("<10", "<200"),
        ("[10, 199]", "<200"),
        ("[200, 999]", ">=200"),
        (">=1000", ">=200"),
    ]
    assert not hierarchy.supplied


def test_quantiles_count_repeated_values():
    crowded = [1] * 90 + list(range(2, 12))
    assert paths(Quantiles(2), crowded)["1"] == ("<2", "*")
    assert paths(Quantiles(4), [5])["5"] == ("*",)


@pytest.mark.parametrize(
    "make",
    [
        EqualWidth,
        lambda: EqualWidth(width=1, count=2),
        lambda: EqualWidth(width=0),
        lambda: EqualWidth(width=float("nan")),
        lambda: EqualWidth(width="10"),
        lambda: EqualWidth(count=1),
        lambda: EqualWidth(count=2.5),
        lambda: EqualWidth(width=1, levels=0),
        lambda: Quantiles(1),
        lambda: Quantiles(True),
        lambda: Quantiles(4, levels="two"),
    ],
)
def test_bad_interval_parameters(make):
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize("builder", [Bins([0, 1]), EqualWidth(width=1), Quantiles(2)])
def test_intervals_need_finite_numbers(builder):
    with pytest.raises(HierarchyError, match="column 'name': intervals need numbers"):
        builder.build(pa.array(["x"]), "name")
    with pytest.raises(HierarchyError, match="use `dates`"):
        builder.build(pa.array([datetime.date(2026, 1, 1)]), "seen")
    with pytest.raises(HierarchyError, match="column 'dose': 2 values are infinite"):
        builder.build(pa.array([0.5, float("inf"), float("-inf")]), "dose")


# --- masks -----------------------------------------------------------------------------------


def test_mask_from_the_right_and_left():
    assert paths(Mask(), ["13021"])["13021"] == ("1302*", "130**", "13***", "1****", "*")
    assert paths(Mask("left", "#"), ["A*7"])["A*7"] == ("#*7", "##7", "*")
    assert not Mask().build(pa.array(["13021"]), "zipcode").supplied


def test_mask_leaves_shorter_texts_until_it_reaches_them():
    labels = paths(Mask(), ["I10", "I10.9", "J4", ""])
    assert labels["I10.9"] == ("I10.*", "I10**", "I1***", "I****", "*")
    assert labels["I10"] == ("I10", "I10", "I1***", "I****", "*")
    assert labels["J4"] == ("J4", "J4", "J4", "J****", "*")
    assert labels[""] == ("", "", "", "", "*")


def test_mask_fills_whole_numbers_with_zeros():
    hierarchy = Mask().build(pa.array([13021, 2139]), "zipcode")
    assert hierarchy.rows()[0] == ("2139", "0213*", "021**", "02***", "0****", "*")
    assert hierarchy.leaves == ("2139", "13021")


def test_mask_refuses_what_would_be_ambiguous():
    with pytest.raises(HierarchyError, match="column 'code': 1 values contain the mask") as caught:
        Mask().build(pa.array(["12", "secret*"]), "code")
    assert "secret" not in str(caught.value)
    with pytest.raises(HierarchyError, match="1 values are `\\*`"):
        Mask(char="#").build(pa.array(["12", "*"]), "code")
    with pytest.raises(HierarchyError, match="1 values are negative"):
        Mask().build(pa.array([-5, 4]), "code")
    with pytest.raises(HierarchyError, match="contain the mask character"):
        Mask(char="0").build(pa.array([5, 14]), "code")
    with pytest.raises(ParameterError, match="`right` or `left`"):
        Mask("up")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="single character"):
        Mask(char="**")


# --- dates -----------------------------------------------------------------------------------


def test_dates_on_all_levels():
    days = [datetime.date(2026, 12, 31), datetime.date(2024, 2, 29)]
    hierarchy = Dates().build(pa.array(days), "seen")
    assert hierarchy.rows() == [
        ("2024-02-29", "2024-02-29", "2024-02", "2024-Q1", "2024", "*"),
        ("2026-12-31", "2026-12-31", "2026-12", "2026-Q4", "2026", "*"),
    ]
    assert not hierarchy.supplied


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_by_day(unit):
    moment = datetime.datetime(2026, 4, 1, 23, 59)
    column = pa.array([moment], pa.timestamp(unit))
    row = Dates(("day", "quarter")).build(column, "seen").rows()[0]
    assert row[0] == to_texts(column)[0].as_py()
    assert row[1:] == ("2026-04-01", "2026-Q2", "*")


def test_dates_refuse_other_columns_and_levels():
    with pytest.raises(HierarchyError, match="column 'seen': `dates` needs dates"):
        Dates().build(pa.array(["2026-01-31"]), "seen")
    for levels in [(), ("year", "month"), ("week",), ("day", "day"), "day", 5]:
        with pytest.raises(ParameterError, match="day, month, quarter, year"):
            Dates(levels)


# --- all of them -----------------------------------------------------------------------------

NUMBERS = {
    "int": (st.integers(-(10**6), 10**6), pa.int64()),
    "float": (st.floats(allow_nan=False, allow_infinity=False, width=32), pa.float64()),
    "decimal": (st.decimals(-1000, 1000, places=3), pa.decimal128(10, 3)),
}
INTERVALS = [
    EqualWidth(width=7),
    EqualWidth(width=0.3, levels=2),
    EqualWidth(count=2),
    EqualWidth(count=5, levels=3),
    Quantiles(2),
    Quantiles(7),
    Quantiles(3, levels=4),
    Bins([-(10**39), -3, 0, 0.5, 12, 10**39]),
]


@given(st.sampled_from(INTERVALS), st.sampled_from(sorted(NUMBERS)), st.data())
def test_intervals_contain_their_values_in_order(builder, kind, data):
    numbers, dtype = NUMBERS[kind]
    values = pa.array(data.draw(st.lists(numbers, unique=True, min_size=1, max_size=20)), dtype)
    hierarchy = builder.build(values, "x")
    texts = to_texts(values).to_pylist()
    assert hierarchy.report(texts).wrong_intervals == ()
    tree = hierarchy.bind(texts)
    in_order = [values[int(place)].as_py() for place in tree.order]
    assert in_order == sorted(in_order)
    bases = {path[0] for path in hierarchy.paths}
    if isinstance(builder, EqualWidth) and builder.count:
        assert len(bases) <= builder.count
    if isinstance(builder, Quantiles):
        assert len(bases) == min(builder.count, len(values))


@given(st.lists(st.text(max_size=6), unique=True, max_size=20), st.sampled_from(["right", "left"]))
def test_masks_of_any_texts(texts, side):
    if any("*" in text for text in texts):
        with pytest.raises(HierarchyError):
            Mask(side).build(pa.array(texts, pa.string()), "x")
        return
    hierarchy = Mask(side).build(pa.array(texts, pa.string()), "x")
    assert hierarchy.bind(texts).labels[-1] == "*"
    for leaf, path in zip(hierarchy.leaves, hierarchy.paths, strict=True):
        for label in path[:-1]:
            shown = label.strip("*")
            assert leaf.startswith(shown) if side == "right" else leaf.endswith(shown)


@given(st.lists(st.dates(), unique=True, min_size=1, max_size=20))
def test_dates_nest(days):
    hierarchy = Dates().build(pa.array(days), "x")
    assert hierarchy.bind([day.isoformat() for day in days]).domain_size == len(days)


@pytest.mark.parametrize(
    ("builder", "dtype"),
    [
        (EqualWidth(count=3), pa.int32()),
        (Quantiles(3), pa.float64()),
        (Bins([0, 1.5, 2]), pa.float64()),
        (Mask(), pa.string()),
        (Dates(), pa.date32()),
    ],
)
def test_a_column_without_values_has_only_the_root(builder, dtype):
    hierarchy = builder.build(pa.array([], dtype), "x")
    assert hierarchy.rows() == [("*", "*")] or hierarchy.leaves == ("*",)
    assert hierarchy.bind([]).labels == ("*",)


# --- the policy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "builder"),
    [
        ({"mask": "right"}, Mask("right")),
        ({"mask": "left", "char": "#"}, Mask("left", "#")),
        ({"bins": [0, 18, 65, 120]}, Bins([0, 18, 65, 120])),
        ({"width": 10, "levels": 3}, EqualWidth(width=10, levels=3)),
        ({"intervals": 8}, EqualWidth(count=8)),
        ({"quantiles": 10, "levels": 2}, Quantiles(10, levels=2)),
        ({"dates": ["month", "quarter", "year"]}, Dates(("month", "quarter", "year"))),
        ({"dates": "year"}, Dates(("year",))),
    ],
)
def test_policies(spec, builder):
    assert builder_from_policy(spec, "column") == builder


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"maks": "right"}, "unknown key 'maks'; did you mean 'mask'"),
        ({"quantile": 4}, "did you mean 'quantiles'"),
        ({"width": 10, "level": 2}, "did you mean 'levels'"),
        ({7: 1}, "unknown key '7'"),
        ({}, "give exactly one of mask, bins"),
        ({"levels": 2}, "give exactly one of"),
        ({"mask": "right", "bins": [0, 1]}, "give exactly one of"),
        ({"mask": "right", "levels": 2}, "'levels' does not go with 'mask'"),
        ({"width": 3, "char": "#"}, "'char' does not go with 'width'"),
        ({"mask": "up"}, "`mask` must be"),
        ({"bins": [3, 1]}, "`bins` needs"),
        ({"width": -1}, "`width` must be"),
        ({"intervals": None}, "a width or a count"),
        ({"quantiles": "ten"}, "`quantiles` must be"),
        ({"dates": True}, "`dates` takes"),
        (["mask"], "give a hierarchy file or one of"),
    ],
)
def test_bad_policies(spec, message):
    with pytest.raises(SchemaError) as caught:
        builder_from_policy(spec, "age")
    assert message in str(caught.value)
    assert str(caught.value).startswith("column 'age', `hierarchy`: ")
