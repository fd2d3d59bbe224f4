"""What a privacy model may know of groups: their sizes and the counts of sensitive values.

Everything is counted in *units* (people): with one row a person these are rows. A value's count
is the number of people who have it, so a person with two rows counts once; a person misses the
value only if none of their rows has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.schema.distinct import runs_of
from sfumato.schema.hierarchy import Tree

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of one attribute's values in every group, sparse and sorted by group, then code.

    Entries `offsets[g]:offsets[g + 1]` of `codes` and `counts` belong to group g. `present[g]` is
    the number of units of group g that have a value at all.
    """

    offsets: Ints
    codes: Ints
    counts: Ints
    present: Ints

    @classmethod
    def count(
        cls,
        groups: npt.NDArray[np.integer[Any]],
        values: npt.NDArray[np.integer[Any]],
        counts: npt.NDArray[np.integer[Any]] | None,
        group_count: int,
        null_code: int,
    ) -> Histogram:
        """Return the histogram of (group, value, count) entries, each entry other people.

        Without counts, each entry is one of them.

        >>> entries = (np.array([1, 0, 1]), np.array([2, 0, 0]), np.array([4, 1, 1]))
        >>> histogram = Histogram.count(*entries, group_count=2, null_code=2)
        >>> histogram.counts.tolist(), histogram.present.tolist()
        ([1, 1, 4], [1, 1])
        """
        width = null_code + 1
        keys = groups.astype(np.int64)
        keys *= width
        keys += values
        if counts is not None and _is_mostly_one(counts):
            # keys that nothing has to follow are sorted several times faster
            keys = keys if len(keys) == counts.sum() else np.repeat(keys, counts)
            counts = None
        if counts is None and group_count * width <= len(keys):  # few enough to count them all
            many = np.bincount(keys, minlength=group_count * width)
            keys = np.flatnonzero(many)
            summed = many[keys]
        else:
            keys, summed = _counted_keys(keys, counts)
        owners = keys // width
        offsets = np.zeros(group_count + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=group_count), out=offsets[1:])
        owners *= width
        codes = np.subtract(keys, owners, out=owners)
        del keys
        is_missing = codes == null_code
        known = np.where(is_missing, 0, summed) if is_missing.any() else summed
        return cls(offsets, codes, summed, _sums(known, offsets))

    def equals(self, other: Histogram) -> bool:
        """Return whether two histograms count the same."""
        pairs = (
            (self.offsets, other.offsets),
            (self.codes, other.codes),
            (self.counts, other.counts),
            (self.present, other.present),
        )
        return all(np.array_equal(one, two) for one, two in pairs)


def _sums(counts: Ints, offsets: Ints) -> Ints:
    """Return the sum of each group's counts."""
    if len(counts) and counts.max() == 1 == counts.min():
        return np.diff(offsets)
    sums = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=sums[1:])
    return np.asarray(sums[offsets[1:]] - sums[offsets[:-1]])


def _is_mostly_one(counts: npt.NDArray[np.integer[Any]]) -> bool:
    """Return whether an entry a person would be at most twice as many entries."""
    if not len(counts) or counts.min() < 1:
        return False
    return bool(counts.sum() <= 2 * len(counts))


def _counted_keys(keys: Ints, counts: npt.NDArray[np.integer[Any]] | None) -> tuple[Ints, Ints]:
    """Return the distinct keys, ascending, and the sum of the counts of each.

    The keys that are given are overwritten.
    """
    if counts is None:
        keys.sort()
        return runs_of(keys)
    order = np.argsort(keys)
    keys, summed = keys[order], counts[order].astype(np.int64)
    is_first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return keys[starts], np.add.reduceat(summed, starts) if len(starts) else summed


@dataclass(frozen=True, slots=True, eq=False)
class GroupStatistics:
    """The sizes of all groups, in units, and the histograms of the attributes that models need.

    `repeats[t, g]` is how many of group g share the commonest combination of table t, where
    quasi-identifiers stand in tables of their own.
    """

    sizes: Ints
    histograms: Mapping[str, Histogram]
    repeats: npt.NDArray[np.integer[Any]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """One sensitive attribute in the whole table: the reference that groups are compared with.

    `counts[code]` counts units by value, a missing value last (`counts[null_code]`). `points` are
    the values' positions on the number line (None when they have none), in ascending order if
    `ordered`.
    """

    counts: Ints
    present: int
    ordered: bool = False
    tree: Tree | None = None
    points: npt.NDArray[np.float64] | None = None

    @property
    def null_code(self) -> int:
        """The code of a missing value."""
        return len(self.counts) - 1
