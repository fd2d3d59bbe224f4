"""l-diversity: a group's sensitive values are varied. Four variants, and l-unique groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sfumato.errors import ParameterError
from sfumato.models import kernels
from sfumato.models.model import (
    BoundModel,
    Model,
    one_of,
    positive_integer,
    positive_number,
    skipped,
)
from sfumato.models.statistics import Total
from sfumato.schema.attribute import Missing

Variant = Literal["frequency", "distinct", "entropy", "recursive"]
_KINDS = {
    "frequency": kernels.L_FREQUENCY,
    "distinct": kernels.L_DISTINCT,
    "entropy": kernels.L_ENTROPY,
    "recursive": kernels.L_RECURSIVE,
}


@dataclass(frozen=True, slots=True)
class LDiversity(Model):
    """A group's values of `attribute` are l-diverse.

    - `frequency`: the commonest value's share is at most 1/l;
    - `distinct`: at least l different values;
    - `entropy`: the entropy is at least ln l (l need not be whole);
    - `recursive`: r1 < c (r_l + ... + r_m), counts in descending order.

    A missing value does not count unless `missing` is "value": then it is a value like any other.
    Source: Machanavajjhala et al. 2007; frequency: Xiao and Tao 2006.

    >>> LDiversity("disease", 3).claim()["variant"]
    'frequency'
    """

    name: ClassVar[str] = "l-diversity"
    attribute: str
    l: float  # noqa: E741 -- the field's name in every paper
    variant: Variant = "frequency"
    c: float | None = None
    missing: Missing = "excluded"

    def __post_init__(self) -> None:
        one_of(self.variant, tuple(_KINDS), "variant", self.name)
        one_of(self.missing, ("excluded", "value"), "missing", self.name)
        if self.variant == "entropy":
            positive_number(self.l, "l", self.name)
            if self.l < 1:
                raise ParameterError(f"{self.name}: `l` must be at least 1")
        else:
            positive_integer(self.l, "l", self.name)
        if (self.c is not None) != (self.variant == "recursive"):
            raise ParameterError(
                f"{self.name}: `c` belongs to the recursive variant, which needs it"
            )
        if self.c is not None:
            positive_number(self.c, "c", self.name)

    @property
    def is_recursive(self) -> bool:
        """Whether `level` measures c (less is better) rather than l."""
        return self.variant == "recursive"

    @property
    def at_least(self) -> bool:  # type: ignore[override]
        """Whether a larger level protects more."""
        return not self.is_recursive

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        claim: dict[str, Any] = {
            "model": self.name,
            "attribute": self.attribute,
            "variant": self.variant,
            "l": self.l,
        }
        if self.c is not None:
            claim["c"] = self.c
        return claim | {"missing": self.missing}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate."""
        total = totals[self.attribute]
        return self._bound(
            _KINDS[self.variant],
            whole=0 if self.variant == "entropy" else int(self.l),
            real=float(self.l if self.c is None else self.c),
            skip=skipped(total, self.missing),
        )


@dataclass(frozen=True, slots=True)
class LUniqueGroups(Model):
    """Every group holds at least l values of `attribute`, no two alike; missing ones do not count.

    Not monotone: the union of two such groups may repeat a value.
    """

    name: ClassVar[str] = "l-unique-groups"
    monotone: ClassVar[bool] = False
    attribute: str
    l: int  # noqa: E741 -- the field's name in every paper

    def __post_init__(self) -> None:
        positive_integer(self.l, "l", self.name)

    def claim(self) -> dict[str, Any]:
        """Return the manifest's claim."""
        return {"model": self.name, "attribute": self.attribute, "l": self.l}

    def bind(self, totals: Mapping[str, Total]) -> BoundModel:
        """Return the predicate."""
        return self._bound(kernels.L_UNIQUE, whole=self.l, skip=totals[self.attribute].null_code)
