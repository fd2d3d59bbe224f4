"""beta-likeness: no sensitive value grows much likelier in a group than in the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sfumato.models import kernels
from sfumato.models.model import BoundModel, Model, one_of, positive_number, shares
from sfumato.models.statistics import Total


@dataclass(frozen=True, slots=True)
class BetaLikeness(Model):
    """For every value with share p in the whole and q > p in a group, (q - p) / p is bounded.

    By beta in the `basic` variant, by min(beta, -ln p) in the `enhanced` one, which also protects
    common values. Missing values are left out. Source: Cao and Karras 2012.
    """

    name: ClassVar[str] = "beta-likeness"
    compares_with_whole: ClassVar[bool] = True
    at_least: ClassVar[bool] = False
    attribute: str
    beta: float
    variant: Literal["basic", "enhanced"] = "basic"

    def __post_init__(self) -> None:
        positive_number(self.beta, "beta", self.name)
        one_of(self.variant, ("basic", "enhanced"), "variant", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "beta": self.beta,
            "variant": self.variant,
        }

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate."""
        total = totals[self.attribute]
        return self._bound(
            kernels.BETA_BASIC if self.variant == "basic" else kernels.BETA_ENHANCED,
            real=self.beta,
            skip=total.null_code,
            reals=shares(total, skip=total.null_code),
        )
