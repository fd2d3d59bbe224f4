"""Weighted answers from records of which each group's mean weight is published.

COUNT(*) is then the sum of the weights of the rows that satisfy a predicate, SUM(x) that of weight
times number. Estimates take every record to have the mean weight of its group.

*Bounds*: of a group only the total weight is known, which its records may share in any way, each
having some. So where all of a group's rows satisfy the predicate, their weight is the total; where
some surely do not, or perhaps not, those that do may have nearly nothing of it, and nearly all. Of
a sum, all of the weight may lie on the row that adds least, or on the one that adds most. Nothing
closer can be said: every number between is reached by some weights, and the ends are approached.
Totals are known up to the rounding of the published means, by which bounds are wider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.answers.deviations import Limits
from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum, within
from sfumato.answers.parts import ALWAYS, Tree, parts_of, take_apart
from sfumato.answers.question import Given, Question
from sfumato.answers.records import Records
from sfumato.answers.summands import Summands, Worth
from sfumato.answers.verdict import Reals
from sfumato.answers.weight_kernels import weigh_counts, weigh_sums
from sfumato.errors import ReleaseDamaged
from sfumato.predicates.expression import Predicate, negation_normal_form
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.release.weights import ROUNDED, weight_of

_EPSILON = float(np.finfo(np.float64).eps)


class WeightedAnswers:
    """A generalised release with weights, as it stands and as what may stand behind it.

    The two differ where quasi-identifiers are means of groups, and so nobody's own values.

    Refuses (ReleaseDamaged) a release without weights, and weights that differ within a group.
    """

    def __init__(self, release: Release) -> None:
        means = microaggregated(release.manifest)
        self._told = Records(release)
        self._behind = Records(release, means) if means else self._told
        self._weights = _weights(release, self._told)
        self._summands: dict[tuple[bool, str], Summands] = {}

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        match aggregate:
            case Count():
                found = self._count(self._behind, predicate)
                if self._behind is not self._told:
                    told = self._count(self._told, predicate)
                    found = within(told.value, found.low, found.high)
            case Sum(attribute):
                found = self._sum(self._behind, attribute, predicate)
                if self._behind is not self._told:
                    told = self._sum(self._told, attribute, predicate)
                    found = within(told.value, found.low, found.high)
        return replace(found, se=0.0) if found.low == found.high else found

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return no standard error: nobody drew at random who has which weight."""
        return None

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about); no number may be missing."""
        question = _question(self._behind, predicate)

        def limits(about: float) -> tuple[float, float]:
            numbers = self._numbers(self._behind, attribute).less(about)
            found = self._sum_of(question, self._behind, attribute, numbers)
            return found.low, found.high

        return limits

    def _count(self, records: Records, predicate: Predicate | None) -> Estimate:
        question = _question(records, predicate)
        runs, sums = question.runs, np.zeros(3)
        weigh_counts(
            runs.first,
            runs.size,
            records.starts,
            self._weights,
            ROUNDED,
            question.status(),
            question.chance(),
            sums,
        )
        value, low, high = sums.tolist()
        rounding = records.rows * _EPSILON
        return within(value, low * (1.0 - rounding), high * (1.0 + rounding))

    def _sum(self, records: Records, attribute: str, predicate: Predicate | None) -> Estimate:
        numbers = self._numbers(records, attribute)
        return self._sum_of(_question(records, predicate), records, attribute, numbers)

    def _sum_of(
        self, question: Question, records: Records, attribute: str, numbers: Summands
    ) -> Estimate:
        # rows whose number satisfies the predicate's part on it, and rows whose number does not; or
        # rows by the region of their number, where it stands in several places
        cases: list[tuple[Worth, Given]] = [
            (numbers.worth(question.verdicts[part], holds), ((part, holds),))
            for part, holds in question.ways(attribute)
        ] or [(numbers.all[1], ())]
        runs, slots, sums = question.runs, records.read(attribute), np.zeros(5)
        weigh_sums(
            runs.first,
            runs.size,
            records.starts,
            self._weights,
            ROUNDED,
            slots.of_row,
            numbers.may_miss,
            _ends([worth for worth, _ in cases]),
            np.array([question.status(given) for _, given in cases]),
            np.array([question.chance(given) for _, given in cases]),
            sums,
        )
        value, low, high, below, above = sums.tolist()
        rounding = records.rows * _EPSILON
        return within(value, low - below * rounding, high + above * rounding)

    def _numbers(self, records: Records, name: str) -> Summands:
        key = records is self._told, name
        if key not in self._summands:
            self._summands[key] = Summands(records.read(name))
        return self._summands[key]


def _ends(worths: Sequence[Worth]) -> tuple[Reals, Reals, Reals]:
    """Return the least, greatest and mean number, a line a case."""
    return (
        np.array([worth.low for worth in worths]),
        np.array([worth.high for worth in worths]),
        np.array([worth.mean for worth in worths]),
    )


def _question(records: Records, predicate: Predicate | None) -> Question:
    tree: Tree = ALWAYS if predicate is None else take_apart(negation_normal_form(predicate))
    slots = {part.attribute: records.read(part.attribute) for part in parts_of(tree)}
    return Question(tree, slots, records)


def _weights(release: Release, records: Records) -> Reals:
    """Return the mean weight of each group."""
    name = weight_of(release.manifest)
    if name is None:
        raise ReleaseDamaged("the release has no weights")
    of_row = release.tables["records"][name].to_numpy()
    groups = release.tables["records"]["group"].to_numpy() - 1
    weights = np.empty(len(records.starts) - 1)
    weights[groups] = of_row
    if not np.array_equal(weights[groups], of_row):
        raise ReleaseDamaged(f"the weights of column '{name}' differ within a group")
    return weights
