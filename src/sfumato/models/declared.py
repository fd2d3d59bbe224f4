"""Models that published files cannot show: a release may declare them, an audit never confirms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.errors import ParameterError
from sfumato.models.model import BoundModel, Model, positive_number
from sfumato.models.statistics import Total


@dataclass(frozen=True, slots=True)
class DeltaPresence(Model):
    """The chance that a person of the population is in the release lies in [minimum, maximum].

    It depends on the population, which is not in the release. Source: Nergiz et al. 2007.
    """

    name: ClassVar[str] = "delta-presence"
    checkable: ClassVar[bool] = False
    minimum: float
    maximum: float

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= self.maximum <= 1:
            raise ParameterError(f"{self.name}: needs 0 <= minimum <= maximum <= 1")

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "minimum": self.minimum, "maximum": self.maximum}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Refuse: no group of a release can show it."""
        raise ParameterError(f"{self.name} can only be declared: files cannot show it")


@dataclass(frozen=True, slots=True)
class DifferentialPrivacy(Model):
    """Whether one person's row is in the table changes no outcome's chance beyond e^epsilon.

    It is a property of how a release was drawn, which no files can show; only a maker that draws
    it so may claim it, so it is not among the models that a policy can ask for or declare.
    Source: Dwork, "Differential Privacy" (2006).
    """

    name: ClassVar[str] = "differential-privacy"
    checkable: ClassVar[bool] = False
    epsilon: float

    def __post_init__(self) -> None:
        positive_number(self.epsilon, "epsilon", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "epsilon": self.epsilon}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Refuse: no group of a release can show it."""
        raise ParameterError(f"{self.name} can only be declared: files cannot show it")


@dataclass(frozen=True, slots=True)
class LocalDifferentialPrivacy(Model):
    """Whatever is published of a cell, no two true values of it make that likelier than the other
    by more than e^epsilon.

    The matrix of transitions that a release states has such an epsilon, which an audit works out;
    that cells were replaced by it, no files can show. So only a maker that does so may claim it,
    and it is not among the models that a policy can ask for or declare. It is about one cell of an
    attribute: those of several attributes of a person add up.
    Source: Kasiviswanathan et al., "What Can We Learn Privately?" (2011); as a property of
    randomised response it is older.
    """

    name: ClassVar[str] = "local-differential-privacy"
    checkable: ClassVar[bool] = False
    attribute: str
    epsilon: float

    def __post_init__(self) -> None:
        number = isinstance(self.epsilon, int | float) and not isinstance(self.epsilon, bool)
        if not number or not 0 <= self.epsilon < float("inf"):
            raise ParameterError(f"{self.name}: `epsilon` must be a finite number, 0 or more")

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "attribute": self.attribute, "epsilon": self.epsilon}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Refuse: no group of a release can show it."""
        raise ParameterError(f"{self.name} can only be declared: files cannot show it")
