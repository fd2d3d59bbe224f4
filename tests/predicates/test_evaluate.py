from __future__ import annotations

import datetime as dt
import tracemalloc
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import ParameterError, SchemaError, SfumatoError
from sfumato.predicates import (
    Between,
    Comparison,
    IsMissing,
    OneOf,
    Prefix,
    evaluate,
    evaluate_frame,
    mask_of_values,
    parse,
)
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema
from sfumato.table import encode


def rows(text, column, **attribute):
    """Return where the predicate on column `x` holds, evaluated both ways."""
    if not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array([column])
    data = pa.table({"x": column})
    schema = Schema((Attribute("x", Role.QUASI_IDENTIFIER, **attribute),))
    predicate = parse(text)
    coded = evaluate(predicate, encode(data, schema))
    assert coded.dtype == np.bool_
    assert coded.tolist() == evaluate_frame(predicate, data, schema).tolist()
    return coded.tolist()


def refusal(text, column, error=ParameterError, **attribute):
    with pytest.raises(error) as caught:
        rows(text, column, **attribute)
    return str(caught.value)


def ordered(indices, entries):
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(entries), ordered=True)


@pytest.mark.parametrize(
    ("dtype", "cells", "text", "expected"),
    [
        (pa.int8(), [-128, 0, 127, None], "x < 1000", [True, True, True, False]),
        (pa.int8(), [-128, 0, 127, None], "x != 1000", [True, True, True, False]),
        (pa.int8(), [-128, 127], "x > -1e30", [True, True]),
        (pa.uint64(), [0, 2**64 - 1], "x > 18446744073709551614", [False, True]),
        (pa.uint64(), [0, 2**64 - 1], "x > -1", [True, True]),
        (pa.int64(), [2**53, 2**53 + 1], "x = 9007199254740993", [False, True]),
        (pa.int64(), [1, 2], "x between 1.5 and 2.0", [False, True]),
        (pa.float64(), [0.1, 0.3, None], "x = 0.1", [True, False, False]),
        (pa.float32(), [0.1, 0.3], "x <= 0.1", [True, False]),
        (pa.float16(), np.array([0.1, 0.3], np.float16), "x >= 0.3", [False, True]),
        (pa.float64(), [float("nan"), 1.0], "not x = 1", [False, False]),
        (pa.float64(), [float("nan"), 1.0], "x is null", [True, False]),
        (pa.float64(), [-0.0, 1.0], "x >= 0", [True, True]),
        (pa.float32(), [3.4e38, -3.4e38], "x < 1e39 and x > -1e39", [True, True]),
        (pa.decimal128(4, 2), [Decimal("12.34"), Decimal("-1")], "x = 12.340", [True, False]),
        (pa.decimal128(4, 2), [Decimal("12.34"), Decimal("-1")], "x < 12.341", [True, True]),
        (pa.decimal128(4, 2), [Decimal("99.99"), Decimal("-1")], "x < 99.999", [True, True]),
        (pa.decimal128(4, 2), [Decimal("99.99"), Decimal("-1")], "x > -1e300", [True, True]),
        (pa.decimal128(4, 2), [Decimal("99.99"), Decimal("-1")], "x = 1e300", [False, False]),
        (pa.decimal256(76, 0), [Decimal(10**75), Decimal(1)], "x > 0.5", [True, True]),
        (pa.decimal32(5, 1), [Decimal("1.5"), Decimal("2")], "x in (1.5, 7)", [True, False]),
        (pa.duration("s"), [60, 61], "x > 60", [False, True]),
        (pa.bool_(), [True, False, None], "x", [True, False, False]),
        (pa.bool_(), [True, False, None], "not x", [False, True, False]),
        (pa.bool_(), [True, False, None], "x > FALSE", [True, False, False]),
        (pa.string(), ["a", "é", "𝕏", None], "x > 'z'", [False, True, True, False]),
        (pa.large_string(), ["a", "ab"], "x like 'a%' and x != 'a'", [False, True]),
        (pa.string_view(), ["a", "ab"], "x in ('ab')", [False, True]),
        (pa.null(), [None, None], "x = 1 or x like 'a%' or x > TRUE", [False, False]),
        (pa.null(), [None, None], "x is null", [True, True]),
        (pa.time32("s"), [dt.time(12), dt.time(13)], "x >= '12:00:00.5'", [False, True]),
        (pa.time64("ns"), [dt.time(12), dt.time(13)], "x = '12:00'", [True, False]),
        (pa.date64(), [dt.date(2020, 1, 1)], "x = DATE '2020-01-01'", [True]),
        (pa.date32(), [dt.date(2020, 1, 1)], "x < '2020-01-01 00:00:00.000000001'", [True]),
        (pa.timestamp("s"), [dt.datetime(2020, 1, 1)], "x < '2020-01-01 00:00:00.1'", [True]),
        (pa.timestamp("ns"), [1, 2, None], "x > '1970-01-01T00:00:00.000000001'", [0, 1, 0]),
        (pa.timestamp("ms"), [-1, 0], "x < '1970-01-01'", [True, False]),
        # Ann's clock in Madrid is an hour ahead of UTC in winter.
        (pa.timestamp("s", "Europe/Madrid"), [0, 3600], "x = '1970-01-01 01:00:00'", [1, 0]),
        (pa.timestamp("s", "Europe/Madrid"), [0, 3600], "x = '1970-01-01 01:00:00Z'", [0, 1]),
        (pa.timestamp("ms", "+02:00"), [0, 1], "x = '1970-01-01 02:00:00.001'", [0, 1]),
        (pa.decimal256(76, 70), [Decimal(1), None], "x < 1e400 and x > -1e-400", [1, 0]),
        (pa.int8(), [1, 2], f"x < 1{'0' * 400} and x != 1.{'3' * 40_000}", [1, 1]),
        (pa.decimal128(3, 1), [Decimal(1), None], f"x < 1.{'3' * 40_000}", [1, 0]),
        (pa.float64(), [1.0, None], f"x < 1.{'3' * 40_000}", [1, 0]),
        (pa.timestamp("us", "UTC"), [0, 1], "x < TIMESTAMP '1970-01-01 01:00+01:00'", [0, 0]),
    ],
)
def test_literals_compare_with_every_type(dtype, cells, text, expected):
    assert rows(text, pa.array(cells, dtype)) == [bool(each) for each in expected]


