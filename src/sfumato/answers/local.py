"""Answers from the `local` layout: cells generalised by group, sensitive cells in buckets.

An original that fits the release gives every generalised cell one of its values, and deals the
values of every bucket to its rows, each to one. Row by row a predicate is then surely, perhaps or
never true. Buckets say more: which row has which value is open, but not how many values satisfy
the predicate. The bounds use this for one attribute of the predicate at a time, the one that
narrows them most, and for the summed attribute. So they are exact where the other attributes of
the predicate are generalised, and valid everywhere.

Estimates take a cell's values as equally likely, a bucket's values as dealt at random, and
different attributes of a row as independent of each other.
"""

from __future__ import annotations

import numpy as np

from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum
from sfumato.answers.parts import ALWAYS, Part, Tree, parts_of, take_apart
from sfumato.answers.question import Question
from sfumato.answers.reading import read_slots
from sfumato.answers.slots import Slots
from sfumato.answers.summands import Ints, Summands, Worth
from sfumato.answers.verdict import NEVER, PERHAPS, SURELY, Reals, Status, Verdict
from sfumato.errors import ParameterError
from sfumato.predicates.expression import Predicate, negation_normal_form, unknown_column
from sfumato.release import Release

# Sums of chances that differ this little from a whole number are that number.
_ROUNDING = 1e-9


class LocalAnswers:
    """A local release, read attribute by attribute as questions need them."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._table = release.tables["records"]
        self._slots: dict[str, Slots] = {}
        self._summands: dict[str, Summands] = {}

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        question = self._question(predicate)
        match aggregate:
            case Count():
                return _count(question)
            case Sum(attribute):
                return _sum(question, self._read(attribute), self._numbers(attribute))

    def paper_interval(
        self, attribute: str | None, predicate: Predicate | None
    ) -> tuple[float, float]:
        """Return the interval of section 4.2; without an attribute, that of the count."""
        chance = self._question(predicate).chance()
        if attribute is None:
            total = chance.sum()
            return float(np.floor(total + _ROUNDING)), float(np.ceil(total - _ROUNDING))
        slots, numbers = self._read(attribute), self._numbers(attribute)
        if len(slots.of_row[slots.outside]):
            raise ParameterError(
                f"column '{attribute}' has cells outside buckets, and the paper's interval is that "
                "of a sensitive attribute; use `answer`"
            )
        hits = np.bincount(slots.bucket, chance, minlength=slots.buckets)
        few = np.floor(hits + _ROUNDING).astype(np.int64)
        many = np.ceil(hits - _ROUNDING).astype(np.int64)
        every = np.ones(slots.atoms, np.bool_)
        return numbers.extremes(every, few, few)[0], numbers.extremes(every, many, many)[1]

    def _question(self, predicate: Predicate | None) -> Question:
        tree: Tree = ALWAYS if predicate is None else take_apart(negation_normal_form(predicate))
        slots = {part.attribute: self._read(part.attribute) for part in parts_of(tree)}
        return Question(tree, slots, self._table.num_rows)

    def _read(self, name: str) -> Slots:
        if name not in self._slots:
            entries = {entry.name: entry for entry in self._release.manifest.attributes}
            if name not in entries:
                raise ParameterError(
                    f"this release does not answer: {unknown_column(name, entries)}"
                )
            hierarchy = self._release.hierarchies.get(name)
            self._slots[name] = read_slots(self._table, entries[name], hierarchy)
        return self._slots[name]

    def _numbers(self, name: str) -> Summands:
        if name not in self._summands:
            self._summands[name] = Summands(self._read(name))
        return self._summands[name]


def _count(question: Question) -> Estimate:
    status = question.status()
    low, high = np.count_nonzero(status == SURELY), np.count_nonzero(status)
    for part in question.only_parts():
        if question.verdicts[part].slots.buckets:
            fewest, most = _count_by_buckets(question, part, status)
            low, high = max(low, fewest), min(high, most)
    return _estimate(float(question.chance().sum()), float(low), float(high))


def _count_by_buckets(question: Question, part: Part, status: Status) -> tuple[int, int]:
    """Return bounds that know how many values of each bucket satisfy the part."""
    verdict = question.verdicts[part]
    slots, hits = verdict.slots, verdict.hits
    without, given = (question.status((part, true))[slots.inside] for true in (False, True))
    outside = status[slots.outside]
    # hits count only on rows for which the part decides
    decided = slots.tally((given > NEVER) & (without == NEVER))
    may = slots.tally(without > NEVER) + np.minimum(hits, decided)
    spare = slots.tally((given < SURELY) | (without == SURELY))
    must = slots.tally(without == SURELY) + np.maximum(hits - spare, 0)
    return (
        int(np.count_nonzero(outside == SURELY) + must.sum()),
        int(np.count_nonzero(outside) + may.sum()),
    )


def _sum(question: Question, slots: Slots, numbers: Summands) -> Estimate:
    own = [part for part in question.only_parts() if part.attribute == slots.entry.name]
    verdict, worth = numbers.all
    # rows whose number satisfies the predicate's part on it, and rows whose number does not
    cases: list[tuple[bool, Worth, tuple[Part, bool] | None]] = [(True, worth, None)]
    if own:
        verdict = question.verdicts[own[0]]
        cases = [(h, numbers.worth(verdict, h), (own[0], h)) for h in (True, False)]
    value = low = high = 0.0
    outside = slots.of_row[slots.outside]
    least = np.where(numbers.may_miss, 0.0, np.inf)[outside]
    greatest = -least
    for holds, worth, given in cases:
        status = question.status(given)
        value += float((worth.mean.take(slots.of_row) * question.chance(given)).sum())
        if len(outside):
            least, greatest = _widened(least, greatest, worth, outside, status[slots.outside])
        fewest, most = _sum_of_buckets(numbers, verdict, holds, status)
        low, high = low + fewest, high + most
    low, high = low + float(least.sum()), high + float(greatest.sum())
    return _estimate(value, low - numbers.slack, high + numbers.slack)


def _widened(
    least: Reals, greatest: Reals, worth: Worth, slot: Ints, status: Status
) -> tuple[Reals, Reals]:
    """Return what each row adds at least and at most, this worth being one more possibility."""
    low, high = worth.low[slot], worth.high[slot]
    low = np.where(status == SURELY, low, np.where(status == PERHAPS, np.minimum(low, 0.0), 0.0))
    high = np.where(status == SURELY, high, np.where(status == PERHAPS, np.maximum(high, 0.0), 0.0))
    there = worth.is_there[slot]
    return (
        np.where(there, np.minimum(least, low), least),
        np.where(there, np.maximum(greatest, high), greatest),
    )


def _sum_of_buckets(
    numbers: Summands, verdict: Verdict, holds: bool, status: Status
) -> tuple[float, float]:
    """Return the least and greatest sum of the numbers in buckets that count.

    Of the numbers in a bucket that satisfy the predicate's part (or do not), only those count that
    fall to rows that satisfy the rest.
    """
    slots = verdict.slots
    inside = status[slots.inside]
    hits = verdict.hits if holds else numbers.sizes - verdict.hits
    fewest = np.maximum(hits - slots.tally(inside < SURELY), 0)
    most = np.minimum(hits, slots.tally(inside > NEVER))
    return numbers.extremes((verdict.atoms == SURELY) == holds, fewest, most)


def _estimate(value: float, low: float, high: float) -> Estimate:
    # attributes that are not independent may carry the expected value beyond what is possible
    return Estimate(min(max(value, low), high), low, high)
