"""Whether a column's values lie in the domain that the policy states, and in the calendar."""

from __future__ import annotations

from decimal import Decimal
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

# The calendar that texts and other programs know: the days of the years 1 to 9999.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# A text is read to the second first, and the second must fit as well.
_FIRST_NANOSECOND = -(2**63 // 10**9) * 10**9


def refuse_outside(column: Column, counts: npt.NDArray[np.int64]) -> None:
    """Refuse (SchemaError) infinite numbers, dates beyond the calendar, and values outside a
    stated domain. `counts` has the rows of each code, those of missing values last."""
    rows = int(counts.sum())
    beyond = _rows_with(counts, _beyond_calendar(column.values))
    if beyond:
        raise SchemaError(
            f"column '{column.name}': {beyond} of {rows} rows lie before the year 1 "
            "or after 9999, or at the edge of what the type can hold; make those dates missing"
        )
    if column.kind is Kind.NUMERIC and pa.types.is_floating(column.values.type):
        infinite = _rows_with(counts, pc.is_inf(column.values))
        if infinite:
            raise SchemaError(
                f"column '{column.name}': {infinite} of {rows} rows are infinite, "
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
    outside = _rows_with(counts, pc.invert(inside))
    if outside:
        raise SchemaError(
            f"column '{column.name}': {outside} of {rows} rows lie outside its "
            "stated `domain`; widen the domain, or make those values missing"
        )


def _beyond_calendar(values: pa.Array) -> pa.Array:
    """Return which values are dates or times that no text can tell."""
    dtype = values.type
    if pa.types.is_date32(dtype):
        ticks, low, high = values.cast(pa.int32()), _FIRST_DAY, _LAST_DAY
    elif pa.types.is_date64(dtype) or pa.types.is_timestamp(dtype):
        day = 86_400 * _TICKS["ms" if pa.types.is_date64(dtype) else dtype.unit]
        # where the clock is ahead of the world's, the local year begins before the year does
        margin = int(pa.types.is_timestamp(dtype) and dtype.tz not in (None, "UTC"))
        ticks = values.cast(pa.int64())
        low = max((_FIRST_DAY + margin) * day, _FIRST_NANOSECOND)
        high = min((_LAST_DAY + 1 - margin) * day - 1, 2**63 - 1)
    else:
        return pa.array(np.zeros(len(values), np.bool_))
    return pc.or_(pc.less(ticks, low), pc.greater(ticks, high))


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
    except (ValueError, OverflowError):
        # such as a fraction, or a number beyond the type, that bounds whole numbers
        is_long = isinstance(bound, int) and bound.bit_length() >= 64
        return pa.scalar(Decimal(bound) if is_long else bound)


def _rows_with(counts: npt.NDArray[np.int64], flagged: pa.Array) -> int:
    return int(counts[:-1][flagged.to_numpy(zero_copy_only=False)].sum())
