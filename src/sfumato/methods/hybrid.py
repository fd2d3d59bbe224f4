"""Hybrid: sampling, perturbation and generalisation against composition attacks, a comparator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.generalised import (
    check_sample,
    check_share,
    generalised_release,
    refuse_unsuited,
)
from sfumato.methods.method import Method
from sfumato.models import KAnonymity
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.perturb import perturbed
from sfumato.table import Table
from sfumato.table.sample import sampled


@dataclass(frozen=True, slots=True)
class Hybrid(Method):
    """k-anonymous groups of a random sample, some of whose sensitive cells are redrawn.

    `sample` is the share of the people who are published at all. Each sensitive cell is, with the
    probability `perturb`, replaced by that of a random row of the sample.

    *Guarantee*: k-anonymity. That intersecting releases fails more often is what it is measured
    for, and is not claimed.
    *Source*: Li, Baig, Sattar, Ding, Liu, Vincent, "A hybrid approach to prevent composition
    attacks for independent data releases" (2016). Assumed, where its description leaves it open:
    both shares, redrawing from the table's own distribution, each attribute apart, and Mondrian
    for the generalisation.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> Hybrid(k=2, sample=0.75).publish(people, schema).manifest.rows
    3
    """

    name: ClassVar[str] = "hybrid"
    counts_units: ClassVar[bool] = True
    k: int
    sample: float = 0.9
    perturb: float = 0.1

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        check_sample(self.sample, self.name)
        check_share(self.perturb, "perturb", self.name, zero=True)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        drawn = sampled(table, self.sample, rng=randomness.generator("sample"))
        return generalised_release(
            perturbed(drawn, self.perturb, rng=randomness.generator("perturb")),
            self.k,
            (),
            method=self.name,
            parameters={"sample": self.sample, "perturb": self.perturb},
            randomness=randomness,
        )
