"""The values of a numeric attribute as whole numbers ("ticks") that keep their order.

Whole numbers, dates and times are their own ticks, a decimal's tick is its digits, and a float's
are its bits, in order: there is no float between those of neighbouring ticks. So a predicate, which
is constant between its literals, can be followed exactly along a range, whatever the type.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.predicates.compare import signs
from sfumato.predicates.expression import Value
from sfumato.schema.text import from_texts

Ticks = npt.NDArray[Any]  # int64, or Python's own where 64 bits do not do
Reals = npt.NDArray[np.float64]
End: TypeAlias = int | float | str | Decimal

_DAY = 86_400_000  # milliseconds
_EXACT = Context(prec=400)
_PROBES = 512  # values a search looks at in one go
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class NumberLine:
    """The ticks of one data type."""

    dtype: pa.DataType

    @property
    def is_grid(self) -> bool:
        """Whether values lie at equal steps, so that they can be counted; else lengths count."""
        return not pa.types.is_floating(self.dtype)

    @property
    def step(self) -> int:
        """How many ticks lie between neighbours on a grid: dates of 64 bits count milliseconds."""
        return _DAY if pa.types.is_date64(self.dtype) else 1

    def ticks(self, values: pa.Array) -> Ticks:
        """Return the ticks of values, none of them missing.

        >>> NumberLine(pa.float64()).ticks(pa.array([-0.0, 0.0, 5e-324])).tolist()
        [0, 0, 1]
        """
        if pa.types.is_decimal(self.dtype):
            digits = [f"{value:f}".replace(".", "") for value in values.to_pylist()]
            shift = 10 ** max(-self.dtype.scale, 0)
            return np.array([int(each) // shift for each in digits], dtype=object)
        if pa.types.is_temporal(self.dtype):
            values = values.view(pa.int32() if self.dtype.bit_width == 32 else pa.int64())
        numbers = np.asarray(values.to_numpy(zero_copy_only=False))
        if pa.types.is_floating(self.dtype):
            bits = numbers.view(self._width).astype(np.int64)
            sign = np.int64(np.iinfo(self._width).min)
            return np.where(bits < 0, sign - bits, bits)
        return numbers.astype(object if pa.types.is_uint64(self.dtype) else np.int64)

    def values(self, ticks: Ticks) -> pa.Array:
        """Return the values at the ticks."""
        if pa.types.is_decimal(self.dtype):
            scale = -self.dtype.scale
            numbers = [Decimal(int(tick)).scaleb(scale, _EXACT) for tick in ticks]
            return pa.array(numbers, self.dtype)
        if pa.types.is_temporal(self.dtype):
            return pa.array(ticks.astype(self._width)).view(self.dtype)
        if pa.types.is_floating(self.dtype):
            sign = np.int64(np.iinfo(self._width).min)
            bits = np.where(ticks < 0, sign - ticks, ticks).astype(self._width)
            return pa.array(bits.view(self.dtype.to_pandas_dtype()))
        return pa.array(ticks.tolist(), self.dtype)

    def positions(self, ticks: Ticks) -> Reals:
        """Return the numbers at the ticks (counts of their unit for dates and times)."""
        if pa.types.is_floating(self.dtype):
            flat = self.values(ticks.ravel()).to_numpy(zero_copy_only=False)
            return np.asarray(flat, dtype=np.float64).reshape(ticks.shape)
        numbers: Reals = ticks.astype(np.float64)
        return numbers / 10.0**self.dtype.scale if pa.types.is_decimal(self.dtype) else numbers

    @property
    def reach(self) -> tuple[int, int]:
        """The first and last tick that the type has."""
        if pa.types.is_decimal(self.dtype):
            return 1 - 10**self.dtype.precision, 10**self.dtype.precision - 1
        if pa.types.is_floating(self.dtype):
            largest = np.finfo(self.dtype.to_pandas_dtype()).max
            tick = int(self.ticks(pa.array(np.array([largest])))[0])
            return -tick, tick
        whole = self._width if pa.types.is_temporal(self.dtype) else self.dtype.to_pandas_dtype()
        return int(np.iinfo(whole).min), int(np.iinfo(whole).max)

    def first_at(self, end: End) -> int:
        """Return the first tick at or above the end of a domain or interval."""
        return self._tick(end, ROUND_CEILING, self.reach[0])

    def last_at(self, end: End) -> int:
        """Return the last tick at or below the end of a domain or interval."""
        return self._tick(end, ROUND_FLOOR, self.reach[1])

    def place(self, literal: Value, low: int, high: int, column: str) -> tuple[int, int]:
        """Return the first tick at or above the literal, and the first above it, of low..high + 1.

        The comparison is that of predicates, so that it means the same here as in the original.

        >>> NumberLine(pa.int8()).place(Decimal("1.5"), 0, 9, "x")
        (2, 2)
        >>> NumberLine(pa.int8()).place(7, 0, 9, "x")
        (7, 8)
        """
        at = self._first(literal, low, high, column, sign=0)
        return at, self._first(literal, at, high, column, sign=1)

    def _first(self, literal: Value, low: int, high: int, column: str, sign: int) -> int:
        end = high + 1
        while low < end:
            probes = range(low, end, max(1, (end - low) // _PROBES))
            ticks = np.array(probes, dtype=np.int64 if high <= _LARGEST else object)
            reached = np.flatnonzero(signs(self.values(ticks), literal, column) >= sign)
            if len(reached) == 0:
                low = probes[-1] + 1
            else:
                end = probes[reached[0]]
                low = end if reached[0] == 0 else probes[reached[0] - 1] + 1
        return end

    @property
    def _width(self) -> str:
        """The name of the integers that are as wide as the type."""
        return f"i{self.dtype.bit_width // 8}"

    def _tick(self, end: End, rounding: str, otherwise: int) -> int:
        """Return the tick of an end, within the type's reach; `otherwise` where it has none."""
        try:
            if pa.types.is_temporal(self.dtype):
                return int(self.ticks(from_texts(pa.array([str(end)]), self.dtype))[0])
            if pa.types.is_floating(self.dtype):
                with np.errstate(over="ignore"):
                    near = np.array([float(end)]).astype(self.dtype.to_pandas_dtype())
                return int(self.ticks(pa.array(near))[0]) if np.isfinite(near[0]) else otherwise
        except (ValueError, pa.ArrowException):
            return otherwise
        scale = self.dtype.scale if pa.types.is_decimal(self.dtype) else 0
        number = Decimal(str(end)).scaleb(scale, _EXACT)
        least, largest = self.reach
        return min(max(int(number.to_integral_value(rounding, _EXACT)), least), largest)
