"""Which rows satisfy a predicate: worked out once a distinct value, then looked up by codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.predicates.compare import Signs, signs, starts_with
from sfumato.predicates.expression import (
    And,
    Between,
    Comparison,
    IsMissing,
    Leaf,
    Not,
    OneOf,
    Operator,
    Or,
    Predicate,
    Prefix,
    Value,
    negation_normal_form,
    unknown_column,
)
from sfumato.predicates.places import placed
from sfumato.schema.attribute import Attribute, Kind, Role
from sfumato.schema.distinct import distinct, looked_up
from sfumato.schema.kinds import comparable_type, is_text, kind_of, stated_values
from sfumato.schema.lazy_table import Columns
from sfumato.schema.schema import Schema
from sfumato.schema.text import to_texts
from sfumato.table.column import Column
from sfumato.table.order import arrange
from sfumato.table.table import Table

Mask = npt.NDArray[np.bool_]

_HOLDS: dict[Operator, Callable[[Signs], Mask]] = {
    "=": lambda sign: sign == 0,
    "!=": lambda sign: sign != 0,
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


@dataclass(frozen=True, slots=True, eq=False)
class _Coded:
    """A column as evaluation needs it; a code past the last value is a missing cell."""

    codes: npt.NDArray[np.int32]
    values: pa.Array
    kind: Kind
    order: tuple[Any, ...] | pa.Array | None


def evaluate(predicate: Predicate, table: Table) -> Mask:
    """Return which rows of a coded table satisfy the predicate.

    Missing cells follow SQL: what compares with one is unknown, so is the negation of that, and a
    row satisfies only what is true.

    Refuses (ParameterError) columns that are not there or not coded, and literals that do not
    compare with their column.

    >>> from sfumato.predicates.parse import parse
    >>> from sfumato.table.encode import encode
    >>> schema = Schema.of(age="quasi-identifier", job="sensitive")
    >>> table = encode(pa.table({"age": [33, None, 28], "job": ["Nurse", "Cook", "Nurse"]}), schema)
    >>> evaluate(parse("not (age < 30) and job = 'Nurse'"), table).tolist()
    [True, False, False]
    """
    _refuse_unknown(predicate, table.schema.names)
    coded = {column.name for column in table.columns}
    for name in sorted(predicate.attributes - coded):
        raise ParameterError(
            f"column '{name}' is {table.schema[name].role} and not published, so the predicate "
            "cannot be evaluated on the coded table"
        )

    @cache
    def column_of(name: str) -> _Coded:
        return _as_evaluated(table[name])

    return _rows(negation_normal_form(predicate), column_of)


def mask_of_codes(predicate: Predicate, column: Column) -> Mask:
    """Return which codes of a column satisfy a predicate on it alone; the last is a missing cell.

    Refuses (ParameterError) what `evaluate` refuses.
    """
    _refuse_unknown(predicate, (column.name,))
    return _slots(negation_normal_form(predicate), _as_evaluated(column))


def evaluate_frame(predicate: Predicate, data: Columns, schema: Schema) -> Mask:
    """Return which rows of a table that is not coded satisfy the predicate, as `evaluate` does.

    Reads every column of the table: those that no release shows, and those that the schema gives
    no role. The schema says how values are ordered.

    Refuses (ParameterError, SchemaError) columns that are not there, types that do not compare,
    literals that do not compare with their column, and values outside a stated order.

    >>> from sfumato.predicates.parse import parse
    >>> data = pa.table({"name": ["Ann", "Bob"], "grade": ["low", "high"]})
    >>> grade = Attribute("grade", Role.INSENSITIVE, order=("low", "high"))
    >>> schema = Schema((Attribute("name", Role.IDENTIFIER), grade))
    >>> evaluate_frame(parse("grade > 'low'"), data, schema).tolist()
    [False, True]
    """
    _refuse_unknown(predicate, data.column_names)
    if data.num_rows == 0:
        return np.empty(0, np.bool_)

    @cache
    def column_of(name: str) -> _Coded:
        has_role = name in schema.names
        attribute = schema[name] if has_role else Attribute(name, Role.INSENSITIVE)
        return _read_column(data[name], attribute)

    return _rows(negation_normal_form(predicate), column_of)


def mask_of_values(
    leaf: Leaf, values: pa.Array, kind: Kind, order: tuple[Any, ...] | pa.Array | None = None
) -> Mask:
    """Return which of a column's distinct, non-missing values satisfy a leaf.

    `order` are an ordinal attribute's values from low to high; without it, values compare as
    their type does.

    Refuses (ParameterError) literals that do not compare with the values or have no place in the
    order.

    >>> sizes = pa.array(["L", "S"])
    >>> mask_of_values(Comparison("size", "<", "L"), sizes, Kind.CATEGORICAL).tolist()
    [False, False]
    >>> mask_of_values(Comparison("size", "<", "L"), sizes, Kind.ORDINAL, ("S", "L")).tolist()
    [False, True]
    """
    column = leaf.attribute
    places = () if isinstance(leaf, IsMissing) else leaf.places

    def equal(number: int, literal: Value) -> Signs:
        with placed(places, number):
            return signs(values, literal, column)

    def sign(number: int, literal: Value) -> Signs:
        if order is None:
            return equal(number, literal)
        with placed(places, number):
            return _signs_in_order(values, literal, column, kind, order)

    match leaf:
        case Comparison(_, "=" | "!=" as operator, value):
            return _HOLDS[operator](equal(0, value))
        case Comparison(_, operator, value):
            return _HOLDS[operator](sign(0, value))
        case Between(_, low, high):
            return (sign(0, low) >= 0) & (sign(1, high) <= 0)
        case OneOf(_, literals):
            if is_text(values.type) and all(isinstance(value, str) for value in literals):
                texts = values.cast(comparable_type(values.type))
                found = pc.is_in(texts, pa.array(literals, texts.type))  # many in one go
                return np.asarray(found.to_numpy(zero_copy_only=False))
            same = (equal(number, value) == 0 for number, value in enumerate(literals))
            return reduce(np.logical_or, same)
        case Prefix(_, prefix):
            with placed(places):
                return starts_with(values, prefix, column)
        case IsMissing():
            return np.zeros(len(values), np.bool_)


def _as_evaluated(column: Column) -> _Coded:
    order = column.attribute.order
    if order is None and _is_ordered(column.dtype):
        return _Coded(column.codes, column.values, column.kind, column.values)
    return _Coded(column.codes, column.values, column.kind, order)


def _rows(predicate: Predicate, column_of: Callable[[str], _Coded]) -> Mask:
    """Return the rows where a predicate in negation normal form is true.

    What concerns a single column is joined by value first, since there are fewer of them.
    """
    names = predicate.attributes
    if len(names) == 1:
        column = column_of(next(iter(names)))
        return looked_up(_slots(predicate, column), column.codes)
    assert isinstance(predicate, And | Or)  # all that can read several columns
    return _joined(predicate, (_rows(part, column_of) for part in predicate.parts))


def _slots(predicate: Predicate, column: _Coded) -> Mask:
    """Return whether the predicate is true for each value and, last, for a missing cell."""
    match predicate:
        case And(parts) | Or(parts):
            return _joined(predicate, (_slots(part, column) for part in parts))
        case Not(part):
            return np.append(~_slots(part, column)[:-1], False)
    held = mask_of_values(predicate, column.values, column.kind, column.order)
    return np.append(held, isinstance(predicate, IsMissing))


def _joined(predicate: And | Or, masks: Iterable[Mask]) -> Mask:
    join = np.logical_and if isinstance(predicate, And) else np.logical_or
    return reduce(join, masks)


def _signs_in_order(
    values: pa.Array, literal: Value, column: str, kind: Kind, order: tuple[Any, ...] | pa.Array
) -> Signs:
    if kind is not Kind.ORDINAL:
        raise ParameterError(
            f"column '{column}' is {kind}, so the order of its categories does not count; "
            "compare it with = or IN, or state its `order`"
        )
    try:
        stated = order if isinstance(order, pa.Array) else stated_values(order, values.type)
    except ValueError:
        raise ParameterError(
            f"column '{column}' holds {values.type}, and its `order` lists values that do not "
            "read as such; list them as they stand in the column"
        ) from None
    place = np.flatnonzero(signs(stated, literal, column) == 0)
    if len(place) == 0:
        raise ParameterError(
            f"column '{column}' is ordinal and compared with a literal that has no place in its "
            "order; state it in `order`, or compare with = or IN"
        )
    # Texts are compared, since Arrow cannot look up values of every type.
    places = pc.index_in(to_texts(values), to_texts(stated))
    if places.null_count:
        raise ParameterError(
            f"column '{column}': {places.null_count} of its {len(values)} distinct values are not "
            "in its `order`; add them"
        )
    return np.sign(places.to_numpy() - place[0]).astype(np.int8)  # type: ignore[no-any-return]


def _read_column(cells: pa.ChunkedArray, attribute: Attribute) -> _Coded:
    natural = kind_of(cells.type)
    if natural is None:
        raise ParameterError(
            f"column '{attribute.name}' holds {cells.type}, which compares with no literal; "
            "leave it out of the predicate"
        )
    found = distinct(cells, attribute.name)
    kind = attribute.kind or natural
    if attribute.order is not None:
        return _Coded(found.codes, found.values, Kind.ORDINAL, attribute.order)
    if not _is_ordered(cells.type):
        return _Coded(found.codes, found.values, kind, None)
    # Called for its refusals: parts of a column may order their categories differently.
    arrange(found.values, cells, replace(attribute, hierarchy=None))
    # Categories that no row has are part of the order, too.
    entries = max((chunk.dictionary for chunk in cells.chunks), key=len)
    return _Coded(found.codes, found.values, kind, entries.drop_null().cast(found.values.type))


def _is_ordered(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(dtype) and dtype.ordered)


def _refuse_unknown(predicate: Predicate, known: Collection[str]) -> None:
    for name in sorted(predicate.attributes):
        if name not in known:
            raise ParameterError(f"predicate: {unknown_column(name, known)}")
