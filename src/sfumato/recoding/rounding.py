"""Numbers rounded to multiples of a stated step, exactly as they are written."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ParameterError, SchemaError
from sfumato.recoding.step import is_finite, misfit, text_of, unfit_type
from sfumato.schema.kinds import comparable_type
from sfumato.schema.text import to_texts


@dataclass(frozen=True, slots=True)
class RoundTo:
    """Numbers become the nearest multiple of the step, halves the even one: `round: 5`.

    The arithmetic is decimal, so that 12.34 to 0.1 is 12.3 and not 12.299999. Halves go to the
    even multiple, as in R and Python, so that sums do not drift upwards.

    >>> RoundTo(10).recode(pa.array([15, 25, 26]), "age").to_pylist()
    [20, 20, 30]
    >>> RoundTo(0.1).recode(pa.array([12.34, 0.25]), "weight").to_pylist()
    [12.3, 0.2]
    """

    step: int | float
    key: ClassVar[str] = "round"

    def __post_init__(self) -> None:
        if not is_finite(self.step) or self.step <= 0:
            raise ParameterError("`round` needs a number above 0")

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy."""
        return {self.key: self.step}

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Return the rounded values; the type stays, and so do infinite numbers.

        Refuses (SchemaError) columns that do not hold numbers, a step whose multiples the column's
        type cannot hold, and numbers whose multiple is too large for it.
        """
        dtype = values.type
        whole, floating = pa.types.is_integer(dtype), pa.types.is_floating(dtype)
        if not (whole or floating or pa.types.is_decimal(dtype)):
            raise unfit_type(self, name, dtype, "numbers")
        step = Decimal(text_of(self.step))
        places = 0 if whole else None if floating else dtype.scale
        if places is not None and not _is_multiple(step, places):
            raise misfit(
                self, name, f"has a step whose multiples the column, of {dtype}, cannot hold"
            )
        try:
            if whole:
                width = int(step)
                return pa.array([nearest(n, width) * width for n in values.to_pylist()], dtype)
            if not floating:
                found = [multiple(number, step) for number in values.to_pylist()]
                return pa.array(found, pa.decimal256(76, dtype.scale)).cast(dtype)
        except (pa.ArrowException, OverflowError, ValueError):
            raise self._too_far(name, dtype) from None
        wide = values.cast(comparable_type(dtype))
        rounded = _rounded_floats(wide, step).astype(wide.type.to_pandas_dtype())
        if np.isinf(rounded).sum() > np.isinf(wide.to_numpy()).sum():
            raise self._too_far(name, dtype)
        return pa.array(rounded, wide.type).cast(dtype)

    def _too_far(self, name: str, dtype: pa.DataType) -> SchemaError:
        return misfit(self, name, f"leads beyond what the column, of {dtype}, can hold")


def _rounded_floats(values: pa.Array, step: Decimal) -> npt.NDArray[np.float64]:
    """Return the double nearest to the multiple of each number; infinite numbers stay.

    A step is a fraction p/q of whole numbers, so that its k-th multiple is (k p)/q: one division,
    which rounds correctly. Numbers too near to a half, or too large, are looked at as written.
    """
    numbers = values.to_numpy().astype(np.float64)
    part = Fraction(step)
    with np.errstate(over="ignore", invalid="ignore"):
        quotient = numbers / float(step)
        count = np.rint(quotient)
        tops = count * float(part.numerator)
        slack = _SLACK * np.finfo(values.type.to_pandas_dtype()).eps * np.abs(quotient)
        clear = np.abs(np.abs(quotient - count) - 0.5) > slack
        clear &= np.abs(tops) < _EXACT
    if max(part.numerator, part.denominator) >= _EXACT:
        clear[:] = False
    found = np.where(clear, tops / min(part.denominator, _EXACT), numbers)
    doubtful = np.flatnonzero(~clear & np.isfinite(numbers))
    texts = to_texts(values.take(pa.array(doubtful))).to_pylist()
    found[doubtful] = [float(multiple(Decimal(text), step)) for text in texts]
    return found + 0.0  # no minus zero


_EXACT = 2**53  # all whole numbers below are doubles
_SLACK = 8  # roundings that a quotient may have gone through, with room


def nearest(number: int, width: int) -> int:
    """Return how many times the width is nearest to the number; of two counts, the even one.

    >>> nearest(15, 10), nearest(25, 10), nearest(-26, 10)
    (2, 2, -3)
    """
    count, rest = divmod(number, width)
    return count + (2 * rest > width or (2 * rest == width and count % 2 == 1))


def multiple(number: Decimal, step: Decimal) -> Decimal:
    """Return the multiple of the step nearest to the number, of two the even one.

    >>> multiple(Decimal("12.5"), Decimal(5)), multiple(Decimal("-0.15"), Decimal("0.1"))
    (Decimal('10.0'), Decimal('-0.20'))
    """
    exponent = min(_exponent(number), _exponent(step))
    width = _whole(step, exponent)
    total = nearest(_whole(number, exponent), width) * width
    return Decimal((int(total < 0), tuple(map(int, str(abs(total)))), exponent))


def _is_multiple(number: Decimal, places: int) -> bool:
    """Whether so many decimal places hold the number; `round` has no room for long ones."""
    return bool((Fraction(number) * 10**places).denominator == 1)


def _whole(number: Decimal, exponent: int) -> int:
    """Return the number in units of 10^exponent; Decimal's own arithmetic would round it."""
    sign, digits, _ = number.as_tuple()
    size = int("".join(map(str, digits))) * int(10 ** (_exponent(number) - exponent))
    return -size if sign else size


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # a finite number
    return exponent
