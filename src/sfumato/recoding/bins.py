"""Numbers replaced by the interval that holds them: ordered labels such as `18 to 64`."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.recoding.step import is_finite, misfit, text_of, unfit_type
from sfumato.schema.text import to_texts

Edge = int | float | None


@dataclass(frozen=True, slots=True)
class BinInto:
    """Numbers become the interval between two stated edges: `bins: [0, 18, 65, 120]`.

    An interval holds its lower edge and not its upper one, except for the last, which holds both:
    as with the hierarchy of that name. `null` as the first or last edge leaves that end open. The
    labels are words, `0 to 17`, `18 to 64`, `65 and over`, since brackets are how a release writes
    that a cell was generalised, and `10-12` is a date to spreadsheets. They have an order.

    >>> BinInto([0, 18, 65, None]).recode(pa.array([17, 65]), "age").to_pylist()
    ['0 to 17', '65 and over']
    >>> BinInto([None, 0.5, 1]).recode(pa.array([0.2, 1.0]), "share").to_pylist()
    ['under 0.5', '0.5 to 1']
    """

    edges: Sequence[Edge]
    key: ClassVar[str] = "bins"

    def __post_init__(self) -> None:
        given: Any = self.edges
        if not isinstance(given, list | tuple) or len(given) < 2:
            raise ParameterError("`bins` needs a list of edges such as [0, 18, 65, 120]")
        edges = tuple(None if _is_infinite(edge) else edge for edge in given)
        inner = [edge for edge in edges if edge is not None]
        if None in edges[1:-1] or not all(map(is_finite, inner)):
            raise ParameterError("`bins` needs numbers; only the outer edges may be null")
        ascending = all(low < high for low, high in pairwise(map(_exact, inner)))
        if not ascending or not inner:
            raise ParameterError("the edges of `bins` must ascend")
        if (given[0] == math.inf) or (given[-1] == -math.inf):
            raise ParameterError("the edges of `bins` must ascend")
        object.__setattr__(self, "edges", edges)

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy."""
        return {self.key: list(self.edges)}

    def labels(self, *, whole: bool) -> tuple[str, ...]:
        """Return the labels from low to high; of whole numbers only intervals that hold some."""
        return tuple(label for label in self._labels(whole) if label is not None)

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Return the labels of the values, coded by an ordered dictionary of all labels.

        Refuses (SchemaError) columns that do not hold numbers, and values outside the outer edges.
        """
        dtype = values.type
        whole = pa.types.is_integer(dtype)
        if not (whole or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)):
            raise unfit_type(self, name, dtype, "numbers")
        if pa.types.is_float16(dtype):
            values = values.cast(pa.float32())
        points = [Decimal(text) for text in to_texts(values).to_pylist()]
        outer = self._ends()
        outside = sum(not outer[0] <= point <= outer[-1] for point in points)
        if outside:
            raise misfit(
                self,
                name,
                f"has edges that leave out {outside} of {len(points)} different values; move "
                "the first or last edge, or leave it open with null",
            )
        labels = self._labels(whole)
        place = np.cumsum([label is not None for label in labels]) - 1
        last = len(labels) - 1
        codes = [int(place[min(bisect_right(outer, point) - 1, last)]) for point in points]
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()),
            pa.array(self.labels(whole=whole), pa.string()),
            ordered=True,
        )

    def _ends(self) -> list[Decimal]:
        """Return the edges as numbers, infinite ones where they are open."""
        low, *inner, high = self.edges
        return [
            Decimal("-Infinity") if low is None else _exact(low),
            *(_exact(edge) for edge in inner if edge is not None),
            Decimal("Infinity") if high is None else _exact(high),
        ]

    def _labels(self, whole: bool) -> list[str | None]:
        """Return the label of each interval, None where no whole number lies in it."""
        ends = list(pairwise(self._ends()))
        return [
            _label(low, high, whole=whole, closed=place == len(ends) - 1)
            for place, (low, high) in enumerate(ends)
        ]


def _label(low: Decimal, high: Decimal, *, whole: bool, closed: bool) -> str | None:
    if whole:  # no whole number lies between an edge and the next one above it
        last = high if high.is_infinite() else Decimal(math.floor(high))
        low, high = (n if n.is_infinite() else Decimal(math.ceil(n)) for n in (low, high))
    if low.is_infinite():  # then the other end is not: there is an edge
        return f"up to {_text(last if whole else high)}" if closed else f"under {_text(high)}"
    if high.is_infinite():
        return f"{_text(low)} and over"
    if not whole:
        return f"{_text(low)} to {'' if closed else 'under '}{_text(high)}"
    if not closed:
        last = high - 1
    if low > last:
        return None
    return _text(low) if low == last else f"{_text(low)} to {_text(last)}"


def _text(number: Decimal) -> str:
    """Return the number in plain digits, or with an exponent where it would be long."""
    digits = f"{number:f}"
    return digits if len(digits) <= 20 else str(number)


def _exact(edge: int | float) -> Decimal:
    return Decimal(text_of(edge))


def _is_infinite(edge: object) -> bool:
    return isinstance(edge, float) and math.isinf(edge)
