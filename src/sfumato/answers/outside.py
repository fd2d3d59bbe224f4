"""What rows whose numbers are in no bucket add to a sum.

Such a row adds one of the numbers of its cell, if it satisfies the predicate. Where an attribute
with buckets decides upon that, rows of a bucket do not satisfy the predicate as they like: so many
of its values satisfy the part on it, and each falls to another row. The greatest sum gives them to
the rows that gain most by it, and the least one to those that lose most. That is exact where no
other attribute has buckets; with several of them each gives bounds, of which the closest hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from sfumato.answers.outside_kernels import add_dealt_changes, gather_changes
from sfumato.answers.parts import Part
from sfumato.answers.question import Given, Question
from sfumato.answers.run_kernels import add_outside
from sfumato.answers.slots import Slots
from sfumato.answers.summands import Summands, Worth
from sfumato.answers.verdict import Reals

# What is added up for bounds by buckets are differences of numbers, and up to four times as large.
_MORE_ROUNDING = 4.0


class Outside:
    """The numbers that are in no bucket, by cases: which of them count, and what is then known."""

    def __init__(
        self, slots: Slots, numbers: Summands, cases: Sequence[tuple[Worth, Given]]
    ) -> None:
        self._slots = slots
        self._numbers = numbers
        self._given = [given for _, given in cases]
        self._low = np.array([worth.low for worth, _ in cases])
        self._high = np.array([worth.high for worth, _ in cases])
        self._mean = np.array([worth.mean for worth, _ in cases])

    def sums(self, question: Question) -> Reals:
        """Return what the rows add: expected, at least and at most."""
        runs, slots, sums = question.runs, self._slots, np.zeros(3)
        add_outside(
            runs.first,
            runs.size,
            slots.of_row,
            slots.first_bucket,
            self._numbers.may_miss,
            (self._low, self._high, self._mean),
            np.array([question.status(given) for given in self._given]),
            np.array([question.chance(given) for given in self._given]),
            sums,
        )
        for part in question.only_parts():
            dealt = question.verdicts[part].slots
            if dealt.buckets and dealt is not slots and sums[1] < sums[2]:
                low, high = self._dealt(question, part)
                sums[1], sums[2] = max(sums[1], low), min(sums[2], high)
        return sums

    def _dealt(self, question: Question, part: Part) -> tuple[float, float]:
        """Return bounds that know how many values of each bucket satisfy the part."""
        verdict, slots, runs = question.verdicts[part], self._slots, question.runs
        dealt = verdict.slots
        known: tuple[Given, ...] = ((), ((part, False),), ((part, True),))
        anyway, without, with_ = (
            np.array([question.status((*given, *more)) for given in self._given]) for more in known
        )
        starts = np.append(0, np.cumsum(dealt.bucket_sizes))
        found = np.zeros(dealt.buckets, np.int32)
        down, up = np.empty((2, len(dealt.of_row)))
        sums = np.zeros(2)
        gather_changes(
            (runs.first, runs.size),
            slots.of_row,
            slots.first_bucket,
            self._numbers.may_miss,
            self._low,
            self._high,
            dealt.of_row,
            dealt.first_bucket,
            (anyway, without, with_),
            starts,
            found,
            down,
            up,
            sums,
        )
        low = sums[0] - add_dealt_changes(starts, found, verdict.hits, down, -1.0)
        high = sums[1] + add_dealt_changes(starts, found, verdict.hits, up, 1.0)
        slack = (_MORE_ROUNDING - 1.0) * self._numbers.slack  # the caller adds one more
        # of numbers without an end nothing closer can be said
        return (
            float(low - slack) if isfinite(low) else -inf,
            float(high + slack) if isfinite(high) else inf,
        )
