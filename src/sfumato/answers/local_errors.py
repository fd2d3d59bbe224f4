"""How far a count or a sum may lie off its expectation where buckets are dealt to their rows.

Every attribute has buckets of its own, whose n values are dealt to n rows at random, apart from all
other buckets. Let v(i) be what row i gets of an attribute, as far as the question sees it: whether
its part of the predicate holds, or the number to add. Two rows of one bucket have the covariance
-var/(n - 1), var being that of the bucket's values; all others have none.

What row i adds to the answer is linear in the v of each attribute, as long as each stands in one
place. So it is a sum over sets S of attributes of

    (its change with all attributes of S, the others at their means) * product of (v(i) - mean)

and of two rows only the terms of the same S go together, if they share the buckets of all of S:

    Var = sum over i of var(i) + sum over S of sum over rows i != j that share all buckets of S of
          change_S(i) * change_S(j) * product over S of -var/(n - 1)

Rows that share one bucket are found bucket by bucket, and those that share several are few.

Exact cells are not random. A generalised cell was dealt by nobody: where one leaves open whether
its row counts, or what it adds, there is no standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
import numpy.typing as npt

from sfumato.answers.meetings import Meetings
from sfumato.answers.parts import Part
from sfumato.answers.question import Question
from sfumato.answers.records import Runs
from sfumato.answers.run_kernels import add_meetings, gather_pairs, spread_runs, weigh_amounts
from sfumato.answers.slots import Slots
from sfumato.answers.summands import line_of_numbers
from sfumato.answers.verdict import NEVER, SURELY, Reals

Names = tuple[str, ...]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Dealt:
    """An attribute with buckets, and by bucket the covariance of what two of its rows get."""

    slots: Slots
    covariance: Reals

    @property
    def name(self) -> str:
        return self.slots.entry.name


class Amounts:
    """The numbers of an attribute, by atom and by slot."""

    def __init__(self, slots: Slots) -> None:
        line = line_of_numbers(slots)
        self.slots = slots
        beyond = np.zeros(slots.atoms - len(slots.values))
        self._numbers = np.append(line.positions(line.ticks(slots.values)), beyond)
        self._is_number = np.arange(slots.atoms) < len(slots.values)
        # slots of cells that may hold several numbers
        self.is_open = slots.entries != 1
        self.is_open[slots.slot[slots.atom == slots.unknown]] = True
        self.is_open[slots.ranges.slot] = True
        self.is_open[slots.first_bucket :] = False

    def moments(self, about: float, counts: Bools | None) -> tuple[Reals, Reals]:
        """Return by slot the mean of (number - about) and of its square.

        Missing numbers add nothing, and neither do those whose atom does not count.
        """
        slots = self.slots
        chosen = self._is_number if counts is None else self._is_number & counts
        amount = np.where(chosen, self._numbers - about, 0.0)
        mean, square = np.zeros(slots.count), np.zeros(slots.count)
        weigh_amounts(slots.slot, slots.atom, slots.weight, amount, mean, square)
        weight = np.maximum(slots.weights, 1.0)
        return mean / weight, square / weight


def count_error(question: Question, meetings: Meetings) -> float | None:
    """Return the standard error of the number of rows that satisfy the predicate.

    None where a generalised cell leaves it open, and where an attribute with buckets stands in
    several places of the predicate.
    """
    parts = _dealt_parts(question)
    if parts is None or question.is_open_outside():
        return None
    runs, chance = question.runs, question.chance()
    alone = float((runs.size * chance * (1.0 - chance)).sum())
    dealt = [_dealt(question, part) for part in parts.values()]

    def changes(names: Names) -> Reals:
        return question.change([parts[name] for name in names])

    return sqrt(max(alone + _of_pairs(dealt, runs, changes, meetings), 0.0))


def sum_error(
    question: Question, amounts: Amounts, about: float, meetings: Meetings
) -> float | None:
    """Return the standard error of the sum of (number - about) over rows that have a number.

    None where `count_error` has none; where a generalised cell leaves the number open; and where
    the number is in buckets and stands below an OR.
    """
    parts, slots = _dealt_parts(question), amounts.slots
    if parts is None or question.is_open_outside():
        return None
    name = slots.entry.name
    own: list[Part] = []
    if slots.buckets and name in parts:
        own = [parts.pop(name)]
        if not question.is_required(own[0]):
            return None
    rows = _row_by_row(question.runs)
    at = slots.of_row[rows.first]
    if amounts.is_open.any() and amounts.is_open[at][_may_count(question)].any():
        return None
    counts = question.verdicts[own[0]].atoms == SURELY if own else None
    mean, square = amounts.moments(about, counts)
    spread = np.maximum(square - mean**2, 0.0)
    means = mean[at]

    def by_row(by_run: Reals) -> Reals:
        return by_run if rows is question.runs else np.repeat(by_run, question.runs.size)

    def changes(names: Names) -> Reals:
        others = [parts[each] for each in names if each != name]
        change = by_row(question.change([*own, *others]))
        return change if name in names else change * means

    chance = by_row(question.change(own))
    alone = float((square[at] * chance - (means * chance) ** 2).sum())
    dealt = [_dealt(question, part) for part in parts.values()]
    if slots.buckets:
        dealt.append(_covariances(slots, spread))
    return sqrt(max(alone + _of_pairs(dealt, rows, changes, meetings), 0.0))


def _dealt_parts(question: Question) -> dict[str, Part] | None:
    """Return the parts on attributes with buckets; None where one of these has several."""
    alone = {part.attribute: part for part in question.only_parts()}
    dealt = [part.attribute for part, v in question.verdicts.items() if v.slots.buckets]
    if not alone.keys() >= set(dealt):
        return None
    return {name: alone[name] for name in dealt}


def _dealt(question: Question, part: Part) -> _Dealt:
    verdict = question.verdicts[part]
    return _covariances(verdict.slots, verdict.share * (1.0 - verdict.share))


def _covariances(slots: Slots, spread: Reals) -> _Dealt:
    others = np.maximum(slots.bucket_sizes - 1.0, 1.0)
    return _Dealt(slots, -spread[slots.first_bucket :] / others)


def _of_pairs(
    dealt: Sequence[_Dealt], runs: Runs, changes: Callable[[Names], Reals], meetings: Meetings
) -> float:
    """Return what pairs of rows add to the variance."""
    total = 0.0
    for each in dealt:
        sums = np.zeros((each.slots.buckets, 2))
        slots = each.slots
        change = changes((each.name,))
        gather_pairs(runs.first, runs.size, slots.of_row, slots.first_bucket, change, sums)
        total += float(((sums[:, 0] ** 2 - sums[:, 1]) * each.covariance).sum())
    for size in range(2, len(dealt) + 1):
        for several in combinations(dealt, size):
            met = meetings.of([each.slots for each in several])
            if not len(met.rows):
                continue
            at_row = np.zeros(meetings.rows)
            spread_runs(runs.first, runs.size, changes(tuple(e.name for e in several)), at_row)
            covariance = np.ones(len(met.starts) - 1)
            for each, bucket in zip(several, met.buckets, strict=True):
                covariance *= each.covariance[bucket]
            total += add_meetings(met.starts, met.rows, at_row, covariance)
    return total


def _row_by_row(runs: Runs) -> Runs:
    """Return runs of one row each."""
    if (runs.size == 1).all():
        return runs
    before = np.cumsum(runs.size) - runs.size
    rows = np.repeat(runs.first - before, runs.size) + np.arange(int(runs.size.sum()))
    return Runs(rows.astype(np.int32), np.ones(len(rows), np.int32))


def _may_count(question: Question) -> Bools:
    """Return of each row of the runs whether it may count."""
    return np.repeat(question.status() > NEVER, question.runs.size)
