"""Arbitrary small tables as people have them, with roles: the worst that a policy may be given.

Identifiers and dropped columns hold canaries, texts that may never be found in a release. Values
of other columns are telling where they can be: long enough to be recognised in an error message.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa

from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema
from sfumato.schema.builders import Bins, Dates, EqualWidth, Mask, Quantiles
from sfumato.table import encode

IDENTIFIER_CANARY = "canary of an identifier"
DROPPED_CANARY = "canary of a dropped column"

# Marks of the cell grammar, of CSV and of spreadsheets, words that it uses itself, other scripts
# from right to left, combining characters (one of them decomposed), invisible ones, and emptiness.
TEXTS = (
    *("null", "*", "", " ", "true", "007", "NaN"),
    *("Ward 3, east", "[25, 28]", "[25, 28[", "{Female, Male}", "{null, Male}", "either | or"),
    *('said "secret" things', "'quoted secret'", "semi;colon", "tab\tand\nnewline", "\\u0041"),
    *("=SECRET(A1)", "+41 79 secret", "-secret", "@secret"),
    *("حساسية الصدر", "אנמיה\u200f קשה", "Nicole\u0301 Zu\u0308rich", "Nicolé Zürich"),
    *("secret\u200bword", "\ufeffsecret", "🩺 doctor", "%2Fsecret", "group", "count"),
)
NAMES = ("age", "age, or so", "الاسم", "zip;code", "=name()", 'the "name"', "two\nlines", "a/b: ..")
_MOMENTS = st.datetimes(dt.datetime(1901, 1, 1), dt.datetime(2099, 1, 1))
CELLS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.string(): st.sampled_from(TEXTS) | st.text(max_size=6),
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.sampled_from([7310045, 7310046, -9911223344, 0, 2**63 - 1, -(2**63)]),
    pa.uint64(): st.sampled_from([0, 1, 2**64 - 1, 8844221]),
    pa.float32(): st.floats(width=32, allow_infinity=False),
    pa.float64(): st.sampled_from([float("nan"), 0.1, -0.0, 0.0, 12345.678, 1e300, 5e-324])
    | st.floats(allow_infinity=False),
    pa.decimal128(12, 2): st.integers(-(10**12) + 1, 10**12 - 1).map(lambda n: Decimal(n) / 100),
    pa.date32(): st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    pa.timestamp("us"): _MOMENTS,
    pa.timestamp("ms", "Europe/Madrid"): _MOMENTS.map(lambda moment: moment.replace(microsecond=0)),
    pa.time32("s"): st.times().map(lambda time: time.replace(microsecond=0)),
    pa.duration("s"): st.integers(-(10**9), 10**9).map(lambda s: dt.timedelta(seconds=s)),
    pa.null(): st.none(),
}
DICTIONARIES = tuple(
    pa.dictionary(pa.int32(), value, ordered)
    for value in (pa.string(), pa.int64())
    for ordered in (False, True)
)


@dataclass(frozen=True, repr=False)
class Frame:
    """A table with its schema."""

    data: pa.Table
    schema: Schema

    def __repr__(self) -> str:
        """Say what a failing example is, briefly: the columns that may be published."""
        return "\n".join(
            f"{each.name!r} {each.role} {each.kind} {self.data[each.name].type}: "
            f"{self.data[each.name].to_pylist()} {each.hierarchy or ''}"
            for each in self.schema
            if each.is_published
        )

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def order_of(self, name: str) -> list[Any] | None:
        """Return the values of an ordinal attribute from low to high, None for any other."""
        column, attribute = self.data[name].combine_chunks(), self.schema[name]
        if attribute.order is not None:
            return list(attribute.order)
        is_ordered = pa.types.is_dictionary(column.type) and column.type.ordered
        if attribute.kind is not Kind.ORDINAL and not is_ordered:
            return None
        if is_ordered:
            return list(dict.fromkeys(column.dictionary.to_pylist()))
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        return sorted({v for v in plain.to_pylist() if v is not None and v == v})  # noqa: PLR0124

    @property
    def hierarchies(self) -> dict[str, list[tuple[str, ...]]]:
        """The rows of the whole hierarchies by attribute; a release may lack some of them."""
        whole = {each.name: each.hierarchy for each in encode(self.data, self.schema).schema}
        return {name: tree.rows() for name, tree in whole.items() if isinstance(tree, Hierarchy)}


@st.composite
def _column(draw: Any, dtype: pa.DataType, rows: int) -> pa.Array:
    """Return a column with missing and repeated values, or none but missing ones."""
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    pool = draw(st.lists(CELLS[plain], min_size=draw(st.sampled_from([1, 4, 8])), max_size=9))
    shape = draw(st.sampled_from(["some missing"] * 4 + ["none missing"] * 4 + ["all missing"]))
    cells = {"some missing": st.none() | st.sampled_from(pool), "all missing": st.none()}
    drawn = st.lists(cells.get(shape, st.sampled_from(pool)), min_size=rows, max_size=rows)
    if not pa.types.is_dictionary(dtype):
        return pa.array(draw(drawn), dtype)
    # An unused entry must not be published either, and repeated ones are one value.
    entries = pa.array(pool, plain)
    places = [None if cell is None else pool.index(cell) for cell in draw(drawn)]
    return pa.DictionaryArray.from_arrays(
        pa.array(places, pa.int32()), entries, ordered=dtype.ordered
    )


@st.composite
def _attribute(draw: Any, name: str, role: Role, column: pa.Array) -> Attribute:
    """Return an attribute with what a policy may state: a kind, an order, a domain, a hierarchy."""
    if pa.types.is_string(column.type):
        values = sorted({value for value in column.to_pylist() if value is not None})
        match draw(st.sampled_from(["nothing", "order", "supplied", "built"])):
            case "order":
                order = draw(st.permutations([*values, "never seen, ordered"]))
                return Attribute(name, role, order=tuple(order))
            case "supplied":
                leaves = [value for value in values if value not in ("*", "π", "σ")]
                parents = draw(st.lists(st.sampled_from("πσ"), min_size=len(leaves) + 1))
                paths = zip([*leaves, "never seen"], parents, strict=False)
                rows = [(leaf, node, "*") for leaf, node in paths]
                return Attribute(name, role, hierarchy=Hierarchy.from_rows(rows, name))
            case "built":
                return Attribute(name, role, hierarchy=Mask("right", "#"))
        return Attribute(name, role)
    if pa.types.is_null(column.type):
        return Attribute(name, role)
    builders = {
        pa.int8(): [Bins([-200, 0, 50, 200]), EqualWidth(count=4, levels=2), Quantiles(3)],
        pa.int64(): [EqualWidth(width=1000, levels=3), Quantiles(4, levels=2)],
        pa.decimal128(12, 2): [EqualWidth(count=3), Quantiles(2)],
        pa.date32(): [Dates(), Dates(("month", "year"))],
        pa.timestamp("us"): [Dates(("quarter",))],
    }
    if column.type in builders and draw(st.booleans()):
        return Attribute(name, role, hierarchy=draw(st.sampled_from(builders[column.type])))
    if column.type == pa.int8() and draw(st.booleans()):
        return Attribute(name, role, domain=(-1000, 1000))
    return Attribute(
        name, role, kind=draw(st.sampled_from([None, None, Kind.CATEGORICAL, Kind.ORDINAL]))
    )


@st.composite
def frames(draw: Any, *, max_rows: int = 12) -> Frame:
    """Return a table with an identifier, a dropped and a kept column, and columns of any type."""
    rows = draw(st.integers(1, max_rows))
    types = st.sampled_from([*[pa.string()] * 6, *CELLS, *DICTIONARIES])
    quasi = tuple(draw(st.permutations(NAMES)))[: draw(st.sampled_from([1, 1, 2, 2, 3, 0]))]
    sensitive = ("illness", "pay")[: draw(st.sampled_from([1, 1, 1, 2]))]
    columns: dict[str, pa.Array] = {}
    attributes = []
    for name in (*quasi, *sensitive):
        role = Role.SENSITIVE if name in sensitive else Role.QUASI_IDENTIFIER
        columns[name] = draw(_column(draw(types), rows))
        attributes.append(draw(_attribute(name, role, columns[name])))
    people = list(range(rows))
    unit = "name" if draw(st.sampled_from([False, False, False, True])) else None
    if unit:
        people = draw(st.lists(st.sampled_from(people), min_size=rows, max_size=rows))
    columns["name"] = pa.array([f"{IDENTIFIER_CANARY} {i}" for i in people])
    columns["note"] = pa.array([f"{DROPPED_CANARY} {i}" for i in range(rows)])
    attributes += [Attribute("name", Role.IDENTIFIER), Attribute("note", Role.INSENSITIVE)]
    if draw(st.booleans()):
        columns["ward"] = pa.array(["kept ward"] * rows)
        attributes.append(Attribute("ward", Role.INSENSITIVE, keep=True))
    order = draw(st.permutations(list(columns)))
    data = pa.table({name: columns[name] for name in order})
    return Frame(data, Schema(tuple(attributes), unit))


@st.composite
def flagged_frames(draw: Any) -> Frame:
    """Return a table with semi-sensitive columns, whose cells a flag column or chance picks."""
    frame = draw(frames())
    data, rows = frame.data, frame.data.num_rows
    attributes = []
    for each in frame.schema:
        if each.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) and draw(st.booleans()):
            flags = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
            flag = f"is private: {each.name}"
            data = data.append_column(flag, pa.array(flags))
            # intervals that follow the data are refused for such columns
            follows = isinstance(each.hierarchy, Quantiles | EqualWidth)
            hierarchy = None if follows else each.hierarchy
            semi = Role.SEMI_SENSITIVE
            attributes.append(replace(each, role=semi, flag=flag, hierarchy=hierarchy))
        else:
            attributes.append(each)
    return Frame(data, Schema(tuple(attributes), frame.schema.unit))
