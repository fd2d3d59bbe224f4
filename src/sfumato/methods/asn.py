"""ASN: every attribute in a table of its own, a comparator."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.methods.associated import Plan, publish_associated
from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.methods.slppa_parameters import Asked
from sfumato.models.model import exact_share, positive_number
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.merge_groups import combinations
from sfumato.table import Table


@dataclass(frozen=True, slots=True)
class ASN(Method):
    """Each quasi-identifier a table of its own, in groups that keep beta and gamma.

    Its own paper calls `alpha` what is `gamma` here: the product of the commonest shares of all
    tables, which is no bound on what can be learnt about somebody's presence. It promises nothing
    about `alpha` and `delta` of the SLPPA model, which are claimed as 1.

    *Source*: Rajaei, Haghjoo, Miyaneh, "Ambiguity in social network data for presence,
    sensitive-attribute, degree and relationship privacy protection" (2015), as the SLPPA paper
    compares with it.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({
    ...     "age": [25, 28, 41, 47], "job": ["A", "B", "B", "A"], "pay": [10, 20, 30, 40],
    ... })
    >>> schema = Schema.of(age="quasi-identifier", job="quasi-identifier", pay="sensitive")
    >>> sorted(ASN(beta=0.5).publish(people, schema).tables)
    ['qi_1', 'qi_2', 'sensitive_1']
    """

    name: ClassVar[str] = "asn"
    beta: float
    gamma: float = 1.0

    def __post_init__(self) -> None:
        positive_number(self.beta, "beta", self.name, most=1)
        positive_number(self.gamma, "gamma", self.name, most=1)

    def largest_share(self) -> Fraction:
        """Return beta."""
        return exact_share(self.beta)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        asked = Asked(1.0, self.beta, self.gamma, 1.0)
        divided = [[column] for column in table.quasi_identifiers]
        names = sensitive_names(table, self.name)

        def plan() -> Plan:
            values = combinations(divided, [table[name] for name in names])
            return Plan(divided, values, dict.fromkeys(names, asked))

        shares = dict.fromkeys(names, (asked.beta, asked.delta))
        return publish_associated(self.name, table, shares, plan, randomness)
