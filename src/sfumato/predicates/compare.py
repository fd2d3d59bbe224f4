"""Literals against the values of a column, whatever type these have."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.predicates.expression import Value
from sfumato.predicates.moments import DAY, NANOSECONDS, Moment, read_moment, read_time
from sfumato.schema.kinds import comparable_type, is_text

Signs: TypeAlias = npt.NDArray[np.int8]

# More digits than any decimal type or literal has together.
_EXACT = Context(prec=2000)


def signs(values: pa.Array, literal: Value, column: str) -> Signs:
    """Return -1, 0 or 1 where a value lies below, at or above the literal.

    Numbers compare exactly, except that a literal stands for the float next to it where the
    column has floats. Texts compare by code point, FALSE comes before TRUE. A date is its first
    moment; a moment without an offset is one on the clocks of the column's time zone.

    Refuses (ParameterError) a literal that does not compare with values of the column's type.

    >>> signs(pa.array([29, 30, 31]), Decimal("30.5"), "age").tolist()
    [-1, -1, 1]
    >>> signs(pa.array([date(1999, 12, 31), date(2000, 1, 1)]), "2000-01-01", "birth").tolist()
    [-1, 0]
    """
    dtype = values.type
    values = values.cast(comparable_type(dtype))
    if pa.types.is_null(dtype):
        return np.zeros(len(values), np.int8)
    if isinstance(literal, bool):
        if pa.types.is_boolean(dtype):
            return _around(_numbers(values).astype(np.int8), literal, literal)
    elif isinstance(literal, int | Decimal):
        if pa.types.is_decimal(dtype):
            return _decimal_signs(values, Decimal(literal))
        if pa.types.is_floating(dtype):
            return _around(_numbers(values), *_nearest_floats(literal, dtype))
        if pa.types.is_integer(dtype) or pa.types.is_duration(dtype):
            return _around(_whole(values), floor(literal), ceil(literal))
    elif isinstance(literal, str) and is_text(dtype):
        return _around_scalar(values, pa.scalar(literal, values.type))
    elif pa.types.is_timestamp(dtype) or pa.types.is_date(dtype):
        return _moment_signs(values, _moment(literal, dtype, column))
    elif isinstance(literal, str) and pa.types.is_time(dtype):
        return _tick_signs(values, _time(literal, dtype, column), NANOSECONDS[dtype.unit])
    raise _refusal(column, dtype, literal)


def starts_with(values: pa.Array, prefix: str, column: str) -> npt.NDArray[np.bool_]:
    """Return which of the texts begin with the prefix.

    Refuses (ParameterError) values that are not texts.
    """
    if pa.types.is_null(values.type):
        return np.zeros(len(values), np.bool_)
    if not is_text(values.type):
        raise ParameterError(
            f"column '{column}' holds {values.type}, and LIKE is for texts; compare it with < and >"
        )
    texts = values.cast(comparable_type(values.type))
    return np.asarray(pc.starts_with(texts, prefix).to_numpy(zero_copy_only=False))


def _around(points: npt.NDArray[Any], low: Any, high: Any) -> Signs:
    """Return the signs against a literal that lies at `low` = `high`, or between the two.

    Between them must lie no point, so that below the one is as good as below the literal.
    """
    found: Signs = np.subtract(points > low, points < high, dtype=np.int8)
    return found


def _around_scalar(values: pa.Array, low: pa.Scalar, high: pa.Scalar | None = None) -> Signs:
    above = pc.greater(values, low).to_numpy(zero_copy_only=False)
    below = pc.less(values, low if high is None else high).to_numpy(zero_copy_only=False)
    found: Signs = np.subtract(above, below, dtype=np.int8)
    return found


def _numbers(values: pa.Array) -> npt.NDArray[Any]:
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _whole(values: pa.Array) -> npt.NDArray[Any]:
    """Return whole numbers, or the counts that dates, times and durations are stored as."""
    if pa.types.is_temporal(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return _numbers(values)


def _nearest_floats(literal: int | Decimal, dtype: pa.DataType) -> tuple[Any, Any]:
    """Return the float that the literal stands for, twice; beyond them all, the last two."""
    kind = np.dtype(dtype.to_pandas_dtype())
    largest = np.finfo(kind).max
    with np.errstate(over="ignore"):
        number = np.array(float(Decimal(literal))).astype(kind)[()]
    if np.isinf(number):  # infinity itself is no literal, and lies beyond every one
        return (largest, number) if number > 0 else (number, -largest)
    return number, number


def _decimal_signs(values: pa.Array, literal: Decimal) -> Signs:
    dtype = values.type
    step = Decimal(1).scaleb(-dtype.scale)
    low, high = (
        literal.quantize(step, rounding, _EXACT) for rounding in (ROUND_FLOOR, ROUND_CEILING)
    )
    if max(abs(low), abs(high)) >= Decimal(10) ** (dtype.precision - dtype.scale):
        # Outside the type, so outside its values.
        return np.full(len(values), -1 if literal > 0 else 1, np.int8)
    return _around_scalar(values, pa.scalar(low, dtype), pa.scalar(high, dtype))


def _moment_signs(values: pa.Array, nanoseconds: int) -> Signs:
    if pa.types.is_date32(values.type):
        return _tick_signs(values, nanoseconds, DAY)
    unit = "ms" if pa.types.is_date64(values.type) else values.type.unit
    return _tick_signs(values, nanoseconds, NANOSECONDS[unit])


def _tick_signs(values: pa.Array, nanoseconds: int, tick: int) -> Signs:
    return _around(_whole(values), nanoseconds // tick, -(-nanoseconds // tick))


def _moment(literal: Value, dtype: pa.DataType, column: str) -> int:
    if isinstance(literal, str):
        try:
            moment = read_moment(literal)
        except ValueError:
            raise _refusal(column, dtype, literal) from None
    elif isinstance(literal, date):
        moment = Moment.of(literal)
    else:
        raise _refusal(column, dtype, literal)
    zone = getattr(dtype, "tz", None)
    if moment.fixed is (zone is not None):
        return moment.nanoseconds
    if moment.fixed:
        raise ParameterError(
            f"column '{column}' holds {dtype} and is compared with a moment that has an offset "
            "from UTC; leave the offset out"
        )
    seconds, rest = divmod(moment.nanoseconds, NANOSECONDS["s"])
    try:
        local = pc.assume_timezone(pa.scalar(seconds, pa.timestamp("s")), zone)
    except pa.ArrowException:
        raise ParameterError(
            f"column '{column}' holds {dtype} and is compared with a moment that the clocks of "
            "that zone show twice or never; add its offset, as in +01:00"
        ) from None
    return int(local.cast(pa.int64()).as_py()) * NANOSECONDS["s"] + rest


def _time(literal: str, dtype: pa.DataType, column: str) -> int:
    try:
        return read_time(literal)
    except ValueError:
        raise _refusal(column, dtype, literal) from None


def _refusal(column: str, dtype: pa.DataType, literal: Value) -> ParameterError:
    return ParameterError(
        f"column '{column}' holds {dtype} and is compared with {_said(literal)}; {_wanted(dtype)}"
    )


def _said(literal: Value) -> str:
    match literal:
        case bool():
            return "a truth value"
        case str():
            return "a text"
        case date():
            return "a date"
    return "a number"


def _wanted(dtype: pa.DataType) -> str:
    if pa.types.is_boolean(dtype):
        return "write TRUE or FALSE"
    if is_text(dtype):
        return "write a text in single quotes"
    if pa.types.is_timestamp(dtype):
        return "write a timestamp in ISO form, such as '2026-01-31 12:00:00'"
    if pa.types.is_date(dtype):
        return "write a date in ISO form, such as '2026-01-31'"
    if pa.types.is_time(dtype):
        return "write a time of day, such as '12:00:00'"
    return "write a number without quotes"
