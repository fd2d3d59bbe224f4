"""What rows add to the sum of an attribute: slot by slot, and at most or least from a bucket."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.number_line import NumberLine
from sfumato.answers.slot_kernels import add_extremes, find_ends
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import NEVER, SURELY, Reals, Verdict, judge
from sfumato.errors import ParameterError

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_EPSILON = float(np.finfo(np.float64).eps)
_EXACT = 2.0**53  # up to here floats hold every whole number


class Unsummable(ParameterError):  # noqa: N818 -- named as those of `errors.py`
    """That an attribute cannot be added up; `{}` in the reason is what was asked for."""

    def __init__(self, column: str, reason: str) -> None:
        self._column, self._reason = column, reason
        super().__init__(self.said("SUM"))

    def said(self, aggregate: str) -> str:
        """Return the message for an aggregate."""
        return f"column '{self._column}' {self._reason.replace('{}', aggregate)}"


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """The least and greatest number that a slot may hold, of those where a predicate is true (or
    of those where it is not), and what they add on average.

    Without such numbers `low` is inf and `high` -inf.
    """

    low: Reals
    high: Reals
    mean: Reals

    @property
    def is_there(self) -> Bools:
        """Which slots may hold such a number."""
        return np.asarray(self.low <= self.high)


class Summands:
    """The numbers of one attribute, and those of its buckets from low to high.

    Refuses (ParameterError) an attribute that does not have numbers.
    """

    def __init__(self, slots: Slots) -> None:
        line = line_of_numbers(slots)
        self._slots = slots
        self._about = 0.0
        named = line.positions(line.ticks(slots.values))
        # an unknown number is only limited by its type, which for a wide one is no limit
        ends = [-np.inf, np.inf]
        if line.is_grid:
            reach = line.positions(np.array(line.reach, dtype=object))
            ends = [end if abs(end) < _EXACT else np.copysign(np.inf, end) for end in reach]
        # atoms: the named values, unknown ones, and missing ones, which add nothing
        self._low = np.concatenate([named, [ends[0], 0.0]])
        self._high = np.concatenate([named, [ends[1], 0.0]])
        self._mean = np.concatenate([named, [0.0, 0.0]])
        self.may_miss = np.zeros(slots.count, np.bool_)
        self.may_miss[slots.slot[slots.atom == slots.missing]] = True
        inside = np.flatnonzero(slots.slot >= slots.first_bucket)
        each = np.repeat(inside, slots.weight[inside])
        bucket, atom = slots.slot[each] - slots.first_bucket, slots.atom[each]
        order = np.lexsort((self._mean[atom], bucket))
        self._atom = atom[order]
        self._sorted = self._mean[self._atom]
        self.sizes = np.bincount(bucket, minlength=slots.buckets)
        self._starts = np.append(0, np.cumsum(self.sizes))

    def less(self, about: float) -> Summands:
        """Return the numbers with as much taken off each; missing ones must not be asked for."""
        found = copy(self)
        for name in ("all", "slack"):
            found.__dict__.pop(name, None)
        found._about = self._about + about
        found._low, found._high, found._mean, found._sorted = (
            each - about for each in (self._low, self._high, self._mean, self._sorted)
        )
        return found

    @cached_property
    def all(self) -> tuple[Verdict, Worth]:
        """The verdict that every number will do, and what they are worth."""
        verdict = judge(self._slots, None)
        return verdict, self.worth(verdict, holds=True)

    def worth(self, verdict: Verdict, holds: bool) -> Worth:
        """Return the worth of each slot where the predicate holds, or where it does not."""
        slots, pieces = self._slots, verdict.pieces
        may = verdict.atoms > NEVER if holds else verdict.atoms < SURELY
        may[slots.missing] = False
        sure = verdict.atoms == (SURELY if holds else NEVER)
        low, high = np.full(slots.count, np.inf), np.full(slots.count, -np.inf)
        total = np.zeros(slots.count)
        ends = (self._low, self._high, self._mean)
        find_ends(slots.slot, slots.atom, slots.weight, may, sure, ends, low, high, total)
        mean = np.divide(total, verdict.weight, out=np.zeros(slots.count), where=verdict.weight > 0)
        if len(slots.ranges.slot):
            assert slots.line is not None
            lows, highs = (
                slots.line.positions(ends) - self._about for ends in (pieces.low, pieces.high)
            )
            chosen = pieces.touched & (pieces.holds == holds)
            at = slots.ranges.slot
            low[at] = np.minimum(low[at], np.where(chosen, lows, np.inf).min(axis=1))
            high[at] = np.maximum(high[at], np.where(chosen, highs, -np.inf).max(axis=1))
            # shares first: lengths of ranges times numbers may be beyond floats
            share = pieces.weight / np.maximum(verdict.weight[at], np.finfo(float).tiny)[:, None]
            mean[at] += np.where(chosen, share * (lows / 2 + highs / 2), 0.0).sum(axis=1)
        return Worth(low, high, mean)

    def extremes(self, atoms: Bools, least: Ints, most: Ints) -> tuple[float, float]:
        """Return the least and greatest sum of numbers chosen from the buckets.

        From each bucket at least `least` and at most `most` are chosen, of those with these atoms.
        A missing number adds nothing, but is chosen like others.
        """
        sums = np.zeros(2)
        add_extremes(self._starts, self._atom, self._sorted, atoms, least, most, sums)
        return float(sums[0]), float(sums[1])

    @cached_property
    def slack(self) -> float:
        """By how much any order of adding all rows' numbers may be off for rounding."""
        largest = np.zeros(self._slots.count)
        np.maximum.at(largest, self._slots.slot, np.abs(self._mean)[self._slots.atom])
        ranges, line = self._slots.ranges, self._slots.line
        if line is not None and len(ranges.slot):
            ends = [
                np.abs(line.positions(each) - self._about) for each in (ranges.low, ranges.high)
            ]
            np.maximum.at(largest, ranges.slot, np.maximum(*ends))
        magnitude = float(largest[self._slots.of_row].sum())
        dtype = pa.float64() if self._about else self._slots.entry.dtype
        return rounding(magnitude, len(self._slots.of_row), dtype)


def line_of_numbers(slots: Slots) -> NumberLine:
    """Return the number line of an attribute that has numbers; ParameterError for others."""
    dtype, line = slots.entry.dtype, slots.line
    if line is None or not (
        pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
    ):
        raise Unsummable(slots.entry.name, f"holds {dtype}; {{}} needs numbers")
    return line


def rounding(magnitude: float, rows: int, dtype: pa.DataType) -> float:
    """Return by how much a sum of so many numbers may be off, whatever the order of adding."""
    if pa.types.is_integer(dtype) and magnitude < _EXACT:
        return 0.0
    return magnitude * rows * _EPSILON
