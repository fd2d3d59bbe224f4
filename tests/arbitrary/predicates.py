"""Arbitrary predicates over a table with a column of every type that a literal compares with."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import hypothesis.strategies as st
import pyarrow as pa

from sfumato.predicates import And, Between, Comparison, IsMissing, Not, OneOf, Or, Prefix

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

_LETTERS = st.text("ab%_'é!\"\\ 𝕏", max_size=3)
_SMALL = st.integers(-3, 3)
_QUARTERS = st.integers(-8, 8).map(lambda quarters: Decimal(quarters) / 4)
_TENTHS = st.integers(-9, 9).map(lambda tenths: Decimal(tenths) / 10)
_DATES = st.dates(dt.date(2019, 12, 30), dt.date(2020, 1, 2))
_MOMENTS = st.datetimes(dt.datetime(2019, 12, 31, 23, 59), dt.datetime(2020, 1, 1, 0, 1)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 500_000 * 500_000)
)
_NUMBERS = _SMALL | _QUARTERS | _TENTHS

# Per column: its type, what its cells may be, and what it may be compared with.
COLUMNS = {
    "whole": (pa.int32(), _SMALL, _NUMBERS),
    "large": (pa.int64(), st.integers(2**62, 2**62 + 3), st.integers(2**62, 2**62 + 3)),
    "unsigned": (pa.uint8(), st.integers(0, 3), _NUMBERS),
    "float": (pa.float64(), _TENTHS.map(float) | _SMALL.map(float), _NUMBERS),
    "single": (pa.float32(), _TENTHS.map(float) | _SMALL.map(float), _NUMBERS),
    "decimal": (pa.decimal128(12, 2), _QUARTERS, _NUMBERS),
    "marital-status": (pa.string(), _LETTERS, _LETTERS),
    "born": (pa.date32(), _DATES, _DATES | _DATES.map(str) | _MOMENTS),
    "seen": (pa.timestamp("us"), _MOMENTS, _DATES | _MOMENTS | _DATES.map(str) | _MOMENTS.map(str)),
    "flag": (pa.bool_(), st.booleans(), st.booleans()),
}
TEXT_COLUMNS = tuple(name for name, (dtype, _, _) in COLUMNS.items() if pa.types.is_string(dtype))


@st.composite
def leaves(draw):
    name = draw(st.sampled_from(tuple(COLUMNS)))
    literals = COLUMNS[name][2]
    shapes = ["comparison", "one of", "between", "missing"] + ["prefix"] * (name in TEXT_COLUMNS)
    match draw(st.sampled_from(shapes)):
        case "one of":
            return OneOf(name, tuple(draw(st.lists(literals, min_size=1, max_size=3))))
        case "between":
            return Between(name, draw(literals), draw(literals))
        case "prefix":
            return Prefix(name, draw(literals))
        case "missing":
            return IsMissing(name)
    return Comparison(name, draw(st.sampled_from(OPERATORS)), draw(literals))


def _grown(parts):
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return parts.map(Not) | several.map(And) | several.map(Or)


predicates = st.recursive(leaves(), _grown, max_leaves=6)


@st.composite
def tables(draw, names=tuple(COLUMNS), max_rows=8) -> pa.Table:
    rows = draw(st.integers(1, max_rows))
    columns = {}
    for name in names:
        dtype, cells, _ = COLUMNS[name]
        column = draw(st.lists(st.none() | cells, min_size=rows, max_size=rows))
        columns[name] = pa.array(column, dtype)
    return pa.table(columns)
