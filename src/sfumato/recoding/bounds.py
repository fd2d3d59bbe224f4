"""Top and bottom coding: what lies beyond a stated value becomes that value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.recoding.step import is_finite, misfit, plain, text_of, unfit_type
from sfumato.schema.kinds import comparable_type, is_number
from sfumato.schema.text import from_texts


@dataclass(frozen=True, slots=True)
class _Bound:
    """A stated end of a column's values: a number, or the text of a date, time or decimal."""

    value: Any

    key: ClassVar[str]
    is_top: ClassVar[bool]

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", plain(self.value))
        if not (is_finite(self.value) or (isinstance(self.value, str) and self.value)):
            raise ParameterError(f"`{self.key}` needs a number, or a date such as 2026-01-31")

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy."""
        return {self.key: self.value}

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Return the values, those beyond the bound replaced by it; the type stays.

        Refuses (SchemaError) columns of text or truth values, and a bound that the column's type
        cannot hold, such as 90.5 among whole numbers.
        """
        if not is_number(values.type):
            raise unfit_type(self, name, values.type, "numbers, dates and times")
        bound = self.bound(values.type, name)
        if bound is None:
            return values
        exact = comparable_type(values.type)
        ordered, end = values.cast(exact), pa.scalar(bound.as_py(), values.type).cast(exact)
        if pa.types.is_duration(exact):  # Arrow does not compare them
            ordered, end = ordered.cast(pa.int64()), pa.scalar(bound.value, pa.int64())
        beyond = (pc.greater if self.is_top else pc.less)(ordered, end)
        return pc.if_else(beyond, end, ordered).cast(values.type)

    def bound(self, dtype: pa.DataType, name: str) -> pa.Scalar | None:
        """Return the bound as a value of the type, None where no value of the type is beyond it."""
        text = text_of(self.value)
        try:
            return _read(text, dtype)
        except (pa.ArrowException, ValueError):
            pass
        if pa.types.is_integer(dtype) and isinstance(self.value, int):
            signed = pa.types.is_signed_integer(dtype)
            is_high = self.value > 2 ** (dtype.bit_width - signed) - 1
            if is_high == self.is_top:
                return None
        raise misfit(self, name, f"has a value that the column, which holds {dtype}, cannot hold")


def _read(text: str, dtype: pa.DataType) -> pa.Scalar:
    """Return the value that a text stands for; a moment without a zone is one of the column's."""
    if pa.types.is_float16(dtype):
        return pa.scalar(float(text), pa.float32()).cast(dtype)
    if not pa.types.is_timestamp(dtype) or dtype.tz is None:
        return from_texts(pa.array([text]), dtype)[0]
    try:
        return from_texts(pa.array([text]), dtype)[0]
    except pa.ArrowInvalid:
        local = from_texts(pa.array([text]), pa.timestamp(dtype.unit))
        return pc.assume_timezone(local, dtype.tz, ambiguous="earliest", nonexistent="latest")[0]


class TopCode(_Bound):
    """Values above the stated one become it: `top: 90`.

    >>> TopCode(90).recode(pa.array([33, 97]), "age").to_pylist()
    [33, 90]
    """

    __slots__ = ()
    key = "top"
    is_top = True


class BottomCode(_Bound):
    """Values below the stated one become it: `bottom: 16`.

    >>> BottomCode("2020-01-01").recode(pa.array([18000, 19000]).cast(pa.int32()).cast(
    ...     pa.date32()), "seen").to_pylist()
    [datetime.date(2020, 1, 1), datetime.date(2022, 1, 8)]
    """

    __slots__ = ()
    key = "bottom"
    is_top = False
