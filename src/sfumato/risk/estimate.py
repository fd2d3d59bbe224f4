"""What a population is estimated to hold, or why an estimator has nothing to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimator's number of population uniques; None with a `reason` where it has none.

    `in_sample` is how many of the sample's records they are, the population uniques times the
    sampling fraction. `parameters` are those of the fitted model.
    """

    estimator: str
    uniques: float | None
    share: float | None = None
    in_sample: float | None = None
    reason: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "estimator": self.estimator,
            "uniques": self.uniques,
            "share": self.share,
            "in_sample": self.in_sample,
            "reason": self.reason,
            "parameters": dict(self.parameters),
        }


def estimated(
    estimator: str, uniques: float, sample: int, population: int, **parameters: float
) -> Estimate:
    """Return the estimate of so many uniques in a population."""
    return Estimate(
        estimator,
        uniques,
        uniques / population,
        uniques * sample / population,
        parameters=parameters,
    )


def no_estimate(estimator: str, reason: str) -> Estimate:
    """Return that there is no estimate, and why."""
    return Estimate(estimator, None, reason=reason)
