"""Answers from releases whose cells were replaced at random by published matrices.

Estimates are unbiased. Let f be what a record truly adds to the answer, a function of its true
values x, and P the matrix by which these became the published y (of several attributes the product
of theirs, since they are replaced apart from each other). Then g = P⁻¹f has the expectation f(x),
whatever x is; the sum of g(y) over all records estimates the answer. Of a boolean predicate the
tables of `diagram.py` decide, one attribute after the other, so that g is a sum of products of one
number an attribute, whatever AND, OR and NOT join.

*Variance.* The data are fixed and nothing is random but the transitions, so that a record's g has
the variance E g² - f². Of f² the estimate is again P⁻¹f², so the sum of g(y)² - (P⁻¹f²)(y) has the
variance of the answer as its expectation. For a count f² = f, which leaves g² - g. Its square root
is the standard error.

*Bounds* rest on what is certain: exact cells, and entries of a matrix that are 0, which rule out
true values. Where there are none, any original could be behind the release, and a count lies from
none to all. An estimate beyond the bounds is put to the nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.deviations import Limits, with_number
from sfumato.answers.diagram import NO, YES, Diagrams, Node
from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum
from sfumato.answers.parts import ALWAYS, Part, Tree, given, parts_of, take_apart
from sfumato.answers.slots import Slots
from sfumato.answers.summands import Summands, rounding
from sfumato.answers.transition_axes import (
    Cells,
    Levels,
    TransitionAxis,
    read_transition_axis,
)
from sfumato.answers.verdict import SURELY, judge
from sfumato.errors import ParameterError
from sfumato.predicates.expression import Predicate, negation_normal_form
from sfumato.release import Release
from sfumato.release.transitions import read_transitions

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# Columns of no more combinations of values are counted once for all questions about them; others
# for each, by the few levels that the question tells apart.
_SMALL = 2**13
_MOST_KEPT = 64
# Ways in which values of one attribute tell the parts of a predicate apart.
_MOST_PATTERNS = 64
_DECIMALS = 10  # of estimates by published value, which differ by rounding alone


class TransitionAnswers:
    """A release of replaced cells, read column by column as questions need them."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._transitions = read_transitions(release.manifest)
        self._rows = release.manifest.rows
        self._axes: dict[str, TransitionAxis] = {}
        self._slots: dict[str, Slots] = {}
        self._cells: dict[tuple[str, ...], Cells] = {}

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        match aggregate:
            case Count():
                return self.question([], predicate).count()
            case Sum(attribute):
                question = self.question([attribute], predicate)
                numbers, _ = self.numbers(attribute)
                return question.sum(numbers, self._slack(attribute, numbers))

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return the standard error of SUM(attribute - about) over rows that have a number."""
        question = self.question([attribute], with_number(attribute, predicate))
        numbers, is_there = self.numbers(attribute)
        return _root(question.moments(np.where(is_there, numbers - about, 0.0))[1])

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about); no number may be missing."""
        question = self.question([attribute], predicate)
        numbers, is_there = self.numbers(attribute)

        def found(about: float) -> tuple[float, float]:
            less = np.where(is_there, numbers - about, 0.0)
            slack = rounding(float(np.abs(less).max(initial=0)) * self._rows, self._rows, _REAL)
            low, high = question.bounds(less)
            return low - slack, high + slack

        return found

    def question(self, summed: Sequence[str], predicate: Predicate | None) -> _Question:
        """Return the question; the column of a summed attribute comes first."""
        tree: Tree = ALWAYS
        if predicate is not None:
            for name in sorted(predicate.attributes):
                self._axis(name)
            tree = take_apart(negation_normal_form(predicate))
        parts: dict[str, list[Part]] = {name: [] for name in summed}
        for part in dict.fromkeys(parts_of(tree)):
            parts.setdefault(part.attribute, []).append(part)
        columns = {
            name: _Column.of(self._axis(name), self._read(name), own) for name, own in parts.items()
        }
        several = list(columns.values())
        if prod(column.axis.size for column in several) <= _SMALL:
            cells = self._joint(tuple(columns))
        else:
            levels = [
                Levels.every(column.axis) if name in summed else column.levels()
                for name, column in columns.items()
            ]
            cells = Cells.of([column.axis for column in several], self._rows, levels)
        return _Question(tree, several, cells)

    def numbers(self, attribute: str) -> tuple[Reals, Bools]:
        """Return the number of each value, 0 where it is missing, and where there is one."""
        slots = self._read(attribute)
        worth = Summands(slots).all[1]
        is_there = worth.is_there[slots.of_row]
        return np.where(is_there, worth.mean[slots.of_row], 0.0), is_there

    def _slack(self, attribute: str, numbers: Reals) -> float:
        largest = float(np.abs(numbers).max(initial=0.0))
        return rounding(largest * self._rows, self._rows, self._axis(attribute).entry.dtype)

    def _axis(self, name: str) -> TransitionAxis:
        if name not in self._axes:
            self._axes[name] = read_transition_axis(self._release, self._transitions, name)
        return self._axes[name]

    def _read(self, name: str) -> Slots:
        if name not in self._slots:
            self._slots[name] = self._axis(name).read()
        return self._slots[name]

    def _joint(self, names: tuple[str, ...]) -> Cells:
        """Return the combinations of some columns, counted once for all questions about them."""
        ordered = tuple(sorted(names))
        if ordered not in self._cells:
            axes = [self._axis(name) for name in ordered]
            if len(self._cells) >= _MOST_KEPT:
                self._cells.clear()
            self._cells[ordered] = Cells.of(axes, self._rows, [Levels.every(axis) for axis in axes])
        cells = self._cells[ordered]
        return Cells(tuple(cells.codes[ordered.index(name)] for name in names), cells.counts)


