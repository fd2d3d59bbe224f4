"""Local suppression: k-anonymity by withholding as few cells as can be found."""

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
from sfumato.publish.describe import describe
from sfumato.publish.group_records import group_records
from sfumato.publish.suppress import differing, suppressed_column
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Release
from sfumato.rows.eligibility import refuse_several_rows
from sfumato.rows.local_suppression import local_suppression
from sfumato.table import Column, Table

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class LocalSuppression(Method):
    """k-anonymity by local suppression: every quasi-identifier cell is exact, or withheld (`*`).

    All rows of a group have the same cells. What a withheld cell costs is the `loss_weight` of its
    attribute.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 25, 41, 41], "sex": ["F", "M", "F", "F"]})
    >>> schema = Schema.of(age="quasi-identifier", sex="quasi-identifier")
    >>> release = LocalSuppression(k=2).publish(people, schema)
    >>> sorted(release.tables["records"]["sex"].to_pylist())
    ['*', '*', 'F', 'F']
    """

    name: ClassVar[str] = "local-suppression"
    weighs: ClassVar[bool] = True
    controlled: ClassVar[bool] = True
    k: int

    def __post_init__(self) -> None:
        KAnonymity(self.k)

    def coarser(self) -> Method:
        """Return the method with twice the k."""
        return replace(self, k=2 * self.k)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        refuse_several_rows(table, self.name)
        columns = table.quasi_identifiers
        for column in columns:
            others = [key for key in column.attribute.control if key != "loss_weight"]
            if others:
                raise ParameterError(
                    f"local-suppression generalises nothing, so `{others[0]}` of '{column.name}' "
                    "says nothing; use mondrian or full-domain, or remove it"
                )
        weights = np.array([column.attribute.loss_weight for column in columns], np.float64)
        generator = randomness.generator("local suppression")
        groups = local_suppression(table, self.k, weights, rng=generator)
        counts: dict[str, int] = {}

        def cells(column: Column, ids: Codes, codes: Codes) -> tuple[pa.Array, AttributeEntry]:
            hidden = differing(column, groups)[ids]
            counts[column.name] = int(hidden.sum())
            found, named = suppressed_column(column, codes, hidden)
            return found, describe(column, named)

        published = group_records(table, groups, cells, rng=randomness.generator("records"))
        return assemble(
            published,
            method=self.name,
            rows=table.rows,
            models=[KAnonymity(self.k)],
            parameters={"suppressed_cells": {"total": sum(counts.values()), "by": counts}},
            is_test=randomness.is_test,
        )
