"""Guarantees of local buckets: predicates on the sensitive cells that share a bucket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.models import kernels
from sfumato.models.model import BoundModel, Model, positive_integer
from sfumato.models.statistics import Total
from sfumato.models.t_closeness import Distance, TCloseness

# What a t-close bucket holds at least: with one value it would be certain.
FEWEST_VALUES = 2


@dataclass(frozen=True, slots=True)
class LUniqueBuckets(Model):
    """Every bucket of `attribute` holds at least l values, no two alike.

    A missing value does not count. Source: Li, He, Sun, Corollary 2.
    """

    name: ClassVar[str] = "l-unique-buckets"
    monotone: ClassVar[bool] = False
    attribute: str
    l: int  # noqa: E741 -- the field's name in every paper

    def __post_init__(self) -> None:
        positive_integer(self.l, "l", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "attribute": self.attribute, "l": self.l}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate on buckets."""
        return self._bound(kernels.L_UNIQUE, whole=self.l, skip=totals[self.attribute].null_code)


@dataclass(frozen=True, slots=True)
class TCloseBuckets(Model):
    """Every bucket of `attribute` is within earth mover's distance t of all its sensitive cells.

    And it holds at least two different values: a single one would be known of all its people,
    however common it is. A missing value does not count. Source: Li, He, Sun, section 4.
    """

    name: ClassVar[str] = "t-close-buckets"
    at_least: ClassVar[bool] = False
    attribute: str
    t: float
    distance: Distance = "equal"

    def __post_init__(self) -> None:
        TCloseness(self.attribute, self.t, self.distance)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "t": self.t,
            "distance": self.distance,
        }

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate on buckets; the totals are those of the sensitive cells."""
        closeness = TCloseness(self.attribute, self.t, self.distance).bind(totals)
        return BoundModel(self, closeness.rule._replace(whole=FEWEST_VALUES))
