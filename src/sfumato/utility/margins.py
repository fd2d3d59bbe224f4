"""How far the distributions of a release are from those of the original, alone and in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.measures.distances import hellinger, l1, l2
from sfumato.schema.attribute import Kind
from sfumato.schema.distinct import count_codes, distinct
from sfumato.schema.text import to_texts
from sfumato.table import Column, Table

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

# Numbers with more values are taken by so many equally wide intervals.
INTERVALS = 10
BETWEEN = " to "
REST = "all others"
# Of other attributes so many values, the most frequent ones, are told apart.
MOST_VALUES = 100
_ROWS_A_PAIR = 4  # of values, at least, for pairs to be counted
_ROWS = 1 << 18  # that are counted at a time: they stay in the cache
# Numbers that differ by more have a deviation that is no 0 among floats.
_APART = 1e-100


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of an attribute's values, or of intervals of its numbers, before and after.

    `is_line` says that labels stand in the order of numbers, so that a chart must not sort them.
    """

    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    is_line: bool


@dataclass(frozen=True, slots=True)
class Margin:
    """The distances of two distributions over one attribute, or over a pair: of shares, not rows.

    For a pair, `association` is the mean-square contingency (0 independent, 1 determined) in the
    original and in the release, and `correlation` Pearson's of two numbers, where defined. Of one
    attribute, `shares` are what was compared.
    """

    attributes: tuple[str, ...]
    l1: float
    l2: float
    hellinger: float
    association: tuple[float, float] | None = None
    correlation: tuple[float, float] | None = None
    shares: Shares | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        fields: dict[str, Any] = {
            "attributes": list(self.attributes),
            "l1": self.l1,
            "l2": self.l2,
            "hellinger": self.hellinger,
        }
        for name, both in (("association", self.association), ("correlation", self.correlation)):
            if both is not None:
                fields[name] = {"original": both[0], "release": both[1]}
        return fields


class Sides(Protocol):
    """An original and a release, counted over the same cells."""

    def counts(self, names: Sequence[str]) -> tuple[Reals, Reals]:
        """Return both cross tables of one attribute or two, an axis an attribute."""
        ...

    def correlation(self, names: Sequence[str]) -> tuple[float, float] | None:
        """Return both correlations of two attributes with numbers, None of others."""
        ...

    def labels(self, name: str) -> tuple[str | None, ...]:
        """Return what the cells of one attribute's tables are; None stands for a missing value."""
        ...


def margin(sides: Sides, names: Sequence[str]) -> Margin:
    """Return how far two cross tables are from each other, of one attribute or of two."""
    before, after = (_shares(counts) for counts in sides.counts(names))
    distances = l1(before, after), l2(before, after), hellinger(before, after)
    if len(names) == 1:
        return Margin(tuple(names), *distances, shares=_told(sides.labels(names[0]), before, after))
    association = contingency(before), contingency(after)
    return Margin(tuple(names), *distances, association, sides.correlation(names))


def _told(labels: Sequence[str | None], before: Reals, after: Reals) -> Shares:
    """Return both distributions with the names of their cells."""
    told = tuple("missing" if label is None else label for label in labels)
    is_line = any(BETWEEN in label for label in told)
    return Shares(told, tuple(before.tolist()), tuple(after.tolist()), is_line)


def contingency(shares: Reals) -> float:
    """Return the mean-square contingency of a cross table: 0 independent, 1 determined.

    >>> contingency(np.array([[0.5, 0.0], [0.0, 0.5]]))
    1.0
    """
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    smaller = min(np.count_nonzero(rows), np.count_nonzero(columns))
    if smaller < 2:
        return 0.0
    expected = np.outer(rows, columns)
    found = np.divide(shares**2, expected, out=np.zeros_like(shares), where=expected > 0)
    return max(float(found.sum()) - 1.0, 0.0) / (smaller - 1)


def _shares(counts: Reals) -> Reals:
    """Return shares of all; estimates may be a little below 0, which no share can be."""
    positive = np.maximum(counts, 0.0)
    return np.asarray(positive / max(float(positive.sum()), 1e-300))


