"""Sums of an attribute over records of sets: estimates, their variance, and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.set_answer_kernels import add_set_bounds, add_set_sums
from sfumato.answers.set_levels import Levels, patterns_of
from sfumato.answers.slots import Slots
from sfumato.answers.summands import Summands, Worth, rounding
from sfumato.answers.verdict import judge
from sfumato.answers.ways import Way

if TYPE_CHECKING:
    from sfumato.answers.set_answers import SetQuestion

Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Amounts:
    """By pattern of the summed attribute's column, what each value of the domain adds.

    `low` and `high` are the least and the greatest number, `mean` that on average, as often as the
    value has the pattern (`likely`); a missing number adds 0. There are so many `rows`.
    """

    low: Reals
    high: Reals
    mean: Reals
    likely: Reals
    rows: int
    dtype: pa.DataType

    @property
    def slack(self) -> float:
        """By how much any order of adding all records' numbers may be off for rounding."""
        largest = max(float(np.abs(each).max(initial=0.0)) for each in (self.low, self.high))
        return rounding(largest * self.rows, self.rows, self.dtype)

    def less(self, about: float) -> Amounts:
        """Return the amounts with as much taken off each number; missing ones must not count."""
        low, high = self.low - about, self.high - about
        return replace(self, low=low, high=high, dtype=pa.float64())


def read_amounts(slots: Slots, ways: Sequence[Way], levels: Levels) -> Amounts:
    """Return what the values of a column add, for an attribute that it holds.

    In `ways` that say in which region the attribute is, the numbers of the region go with a
    pattern; elsewhere all of a cell do.

    Refuses (ParameterError) an attribute that does not have numbers.
    """
    numbers, name = Summands(slots), slots.entry.name
    shape = (len(levels.patterns), len(levels.class_of))
    low, high, mean = np.full(shape, np.inf), np.full(shape, -np.inf), np.zeros(shape)
    for way in ways:
        allowed, likely = patterns_of(way, levels.patterns, shape[1])
        worth = numbers.all[1]
        if name in way.where:
            worth = numbers.worth(judge(slots, way.where[name].predicate), holds=True)
        least, greatest = (_known(worth, ends)[slots.of_row] for ends in (worth.low, worth.high))
        low = np.where(allowed, np.minimum(low, least), low)
        high = np.where(allowed, np.maximum(high, greatest), high)
        # what a region's numbers add on average counts how likely it is
        mean += worth.mean[slots.of_row] * likely * way.weight(but=name)
    is_there = low <= high
    ends = np.where(is_there, low, 0.0), np.where(is_there, high, 0.0)
    rows = levels.column.members.shape[1]
    every = levels.likely[:, levels.class_of]
    return Amounts(*ends, mean, every, rows, slots.entry.dtype)


def sum_moments(question: SetQuestion, amounts: Amounts, about: float) -> tuple[float, float]:
    """Return the estimated sum of (number - about), and an estimate of its variance.

    A record's estimate y has the variance E y² - t², where t is what the record truly adds; t² is
    estimated like t itself, from the squares of numbers.
    """
    levels = question.levels[0]
    column = levels.column
    after = question.diagrams.after(question.root, 0)
    used = [k for k, node in enumerate(after) if question.chance(node).any()]
    numbers = amounts.mean - about * amounts.likely
    plain = [(numbers[k], question.chance(after[k])) for k in used]
    # a value that decides on the pattern has no number in two of them
    pairs = [(k, m) for k in used for m in used if (numbers[k] * numbers[m]).any()]
    squares = [
        (numbers[k] * numbers[m], question.chance_of_both(after[k], after[m])) for k, m in pairs
    ]
    lines = [*plain, *squares]
    if not lines:
        return 0.0, 0.0
    whole = np.array([numbers for numbers, _ in lines])
    factor, shifts = column.factors(whole.sum(axis=1))
    chances = np.array([chance for _, chance in lines])
    found = np.zeros(3)
    of_row, members = question.cells.of_row, column.members
    add_set_sums(members, of_row, factor * whole, shifts, chances, len(plain), found)
    total, estimated, true = found.tolist()
    return total, estimated - true


def sum_bounds(question: SetQuestion, amounts: Amounts) -> tuple[float, float]:
    """Return the least and the greatest sum that any original could give."""
    levels, cells = question.levels[0], question.cells
    after = question.diagrams.after(question.root, 0)
    states = np.array([1 * question.may(node) + question.is_sure(node) for node in after])
    cases, case_of_cell = np.unique(states, axis=1, return_inverse=True)
    case_of_cell = case_of_cell.reshape(-1)
    allowed = levels.allowed[:, levels.class_of]
    low, high = _ends(amounts, allowed, cases.T)
    found = np.zeros(2)
    if levels.column.is_sure:
        add_set_bounds(levels.column.members, cells.of_row, case_of_cell, low, high, found)
    else:  # any value of the domain may be a record's own
        counts = np.bincount(case_of_cell, cells.counts, minlength=len(low))
        found[0] = (counts * low.min(axis=1)).sum()
        found[1] = (counts * high.max(axis=1)).sum()
    return float(found[0]) - amounts.slack, float(found[1]) + amounts.slack


def _ends(amounts: Amounts, allowed: Bools, cases: npt.NDArray[np.int64]) -> tuple[Reals, Reals]:
    """Return what each value of the domain adds at least and at most, in each case.

    A case says of each pattern whether a record with it counts: surely (2), perhaps (1) or not.
    """
    shape = (len(cases), allowed.shape[1])
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    for number, case in enumerate(cases):
        for pattern, state in enumerate(case):
            least, greatest = amounts.low[pattern], amounts.high[pattern]
            if state < 2:
                least, greatest = np.minimum(least, 0.0), np.maximum(greatest, 0.0)
            if state == 0:
                least = greatest = np.zeros_like(least)
            there = allowed[pattern]
            low[number, there] = np.minimum(low[number, there], least[there])
            high[number, there] = np.maximum(high[number, there], greatest[there])
    return low, high


def _known(worth: Worth, ends: Reals) -> Reals:
    """Return ends of numbers, 0 where there is no number."""
    return np.where(worth.is_there, ends, 0.0)
