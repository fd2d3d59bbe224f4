"""Full-domain: every quasi-identifier recoded to one level of its hierarchy, for all records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import ParameterError
from sfumato.methods.controlled import (
    check_models,
    check_suppression,
    most_withheld,
    rows_left_out,
    sensitive_widths,
)
from sfumato.methods.method import Ints, Method
from sfumato.models import KAnonymity, Model
from sfumato.predicates.expression import unknown_column
from sfumato.publish.assemble import assemble
from sfumato.publish.generalize import recode
from sfumato.publish.records import generalized_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.full_domain import Recoding, full_domain
from sfumato.table import Groups, Table
from sfumato.table.sample import rows_of


@dataclass(frozen=True, slots=True)
class FullDomain(Method):
    """k-anonymity, and any further monotone models, by recoding that is the same everywhere.

    `models` are asked for beside k-anonymity and claimed in the release. `suppression` is the share
    of the records that may be withheld. `levels` fixes those of some attributes, 0 being exact. The
    release states all `levels`, and whether no others lose less (`optimal`).

    >>> import pyarrow as pa
    >>> from sfumato.schema import Attribute, EqualWidth, Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> age = Attribute("age", "quasi-identifier", hierarchy=EqualWidth(width=10))
    >>> schema = Schema((age, Attribute("disease", "sensitive")))
    >>> release = FullDomain(k=2).publish(people, schema)
    >>> sorted(set(release.tables["records"]["age"].to_pylist()))
    ['[20, 29]', '[40, 49]']
    """

    name: ClassVar[str] = "full-domain"
    weighs: ClassVar[bool] = True
    counts_units: ClassVar[bool] = True
    counts_missing: ClassVar[bool] = True  # as its models say
    controlled: ClassVar[bool] = True
    tells_people_apart: ClassVar[bool] = True
    k: int
    models: tuple[Model, ...] = ()
    suppression: float = 0.0
    levels: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        check_models(self.models, self.name)
        check_suppression(self.suppression, self.name)
        if not isinstance(self.levels, Mapping) or not all(map(_is_whole, self.levels.values())):
            raise ParameterError("full-domain: `levels` gives attributes a whole number each")

    def coarser(self) -> Method:
        """Return the method with twice the k."""
        return replace(self, k=2 * self.k)

    def withheld(self, table: Table) -> Ints:
        """Return the rows that a release of the table withholds."""
        return rows_left_out(table, self._recoding(table).kept)

    def _recoding(self, table: Table) -> Recoding:
        if not table.quasi_identifiers:
            raise ParameterError("full-domain needs at least one quasi-identifier")
        names = [column.name for column in table.quasi_identifiers]
        for name in self.levels:
            if name not in names:
                raise ParameterError(f"`levels`: {unknown_column(name, names)}")
        checkable = [model for model in self.models if model.checkable]
        return full_domain(
            table,
            [KAnonymity(self.k), *checkable, *sensitive_widths(table)],
            limit=most_withheld(self.suppression, table.rows),
            levels=self.levels,
        )

    def _release(self, table: Table, randomness: Randomness) -> Release:
        found = self._recoding(table)
        suppressed = table.rows - len(found.kept)
        published = rows_of(table, found.kept) if suppressed else table
        numbers, ids = np.unique(found.group[found.kept], return_inverse=True)
        groups = Groups(ids.astype(np.int32), len(numbers))
        recoded = {
            column.name: recode(column, groups, found.levels[column.name])
            for column in published.quasi_identifiers
        }
        return assemble(
            generalized_records(
                published, groups, rng=randomness.generator("records"), known=recoded
            ),
            method=self.name,
            rows=published.rows,
            models=[KAnonymity(self.k), *self.models, *sensitive_widths(table)],
            parameters={
                "levels": found.levels,
                "suppression": self.suppression,
                "optimal": found.optimal,
            },
            is_test=randomness.is_test,
            suppressed=suppressed,
            by_value=found.by_value,
        )


def _is_whole(level: Any) -> bool:
    return isinstance(level, int) and not isinstance(level, bool)
