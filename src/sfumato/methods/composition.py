"""Composition: k-anonymous groups whose values others are likely to publish too, a comparator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import ParameterError
from sfumato.methods.generalised import check_share, generalised_release, refuse_unsuited
from sfumato.methods.method import Method
from sfumato.models import KAnonymity, Linkable
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.table import Table


@dataclass(frozen=True, slots=True)
class Composition(Method):
    """k-anonymous groups that leave doubt beside an independent release of like data.

    Beside a person's own sensitive value, a group shares a further one with such a release but
    for a probability of `alpha` at most (`Linkable` with d = 1).

    *Guarantee*: k-anonymity. What others publish is not known here, so nothing is claimed about
    composition.
    *Source*: after Baig, Li, Liu, Ding, Wang, "Data Privacy against Composition Attack" (2012),
    which works on top of k-anonymisation. Assumed, since its rule needs the other release: that
    release has groups of the same size with values drawn as in this whole table, and Mondrian
    makes the groups.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "HIV", "Flu", "HIV"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> Composition(k=2, alpha=0.5).publish(people, schema).manifest.guarantees
    ({'model': 'k-anonymity', 'k': 2},)
    """

    name: ClassVar[str] = "composition"
    k: int
    alpha: float = 0.05

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        check_share(self.alpha, "alpha", self.name)
        if self.alpha == 1:
            raise ParameterError("composition: with `alpha` 1 nothing is asked for; use mondrian")
        _linkable("", self.alpha)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        return generalised_release(
            table,
            self.k,
            [_linkable(column.name, self.alpha) for column in table.sensitive],
            method=self.name,
            parameters={"alpha": self.alpha},
            randomness=randomness,
        )


def _linkable(attribute: str, alpha: float) -> Linkable:
    return Linkable(attribute, d=1, alpha=1 - alpha)