@pytest.mark.parametrize(
    ("dtype", "cell", "text", "words"),
    [
        (pa.int64(), 1, "x = 'zqx'", ["int64", "a text", "without quotes"]),
        (pa.int64(), 1, "x", ["int64", "a truth value"]),
        (pa.int64(), 1, "x in (1, DATE '2020-01-01')", ["int64", "a date"]),
        (pa.float64(), 1, "x between 1 and 'zqx'", ["double", "a text"]),
        (pa.decimal128(3, 1), Decimal(1), "x = true", ["decimal128", "a truth value"]),
        (pa.string(), "a", "x < 3", ["string", "a number", "single quotes"]),
        (pa.string(), "a", "x = DATE '2020-01-01'", ["string", "a date"]),
        (pa.bool_(), True, "x = 1", ["bool", "a number", "TRUE"]),
        (pa.bool_(), True, "x = 'zqx'", ["bool", "a text"]),
        (pa.date32(), dt.date(2020, 1, 1), "x = 20200101", ["date32", "a number", "ISO"]),
        (pa.date32(), dt.date(2020, 1, 1), "x = 'zqx'", ["date32", "a text", "ISO"]),
        (pa.date32(), dt.date(2020, 1, 1), "x = '2020-1-1'", ["date32", "ISO"]),
        (pa.date32(), dt.date(2020, 1, 1), "x = '2020-01-01T00:00Z'", ["date32", "offset"]),
        (pa.timestamp("s"), 0, "x = true", ["timestamp", "a truth value", "ISO"]),
        (pa.timestamp("s", "Europe/Madrid"), 0, "x = '2020-03-29 02:30'", ["twice or never"]),
        (pa.time64("us"), dt.time(1), "x = '25:00'", ["time64", "time of day"]),
        (pa.time64("us"), dt.time(1), "x > 3", ["time64", "a number"]),
        (pa.int64(), 1, "x like 'zqx%'", ["int64", "LIKE"]),
    ],
)
def test_what_does_not_compare_is_refused_by_column_and_type(dtype, cell, text, words):
    message = refusal(text, pa.array([cell], dtype))
    assert "'x'" in message
    for word in words:
        assert word in message
    assert "zqx" not in message


def test_ordinals_compare_by_their_stated_order():
    sizes = pa.array(["L", "S", None, "M"])
    order = ("S", "M", "L")
    assert rows("x > 'S'", sizes, order=order) == [True, False, False, True]
    assert rows("not x > 'S'", sizes, order=order) == [False, True, False, False]
    assert rows("x between 'S' and 'M'", sizes, order=order) == [False, True, False, True]
    assert rows("x = 'XL' or x in ('S')", sizes, order=order) == [False, True, False, False]
    # Without one, an ordinal is ordered as its type is, and so any literal has a place.
    assert rows("x > 'M'", sizes, kind=Kind.ORDINAL) == [False, True, False, False]
    assert rows("x > 'Z'", sizes, kind=Kind.ORDINAL) == [False, False, False, False]
    assert rows("x < 2", pa.array([1, 2, 3]), order=(3, 1, 2)) == [True, False, True]
    message = refusal("x > 'zqx'", sizes, order=order)
    assert "'x'" in message
    assert "zqx" not in message


def test_ordinals_compare_by_the_order_of_their_dictionary():
    sizes = ordered([2, 0, None, 1], ["S", "M", "L"])
    assert rows("x > 'S'", sizes) == [True, False, False, True]
    assert rows("x <= 'M'", sizes) == [False, True, False, True]
    parts = pa.chunked_array([ordered([1, 0], ["S", "M"]), ordered([2], ["S", "M", "L"])])
    assert rows("x >= 'M'", parts) == [True, False, True]
    contradiction = pa.chunked_array([ordered([0], ["S", "M"]), ordered([0], ["M", "S"])])
    assert "order" in refusal("x >= 'M'", contradiction, SchemaError)


