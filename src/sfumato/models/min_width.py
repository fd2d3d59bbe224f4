"""Minimum width: a group's numeric sensitive values must not lie so close that they are one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.errors import ParameterError
from sfumato.models import kernels
from sfumato.models.model import BoundModel, Model, positive_number
from sfumato.models.statistics import Total


@dataclass(frozen=True, slots=True)
class MinimumWidth(Model):
    """The values of `attribute` in a group span at least `width` (a share of the range below 1)."""

    name: ClassVar[str] = "minimum-width"
    attribute: str
    width: float

    def __post_init__(self) -> None:
        positive_number(self.width, "width", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "attribute": self.attribute, "width": self.width}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate."""
        total = totals[self.attribute]
        if total.points is None:
            raise ParameterError(f"{self.name}: `{self.attribute}` is not numeric")
        spread = float(total.points[-1]) - float(total.points[0]) if len(total.points) else 0.0
        width = self.width * spread if self.width < 1 else self.width
        return self._bound(kernels.MIN_WIDTH, real=width, skip=total.null_code, reals=total.points)
