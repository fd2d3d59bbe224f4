"""What every shard of a table must satisfy as one group, so that a method has a solution in it.

Conditions are asked of counts alone: how many rows of each shard have each combination of codes in
the columns that a condition names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.models import BoundModel, GroupStatistics
from sfumato.models.statistics import Histogram
from sfumato.table.whole import Joint

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Condition(Protocol):
    """A condition on shards."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, or flags (`flag_name`), whose joint counts it looks at."""

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether it holds; `shard[i]` is that of line i of the counts.

        A shard may have several lines with the same codes, and none at all.
        """


@dataclass(frozen=True, slots=True, eq=False)
class SatisfiesModel:
    """Each shard satisfies a model that is bound to the whole table."""

    bound: BoundModel
    null_code: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute that the model looks at, if any."""
        return self.bound.model.needs

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether it satisfies the model."""
        return np.asarray(self.bound.holds(self._statistics(shard, joint, shards)), np.bool_)

    @property
    def is_closeness(self) -> bool:
        """Whether the model asks shards to be close to the whole table."""
        return self.bound.model.compares_with_whole and not self.bound.model.at_least

    def farthest(self, shard: Ints, joint: Joint, shards: int) -> float:
        """Return the level of the shard that is farthest from the whole table."""
        return float(self.bound.levels(self._statistics(shard, joint, shards)).max())

    def _statistics(self, shard: Ints, joint: Joint, shards: int) -> GroupStatistics:
        sizes = _sums(shard, joint.counts, shards)
        histograms = {}
        for name, codes in zip(self.columns, joint.codes, strict=True):
            histograms[name] = Histogram.count(shard, codes, joint.counts, shards, self.null_code)
        return GroupStatistics(sizes, histograms)


@dataclass(frozen=True, slots=True, eq=False)
class HasValues:
    """Each shard has rows with a value of the attribute, of which none has more than a share."""

    attribute: str
    null_code: int
    most: Fraction

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether it is eligible."""
        known = joint.codes[0] != self.null_code
        lines = (shard[known], joint.codes[0][known], joint.counts[known])
        return _eligible(*lines, shards, self.most)


@dataclass(frozen=True, slots=True, eq=False)
class FullPatterns:
    """Each flag pattern that has k rows in the whole table has none or k in each shard."""

    flags: tuple[str, ...]
    k: int
    patterns: Joint = field(repr=False)  # of the whole table

    @property
    def columns(self) -> tuple[str, ...]:
        """The flags."""
        return self.flags

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether no large pattern has too few rows in it."""
        pattern = self.patterns.lines_of(joint.codes, len(shard))
        is_large = self.patterns.counts[pattern] >= self.k
        lines, shard_of = np.unique(
            np.stack([shard[is_large], pattern[is_large]]), axis=1, return_inverse=True
        )
        sums = _sums(shard_of.reshape(-1), joint.counts[is_large], lines.shape[1])
        found = np.ones(shards, np.bool_)
        found[lines[0][(sums > 0) & (sums < self.k)]] = False
        return found


@dataclass(frozen=True, slots=True, eq=False)
class FlaggedEligible:
    """The flagged cells of an attribute can be put into l-unique buckets in each shard.

    So they can if there are none, or no value has more than 1/l of those that have one.
    """

    attribute: str
    flag: str
    null_code: int
    l: int  # noqa: E741 -- the parameter's name in every paper

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute and its flags."""
        return (self.attribute, self.flag)

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether its flagged cells can be protected."""
        flagged = (joint.codes[1] > 0) & (joint.counts > 0)
        known = flagged & (joint.codes[0] != self.null_code)
        lines = (shard[known], joint.codes[0][known], joint.counts[known])
        fits = _eligible(*lines, shards, Fraction(1, self.l))
        return np.asarray(fits | (np.bincount(shard[flagged], minlength=shards) == 0))


@dataclass(frozen=True, slots=True, eq=False)
class FlaggedClose:
    """The flagged cells of an attribute are none in a shard, or satisfy a model as one bucket.

    The model is bound to codes of its own, which `place` gives by code, a missing value last;
    without `flag` all cells count as flagged.
    """

    attribute: str
    flag: str | None
    bound: BoundModel
    place: Ints = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute, and its flags if it has any."""
        return (self.attribute,) if self.flag is None else (self.attribute, self.flag)

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether its flagged cells can be protected."""
        flagged = joint.counts > 0
        if self.flag is not None:
            flagged &= joint.codes[1] > 0
        own, counts = shard[flagged], joint.counts[flagged]
        codes = self.place[joint.codes[0][flagged]]
        histogram = Histogram.count(own, codes, counts, shards, int(self.place[-1]))
        statistics = GroupStatistics(_sums(own, counts, shards), {self.attribute: histogram})
        return np.asarray(self.bound.holds(statistics) | (statistics.sizes == 0), np.bool_)


def all_hold(
    conditions: Sequence[Condition], lines: Sequence[tuple[Ints, Joint]], shards: int
) -> Bools:
    """Return for every shard whether all conditions hold, given the counts for each of them."""
    found = np.ones(shards, np.bool_)
    for condition, (shard, joint) in zip(conditions, lines, strict=True):
        found &= condition.holds(shard, joint, shards)
    return found


def _eligible(shard: Ints, codes: Ints, counts: Ints, shards: int, most: Fraction) -> Bools:
    """Return for every shard whether it has rows, and no code more than a share of them."""
    present = _sums(shard, counts, shards)
    pairs, line = np.unique(np.stack([shard, codes]), axis=1, return_inverse=True)
    sums = _sums(line.reshape(-1), counts, pairs.shape[1])
    largest = np.zeros(shards, np.int64)
    np.maximum.at(largest, pairs[0], sums)
    return np.asarray((present > 0) & (largest * most.denominator <= present * most.numerator))


def _sums(places: Ints, counts: Ints, length: int) -> Ints:
    sums = np.zeros(length, np.int64)
    np.add.at(sums, places, counts)
    return sums
