"""How large the classes of equal records are, and what their sizes alone say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# A class of fewer people than one of these is small; 1/11 and 1/5 are common limits of risk.
SMALL = (2, 3, 5, 11, 20)
COUNTED = (2, 3, 5, 10)
# Ends of the bars of a histogram of class sizes.
_EDGES = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1_000)


@dataclass(frozen=True, slots=True)
class Below:
    """The records in classes of fewer than `k` people; the weighted share if there are weights."""

    k: int
    records: int
    share: float
    weighted_share: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "k": self.k,
            "records": self.records,
            "share": self.share,
            "weighted_share": self.weighted_share,
        }


def below(
    of_sizes: npt.NDArray[np.int64], k: int, weights: npt.NDArray[np.float64] | None = None
) -> Below:
    """Return the records whose class has fewer than k people.

    >>> below(np.array([1, 2, 2]), 2).records
    1
    """
    small = of_sizes < k
    count = int(np.count_nonzero(small))
    weighted = None if weights is None else float(weights[small].sum() / weights.sum())
    return Below(k, count, count / len(of_sizes), weighted)


def frequencies(sizes: npt.NDArray[np.int64]) -> Mapping[int, int]:
    """Return how many classes have each size that occurs.

    >>> frequencies(np.array([1, 3, 1]))
    {1: 2, 3: 1}
    """
    found, counts = np.unique(sizes, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram: classes of `low` to `high` people (no end if None)."""

    low: int
    high: int | None
    classes: int
    records: int
    share: float

    @property
    def label(self) -> str:
        """The sizes in words."""
        if self.high is None:
            return f"{self.low:,} or more"
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "low": self.low,
            "high": self.high,
            "classes": self.classes,
            "records": self.records,
            "share": self.share,
        }


def histogram(sizes: npt.NDArray[np.int64]) -> tuple[Bar, ...]:
    """Return the classes by size, and the share of records in them.

    >>> [(bar.label, bar.records) for bar in histogram(np.array([1, 1, 7]))[:5]]
    [('1', 2), ('2', 0), ('3', 0), ('4', 0), ('5–9', 7)]
    """
    total = int(sizes.sum())
    bars = []
    for low, following in zip(_EDGES, (*_EDGES[1:], None), strict=True):
        chosen = sizes[(sizes >= low) & (sizes < (following or np.inf))]
        held = int(chosen.sum())
        high = None if following is None else following - 1
        bars.append(Bar(low, high, len(chosen), held, held / total))
    return tuple(bars)
