"""Answers from the layout `local`, whose sensitive cells are in buckets, and from `generalized`.

An original that fits the release gives every generalised cell one of its values, and deals the
values of every bucket to its rows, each to one. Row by row a predicate is then surely, perhaps or
never true. Buckets say more: which row has which value is open, but not how many values satisfy
the predicate. The bounds use this for one attribute of the predicate at a time, the one that
narrows them most, and for the summed attribute. So they are exact where the other attributes of
the predicate are generalised, and what it leaves to them depends on the attribute with buckets in
two ways only; and they are valid everywhere.

Estimates take a cell's values as equally likely, a bucket's values as dealt at random, and
different attributes of a row as independent of each other. A cell has one value in all places of a
predicate that read it (`cases.py`).

Standard errors are those of dealing the buckets; `local_errors.py` says how, and where there is
none. They are right where buckets were in fact dealt at random with regard to all other attributes;
where attributes go together, they are too small.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.answers.deviations import Limits, with_number
from sfumato.answers.estimate import Aggregate, Count, Estimate, Sum, within
from sfumato.answers.local_errors import Amounts, count_error, sum_error
from sfumato.answers.meetings import Meetings
from sfumato.answers.outside import Outside
from sfumato.answers.parts import ALWAYS, Part, Tree, parts_of, take_apart
from sfumato.answers.question import Given, Question
from sfumato.answers.records import Records
from sfumato.answers.run_kernels import bound_tallies, gather_buckets, tally_runs, total_runs
from sfumato.answers.slot_kernels import limit_hits
from sfumato.answers.slots import Slots
from sfumato.answers.summands import Summands, Worth
from sfumato.answers.verdict import PERHAPS, SURELY, Reals, Status, Verdict
from sfumato.errors import ParameterError
from sfumato.predicates.expression import Predicate, negation_normal_form
from sfumato.release import Release

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

# Sums of chances that differ this little from a whole number are that number.
_ROUNDING = 1e-9


class LocalAnswers:
    """A local release, or a generalised one, read attribute by attribute as questions need them.

    A generalised release is a local one without buckets: its sensitive and kept cells are exact.
    Its tables of people (`units`) are not read: answers count records, not people. `nobodys` as in
    `Sheet`.
    """

    def __init__(self, release: Release, nobodys: frozenset[str] = frozenset()) -> None:
        self._records = Records(release, nobodys)
        self._summands: dict[str, Summands] = {}
        self._amounts: dict[str, Amounts] = {}
        self._meetings = Meetings(self._records.rows)

    def answer(self, aggregate: Aggregate, predicate: Predicate | None) -> Estimate:
        """Return the estimate and bounds of an aggregate over the rows that satisfy a predicate."""
        question = self._question(predicate)
        match aggregate:
            case Count():
                found = _count(question)
                if found.low == found.high:
                    return replace(found, se=0.0)
                return replace(found, se=count_error(question, self._meetings))
            case Sum(attribute):
                found = _sum(question, self._records.read(attribute), self._numbers(attribute))
                if found.low == found.high:
                    return replace(found, se=0.0)
                amounts = self._amounts_of(attribute)
                return replace(found, se=sum_error(question, amounts, 0.0, self._meetings))

    def deviation(self, attribute: str, about: float, predicate: Predicate | None) -> float | None:
        """Return the standard error of SUM(attribute - about) over rows that have a number."""
        question = self._question(with_number(attribute, predicate))
        return sum_error(question, self._amounts_of(attribute), about, self._meetings)

    def limits(self, attribute: str, predicate: Predicate) -> Limits:
        """Return what tells the bounds of SUM(attribute - about); no number may be missing."""
        question, slots = self._question(predicate), self._records.read(attribute)
        numbers = self._numbers(attribute)

        def limits(about: float) -> tuple[float, float]:
            found = _sum(question, slots, numbers.less(about))
            return found.low, found.high

        return limits

    @property
    def starts(self) -> Codes:
        """Where each group of records starts, and after the last one its end."""
        return self._records.starts

    def read(self, name: str) -> Slots:
        """Return the slots of an attribute; ParameterError where it is not published."""
        return self._records.read(name)

    def hits(self, predicate: Predicate | None) -> Ints | None:
        """Return how many rows of each group satisfy a predicate; None where some only may."""
        question = self._question(predicate)
        status, runs = question.status(), question.runs
        if (status == PERHAPS).any():
            return None
        group = np.searchsorted(self.starts, runs.first, "right") - 1
        sure = np.where(status == SURELY, runs.size, 0)
        return np.bincount(group, sure, minlength=len(self.starts) - 1).astype(np.int64)

    def paper_interval(
        self, attribute: str | None, predicate: Predicate | None
    ) -> tuple[float, float]:
        """Return the interval of section 4.2; without an attribute, that of the count."""
        question = self._question(predicate)
        if attribute is None:
            total = float((question.chance() * question.runs.size).sum())
            return float(np.floor(total + _ROUNDING)), float(np.ceil(total - _ROUNDING))
        slots, numbers = self._records.read(attribute), self._numbers(attribute)
        if slots.has_outside:
            raise ParameterError(
                f"column '{attribute}' has cells outside buckets, and the paper's interval is that "
                "of a sensitive attribute; use `answer`"
            )
        hits = _gathered(question, slots, ())[:, 0]
        few = np.floor(hits + _ROUNDING).astype(np.int64)
        many = np.ceil(hits - _ROUNDING).astype(np.int64)
        every = np.ones(slots.atoms, np.bool_)
        return numbers.extremes(every, few, few)[0], numbers.extremes(every, many, many)[1]

    def _question(self, predicate: Predicate | None) -> Question:
        tree: Tree = ALWAYS if predicate is None else take_apart(negation_normal_form(predicate))
        slots = {part.attribute: self._records.read(part.attribute) for part in parts_of(tree)}
        return Question(tree, slots, self._records)

    def _numbers(self, name: str) -> Summands:
        if name not in self._summands:
            self._summands[name] = Summands(self._records.read(name))
        return self._summands[name]

    def _amounts_of(self, name: str) -> Amounts:
        if name not in self._amounts:
            self._amounts[name] = Amounts(self._records.read(name))
        return self._amounts[name]


def _count(question: Question) -> Estimate:
    status, totals = question.status(), np.zeros(3)
    total_runs(question.runs.size, status, question.chance(), totals)
    value, low, high = totals.tolist()
    for part in question.only_parts():
        if question.verdicts[part].slots.buckets:
            fewest, most = _count_by_buckets(question, part, status)
            low, high = max(low, fewest), min(high, most)
    return within(value, float(low), float(high))


def _count_by_buckets(question: Question, part: Part, status: Status) -> tuple[int, int]:
    """Return bounds that know how many values of each bucket satisfy the part."""
    verdict = question.verdicts[part]
    slots, hits = verdict.slots, verdict.hits
    # by bucket: rows that satisfy the predicate in any case, with the part, or without it alone;
    # surely, and perhaps
    tally = np.zeros((slots.buckets, 6), np.int32)
    outside = np.zeros(2, np.int64)
    tally_runs(
        question.runs.first,
        question.runs.size,
        slots.of_row,
        slots.first_bucket,
        status,
        question.status(((part, False),)),
        question.status(((part, True),)),
        tally,
        outside,
    )
    bound_tallies(tally, slots.bucket_sizes, hits, outside)
    return int(outside[0]), int(outside[1])


def _sum(question: Question, slots: Slots, numbers: Summands) -> Estimate:
    # rows whose number satisfies the predicate's part on it, and rows whose number does not; or
    # rows by the region of their number, where it stands in several places
    cases: list[tuple[Verdict, bool, Worth, Given]] = [
        (verdict, holds, numbers.worth(verdict, holds), ((part, holds),))
        for part, holds in question.ways(slots.entry.name)
        for verdict in (question.verdicts[part],)
    ]
    if not cases:
        verdict, worth = numbers.all
        cases = [(verdict, True, worth, ())]
    sums = np.zeros(3)
    if slots.has_outside:
        outside = Outside(slots, numbers, [(worth, given) for _, _, worth, given in cases])
        sums += outside.sums(question)
    if slots.buckets:
        for verdict, holds, worth, given in cases:
            # of the numbers in a bucket that satisfy the predicate's part (or do not), only those
            # count that fall to rows that satisfy the rest
            sizes = slots.bucket_sizes
            hits = verdict.hits if holds else sizes - verdict.hits
            mean = worth.mean[slots.first_bucket :]
            fewest, most = np.empty_like(hits), np.empty_like(hits)
            gathered = _gathered(question, slots, given)
            sums[0] += limit_hits(gathered, hits, sizes, mean, fewest, most)
            sums[1:] += numbers.extremes((verdict.atoms == SURELY) == holds, fewest, most)
    value, low, high = sums.tolist()
    return within(value, low - numbers.slack, high + numbers.slack)


def _gathered(question: Question, slots: Slots, given: Given) -> Reals:
    """Return by bucket the chances of its rows, and how many may and must satisfy a predicate."""
    tally = np.zeros((slots.buckets, 3))
    runs, status, chance = question.runs, question.status(given), question.chance(given)
    gather_buckets(runs.first, runs.size, slots.of_row, slots.first_bucket, status, chance, tally)
    return tally
