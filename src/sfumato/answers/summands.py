"""What rows add to the sum of an attribute: slot by slot, and at most or least from a bucket."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.slots import Slots
from sfumato.answers.verdict import NEVER, SURELY, Reals, Verdict, judge
from sfumato.errors import ParameterError

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_EPSILON = float(np.finfo(np.float64).eps)
_EXACT = 2.0**53  # up to here floats hold every whole number


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
        dtype, line = slots.entry.dtype, slots.line
        if line is None or not (
            pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
        ):
            raise ParameterError(f"column '{slots.entry.name}' holds {dtype}; SUM needs numbers")
        self._slots = slots
        named = line.positions(line.ticks(slots.values))
        # an unknown number is only limited by its type
        ends = [-np.inf, np.inf]
        if line.is_grid:
            ends = line.positions(np.array(line.reach, dtype=object)).tolist()
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
        self._bucket, self._atom = bucket[order], atom[order]
        self._sorted = self._mean[self._atom]
        self.sizes = np.bincount(self._bucket, minlength=slots.buckets)

    @cached_property
    def all(self) -> tuple[Verdict, Worth]:
        """The verdict that every number will do, and what they are worth."""
        verdict = judge(self._slots, None)
        return verdict, self.worth(verdict, holds=True)

    def worth(self, verdict: Verdict, holds: bool) -> Worth:
        """Return the worth of each slot where the predicate holds, or where it does not."""
        slots, pieces = self._slots, verdict.pieces
        status = verdict.atoms[slots.atom]
        may = (status > NEVER if holds else status < SURELY) & (slots.atom != slots.missing)
        sure = status == (SURELY if holds else NEVER)
        low, high = np.full(slots.count, np.inf), np.full(slots.count, -np.inf)
        np.minimum.at(low, slots.slot[may], self._low[slots.atom[may]])
        np.maximum.at(high, slots.slot[may], self._high[slots.atom[may]])
        total = slots.total(np.where(sure, slots.weight * self._mean[slots.atom], 0.0))
        if len(slots.ranges.slot):
            assert slots.line is not None
            lows, highs = (slots.line.positions(ends) for ends in (pieces.low, pieces.high))
            chosen = pieces.touched & (pieces.holds == holds)
            at = slots.ranges.slot
            low[at] = np.minimum(low[at], np.where(chosen, lows, np.inf).min(axis=1))
            high[at] = np.maximum(high[at], np.where(chosen, highs, -np.inf).max(axis=1))
            middle = np.where(chosen, pieces.weight * (lows + highs) / 2, 0.0)
            total[at] += middle.sum(axis=1)
        mean = np.divide(total, verdict.weight, out=np.zeros(slots.count), where=verdict.weight > 0)
        return Worth(low, high, mean)

    def extremes(self, atoms: Bools, least: Ints, most: Ints) -> tuple[float, float]:
        """Return the least and greatest sum of numbers chosen from the buckets.

        From each bucket at least `least` and at most `most` are chosen, of those with these atoms.
        A missing number adds nothing, but is chosen like others.
        """
        bucket, numbers = self._bucket, self._sorted
        if not atoms.all():
            chosen = atoms[self._atom]
            bucket, numbers = bucket[chosen], numbers[chosen]
        buckets = len(self.sizes)
        end = np.cumsum(np.bincount(bucket, minlength=buckets))
        start = np.append(0, end[:-1]) if buckets else end
        upto = np.append(0.0, np.cumsum(numbers))
        negative = np.bincount(bucket[numbers < 0], minlength=buckets)
        positive = np.bincount(bucket[numbers > 0], minlength=buckets)
        low = upto[start + np.clip(negative, least, most)] - upto[start]
        high = upto[end] - upto[end - np.clip(positive, least, most)]
        return float(low.sum()), float(high.sum())

    @cached_property
    def slack(self) -> float:
        """By how much any order of adding all rows' numbers may be off for rounding."""
        largest = np.zeros(self._slots.count)
        np.maximum.at(largest, self._slots.slot, np.abs(self._mean)[self._slots.atom])
        ranges, line = self._slots.ranges, self._slots.line
        if line is not None and len(ranges.slot):
            ends = [np.abs(line.positions(each)) for each in (ranges.low, ranges.high)]
            np.maximum.at(largest, ranges.slot, np.maximum(*ends))
        magnitude = float(largest[self._slots.of_row].sum())
        if pa.types.is_integer(self._slots.entry.dtype) and magnitude < _EXACT:
            return 0.0
        return magnitude * len(self._slots.of_row) * _EPSILON