_REAL = pa.float64()


class _Column:
    """An attribute in a question: its values by what they say of the parts that are about it."""

    def __init__(self, axis: TransitionAxis, parts: Sequence[Part], truths: Bools) -> None:
        self.axis = axis
        self._parts = parts
        found, class_of = np.unique(truths, axis=1, return_inverse=True)
        self._patterns = found.T
        self._class_of = class_of.reshape(-1)
        # by pattern, which values have it
        self.values = self._class_of == np.arange(found.shape[1])[:, None]

    @classmethod
    def of(cls, axis: TransitionAxis, slots: Slots, parts: Sequence[Part]) -> _Column:
        """Return the column; ParameterError where a predicate asks too much of it."""
        truths = np.zeros((len(parts), axis.size), np.bool_)
        for place, part in enumerate(parts):
            truths[place] = judge(slots, part.predicate).status[slots.of_row] == SURELY
        column = cls(axis, parts, truths)
        if len(column.values) > _MOST_PATTERNS:
            raise ParameterError(
                f"the predicate has too many parts that concern '{axis.name}' together with "
                "others; ask in several simpler questions"
            )
        return column

    def levels(self) -> Levels:
        """Return the published values by what they say of the patterns."""
        if self.axis.transition is None:
            _, example = np.unique(self._class_of, return_index=True)
            return Levels(self._class_of.astype(np.int32), example)
        told = self.axis.back(self.values.astype(np.float64)).round(_DECIMALS)
        told = np.concatenate([told, self.axis.allowed(self.values)])
        _, example, level = np.unique(told, axis=1, return_index=True, return_inverse=True)
        return Levels(level.reshape(-1).astype(np.int32), example)

    @property
    def truths(self) -> list[dict[Part, bool]]:
        """Which parts each pattern makes true."""
        return [dict(zip(self._parts, map(bool, own), strict=True)) for own in self._patterns]


