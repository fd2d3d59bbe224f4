"""Models that few numbers of a group decide: all groups at once, with no kernel to be compiled.

What they say is what `kernels.holds` and `kernels.level` say of every single group; its counts are
of people, and so at least 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.models.kernels import K_ANONYMITY, L_DISTINCT, L_FREQUENCY, L_UNIQUE, Reals, Rule
from sfumato.models.statistics import Histogram, Ints

_KINDS = (L_DISTINCT, L_FREQUENCY, L_UNIQUE)


class Sums(NamedTuple):
    """Of every group: its people, those who count, their values, and who share the commonest."""

    sizes: Ints
    counted: Ints
    values: Ints
    largest: Ints


def sums_of(rule: Rule, sizes: Ints, histogram: Histogram | None) -> Sums | None:
    """Return the numbers that decide the rule; None if it asks for more."""
    if rule.kind == K_ANONYMITY:
        return Sums(sizes, sizes, sizes, sizes)
    if rule.kind not in _KINDS or histogram is None:
        return None
    values = np.diff(histogram.offsets)
    largest = np.zeros(len(values), np.int64)
    counts = histogram.counts
    shown = values > 0
    if rule.skip >= 0:
        skipped = histogram.codes == rule.skip
        if skipped.any():
            counts = np.where(skipped, 0, counts)
            # a missing value has the highest code of all, so it is the last of its group
            values[shown] -= skipped[histogram.offsets[1:][shown] - 1]
    if len(counts) and counts.max() == 1 == counts.min():
        largest[shown] = 1
    elif len(counts):
        most = np.maximum.reduceat(counts, histogram.offsets[:-1][shown])
        largest[shown] = np.maximum(most, 0)
    return Sums(sizes, histogram.present if rule.skip >= 0 else sizes, values, largest)


def hold(rule: Rule, sums: Sums) -> npt.NDArray[np.bool_]:
    """Return for every group whether it satisfies the rule."""
    if rule.kind == L_FREQUENCY:
        return sums.largest * rule.whole <= sums.counted
    found = sums.values >= rule.whole
    if rule.kind == L_DISTINCT and rule.whole == 1:
        found[:] = True  # also without any value
    if rule.kind == L_UNIQUE:
        found &= sums.largest <= 1
    return found


def levels(rule: Rule, sums: Sums) -> Reals:
    """Return the level that every group reaches."""
    if rule.kind != L_FREQUENCY:
        return sums.values.astype(np.float64)
    reached = np.full(len(sums.sizes), np.inf)
    np.divide(sums.counted, sums.largest, out=reached, where=sums.largest > 0)
    return reached
