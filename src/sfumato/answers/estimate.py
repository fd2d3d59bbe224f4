"""What may be asked of a release, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows there are."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of an attribute's numbers; missing ones add nothing, and no rows sum to 0."""

    attribute: str


Aggregate: TypeAlias = Count | Sum


@dataclass(frozen=True, slots=True)
class Estimate:
    """An expected value, and bounds that hold for every original the release may have come from.

    The bounds speak of the published rows: nothing is known of suppressed ones. `se` is the
    standard error, None where the layout's own randomness does not give one.
    """

    value: float
    low: float
    high: float
    se: float | None = None


def within(value: float, low: float, high: float) -> Estimate:
    """Return the estimate; what is taken as independent may carry it beyond what is possible."""
    return Estimate(min(max(value, low), high), low, high)
