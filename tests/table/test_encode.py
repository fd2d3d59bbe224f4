"""What `encode` decides (kinds, order, hierarchies) and what it refuses."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import HierarchyError, InputError, SchemaError
from sfumato.schema import (
    Attribute,
    Dates,
    EqualWidth,
    Hierarchy,
    Kind,
    Mask,
    Quantiles,
    Role,
    Schema,
)
from sfumato.table import decode, encode

QI = Role.QUASI_IDENTIFIER


def encode_column(cells, **settings):
    data = pa.table({"c": cells})
    return encode(data, Schema((Attribute("c", QI, **settings),)))["c"]


def refusal(cells, error=SchemaError, **settings) -> str:
    with pytest.raises(error) as caught:
        encode_column(cells, **settings)
    message = str(caught.value)
    assert "'c'" in message
    assert caught.value.__cause__ is None, "a cause may quote a cell"
    return message


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        (pa.int8(), Kind.NUMERIC),
        (pa.float16(), Kind.NUMERIC),
        (pa.decimal128(5, 2), Kind.NUMERIC),
        (pa.date32(), Kind.NUMERIC),
        (pa.timestamp("ns", "UTC"), Kind.NUMERIC),
        (pa.time64("us"), Kind.NUMERIC),
        (pa.duration("s"), Kind.NUMERIC),
        (pa.bool_(), Kind.CATEGORICAL),
        (pa.string_view(), Kind.CATEGORICAL),
        (pa.null(), Kind.CATEGORICAL),
        (pa.dictionary(pa.int8(), pa.int64()), Kind.CATEGORICAL),
        (pa.dictionary(pa.int8(), pa.string(), ordered=True), Kind.ORDINAL),
    ],
    ids=str,
)
def test_kinds_follow_from_types(dtype, kind):
    column = encode_column(pa.nulls(2, dtype))
    assert column.kind is kind
    assert column.cardinality == 0
    assert column.codes.tolist() == [0, 0]
    assert (column.codes == column.null_code).any()


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([b"a", b"b"]),
        pa.array([b"a", b"b"], pa.binary_view()),
        pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16))),
    ],
    ids=lambda cells: str(cells.type),
)
def test_types_without_a_kind_are_refused_unless_they_are_dropped(cells):
    assert str(cells.type) in refusal(cells)
    data = pa.table({"c": cells, "age": pa.array(range(len(cells)))})
    table = encode(data, Schema.of(c="insensitive", age="quasi-identifier"))
    assert [column.name for column in table.columns] == ["age"]


def test_a_stated_kind_wins_if_the_type_allows_it():
    assert encode_column(pa.array([10, 9]), kind=Kind.CATEGORICAL).values.to_pylist() == [9, 10]
    assert encode_column(pa.array([10, 9]), kind=Kind.ORDINAL).kind is Kind.ORDINAL
    assert "numeric" in refusal(pa.array(["10", "9"]), kind=Kind.NUMERIC)
    assert "numeric" in refusal(pa.array([True, False]), kind=Kind.NUMERIC)


def test_a_stated_order_is_followed_and_must_be_complete():
    cells = pa.array(["low", None, "high", "low"])
    column = encode_column(cells, order=("low", "mid", "high"))
    assert column.kind is Kind.ORDINAL
    assert column.values.to_pylist() == ["low", "high"]
    assert column.codes.tolist() == [0, 2, 1, 0]
    message = refusal(cells, order=("low", "mid"))
    assert "1 of its 2" in message and "high" not in message
    days = pa.array([dt.date(2020, 1, 2), dt.date(2020, 1, 1)])
    stated = encode_column(days, order=("2020-01-02", "2020-01-01"))
    assert stated.codes.tolist() == [0, 1]
    assert "order" in refusal(days, order=("soon", "late"))


def test_an_ordered_dictionary_gives_the_order_even_to_a_stated_categorical():
    cells = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, 0]), ["low", "mid", "high"], ordered=True
    )
    for kind in (None, Kind.ORDINAL, Kind.CATEGORICAL):
        column = encode_column(cells, kind=kind)
        assert column.values.to_pylist() == ["low", "high"]
        assert column.codes.tolist() == [1, 0, 0]
    assert encode_column(cells, order=("high", "low")).codes.tolist() == [0, 1, 1]


def test_parts_with_different_dictionaries():
    def part(entries, ordered):
        indices = pa.array([0, len(entries) - 1], pa.int8())
        return pa.DictionaryArray.from_arrays(indices, entries, ordered=ordered)

    def column(*entries, ordered):
        return pa.chunked_array([part(entry, ordered) for entry in entries])

    unordered = encode_column(column(["b", "a"], ["c", "a"], ordered=False))
    assert unordered.values.to_pylist() == ["a", "b", "c"]
    assert unordered.codes.tolist() == [1, 0, 2, 0]
    growing = encode_column(column(["b", "a"], ["b", "a", "c"], ordered=True))
    assert growing.values.to_pylist() == ["b", "a", "c"]
    assert "order" in refusal(column(["b", "a"], ["a", "b"], ordered=True))


def test_nan_is_missing_and_minus_zero_is_zero():
    column = encode_column(pa.array([0.0, float("nan"), -0.0, None, 2.5]))
    assert column.values.to_pylist() == [0.0, 2.5]
    assert column.codes.tolist() == [0, 2, 0, 2, 1]
    assert not np.signbit(column.values.to_numpy()).any()


def test_infinite_numbers_are_refused_with_their_count():
    cells = pa.array([1.0, float("inf"), float("-inf"), float("inf")])
    assert "3 of 4 rows" in refusal(cells)
    assert encode_column(cells, kind=Kind.CATEGORICAL).cardinality == 3


@pytest.mark.parametrize(
    ("cells", "domain", "rows_outside"),
    [
        (pa.array([17, 18, 120, 121, 121, None]), (18, 120), 3),
        (pa.array([17, 18], pa.uint8()), (-1, 17.5), 1),
        (pa.array([0.5, 0.25]), (0, 0.3), 1),
        (pa.array([1, 3]).cast(pa.decimal128(22, 2)).cast(pa.decimal64(5, 2)), (0, 2), 1),
        (pa.array([dt.date(2020, 1, 2)]), ("2020-01-01", "2020-01-01"), 1),
        (pa.array([dt.datetime(2020, 1, 2)]), (dt.datetime(2019, 1, 1), "2020-01-01"), 1),
        (pa.array(["a", "b", "b", None]), ("a", "c"), 2),
        (pa.array([True, False, False]), (True,), 2),
    ],
)
def test_values_outside_a_stated_domain_are_refused_with_a_count(cells, domain, rows_outside):
    assert f"{rows_outside} of {len(cells)} rows" in refusal(cells, domain=domain)


@pytest.mark.parametrize("dtype", [pa.int64(), pa.uint64(), pa.int8(), pa.float64()], ids=str)
@pytest.mark.parametrize("end", [2**63, 2**64, 10**38, 10**39 - 1])
def test_a_domain_may_end_beyond_the_type(dtype, end):
    assert encode_column(pa.array([18, 120], dtype), domain=(0, end)).cardinality == 2
    assert encode_column(pa.array([18, 120], dtype), domain=(-end, end)).cardinality == 2
    assert "2 of 2 rows" in refusal(pa.array([18, 120], dtype), domain=(end, end + 1))


def test_values_inside_a_stated_domain_pass():
    assert encode_column(pa.array([18, 120, None]), domain=(18, 120)).cardinality == 2
    assert encode_column(pa.array(["a", None]), domain=("a", "unseen")).cardinality == 1
    assert encode_column(pa.nulls(2, pa.int8()), domain=(1, 2)).cardinality == 0
    assert "does not read" in refusal(pa.array([1]), domain=("low", "high"))
    assert "does not read" in refusal(pa.array([1]), domain=(1, 2, 3))


COUNTRIES = Hierarchy.from_rows(
    [("Peru", "America"), ("Laos", "Asia"), ("Cuba", "America"), ("Iran", "Asia")], "countries.csv"
)


def test_values_stand_in_leaf_order_under_a_hierarchy():
    cells = pa.array(["Laos", "Cuba", None, "Peru", "Laos"]).cast(pa.large_string())
    column = encode_column(cells, hierarchy=COUNTRIES)
    assert column.values.to_pylist() == ["Peru", "Cuba", "Laos"]
    assert column.codes.tolist() == [2, 1, 3, 0, 2]
    tree = column.tree
    america = tree.labels.index("America")
    assert (tree.first[america], tree.last[america]) == (0, 1)
    assert column.attribute.hierarchy is COUNTRIES
    assert decode_cells(column) == cells.to_pylist()


def decode_cells(column):
    values = [*column.values.to_pylist(), None]
    return [values[code] for code in column.codes]


def test_values_without_an_entry_are_refused_without_being_named():
    with pytest.raises(HierarchyError, match="1 of 2 values") as caught:
        encode_column(pa.array(["Peru", "Atlantis"]), hierarchy=COUNTRIES)
    assert "Atlantis" not in str(caught.value)


def test_builders_become_hierarchies_of_the_values_that_occur():
    zips = pa.array(["13021", "13068", None, "14850"])
    column = encode_column(zips, hierarchy=Mask())
    hierarchy = column.attribute.hierarchy
    assert isinstance(hierarchy, Hierarchy) and not hierarchy.supplied
    assert hierarchy.leaves == ("13021", "13068", "14850")
    days = pa.array([dt.date(2021, 5, 5), dt.date(2020, 1, 1)])
    dates = encode_column(days, hierarchy=Dates(("month", "year")))
    assert dates.kind is Kind.NUMERIC
    assert dates.values.to_pylist() == [dt.date(2020, 1, 1), dt.date(2021, 5, 5)]
    ages = encode_column(pa.array([41, 33, 12]), hierarchy=EqualWidth(width=10))
    assert ages.kind is Kind.NUMERIC and ages.tree is not None
    assert ages.values.to_pylist() == [12, 33, 41]


def test_a_column_without_values_has_no_tree():
    column = encode_column(pa.nulls(3, pa.string()), hierarchy=Mask())
    assert column.tree is None and column.attribute.hierarchy is None
    assert encode_column(pa.nulls(3), hierarchy=COUNTRIES).attribute.hierarchy is COUNTRIES


def test_numbers_stay_ascending_whatever_the_order_of_the_hierarchy_file():
    rows = [("30", "old"), ("31", "old"), ("10", "young"), ("12", "young"), ("11", "young")]
    column = encode_column(pa.array([12, 31, 10, 11]), hierarchy=Hierarchy.from_rows(rows, "age"))
    assert column.kind is Kind.NUMERIC
    assert column.values.to_pylist() == [10, 11, 12, 31]
    young = column.tree.labels.index("young")
    assert (column.tree.first[young], column.tree.last[young]) == (0, 2)


@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.int8(), pa.float64(), pa.float16(), pa.decimal128(20, 0)]
)
@pytest.mark.parametrize("present", [[1, 2], [1, 2, 4], [1, 2, 4, 9], [9], [None]])
def test_the_kind_under_a_hierarchy_does_not_depend_on_the_values_that_occur(kind, present):
    """It is published, even of a column in which values are withheld."""
    rows = [("1", "low"), ("2", "low"), ("4", "high"), ("9", "low"), ("unknown", "high")]
    cells = pa.array(present, pa.int64()).cast(kind)
    scattered = encode_column(cells, hierarchy=Hierarchy.from_rows(rows, "number"))
    assert scattered.kind is Kind.CATEGORICAL
    rows[3] = ("9", "high")
    ascending = encode_column(cells, hierarchy=Hierarchy.from_rows(rows, "number"))
    assert ascending.kind is Kind.NUMERIC


@pytest.mark.parametrize("present", [["low"], ["low", "mid"], ["low", "mid", "top"]])
def test_the_kind_of_an_ordered_dictionary_does_not_depend_on_the_values_that_occur(present):
    rows = [("low", "ends"), ("mid", "middle"), ("top", "ends")]
    entries = pa.array(["low", "mid", "top"])
    codes = pa.array([entries.to_pylist().index(each) for each in present], pa.int8())
    cells = pa.DictionaryArray.from_arrays(codes, entries, ordered=True)
    column = encode_column(cells, hierarchy=Hierarchy.from_rows(rows, "grade"))
    assert column.kind is Kind.CATEGORICAL


def test_a_stated_kind_is_judged_by_the_values_that_occur():
    rows = [("1", "low"), ("2", "low"), ("4", "high"), ("9", "low")]
    hierarchy = Hierarchy.from_rows(rows, "number")
    column = encode_column(pa.array([1, 2, 4]), hierarchy=hierarchy, kind=Kind.NUMERIC)
    assert column.kind is Kind.NUMERIC


def test_a_hierarchy_that_scatters_numbers_makes_them_categorical_unless_a_kind_is_stated():
    parity = Hierarchy.from_rows([("1", "odd"), ("2", "even"), ("3", "odd")], "parity")
    column = encode_column(pa.array([3, 2, 1]), hierarchy=parity)
    assert column.kind is Kind.CATEGORICAL
    assert column.values.to_pylist() == [1, 3, 2]
    assert column.codes.tolist() == [1, 2, 0]
    assert "neighbours" in refusal(pa.array([3, 2, 1]), hierarchy=parity, kind=Kind.NUMERIC)
    assert "neighbours" in refusal(pa.array([3, 2, 1]), hierarchy=parity, order=(1, 2, 3))


def test_every_column_needs_a_role_and_every_role_a_column():
    data = pa.table({"age": [1], "zipcode": [2]})
    with pytest.raises(SchemaError, match="without a role: 'zipcode'"):
        encode(data, Schema.of(age="quasi-identifier"))
    with pytest.raises(SchemaError, match=r"'zip_code' .*did you mean 'zipcode'"):
        encode(data, Schema.of(age="quasi-identifier", zip_code="quasi-identifier"))


@pytest.mark.parametrize("name", ["group", "count", "age.bucket"])
def test_names_of_the_release_format_are_refused_even_without_a_role(name):
    with pytest.raises(SchemaError, match="rename"):
        encode(pa.table({"age": [1], name: [2]}), Schema.of(age="quasi-identifier"))


@pytest.mark.parametrize("data", [pa.table({"age": pa.array([], pa.int8())}), pa.table({})])
def test_an_empty_table_is_refused(data):
    with pytest.raises(InputError, match="empty"):
        encode(data, Schema.of(age="quasi-identifier"))


def kept(cells, units=None):
    data = pa.table({"tag": cells, "age": pa.array([1] * len(cells))})
    attributes = (Attribute("tag", Role.INSENSITIVE, keep=True), Attribute("age", QI))
    if units is not None:
        data = data.append_column("who", pa.array(units))
        attributes = (*attributes, Attribute("who", Role.IDENTIFIER))
    return encode(data, Schema(attributes, "who" if units else None))


def test_a_kept_column_may_have_a_tenth_of_lone_values():
    table = kept(["a"] * 9 + ["lone"])
    assert [column.name for column in table.kept] == ["tag"]
    assert decode(table).column_names == ["tag", "age"]
    kept([None] + ["a"] * 8 + ["lone"])
    with pytest.raises(SchemaError, match="2 of 10 rows") as caught:
        kept(["a"] * 8 + ["lone", "single"])
    assert "single" not in str(caught.value)


def test_a_value_that_one_person_has_in_many_rows_is_a_lone_value():
    cells = ["a"] * 8 + ["b", "b"]
    kept(cells, units=[0, 1, 2, 3, 4, 5, 6, 7, 0, 1])
    with pytest.raises(SchemaError, match="2 of 10 rows"):
        kept(cells, units=[0, 1, 2, 3, 4, 5, 6, 7, 7, 7])


def test_the_table_answers_by_name_and_role():
    data = pa.table({"id": [1, 2], "age": [1, 2], "disease": ["a", "b"]})
    table = encode(data, Schema.of(id="identifier", age="quasi-identifier", disease="sensitive"))
    assert [column.name for column in table.quasi_identifiers] == ["age"]
    assert [column.name for column in table.sensitive] == ["disease"]
    assert table.kept == ()
    with pytest.raises(SchemaError, match="'id' is identifier and not coded"):
        table["id"]
    with pytest.raises(SchemaError, match="did you mean 'age'"):
        table["agee"]
    assert "41" not in repr(replace(table)), "no cells in a representation"
    assert repr(table) == "Table(rows=2)"


def test_adult_is_coded_whole(shared):
    import pyarrow.parquet as pq

    data = pq.read_table(shared / "data" / "adult.parquet")
    folder = shared / "data" / "hierarchies"
    attributes = tuple(
        Attribute(
            name,
            QI,
            hierarchy=Hierarchy.read_csv(folder / f"adult_{name}.csv")
            if (folder / f"adult_{name}.csv").exists()
            else None,
        )
        for name in data.column_names
    )
    table = encode(data, Schema(attributes))
    assert table.rows == 48_842 and table.units is None
    assert decode(table).equals(data)
    assert table["age"].kind is Kind.NUMERIC, "the file's intervals follow the numbers"
    assert table["age"].values.to_pylist() == sorted(table["age"].values.to_pylist())
    occupation = table["occupation"]
    assert occupation.cardinality == 14
    assert (occupation.codes == occupation.null_code).any()


def test_quantiles_hold_equal_shares_of_rows():
    ages = [20] * 50 + [30, 40, 50, 60] * 10
    attribute = Attribute("age", Role.QUASI_IDENTIFIER, hierarchy=Quantiles(2))
    table = encode(pa.table({"age": ages}), Schema((attribute,)))
    built = table["age"].attribute.hierarchy
    assert [path[0] for path in built.paths] == ["<30", ">=30", ">=30", ">=30", ">=30"]
