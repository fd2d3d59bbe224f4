"""Values of one attribute, whatever types they have in different tables, made comparable.

Where the attribute has numbers in one table, its values are compared as numbers everywhere: 33,
33.0 and the text `33` are one value, and so are 2139 and `02139`. Where it has dates or times, all
are moments, and a date is its first one. Otherwise texts are compared as they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

import pyarrow as pa

from sfumato.answers.number_line import NumberLine
from sfumato.schema.kinds import is_number, is_text
from sfumato.schema.text import from_texts

Key: TypeAlias = Decimal | Fraction | str

_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the values of one attribute compare: `line` is a type of numbers or times, or None."""

    line: pa.DataType | None

    @classmethod
    def of(cls, dtypes: Iterable[pa.DataType]) -> Comparison:
        """Return how values of these types compare with each other."""
        return cls(next((dtype for dtype in dtypes if is_number(dtype)), None))

    def keys(self, texts: Sequence[str], dtype: pa.DataType) -> list[Key]:
        """Return a key for every text of a value of the type; equal values have equal keys.

        >>> Comparison(pa.int64()).keys(["033", "33.0", "old"], pa.string())
        [Decimal('33'), Decimal('33.0'), 'old']
        """
        if self.line is None:
            return list(texts)
        if not pa.types.is_temporal(self.line):
            return [_number(text) for text in texts] if _counts(dtype) else list(texts)
        if is_text(dtype):
            dtype = self.line
        if not pa.types.is_temporal(dtype):
            return list(texts)
        try:
            return _moments(texts, dtype)
        except (ValueError, pa.ArrowException):  # one of them at least is no moment
            return [_moment(text, dtype) for text in texts]


def _counts(dtype: pa.DataType) -> bool:
    return is_text(dtype) or (is_number(dtype) and not pa.types.is_temporal(dtype))


def _number(text: str) -> Key:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number if number.is_finite() else text


def _moments(texts: Sequence[str], dtype: pa.DataType) -> list[Key]:
    ticks = NumberLine(dtype).ticks(from_texts(pa.array(texts, pa.string()), dtype))
    if pa.types.is_date(dtype):
        seconds = Fraction(86400) if dtype.bit_width == 32 else Fraction(1, 1000)
    else:
        seconds = Fraction(1, _UNITS[dtype.unit])
    return [int(tick) * seconds for tick in ticks]


def _moment(text: str, dtype: pa.DataType) -> Key:
    try:
        return _moments([text], dtype)[0]
    except (ValueError, pa.ArrowException):
        return text
