"""Answers from the layout `sets`, whose protected cells are random sets of values.

Estimates are unbiased: what a record's sets say of a predicate is turned into a number whose
expectation is 1 if the record satisfies it and 0 if not (`set_levels.py`), whatever the predicate.
They may lie beyond what is possible, and are then put to the nearest bound. A record's estimate g
has the variance E g² - f², f being its expectation, and f² = f where that is 0 or 1: so the sum of
g² - g estimates the variance of the answer. Its square root is the standard error, of the
randomness of the sets alone. Where a question cuts through a range, numbers are taken as spread
evenly over it, and f is the share of the range; there is no standard error then. Sets that were not
drawn at random (of the method `rating`) answer by the share of each set that satisfies the
question, without a standard error.

Bounds rest on what is certain: an exact cell, and a set that surely holds its record's own value
(p = 1). With p below 1 a set excludes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.deviations import Limits, with_number
from sfumato.answers.diagram import NO, YES, Diagrams, Node
from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum
from sfumato.answers.parts import ALWAYS, Part, Tree, given, parts_of, take_apart
from sfumato.answers.set_axes import OTHER_MAKERS, read_axis, records_of_sets
from sfumato.answers.set_levels import Cells, Levels, SetColumn
from sfumato.answers.set_slots import SetDomains
from sfumato.answers.set_sums import Amounts, read_amounts, sum_bounds, sum_moments
from sfumato.answers.verdict import Reals, judge
from sfumato.answers.ways import Way, open_regions, ways
from sfumato.predicates.expression import Predicate, negation_normal_form
from sfumato.release import Release
from sfumato.release.set_columns import code_type

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_MOST_KEPT = 8  # parts of questions whose levels are kept


class SetAnswers:
    """A release of sets, read column by column as questions need them."""

    def __init__(self, release: Release) -> None:
        self._rows = records_of_sets(release).num_rows
        self._release = release
        self._domains = SetDomains(release.manifest)
        self._columns: dict[str, SetColumn] = {}
        self._kept: dict[Hashable, tuple[list[Way], Levels]] = {}

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        match aggregate:
            case Count():
                return self._count(predicate)
            case Sum(attribute):
                return self._sum(attribute, predicate)

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return the standard error of SUM(attribute - about) over rows that have a number."""
        question = self._question([attribute], with_number(attribute, predicate))
        amounts = self._amounts(attribute, question)
        if self._domains.is_binned(attribute):  # nobody drew where in its range a number lies
            return None
        return _error(sum_moments(question, amounts, about)[1], question)

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about); no number may be missing."""
        question = self._question([attribute], predicate)
        amounts = self._amounts(attribute, question)
        return lambda about: sum_bounds(question, amounts.less(about))

    def _count(self, predicate: Predicate | None) -> Estimate:
        question = self._question([], predicate)
        counts, chance = question.cells.counts, question.chance(question.root)
        low = float(counts[question.is_sure(question.root)].sum())
        high = float(counts[question.may(question.root)].sum())
        value = float((counts * chance).sum())
        variance = float((counts * (chance * chance - chance)).sum())
        se = 0.0 if low == high else _error(variance, question)
        return Estimate(min(max(value, low), high), low, high, se)

    def _sum(self, attribute: str, predicate: Predicate | None) -> Estimate:
        question = self._question([attribute], predicate)
        amounts = self._amounts(attribute, question)
        value, variance = sum_moments(question, amounts, 0.0)
        low, high = sum_bounds(question, amounts)
        se = None if self._domains.is_binned(attribute) else _error(variance, question)
        se = 0.0 if low == high else se
        return Estimate(min(max(value, low), high), low, high, se)

    def _question(self, summed: Sequence[str], predicate: Predicate | None) -> SetQuestion:
        """Return the question; the column of a summed attribute comes first."""
        for name in (*summed, *sorted(predicate.attributes if predicate else ())):
            self._domains.check(name)
        tree: Tree = ALWAYS
        if predicate is not None:
            tree = take_apart(negation_normal_form(predicate), self._domains.column_of)
        parts: dict[str, list[Part]] = {self._domains.column_of[name]: [] for name in summed}
        for part in dict.fromkeys(parts_of(tree)):
            parts.setdefault(part.place, []).append(part)
        # only by its region is it known which numbers of a range are added up
        cut = [name for name in summed if self._domains.is_binned(name)]
        told = [self._told(place, own, cut) for place, own in parts.items()]
        first = told[0][0] if summed else []
        levels = [own for _, own in told]
        return SetQuestion(tree, levels, self._rows, first, is_sum=bool(summed))

    def _told(
        self, place: str, parts: Sequence[Part], cut: Sequence[str]
    ) -> tuple[list[Way], Levels]:
        """Return what the values of a domain tell of parts.

        The last few are kept: an average is asked for by several questions with the same parts.
        """
        own = tuple(name for name in cut if self._domains.column_of[name] == place)
        # texts as well, since to Python TRUE equals 1
        key = place, own, tuple(parts), tuple(str(part.predicate) for part in parts)
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            ways_of = self._ways(place, parts, own)
            self._kept[key] = ways_of, Levels.of(self._read(place), parts, ways_of)
        return self._kept[key]

    def _ways(self, place: str, parts: Sequence[Part], cut: Sequence[str]) -> list[Way]:
        """Return in which ways the parts are true of the values of a domain."""
        values = self._read(place).values
        trees = [take_apart(part.predicate) for part in parts]
        names = {own.attribute for tree in trees for own in parts_of(tree)}
        slots = {name: self._domains.read(name, values) for name in names}

        def status_of(part: Part) -> Any:
            own = slots[part.attribute]
            return judge(own, part.predicate).status[own.of_row]

        def chance_of(part: Part) -> Any:
            own = slots[part.attribute]
            return judge(own, part.predicate).share[own.of_row]

        return ways(trees, open_regions(trees, slots, cut), status_of, chance_of)

    def _amounts(self, attribute: str, question: SetQuestion) -> Amounts:
        levels = question.levels[0]
        slots = self._domains.read(attribute, levels.column.values)
        return read_amounts(slots, question.ways, levels)

    def _read(self, name: str) -> SetColumn:
        if name not in self._columns:
            axis = read_axis(self._release, name)
            members = np.ascontiguousarray(axis.members.T, code_type(axis.size))
            is_random = self._release.manifest.method not in OTHER_MAKERS or axis.eta == 1
            self._columns[name] = SetColumn(
                name, axis.values, members, axis.own, axis.other, axis.telling, is_random
            )
        return self._columns[name]


class SetQuestion:
    """A predicate, and all records by what their sets say of it.

    With `is_sum` the first column is left to the caller: nodes are then about the others, and
    `ways` are those in which its parts are true.
    """

    def __init__(
        self, tree: Tree, levels: Sequence[Levels], rows: int, ways: Sequence[Way], is_sum: bool
    ) -> None:
        self.levels = levels
        self.ways = ways
        self.rows = rows
        self.diagrams = Diagrams([len(own.patterns) for own in levels])
        self.root = self.diagrams.of(given(tree, {}), [own.truths for own in levels])
        first = 1 if is_sum else 0
        self.cells = Cells(rows, levels[first:])
        own_levels = dict(enumerate(self.cells.levels, start=first))
        self._own_levels = own_levels
        self._chances = {t: levels[t].estimates(levels[t].likely, o) for t, o in own_levels.items()}
        self._possible = {t: levels[t].possible(own) for t, own in own_levels.items()}
        size = len(self.cells.counts)
        self._chance: dict[Node, Reals] = {NO: np.zeros(size), YES: np.ones(size)}
        self._may: dict[Node, Bools] = {NO: np.zeros(size, np.bool_), YES: np.ones(size, np.bool_)}
        self._sure = dict(self._may)
        self._of_both: dict[tuple[Node, Node], Reals] = {}

    @cached_property
    def is_cut(self) -> bool:
        """Whether it matters where in its range a number lies."""
        left, seen = [self.root], {NO, YES}
        while left:
            node = left.pop()
            if node in seen:
                continue
            seen.add(node)
            table = self.diagrams.table(node)
            after = np.array(self.diagrams.after(node, table))
            if any(len(set(after[own].tolist())) > 1 for own in self.levels[table].allowed.T):
                return True
            left += after.tolist()
        return False

    @property
    def is_random(self) -> bool:
        """Whether all sets were drawn at random."""
        return all(own.column.is_random for own in self.levels)

    def chance(self, node: Node) -> Reals:
        """Return by cell the estimate of "a record of it satisfies the node's predicate"."""
        if node not in self._chance:
            table = self.diagrams.table(node)
            total = np.zeros_like(self._chance[YES])
            for own, after in zip(
                self._chances[table], self.diagrams.after(node, table), strict=True
            ):
                if after != NO:
                    total += own * self.chance(after)
            self._chance[node] = total
        return self._chance[node]

    def chance_of_both(self, one: Node, other: Node) -> Reals:
        """Return by cell the estimate of "a record satisfies both nodes' predicates".

        A value decides, save in ranges that a predicate cuts through, for which nobody asks this.
        """
        if NO in (one, other) or one == YES:
            return self.chance(NO if NO in (one, other) else other)
        if other == YES or one == other:
            return self.chance(one)
        pair = (min(one, other), max(one, other))
        if pair not in self._of_both:
            self._of_both[pair] = self._worked_out(*pair)
        return self._of_both[pair]

    def _worked_out(self, one: Node, other: Node) -> Reals:
        table = min(self.diagrams.table(one), self.diagrams.table(other))
        levels = self.levels[table]
        ones, others = (self.diagrams.after(node, table) for node in (one, other))
        total = np.zeros_like(self._chance[YES])
        for k, m in product(range(len(ones)), repeat=2):
            both_have = levels.likely[[k]] * levels.likely[m]
            if NO not in (ones[k], others[m]) and both_have.any():
                own = levels.estimates(both_have, self._own_levels[table])[0]
                total += own * self.chance_of_both(ones[k], others[m])
        return total

    def may(self, node: Node) -> Bools:
        """Return which cells' records may satisfy the node's predicate."""
        if node not in self._may:
            table = self.diagrams.table(node)
            lines = zip(self._possible[table], self.diagrams.after(node, table), strict=True)
            self._may[node] = np.any([own & self.may(after) for own, after in lines], axis=0)
        return self._may[node]

    def is_sure(self, node: Node) -> Bools:
        """Return which cells' records surely satisfy the node's predicate."""
        if node not in self._sure:
            table = self.diagrams.table(node)
            lines = zip(self._possible[table], self.diagrams.after(node, table), strict=True)
            self._sure[node] = np.all([~own | self.is_sure(after) for own, after in lines], axis=0)
        return self._sure[node]


def _error(variance: float, question: SetQuestion) -> float | None:
    """Return the standard error; None where sets were not drawn, or where in a range numbers lie
    decides, which nobody drew."""
    if question.is_cut or not question.is_random:
        return None
    return sqrt(max(variance, 0.0))
