"""Answers from records whose quasi-identifiers are means of their groups.

A mean is nobody's own value. So estimates take everybody to have the mean of their group, and
bounds let everybody have any value of the domain that the policy states, or any value at all where
it states none. What is known for sure are the sums of whole groups: where a predicate tells who of
each group is meant, those are used.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.answers.deviations import Limits
from sfumato.answers.estimate import Aggregate, Estimate, Sum, within
from sfumato.answers.local import LocalAnswers
from sfumato.answers.number_line import NumberLine
from sfumato.answers.summands import line_of_numbers, rounding
from sfumato.predicates.expression import Predicate
from sfumato.release import Bounds, Release
from sfumato.release.microaggregated import microaggregated

Reals = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class MeanAnswers:
    """A release of microaggregated records: as it stands, and as what may stand behind it."""

    def __init__(self, release: Release) -> None:
        self._means = microaggregated(release.manifest)
        self._told = LocalAnswers(release)
        self._behind = LocalAnswers(release, self._means)

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        told = self._told.answer(aggregate, predicate)
        behind = self._behind.answer(aggregate, predicate)
        low, high = behind.low, behind.high
        if isinstance(aggregate, Sum) and aggregate.attribute in self._means:
            hits = self._behind.hits(predicate)
            if hits is not None:
                low, high = self._sums(aggregate.attribute, hits, 0.0)
        found = within(told.value, low, high)
        return replace(found, se=0.0) if low == high else found

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return no standard error: nothing here is random."""
        return None

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about); no number may be missing."""
        if attribute in self._means:
            hits = self._behind.hits(predicate)
            if hits is not None:
                return lambda about: self._sums(attribute, hits, about)
        return self._behind.limits(attribute, predicate)

    def _sums(self, attribute: str, hits: Ints, about: float) -> tuple[float, float]:
        """Return the bounds of a sum over so many rows of each group, which the release tells.

        The others of the group have the rest of its sum, and nobody a value outside the domain.
        """
        slots = self._told.read(attribute)
        line = line_of_numbers(slots)
        starts = self._told.starts
        sizes = np.diff(starts)
        numbers = np.append(line.positions(line.ticks(slots.values)), [np.nan, np.nan])
        of_slot = np.full(slots.count, np.nan)
        of_slot[slots.slot] = numbers[slots.atom]
        means = of_slot[slots.of_row[starts[:-1]]]
        is_there = ~np.isnan(means)  # a group misses the attribute, or has it
        means, sizes, hits = means[is_there] - about, sizes[is_there], hits[is_there]
        least, greatest = (end - about for end in _ends(slots.entry.domain, line))
        some = hits[(hits > 0) & (hits < sizes)]
        part = (hits > 0) & (hits < sizes)
        whole = float((sizes * means)[hits == sizes].sum())
        total, others = (sizes * means)[part], sizes[part] - some
        low = np.maximum(some * least, total - others * greatest)
        high = np.minimum(some * greatest, total - others * least)
        slack = rounding(float((np.abs(means) + abs(about)) @ sizes), int(sizes.sum()), line.dtype)
        # within rounding a mean may lie at the domain's end, and beyond
        low, high = np.minimum(low, high), np.maximum(low, high)
        return whole + float(low.sum()) - slack, whole + float(high.sum()) + slack


def _ends(domain: object, line: NumberLine) -> tuple[float, float]:
    if not isinstance(domain, Bounds):
        return -np.inf, np.inf
    ends = line.positions(np.array([line.first_at(domain.min), line.last_at(domain.max)], object))
    return float(ends[0]), float(ends[1])