class Rows:
    """An original, and a table of rows that the release may have come from (see `to_microdata`).

    A missing value is one of its own. Numbers with more than ten values are counted by ten
    intervals that divide the original's span, and are put into the nearest of them beyond it; of
    other attributes, values beyond the hundred most frequent of the original are taken together.
    Rows count as much as their weights say, if the column of `weight` says so in both.
    """

    def __init__(self, original: Table, released: pa.Table, weight: str | None = None) -> None:
        self._original = original
        self._released = released
        self._weights: tuple[Reals | None, Reals | None] = (None, None)
        if weight is not None and original.weights is not None:
            self._weights = original.weights, released[weight].to_numpy()
        self._columns: dict[str, Column] = {}
        self._coded: dict[str, tuple[Codes, Codes, int]] = {}

    def counts(self, names: Sequence[str]) -> tuple[Reals, Reals]:
        """Return both cross tables."""
        coded = [self._codes(name) for name in names]
        shape = tuple(size for _, _, size in coded)
        found = []
        for side in (0, 1):
            codes, weights = [each[:2][side] for each in coded], self._weights[side]
            if weights is None:
                counts = _count_cells(codes, shape)
            else:
                cells = np.ravel_multi_index(tuple(codes), shape)
                counts = np.bincount(cells, weights, minlength=prod(shape))
            found.append(counts.astype(np.float64).reshape(shape))
        return found[0], found[1]

    def correlation(self, names: Sequence[str]) -> tuple[float, float] | None:
        """Return Pearson's correlation in both tables, over rows that have both numbers."""
        if any(self._original[name].kind is not Kind.NUMERIC for name in names):
            return None
        before, after = (self._correlation(names, side) for side in (0, 1))
        return None if before is None or after is None else (before, after)

    def _correlation(self, names: Sequence[str], side: int) -> float | None:
        """Return the correlation in one of the tables; of few pairs of values, which are counted,
        each is looked at once."""
        one, other = ((self._original[name], self._column(name))[side] for name in names)
        weights, shape = self._weights[side], (one.cardinality + 1, other.cardinality + 1)
        if weights is not None or _ROWS_A_PAIR * prod(shape) > len(one.codes):
            first, second = (np.append(each.points, np.nan)[each.codes] for each in (one, other))
            return _pearson(first, second, weights)
        counts = _count_cells([one.codes, other.codes], shape).reshape(shape)[:-1, :-1]
        at, beside = np.nonzero(counts)
        people = counts[at, beside].astype(np.float64)
        return _pearson(one.points[at], other.points[beside], people)

    def labels(self, name: str) -> tuple[str | None, ...]:
        """Return the intervals of numbers, or the values that are told apart, in their order."""
        column = self._original[name]
        if _is_fine(column):
            return (*interval_texts(column), None)
        return (*(to_texts(column.values.take(pa.array(_kept(column)))).to_pylist()), REST, None)

    def _column(self, name: str) -> Column:
        if name not in self._columns:
            found = released_column(self._released[name], self._original[name])
            self._columns[name] = found
        return self._columns[name]

    def _codes(self, name: str) -> tuple[Codes, Codes, int]:
        if name not in self._coded:
            column, released = self._original[name], self._column(name)
            make = _intervals if _is_fine(column) else _values
            self._coded[name] = make(column, released)
        return self._coded[name]


def _count_cells(codes: Sequence[Codes], shape: Sequence[int]) -> Ints:
    """Return how many rows are in each cell of a cross table, in blocks that stay in the cache.

    >>> _count_cells([np.array([0, 1, 1], np.int32), np.array([1, 0, 0], np.int32)], (2, 2))
    array([0, 1, 2, 0])
    """
    size = prod(shape)
    counts = np.zeros(size, np.int64)
    number: type[np.signedinteger[Any]] = np.int32 if size < 1 << 31 else np.int64
    step = max(_ROWS, 8 * size)
    for start in range(0, len(codes[0]), step):
        cells = codes[0][start : start + step].astype(number)
        for column, width in zip(codes[1:], shape[1:], strict=True):
            cells *= width
            cells += column[start : start + step]
        counts += count_codes(cells, size)
    return counts


