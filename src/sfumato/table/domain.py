"""Whether a column's values lie in the domain that the policy states."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.schema.attribute import Kind
from sfumato.schema.kinds import stated_values
from sfumato.schema.text import to_texts
from sfumato.table.column import Column


def refuse_outside(column: Column) -> None:
    """Refuse (SchemaError) infinite numbers, and values outside a stated domain."""
    if column.kind is Kind.NUMERIC and pa.types.is_floating(column.values.type):
        infinite = _rows_with(column, pc.is_inf(column.values))
        if infinite:
            raise SchemaError(
                f"column '{column.name}': {infinite} of {len(column.codes)} rows are infinite, "
                "and a range has finite ends; make them missing, or state it as categorical"
            )
    if column.attribute.domain is None or column.cardinality == 0:
        return
    try:
        inside = _inside(column, column.attribute.domain)
    except (pa.ArrowException, ValueError, TypeError):
        raise SchemaError(
            f"column '{column.name}' holds {column.values.type}, and its `domain` does not read "
            "as such; state it in the form that the column has"
        ) from None
    outside = _rows_with(column, pc.invert(inside))
    if outside:
        raise SchemaError(
            f"column '{column.name}': {outside} of {len(column.codes)} rows lie outside its "
            "stated `domain`; widen the domain, or make those values missing"
        )


def _inside(column: Column, domain: tuple[Any, ...]) -> pa.Array:
    if column.kind is not Kind.NUMERIC:
        # Texts are compared, since Arrow cannot look up values of every type.
        stated = stated_values(domain, column.values.type)
        return pc.is_in(to_texts(column.values), to_texts(stated))
    low, high = domain
    values = column.values
    if pa.types.is_decimal(values.type) and values.type.bit_width < 128:
        values = values.cast(pa.decimal128(values.type.precision, values.type.scale))
    return pc.and_(
        pc.greater_equal(values, _bound(low, values.type)),
        pc.less_equal(values, _bound(high, values.type)),
    )


def _bound(bound: Any, dtype: pa.DataType) -> pa.Scalar:
    try:
        return stated_values((bound,), dtype)[0]
    except ValueError:
        return pa.scalar(bound)  # such as a fraction that bounds whole numbers


def _rows_with(column: Column, flagged: pa.Array) -> int:
    flags: npt.NDArray[np.bool_] = np.append(flagged.to_numpy(zero_copy_only=False), False)
    return int(np.count_nonzero(flags[column.codes]))
