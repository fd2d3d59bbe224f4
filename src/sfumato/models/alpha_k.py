"""(alpha, k)-anonymity: groups of k in which no sensitive value is more common than alpha."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.models import kernels
from sfumato.models.model import (
    BoundModel,
    Model,
    exact_share,
    positive_integer,
    positive_number,
)
from sfumato.models.statistics import Total


@dataclass(frozen=True, slots=True)
class AlphaKAnonymity(Model):
    """At least k people a group, and no value of `attribute` in more than alpha of them.

    Holds for every value, not only for one named as sensitive; missing values do not count.
    Source: Wong et al. 2006 (its general model).
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    at_least: ClassVar[bool] = False
    attribute: str
    alpha: float
    k: int

    def __post_init__(self) -> None:
        positive_number(self.alpha, "alpha", self.name, most=1)
        positive_integer(self.k, "k", self.name)

    @property
    def minimum_rows(self) -> int:
        """No group is smaller than k."""
        return self.k

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "alpha": self.alpha,
            "k": self.k,
        }

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate; alpha becomes the fraction that its decimals say, or less."""
        fraction = exact_share(self.alpha)
        return self._bound(
            kernels.ALPHA_K,
            whole=self.k,
            skip=totals[self.attribute].null_code,
            links=np.array([fraction.numerator, fraction.denominator], dtype=np.int64),
        )
