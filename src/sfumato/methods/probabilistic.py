"""Probabilistic: a sample in groups that are likely to be linkable wrongly, a comparator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.generalised import (
    check_sample,
    generalised_release,
    refuse_unsuited,
)
from sfumato.methods.method import Method
from sfumato.models import KAnonymity, Linkable
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table
from sfumato.table.sample import sampled


@dataclass(frozen=True, slots=True)
class Probabilistic(Method):
    """k-anonymous, (d, alpha)-linkable groups of a random sample.

    `sample` is the share of the people who are published at all. In every group, with a
    probability of at least `alpha`, an independent release of like data shares at least `d` values
    beside a person's own (`Linkable`).

    *Guarantee*: k-anonymity. Linkability assumes what others publish, so it is not claimed.
    *Source*: after Sattar, Li, Liu, Heatherly, Malin, "A probabilistic approach to mitigate
    composition attacks on privacy in non-coordinated environments" (2014). Assumed, where its
    description leaves it open: the share of the sample; the other release has groups of the same
    size with values drawn as in the whole sample (the paper models them by the quasi-identifiers);
    and Mondrian makes the groups.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "HIV", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = Probabilistic(k=2, d=1, sample=0.75).publish(people, schema)
    >>> release.manifest.rows, release.manifest.parameters["sample"]
    (3, 0.75)
    """

    name: ClassVar[str] = "probabilistic"
    k: int
    d: int = 2
    alpha: float = 0.5
    sample: float = 0.9

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        Linkable("", self.d, self.alpha)
        check_sample(self.sample, self.name)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        drawn = sampled(table, self.sample, rng=randomness.generator("sample"))
        return generalised_release(
            drawn,
            self.k,
            [Linkable(column.name, self.d, self.alpha) for column in table.sensitive],
            method=self.name,
            parameters={"d": self.d, "alpha": self.alpha, "sample": self.sample},
            randomness=randomness,
        )