class _Question:
    """A predicate, and all records by what they show of the attributes that it is about."""

    def __init__(self, tree: Tree, columns: Sequence[_Column], cells: Cells) -> None:
        self._columns = columns
        self._cells = cells
        self._diagrams = Diagrams([len(column.values) for column in columns])
        truths = [column.truths for column in columns]
        self._root = self._diagrams.of(given(tree, {}), truths)
        size = len(cells.counts)
        self._chance: dict[Node, Reals] = {NO: np.zeros(size), YES: np.ones(size)}
        self._may: dict[Node, Bools] = {NO: np.zeros(size, np.bool_), YES: np.ones(size, np.bool_)}
        self._sure = dict(self._may)
        self._backs: dict[int, Reals] = {}
        self._possible: dict[int, Bools] = {}

    def count(self) -> Estimate:
        """Return how many records satisfy the predicate."""
        counts = self._cells.counts
        low = float(counts[self._is_sure(self._root)].sum())
        high = float(counts[self._may_be(self._root)].sum())
        value, variance = self.counted()
        return _estimate(value, low, high, variance)

    def counted(self) -> tuple[float, float]:
        """Return the estimated count, and the estimated variance; neither is cut off."""
        counts, chance = self._cells.counts, self._of(self._root)
        return float(counts @ chance), float(counts @ (chance * chance - chance))

    def sum(self, numbers: Reals, slack: float) -> Estimate:
        """Return what numbers of the first column's values add up to; `slack` is of rounding."""
        value, variance = self.moments(numbers)
        low, high = self.bounds(numbers)
        return _estimate(value, low - slack, high + slack, variance)

    def moments(self, numbers: Reals) -> tuple[float, float]:
        """Return the estimated sum, and the estimated variance; neither is cut off."""
        column, shown = self._columns[0], self._cells.codes[0]
        after = self._diagrams.after(self._root, 0)
        estimates, squares = np.zeros((2, len(self._cells.counts)))
        for values, node in zip(column.values, after, strict=True):
            if node != NO:
                chance = self._of(node)
                own, square = column.axis.back(np.stack([numbers * values, numbers**2 * values]))
                estimates += own[shown] * chance
                squares += square[shown] * chance
        counts = self._cells.counts
        return float(counts @ estimates), float(counts @ (estimates**2 - squares))

    def bounds(self, numbers: Reals) -> tuple[float, float]:
        """Return the least and the greatest sum that any original could give."""
        column, shown = self._columns[0], self._cells.codes[0]
        after = self._diagrams.after(self._root, 0)
        size = len(self._cells.counts)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        for values, node in zip(column.values, after, strict=True):
            least, greatest = _ends(column.axis, numbers, values)
            sure, may = self._is_sure(node), self._may_be(node)
            is_there = np.isfinite(least[shown])
            for ends, best, choose in ((least, low, np.minimum), (greatest, high, np.maximum)):
                own = ends[shown]
                own = np.where(sure, own, np.where(may, choose(own, 0.0), 0.0))
                best[is_there] = choose(best[is_there], own[is_there])
        counts = self._cells.counts
        return float(counts @ low) if size else 0.0, float(counts @ high) if size else 0.0

    def _of(self, node: Node) -> Reals:
        """Return by cell the estimate of "a record of it satisfies the node's predicate"."""
        if node not in self._chance:
            table = self._diagrams.table(node)
            if table not in self._backs:
                column = self._columns[table]
                own = column.axis.back(column.values.astype(np.float64))
                self._backs[table] = own[:, self._cells.codes[table]]
            total = np.zeros_like(self._chance[YES])
            after = self._diagrams.after(node, table)
            for own, then in zip(self._backs[table], after, strict=True):
                if then != NO:
                    total += own if then == YES else own * self._of(then)
            self._chance[node] = total
        return self._chance[node]

    def _may_be(self, node: Node) -> Bools:
        """Return which cells' records may satisfy the node's predicate."""
        if node not in self._may:
            lines = self._lines(node)
            self._may[node] = np.any([own & self._may_be(then) for own, then in lines], axis=0)
        return self._may[node]

    def _is_sure(self, node: Node) -> Bools:
        """Return which cells' records surely satisfy the node's predicate."""
        if node not in self._sure:
            lines = self._lines(node)
            self._sure[node] = np.all([~own | self._is_sure(then) for own, then in lines], axis=0)
        return self._sure[node]

    def _lines(self, node: Node) -> list[tuple[Any, Node]]:
        table = self._diagrams.table(node)
        if table not in self._possible:
            column = self._columns[table]
            own = column.axis.allowed(column.values)
            self._possible[table] = own[:, self._cells.codes[table]]
        after = self._diagrams.after(node, table)
        return list(zip(self._possible[table], after, strict=True))


def _ends(axis: TransitionAxis, numbers: Reals, values: Bools) -> tuple[Reals, Reals]:
    """Return by published value the least and greatest number of true ones, of some values.

    Where none of them may be behind it, inf and -inf.
    """
    if axis.transition is None:
        return np.where(values, numbers, np.inf), np.where(values, numbers, -np.inf)
    may = (axis.transition.matrix > 0) & values[:, None]
    least = np.where(may, numbers[:, None], np.inf).min(axis=0)
    greatest = np.where(may, numbers[:, None], -np.inf).max(axis=0)
    return least, greatest


def _estimate(value: float, low: float, high: float, variance: float) -> Estimate:
    se = 0.0 if low == high else _root(variance)
    return Estimate(min(max(value, low), high), low, high, se)


def _root(variance: float) -> float:
    return sqrt(max(variance, 0.0))
