"""Hierarchies of intervals over numbers: stated edges, equal widths, quantiles."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa

from sfumato.errors import HierarchyError, ParameterError
from sfumato.schema.hierarchy import ROOT, Hierarchy
from sfumato.schema.number_line import (
    NumberLine,
    next_up,
    number_line,
    range_label,
    round_up,
    separator,
    times,
)

# Up to so many whole numbers between the outer edges are listed as leaves.
_LISTED = 100_000
# Width found from the data is rounded to so many digits: it need not tell the range exactly.
_WIDTH_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Bins:
    """Intervals between stated edges; several lists of edges, fine to coarse, give several levels.

    An interval holds its lower edge and not its upper one, except for the last one, which holds
    both. Whole-number columns list every number between the outer edges, so that the hierarchy
    comes from the policy alone; with other columns the leaves are the values of the data.

    Refuses (HierarchyError) values outside the outer edges.

    >>> Bins([0, 2, 4]).build(pa.array([3, 0]), "children").rows()
    [('0', '[0, 1]', '*'), ('1', '[0, 1]', '*'), ('2', '[2, 4]', '*'), ('3', '[2, 4]', '*'), \
('4', '[2, 4]', '*')]
    """

    edges: Sequence[float] | Sequence[Sequence[float]]
    _levels: tuple[tuple[Decimal, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        edges: Sequence[Any] = self.edges
        if not isinstance(edges, (list, tuple)) or not edges:
            raise ParameterError("`bins` needs a list of edges such as [0, 18, 65, 120]")
        nested = isinstance(edges[0], (list, tuple))
        levels = tuple(_edges(level) for level in (edges if nested else [edges]))
        for fine, coarse in pairwise(levels):
            if not set(coarse) <= set(fine) or (coarse[0], coarse[-1]) != (fine[0], fine[-1]):
                raise ParameterError(
                    "`bins` needs nested levels: every coarser list takes its edges from the "
                    "finer one before it, the first and last edge included"
                )
        object.__setattr__(self, "_levels", levels)

    def build(self, values: pa.Array, name: str) -> Hierarchy:
        """Return the hierarchy over the values."""
        line = number_line(values, name)
        lowest, highest = self._levels[0][0], self._levels[0][-1]
        outside = sum(not lowest <= point <= highest for point in line.points)
        if outside:
            raise HierarchyError(
                f"column '{name}': {outside} of {len(line.points)} values lie outside the outer "
                "edges of `bins`; move the first or last edge"
            )
        points, texts = line.points, line.texts
        listed = line.whole and math.floor(highest) - math.ceil(lowest) < _LISTED
        if listed:
            numbers = range(math.ceil(lowest), math.floor(highest) + 1)
            points, texts = tuple(map(Decimal, numbers)), tuple(map(str, numbers))
        levels = []
        for edges in self._levels:
            last = len(edges) - 2
            labels = [
                range_label(*ends, whole=line.whole, closed=place == last)
                for place, ends in enumerate(pairwise(edges))
            ]
            levels.append([labels[min(bisect_right(edges, point) - 1, last)] for point in points])
        return rooted(texts, levels, name, supplied=listed)


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Intervals of one width, given or found so that at most `count` cover the data.

    Each level is twice as wide as the one below it, until one interval holds everything or for so
    many `levels`. Intervals start at multiples of their width, so no edge is a value of the data
    except by chance.

    >>> EqualWidth(width=10, levels=1).build(pa.array([17, 23]), "age").rows()
    [('17', '[10, 19]', '*'), ('23', '[20, 29]', '*')]
    """

    width: float | None = None
    count: int | None = None
    levels: int | None = None

    def __post_init__(self) -> None:
        if (self.width is None) == (self.count is None):
            raise ParameterError("equal-width intervals need either a width or a count")
        if self.width is not None and not (_is_number(self.width) and self.width > 0):
            raise ParameterError("`width` must be a number above 0")
        if self.count is not None:
            _check_count("intervals", self.count)
        _check_levels(self.levels)

    def build(self, values: pa.Array, name: str) -> Hierarchy:
        """Return the hierarchy over the values."""
        line = number_line(values, name)
        if not line.points:
            return rooted((), [], name)
        width = self._width_for(line)
        places = [_place(point, width) for point in line.points]

        def label(place: int, shift: int) -> str:
            size = times(width, 1 << shift)
            return range_label(times(size, place), times(size, place + 1), whole=line.whole)

        labels = [
            _labels([place >> shift for place in places], shift, label)
            for shift in range(self._depth(places[0], places[-1]))
        ]
        return rooted(line.texts, labels, name)

    def _width_for(self, line: NumberLine) -> Decimal:
        if self.width is not None:
            return Decimal(str(self.width))
        assert self.count is not None
        low, high = line.points[0], line.points[-1]
        span = high - low + (1 if line.whole else 0)
        if not span:
            return Decimal(1)
        width = round_up(span / self.count, _WIDTH_DIGITS, whole=line.whole)
        while _place(high, width) - _place(low, width) >= self.count:
            width = next_up(width, _WIDTH_DIGITS, whole=line.whole)
        return width

    def _depth(self, lowest: int, highest: int) -> int:
        if self.levels is not None:
            return self.levels
        # Negative and other numbers never share an interval: the last two stay two.
        depth = 0
        while lowest >> depth != highest >> depth:
            depth += 1
            if (lowest >> (depth - 1), highest >> (depth - 1)) == (-1, 0):
                break
        return depth


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Intervals that hold about equal shares of the values given, repeated ones counted.

    Each level joins the intervals of the one below it in pairs, until one holds everything or for
    so many `levels`. The outer intervals are open: the least and the greatest value stay untold.

    >>> Quantiles(2).build(pa.array([1, 2, 33, 48]), "visits").rows()
    [('1', '<30', '*'), ('2', '<30', '*'), ('33', '>=30', '*'), ('48', '>=30', '*')]
    """

    count: int
    levels: int | None = None

    def __post_init__(self) -> None:
        _check_count("quantiles", self.count)
        _check_levels(self.levels)

    def build(self, values: pa.Array, name: str) -> Hierarchy:
        """Return the hierarchy over the values, each as often as it is repeated."""
        line = number_line(values, name)
        return self._over(line, line.counts, name)

    def build_weighted(self, values: pa.Array, counts: Sequence[int], name: str) -> Hierarchy:
        """Return the hierarchy over ascending distinct values that occur so many times each."""
        return self._over(number_line(values, name), counts, name)

    def _over(self, line: NumberLine, counts: Sequence[int], name: str) -> Hierarchy:
        if not line.points:
            return rooted((), [], name)
        seen = list(accumulate(counts))
        # Integers: value number `cut` is the first of its interval, with i/count of all before it.
        wanted = (-(-seen[-1] * part // self.count) for part in range(1, self.count))
        cuts = sorted({bisect_left(seen, share) + 1 for share in wanted} - {len(seen)})
        edges = [separator(line.points[cut - 1], line.points[cut]) for cut in cuts]
        places = [bisect_right(cuts, number) for number in range(len(line.points))]

        def label(place: int, shift: int) -> str:
            start, end = place << shift, (place + 1) << shift
            low = edges[start - 1] if start else None
            high = edges[end - 1] if end <= len(edges) else None
            return range_label(low, high, whole=line.whole)

        depth = len(edges).bit_length() if self.levels is None else self.levels
        labels = [
            _labels([place >> shift for place in places], shift, label) for shift in range(depth)
        ]
        return rooted(line.texts, labels, name)


def rooted(
    texts: Iterable[str], levels: Sequence[Sequence[str]], name: str, supplied: bool = False
) -> Hierarchy:
    """Return the hierarchy of the texts under the given levels of labels and the root.

    A column without values gets the root alone.
    """
    rows = [(text, *labels, ROOT) for text, *labels in zip(texts, *levels, strict=True)]
    return Hierarchy.from_rows(rows or [(ROOT, ROOT)], name, supplied)


def _labels(places: Sequence[int], shift: int, label: Callable[[int, int], str]) -> list[str]:
    made = {place: label(place, shift) for place in set(places)}
    return [made[place] for place in places]


def _place(point: Decimal, width: Decimal) -> int:
    return Fraction(point) // Fraction(width)


def _edges(level: Any) -> tuple[Decimal, ...]:
    if not isinstance(level, (list, tuple)) or not all(_is_number(edge) for edge in level):
        raise ParameterError("`bins` takes numbers, or lists of numbers from fine to coarse")
    edges = tuple(Decimal(str(edge)) for edge in level)
    if len(edges) < 2 or any(low >= high for low, high in pairwise(edges)):
        raise ParameterError("`bins` needs two or more edges in ascending order")
    return edges


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _check_count(key: str, count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 2:
        raise ParameterError(f"`{key}` must be a whole number, 2 or more")


def _check_levels(levels: Any) -> None:
    if levels is None:
        return
    if not isinstance(levels, int) or isinstance(levels, bool) or levels < 1:
        raise ParameterError("`levels` must be a whole number, 1 or more")