def test_a_category_that_no_row_has_keeps_its_place_in_a_frame():
    data = pa.table({"x": ordered([2, 0], ["S", "M", "L"])})
    assert evaluate_frame(parse("x > 'M'"), data, Schema.of(x="insensitive")).tolist() == [1, 0]


def test_an_order_that_a_hierarchy_took_is_not_guessed():
    sizes = ordered([0, 1, 2], ["S", "M", "L"])
    tree = Hierarchy.from_rows(
        [("S", "end", "*"), ("L", "end", "*"), ("M", "middle", "*")], name="x"
    )
    schema = Schema((Attribute("x", Role.QUASI_IDENTIFIER, hierarchy=tree),))
    table = encode(pa.table({"x": sizes}), schema)
    assert evaluate(parse("x = 'S' or x in ('L')"), table).tolist() == [True, False, True]
    with pytest.raises(ParameterError, match="order"):
        evaluate(parse("x > 'S'"), table)


def test_hierarchies_do_not_change_how_values_compare():
    tree = Hierarchy.from_rows([("2", "even", "*"), ("1", "odd", "*"), ("3", "odd", "*")], name="x")
    numbers = pa.array([1, 2, 3, None])
    assert rows("x > 1", numbers, hierarchy=tree) == [False, True, True, False]


def test_columns_that_are_not_coded_are_read_from_the_frame_alone():
    data = pa.table(
        {"name": ["Ann", "Bob"], "ward": [1, 2], "age": [33, 41], "private": [True, False]}
    )
    schema = Schema.of(name="identifier", ward="insensitive", age="quasi-identifier")
    wished = parse("ward >= 2 and name like 'B%' and not private")
    assert evaluate_frame(wished, data, schema).tolist() == [False, True]
    table = encode(data.drop_columns("private"), schema)
    with pytest.raises(ParameterError, match="'ward' is insensitive"):
        evaluate(parse("ward = 2 or age = 33"), table)
    for unknown in (lambda p: evaluate(p, table), lambda p: evaluate_frame(p, data, schema)):
        with pytest.raises(ParameterError, match="no column 'Age'; did you mean 'age'"):
            unknown(parse("age = 33 or Age = 34"))


def test_an_empty_frame_has_no_rows_that_satisfy():
    data = pa.table({"x": pa.array([], pa.int64())})
    assert evaluate_frame(parse("x = 1"), data, Schema.of(x="insensitive")).tolist() == []


def test_types_without_a_literal_are_refused():
    data = pa.table({"x": [[1]], "y": [b"zqx"]})
    schema = Schema.of(x="insensitive", y="insensitive")
    for text in ("x is null", "y = 'zqx'"):
        with pytest.raises(SfumatoError) as error:
            evaluate_frame(parse(text), data, schema)
        assert "zqx" not in str(error.value)


def test_masks_of_single_leaves():
    values = pa.array(["b", "a", "c"])
    expected = {
        Comparison("x", "<", "c"): [True, True, False],
        Between("x", "b", "z"): [True, False, True],
        OneOf("x", ("c", "a", "q")): [False, True, True],
        Prefix("x", "a"): [False, True, False],
        IsMissing("x"): [False, False, False],
    }
    for leaf, mask in expected.items():
        assert mask_of_values(leaf, values, Kind.CATEGORICAL).tolist() == mask
    backwards = mask_of_values(Between("x", "b", "a"), values, Kind.ORDINAL, ("c", "b", "a"))
    assert backwards.tolist() == [True, True, False]
    with pytest.raises(ParameterError, match="1 of its 3"):
        mask_of_values(Comparison("x", "<", "a"), values, Kind.ORDINAL, ("a", "b"))
    with pytest.raises(ParameterError, match="read as such"):
        mask_of_values(Comparison("x", "<", 1), pa.array([1]), Kind.ORDINAL, ("low", 1))


def test_a_long_disjunction_does_not_hold_a_mask_for_each_part():
    count = 100_000
    data = pa.table({"x": np.arange(count) % 7, "y": np.arange(count) % 5})
    schema = Schema.of(x="quasi-identifier", y="quasi-identifier")
    table = encode(data, schema)
    predicate = parse(" or ".join(f"x = {n} and y = {n}" for n in range(200)))
    tracemalloc.start()
    found = evaluate(predicate, table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * count
    assert found.tolist() == (data["x"].to_numpy() == data["y"].to_numpy()).tolist()


@pytest.mark.parametrize(
    ("text", "character"),
    [
        ("x > 'y'", 5),
        ("'y' < x", 1),
        ("x in (1, 2, 'y')", 13),
        ("x between 1 and 'y'", 17),
        ("not (x between 'y' and 1)", 16),
        ("1 <= x < 'y'", 10),
        ("x = 1 or x = TRUE", 14),
        ("x like 'y%'", 8),
        ("x = 1 and x", 11),
    ],
)
def test_a_literal_that_does_not_compare_is_named_by_its_place(text, character):
    with pytest.raises(ParameterError, match=rf"^predicate, character {character}: column 'x'"):
        rows(text, pa.array([1, 2]))
