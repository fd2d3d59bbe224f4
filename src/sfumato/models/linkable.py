"""(d, alpha)-linkability: what an independent release of like data is likely to share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import ParameterError
from sfumato.models import kernels
from sfumato.models.kernels import Reals
from sfumato.models.model import BoundModel, Model, positive_integer, positive_number, shares
from sfumato.models.statistics import Total

MOST_VALUES = 64  # of d: beyond any class


@dataclass(frozen=True, slots=True)
class Linkable(Model):
    """Two releases are likely to share d further values of `attribute` beside a person's own.

    A person is in a group here and in one of the same size elsewhere, whose other people have
    values drawn as in this whole table. Each further value of the group here then stands there
    with the chance 1 - (1 - share)^(size - 1). With a probability of at least `alpha`, d of them
    do, whichever value is the person's own. The chances are taken as independent, which for d = 1
    errs towards refusal. A missing value is none that is shared.

    It says how likely a composition attack fails if others publish like data; it is no bound for
    what they really publish. *Source*: after the (d, alpha)-linkable model of Sattar et al. 2014.
    """

    name: ClassVar[str] = "linkable"
    compares_with_whole: ClassVar[bool] = True
    attribute: str
    d: int
    alpha: float

    def __post_init__(self) -> None:
        positive_integer(self.d, "d", self.name)
        positive_number(self.alpha, "alpha", self.name)
        if self.d > MOST_VALUES:
            raise ParameterError(f"{self.name}: `d` must not be above {MOST_VALUES}")
        if self.alpha >= 1:
            raise ParameterError(f"{self.name}: `alpha` must be below 1; nothing is ever certain")

    @property
    def minimum_rows(self) -> int:
        """The person's own value and d others."""
        return self.d + 1

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "d": self.d,
            "alpha": self.alpha,
        }

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate."""
        total = totals[self.attribute]
        return self._bound(
            kernels.LINKABLE,
            whole=self.d,
            real=self.alpha,
            skip=total.null_code,
            reals=_logs(shares(total, skip=-1)),
        )


def _logs(shares: Reals) -> Reals:
    """Return the logarithm of the chance to miss each value once: sums of them are products."""
    with np.errstate(divide="ignore"):
        return np.log1p(-shares)
