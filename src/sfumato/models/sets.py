"""Guarantees of randomised sets: predicates on how sets were drawn, and not on groups.

The audit calls `holds_for` and `level` with the p, eta and masses that the manifest states, once
it has found every published set to be one of eta different values of the domain.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from sfumato.errors import ParameterError
from sfumato.measures.set_randomization import (
    Masses,
    Randomization,
    exact_largest_p,
    reached_distance,
)
from sfumato.models.model import BoundModel, Model, one_of, positive_integer, positive_number
from sfumato.models.statistics import Total

Variant = Literal["frequency", "entropy"]
Distance = Literal["equal", "ordered"]
Prior = Literal["free", "data"]


class SetModel(Model):
    """A model of the sets of one attribute, decided by how they were drawn."""

    __slots__ = ()
    monotone: ClassVar[bool] = False

    @abstractmethod
    def holds_for(self, how: Randomization, masses: Masses | None = None) -> bool:
        """Return whether sets that were drawn so satisfy the model."""

    @abstractmethod
    def level(self, how: Randomization, masses: Masses | None = None) -> float:
        """Return the level that the least protected set reaches."""

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Refuse: sets have no groups."""
        raise ParameterError(
            f"{self.name} is about randomised sets, which only sensitive-qid and rating publish"
        )


@dataclass(frozen=True, slots=True)
class SetDiversity(SetModel):
    """Every set of `attribute` holds at least l values.

    Where all values are equally likely beforehand, none is then likelier than 1/l (`frequency`)
    and the entropy is at least ln l (`entropy`). For any other prior it is no bound: the shares of
    values can be reconstructed from the release, and a common value stands out in its sets.
    Source: Sei et al., Definitions 11 to 14 and Theorems 2 and 3.
    """

    name: ClassVar[str] = "set-diversity"
    attribute: str
    l: float  # noqa: E741 -- the field's name in every paper
    variant: Variant = "frequency"

    def __post_init__(self) -> None:
        one_of(self.variant, ("frequency", "entropy"), "variant", self.name)
        if self.variant == "entropy":
            positive_number(self.l, "l", self.name)
            if self.l < 1:
                raise ParameterError(f"{self.name}: `l` must be at least 1")
        else:
            positive_integer(self.l, "l", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "l": self.l,
            "variant": self.variant,
        }

    def holds_for(self, how: Randomization, masses: Masses | None = None) -> bool:
        """Return whether sets are large enough; one with all values tells nothing, and may be."""
        return how.eta >= self.l

    def level(self, how: Randomization, masses: Masses | None = None) -> float:
        """Return the size of the sets."""
        return float(how.eta)


@dataclass(frozen=True, slots=True)
class SetCloseness(SetModel):
    """Whoever sees a set of `attribute` learns at most t: the posterior is that close to the prior.

    `free`: for every prior; `data`: for the distribution of the table, of which the release states
    between which masses all sets lie. `ordered` is judged as `equal`, which is never less: ground
    distances are at most 1, a missing value's from all others too.
    Source: Sei et al., Definitions 15 and 16; see `measures/set_randomization.py`.
    """

    name: ClassVar[str] = "set-closeness"
    at_least: ClassVar[bool] = False
    attribute: str
    t: float
    distance: Distance = "equal"
    prior: Prior = "free"

    def __post_init__(self) -> None:
        positive_number(self.t, "t", self.name, most=1)
        one_of(self.distance, ("equal", "ordered"), "distance", self.name)
        one_of(self.prior, ("free", "data"), "prior", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {
            "model": self.name,
            "attribute": self.attribute,
            "t": self.t,
            "distance": self.distance,
            "prior": self.prior,
        }

    def holds_for(self, how: Randomization, masses: Masses | None = None) -> bool:
        """Return whether p is small enough, decided in fractions."""
        known = self._known(masses)
        return Fraction(str(how.p)) <= exact_largest_p(self.t, how.eta, how.d, known)

    def level(self, how: Randomization, masses: Masses | None = None) -> float:
        """Return the largest distance that a set moves, an upper bound if it is `ordered`."""
        return reached_distance(how, self._known(masses))

    def _known(self, masses: Masses | None) -> Masses | None:
        if self.prior == "free":
            return None
        if masses is None:
            raise ParameterError(
                f"{self.name}: `prior: data` needs the masses of the sets of `{self.attribute}`"
            )
        return masses


@dataclass(frozen=True, slots=True)
class SetAnonymity(SetModel):
    """Every record stands for at least k, one a value that its set of `attribute` holds.

    Source: Sei et al., Definitions 17 and 18, which frequency diversity implies.
    """

    name: ClassVar[str] = "set-anonymity"
    attribute: str
    k: int

    def __post_init__(self) -> None:
        positive_integer(self.k, "k", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "attribute": self.attribute, "k": self.k}

    def holds_for(self, how: Randomization, masses: Masses | None = None) -> bool:
        """Return whether sets are large enough."""
        return how.eta >= self.k

    def level(self, how: Randomization, masses: Masses | None = None) -> float:
        """Return the size of the sets."""
        return float(how.eta)
