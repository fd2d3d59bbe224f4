"""What all recoding steps have in common: one change of a column's values, stated in a policy."""

from __future__ import annotations

import math
from datetime import date, time
from decimal import Decimal
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.schema.text import to_texts

Scalar = bool | int | float | str


class Step(Protocol):
    """One change of a column: a frozen dataclass, checked when it is made (ParameterError)."""

    key: ClassVar[str]

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Return what the distinct values become, in their order; `name` is the column's.

        Refuses (SchemaError) values of a type that the step is not for.
        """
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy, as plain values that JSON can hold."""
        ...


def misfit(step: Step, name: str, what: str) -> SchemaError:
    """Return the refusal of a step that does not fit a column; `what` holds no value."""
    return SchemaError(f"column '{name}', `recode`: `{step.key}` {what}")


def unfit_type(step: Step, name: str, dtype: pa.DataType, wanted: str) -> SchemaError:
    """Return the refusal of a step that is for columns of another type."""
    return misfit(step, name, f"is for {wanted}, and the column holds {dtype}")


def plain(value: Any) -> Any:
    """Return a stated value as JSON can hold it: dates, times and decimals become texts.

    >>> plain(date(2026, 1, 31)), plain(90)
    ('2026-01-31', 90)
    """
    if isinstance(value, date | time | Decimal):
        return to_texts(pa.array([value]))[0].as_py()
    return value


def is_scalar(value: object) -> bool:
    """Return whether a stated value is a text, a truth value or a finite number."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int | str)


def is_finite(value: object) -> bool:
    """Return whether a stated value is a finite number, and one that a float can come near."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def text_of(value: Scalar) -> str:
    """Return the text form of a stated value.

    >>> text_of(5.0), text_of(True), text_of("5.0")
    ('5', 'true', '5.0')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # of any size
    text: str = to_texts(pa.array([value]))[0].as_py()
    return text
