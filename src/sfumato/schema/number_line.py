"""The values of a numeric column as exact points, and the labels of the ranges they fall into.

All arithmetic here is exact, on the numbers as they are written: 0.3 lies in `[0.3, 0.4)`.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import HierarchyError
from sfumato.schema.hierarchy import ROOT
from sfumato.schema.text import to_texts

# Wide enough for the sums and products of any two doubles.
_EXACT = decimal.Context(prec=2000)


@dataclass(frozen=True, slots=True)
class NumberLine:
    """Distinct numbers in ascending order, their texts and how often each was given."""

    points: tuple[Decimal, ...]
    texts: tuple[str, ...]
    counts: tuple[int, ...]
    whole: bool


def number_line(values: pa.Array, name: str) -> NumberLine:
    """Return the values as points; HierarchyError for values that are not finite numbers.

    >>> number_line(pa.array([2.5, 1.0]), "weight").texts
    ('1', '2.5')
    """
    dtype = values.type
    whole = bool(pa.types.is_integer(dtype))
    if not (whole or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)):
        raise HierarchyError(
            f"column '{name}': intervals need numbers, and the column is {dtype}; "
            "use `dates` for dates, `mask` for codes, or a hierarchy file"
        )
    found = pc.value_counts(to_texts(values).drop_null())
    texts = found.field("values").to_pylist()
    points = [Decimal(text) for text in texts]
    infinite = sum(not point.is_finite() for point in points)
    if infinite:
        raise HierarchyError(
            f"column '{name}': {infinite} values are infinite or not a number; "
            "make them missing before publishing"
        )
    ordered = sorted(zip(points, texts, found.field("counts").to_pylist(), strict=True))
    return NumberLine(
        points=tuple(point for point, _, _ in ordered),
        texts=tuple(text for _, text, _ in ordered),
        counts=tuple(count for _, _, count in ordered),
        whole=whole,
    )


def range_label(
    low: Decimal | None, high: Decimal | None, *, whole: bool, closed: bool = False
) -> str:
    """Return the label of the numbers from `low` up to `high`, without `high` unless closed.

    Whole numbers get the closed range of those inside it. None is an open end.

    >>> range_label(Decimal(0), Decimal(18), whole=True)
    '[0, 17]'
    >>> range_label(Decimal("0"), Decimal("0.5"), whole=False)
    '[0, 0.5)'
    >>> range_label(Decimal(80), None, whole=True)
    '>=80'
    """
    if low is None or high is None:
        if low is not None:
            return f">={_number_text(low)}"
        return ROOT if high is None else f"<{_number_text(high)}"
    if whole:
        first = math.ceil(low)
        last = math.floor(high) if closed else math.ceil(high) - 1
        return str(first) if first == last else f"[{first}, {last}]"
    return f"[{_number_text(low)}, {_number_text(high)}{']' if closed else ')'}"


def times(number: Decimal, factor: int) -> Decimal:
    """Return the exact product."""
    return _EXACT.multiply(number, Decimal(factor))


def round_up(number: Decimal, digits: int, *, whole: bool) -> Decimal:
    """Return the least number of so many significant digits (or whole number) not below it.

    >>> round_up(Decimal("9.125"), 2, whole=False), round_up(Decimal("9.125"), 2, whole=True)
    (Decimal('9.2'), Decimal('10'))
    """
    return _rounded(number, _last_place(number, digits, whole), decimal.ROUND_CEILING)


def next_up(number: Decimal, digits: int, *, whole: bool) -> Decimal:
    """Return the next number of so many significant digits (or whole number) above it.

    >>> next_up(Decimal("9.9"), 2, whole=False)
    Decimal('10.0')
    """
    place = _last_place(number, digits, whole)
    return _EXACT.add(_rounded(number, place, decimal.ROUND_FLOOR), Decimal((0, (1,), place)))


def separator(below: Decimal, above: Decimal) -> Decimal:
    """Return the roundest number greater than `below` and at most `above`.

    A cut between two values of the data then tells neither of them if it can.

    >>> separator(Decimal("1912.34"), Decimal("2207.50"))
    Decimal('2E+3')
    >>> separator(Decimal(21), Decimal(22))
    Decimal('22')
    """
    if below < 0 <= above:
        return Decimal(0)
    exponent = above.as_tuple().exponent
    assert isinstance(exponent, int)  # a finite number
    for place in range(max(above.adjusted(), below.adjusted()), exponent, -1):
        candidate = _rounded(above, place, decimal.ROUND_FLOOR)
        if candidate > below:
            return candidate
    return above


def _rounded(number: Decimal, place: int, how: str) -> Decimal:
    return number.quantize(Decimal((0, (1,), place)), rounding=how, context=_EXACT)


def _last_place(number: Decimal, digits: int, whole: bool) -> int:
    place = number.adjusted() - digits + 1
    return max(place, 0) if whole else place


def _number_text(number: Decimal) -> str:
    plain = number.normalize(_EXACT)
    digits = f"{plain:f}"
    return digits if len(digits) <= 20 else str(plain)
