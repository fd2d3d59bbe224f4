"""Top-down: k-anonymity by greedily halving groups so that their loss stays low."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.generalised import refuse_unsuited
from sfumato.methods.method import Method
from sfumato.models import KAnonymity
from sfumato.publish.assemble import assemble
from sfumato.publish.records import generalized_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.eligibility import refuse_several_rows
from sfumato.rows.top_down import top_down
from sfumato.table import Table


@dataclass(frozen=True, slots=True)
class TopDown(Method):
    """k-anonymity by the top-down greedy of Xu et al. 2006, generalised within each group.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = TopDown(k=2).publish(people, schema)
    >>> sorted(set(release.tables["records"]["age"].to_pylist()))
    ['[25, 28]', '[41, 47]']
    """

    name: ClassVar[str] = "top-down"
    weighs: ClassVar[bool] = True
    tells_people_apart: ClassVar[bool] = True
    k: int

    def __post_init__(self) -> None:
        KAnonymity(self.k)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        refuse_several_rows(table, self.name)
        groups = top_down(table, self.k, rng=randomness.generator("top-down order"))
        return assemble(
            generalized_records(table, groups, rng=randomness.generator("records")),
            method=self.name,
            rows=table.rows,
            models=[KAnonymity(self.k)],
            parameters={},
            is_test=randomness.is_test,
        )
