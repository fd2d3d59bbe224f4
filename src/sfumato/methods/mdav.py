"""MDAV: microaggregation, numbers replaced by the means of small groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.methods.generalised import refuse_unsuited
from sfumato.methods.method import Method
from sfumato.models import KAnonymity
from sfumato.publish.assemble import assemble
from sfumato.publish.group_records import group_records
from sfumato.publish.means import describe_means, group_means
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Release
from sfumato.release.microaggregated import KEY
from sfumato.rows.eligibility import refuse_several_rows
from sfumato.rows.mdav import mdav
from sfumato.schema.attribute import Kind
from sfumato.schema.kinds import is_number
from sfumato.table import Column, Table

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class MDAV(Method):
    """k-anonymity by microaggregation: every numeric quasi-identifier becomes its group's mean.

    A cell is nobody's own value; sums over whole groups stay what they were.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = MDAV(k=2).publish(people, schema)
    >>> sorted(release.tables["records"]["age"].to_pylist())
    [26.5, 26.5, 44.0, 44.0]
    """

    name: ClassVar[str] = "mdav"
    weighs: ClassVar[bool] = True
    k: int

    def __post_init__(self) -> None:
        KAnonymity(self.k)

    def coarser(self) -> Method:
        """Return the method with twice the k."""
        return replace(self, k=2 * self.k)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        refuse_several_rows(table, self.name)
        for column in table.quasi_identifiers:
            if column.kind is not Kind.NUMERIC or not is_number(column.values.type):
                raise ParameterError(
                    f"mdav publishes means, and '{column.name}' is {column.kind}; use mondrian or "
                    "local-suppression, or leave the column out"
                )
        groups = mdav(table, self.k, rng=randomness.generator("mdav order"))

        def cells(column: Column, ids: Codes, codes: Codes) -> tuple[pa.Array, AttributeEntry]:
            return group_means(column, groups).take(pa.array(ids)), describe_means(column)

        return assemble(
            group_records(table, groups, cells, rng=randomness.generator("records")),
            method=self.name,
            rows=table.rows,
            models=[KAnonymity(self.k)],
            parameters={KEY: [column.name for column in table.quasi_identifiers]},
            is_test=randomness.is_test,
        )
