"""The risk of households: one member who is found gives away the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.risk.adversaries import Levels, levels
from sfumato.table.groups import sorted_rows


@dataclass(frozen=True, slots=True)
class Households:
    """The risk of a household is 1 - product over its members of (1 - r), r being theirs.

    `members` says how the risk of members was found (as a journalist's, or `prosecutor`). A
    `unique` household has a composition (what is known of all its members together) that no other
    household of the data has.
    """

    count: int
    members: str
    risk: Levels
    unique: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "count": self.count,
            "members": self.members,
            "risk": self.risk.to_dict(),
            "unique": self.unique,
            "unique_share": self.unique / self.count,
        }


def households_of(
    codes: npt.NDArray[np.integer[Any]],
    classes: npt.NDArray[np.int64],
    risks: npt.NDArray[np.float64],
    members: str,
) -> Households:
    """Return the risks of households, from every record's household, class and risk."""
    _, ids = np.unique(codes, return_inverse=True)
    count = int(ids.max()) + 1
    certain = np.bincount(ids, risks >= 1, minlength=count) > 0
    safe = np.bincount(ids, np.log1p(-np.where(risks >= 1, 0.0, risks)), minlength=count)
    together = np.where(certain, 1.0, -np.expm1(safe))
    return Households(
        count, members, levels(together), unique_compositions(ids.astype(np.int32), classes)
    )


def unique_compositions(households: npt.NDArray[np.int32], classes: npt.NDArray[np.int64]) -> int:
    """Return how many households have a multiset of members' classes that no other has.

    >>> unique_compositions(np.array([0, 0, 1, 1, 2], np.int32), np.array([5, 6, 6, 5, 5]))
    1
    """
    count = int(households.max()) + 1
    by_class = np.argsort(classes, kind="stable")
    order = sorted_rows(by_class, households, count)
    sorted_classes = classes[order] + 1  # 0 stands for "no further member"
    sizes = np.bincount(households, minlength=count)
    starts = np.cumsum(sizes) - sizes
    alive, names, unique = np.arange(count), np.zeros(count, np.int64), 0
    span = int(sorted_classes.max()) + 1
    place = 0
    # Household by household the members are named one after another; equal names so far, and an
    # equal next member, are an equal name. One whose name is its own needs no further look.
    while len(alive):
        ended = sizes[alive] <= place
        at = np.minimum(starts[alive] + place, len(sorted_classes) - 1)
        following = np.where(ended, 0, sorted_classes[at])
        _, names, uses = np.unique(
            names * span + following, return_inverse=True, return_counts=True
        )
        alone = uses[names] == 1
        unique += int(np.count_nonzero(alone))
        keep = ~alone & ~ended
        alive, names = alive[keep], names[keep]
        place += 1
    return unique