def released_column(cells: pa.ChunkedArray, original: Column) -> Column:
    """Return plausible cells as a column of the original's kind, without its hierarchy."""
    found = distinct(cells, original.name)
    values = found.values
    if original.kind is Kind.NUMERIC and values.type != original.values.type:
        values = values.cast(original.values.type, safe=False)
    return Column(original.attribute, found.codes, values, values.type)


def _is_fine(column: Column) -> bool:
    return column.kind is Kind.NUMERIC and column.cardinality > INTERVALS


def interval_texts(column: Column) -> list[str]:
    """Return how the ten intervals of a column's numbers are written."""
    edges = np.linspace(float(column.points.min()), float(column.points.max()), INTERVALS + 1)
    dtype = column.values.type
    if pa.types.is_temporal(dtype):
        bits = pa.int32() if dtype.bit_width == 32 else pa.int64()
        ticks = pa.array(np.floor(edges).astype(np.int64)).cast(bits)
        texts = to_texts(ticks.cast(dtype)).to_pylist()
    else:
        texts = [f"{edge:,.0f}" if abs(edge) >= 1000 else f"{edge:.4g}" for edge in edges]
    return [f"{low}{BETWEEN}{high}" for low, high in pairwise(texts)]


def _intervals(column: Column, released: Column) -> tuple[Codes, Codes, int]:
    low, high = float(column.points.min()), float(column.points.max())
    span = high - low or 1.0
    coded = []
    for each in (column, released):
        places = np.clip((each.points - low) / span * INTERVALS, 0, INTERVALS - 1)
        of_value = np.append(places.astype(np.int32), np.int32(INTERVALS))
        coded.append(of_value[each.codes])
    return coded[0], coded[1], INTERVALS + 1


def _kept(column: Column) -> npt.NDArray[np.int64]:
    """Return the codes of the most frequent values of the original, in order."""
    return np.sort(np.argsort(-column.counts[:-1], kind="stable")[:MOST_VALUES])


def _values(column: Column, released: Column) -> tuple[Codes, Codes, int]:
    kept = _kept(column)
    rest, missing = len(kept), len(kept) + 1
    of_value = np.full(column.cardinality + 1, rest, np.int32)
    of_value[kept] = np.arange(len(kept), dtype=np.int32)
    texts = to_texts(column.values)
    places = pc.index_in(to_texts(released.values), value_set=texts).fill_null(len(texts))
    of_released = np.append(of_value[places.to_numpy(zero_copy_only=False)], np.int32(missing))
    of_value[-1] = missing
    return of_value[column.codes], of_released[released.codes].astype(np.int32), missing + 1


def _pearson(one: Reals, other: Reals, weights: Reals | None) -> float | None:
    known = ~(np.isnan(one) | np.isnan(other))
    if not known.all():
        one, other = one[known], other[known]
        weights = None if weights is None else weights[known]
    if len(one) < 2 or not (_varies(one) and _varies(other)):
        return None
    if weights is None:
        return float(np.corrcoef(one, other)[0, 1])
    (a, both), (_, b) = np.cov(one, other, aweights=weights)
    # one after the other: a product of large variances is beyond all numbers
    return float(np.clip(both / np.sqrt(a) / np.sqrt(b), -1.0, 1.0))


def _varies(numbers: Reals) -> bool:
    span = np.ptp(numbers)
    # the deviation takes several passes: that of nearly equal numbers can be 0, and that of equal
    # ones need not be
    return bool(span > _APART or (span > 0 and numbers.std() > 0))


def summary(margins: Sequence[Margin]) -> Mapping[str, Any]:
    """Return means and extremes over several margins; None where there are none."""
    if not margins:
        return {}
    found: dict[str, Any] = {
        name: {"mean": float(np.mean(each)), "largest": float(np.max(each))}
        for name in ("l1", "l2", "hellinger")
        for each in [[getattr(margin, name) for margin in margins]]
    }
    for name in ("association", "correlation"):
        pairs = [both for each in margins if (both := getattr(each, name)) is not None]
        if pairs:
            change = np.abs([after - before for before, after in pairs])
            found[name] = {
                "original_mean": float(np.mean([before for before, _ in pairs])),
                "release_mean": float(np.mean([after for _, after in pairs])),
                "mean_change": float(change.mean()),
                "largest_change": float(change.max()),
                "pairs": len(pairs),
            }
    return found
