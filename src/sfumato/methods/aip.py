"""AIP: the initial partition of ARP as it is, a comparator."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.models import LDiversity
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.initial import Initial, check_initial, initial_partition
from sfumato.table import Table


@dataclass(frozen=True, slots=True)
class AIP(Method):
    """Anonymisation on the initial partition: l-eligible groups, published as separate tables.

    `initial` as in `ARP`, which publishes the same groups refined.

    *Source*: Zhu, Tian, Du, Xie, "Anonymization on Refining Partition", section 5.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "HIV", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> AIP(l=2).publish(people, schema).manifest.guarantees[0]["model"]
    'l-diversity'
    """

    name: ClassVar[str] = "aip"
    l: int  # noqa: E741 -- the parameter's name in every paper
    initial: Initial = "correlation"

    def __post_init__(self) -> None:
        LDiversity("", self.l)
        check_initial(self.initial, self.name)

    def largest_share(self) -> Fraction:
        """Return 1/l."""
        return Fraction(1, self.l)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        names = sensitive_names(table, self.name)
        groups = initial_partition(
            table, names, self.l, self.initial, rng=randomness.generator("initial partition")
        )
        return assemble(
            anatomized_tables(table, groups, rng=randomness.generator("tables")),
            method=self.name,
            rows=table.rows,
            models=[LDiversity(name, self.l) for name in names],
            parameters={},
            is_test=randomness.is_test,
        )
