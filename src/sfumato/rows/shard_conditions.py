"""What every shard of a table must satisfy as one group, so that a method has a solution in it.

Conditions are asked of counts alone: how many rows of each shard have each combination of codes in
the columns that a condition names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
        sizes = _sums(shard, joint.counts, shards)
        histograms = {}
        for name, codes in zip(self.columns, joint.codes, strict=True):
            histograms[name] = Histogram.count(shard, codes, joint.counts, shards, self.null_code)
        return np.asarray(self.bound.holds(GroupStatistics(sizes, histograms)), np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class HasValues:
    """Each shard has rows with a value of the attribute, of which none has more than 1/l."""

    attribute: str
    null_code: int
    l: int = 1  # noqa: E741 -- the parameter's name in every paper

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether it is eligible."""
        known = joint.codes[0] != self.null_code
        return _eligible(shard[known], joint.codes[0][known], joint.counts[known], shards, self.l)


@dataclass(frozen=True, slots=True, eq=False)
class FullPatterns:
    """Each flag pattern that has k rows in the whole table has none or k in each shard."""

    flags: tuple[str, ...]
    k: int
    large: Joint = field(repr=False)  # the patterns with k rows in the whole table

    @property
    def columns(self) -> tuple[str, ...]:
        """The flags."""
        return self.flags

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether no large pattern has too few rows in it."""
        pattern, large = _patterns(joint.codes), set(_patterns(self.large.codes).tolist())
        is_large = np.array([each in large for each in pattern.tolist()], np.bool_)
        lines, shard_of = np.unique(
            np.stack([shard[is_large], pattern[is_large]]), axis=1, return_inverse=True
        )
        sums = _sums(shard_of.reshape(-1), joint.counts[is_large], lines.shape[1])
        found = np.ones(shards, np.bool_)
        found[lines[0][(sums > 0) & (sums < self.k)]] = False
        return found


@dataclass(frozen=True, slots=True, eq=False)
class FlaggedEligible:
    """The flagged cells of an attribute are none in a shard, or can be put into buckets there.

    So they can if some have a value and no value has more than 1/l of those; `l` is 2 where
    buckets must be close to the whole instead, which asks for two values at least.
    """

    attribute: str
    flag: str | None
    null_code: int
    l: int  # noqa: E741 -- the parameter's name in every paper
    values: int = 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute, and its flags if it has any."""
        return (self.attribute,) if self.flag is None else (self.attribute, self.flag)

    def holds(self, shard: Ints, joint: Joint, shards: int) -> Bools:
        """Return for every shard whether its flagged cells can be protected."""
        codes = joint.codes[0]
        flagged = np.ones(len(codes), np.bool_) if self.flag is None else joint.codes[1] > 0
        flagged &= joint.counts > 0
        none = np.bincount(shard[flagged], minlength=shards) == 0
        known = flagged & (codes != self.null_code)
        fits = _eligible(shard[known], codes[known], joint.counts[known], shards, self.l)
        pairs = np.unique(np.stack([shard[known], codes[known]]), axis=1)
        different = np.bincount(pairs[0], minlength=shards)
        return np.asarray(none | (fits & (different >= self.values)))


def all_hold(
    conditions: Sequence[Condition], lines: Sequence[tuple[Ints, Joint]], shards: int
) -> Bools:
    """Return for every shard whether all conditions hold, given the counts for each of them."""
    found = np.ones(shards, np.bool_)
    for condition, (shard, joint) in zip(conditions, lines, strict=True):
        found &= condition.holds(shard, joint, shards)
    return found


def _eligible(shard: Ints, codes: Ints, counts: Ints, shards: int, l: int) -> Bools:  # noqa: E741
    present = _sums(shard, counts, shards)
    pairs, line = np.unique(np.stack([shard, codes]), axis=1, return_inverse=True)
    sums = _sums(line.reshape(-1), counts, pairs.shape[1])
    largest = np.zeros(shards, np.int64)
    np.maximum.at(largest, pairs[0], sums)
    return np.asarray((present > 0) & (largest * l <= present))


def _patterns(codes: Sequence[Ints]) -> Ints:
    """Return one number a pattern of flags."""
    found = np.zeros(len(codes[0]), np.int64) if codes else np.zeros(1, np.int64)
    for flags in codes:
        found = 2 * found + flags
    return found


def _sums(places: Ints, counts: Ints, length: int) -> Ints:
    sums = np.zeros(length, np.int64)
    np.add.at(sums, places, counts)
    return sums
