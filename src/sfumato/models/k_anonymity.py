"""k-anonymity: every group holds at least k people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.models import kernels
from sfumato.models.model import BoundModel, Model, positive_integer
from sfumato.models.statistics import Total


@dataclass(frozen=True, slots=True)
class KAnonymity(Model):
    """At least `k` people a group. Source: Sweeney 2002.

    >>> KAnonymity(5).claim()
    {'model': 'k-anonymity', 'k': 5}
    """

    name: ClassVar[str] = "k-anonymity"
    k: int

    def __post_init__(self) -> None:
        positive_integer(self.k, "k", self.name)

    @property
    def minimum_rows(self) -> int:
        """No group is smaller than k."""
        return self.k

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "k": self.k}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate."""
        return self._bound(kernels.K_ANONYMITY, whole=self.k)
