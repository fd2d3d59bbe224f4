"""Anatomy: exact quasi-identifiers and exact sensitive values, linked only through groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from sfumato.errors import ParameterError
from sfumato.methods.method import Method
from sfumato.methods.splitting import Splitting, refuse_unsplittable
from sfumato.models import LDiversity, LUniqueGroups
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.anatomy import anatomy
from sfumato.rows.shard_conditions import HasValues
from sfumato.table import Column, Table


@dataclass(frozen=True, slots=True)
class Anatomy(Method):
    """l-unique groups of one sensitive attribute, published as separate tables.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = Anatomy(l=2).publish(people, schema)
    >>> sorted(release.tables)
    ['qi_1', 'sensitive_1']
    """

    name: ClassVar[str] = "anatomy"
    l: int  # noqa: E741 -- the parameter's name in every paper

    def __post_init__(self) -> None:
        LUniqueGroups("", self.l)

    def largest_share(self) -> Fraction:
        """Return 1/l."""
        return Fraction(1, self.l)

    def coarser(self) -> Method:
        """Return the method with the next l."""
        return replace(self, l=self.l + 1)

    def splitting(self, frame: Table) -> Splitting:
        """Return a deal in which every shard is l-eligible."""
        refuse_unsplittable(frame, self.name)
        column = self._column(frame)
        eligible = HasValues(column.name, column.null_code, Fraction(1, self.l))
        return Splitting("deal", (column.name,), (eligible,), self.l)

    def _column(self, table: Table) -> Column:
        """Return the sensitive attribute; ParameterError if there is not one that can be kept."""
        if len(table.sensitive) != 1:
            raise ParameterError(
                f"anatomy needs exactly one sensitive attribute, and there are "
                f"{len(table.sensitive)}; give the others another role"
            )
        column = table.sensitive[0]
        if column.attribute.min_width is not None:
            raise ParameterError(
                f"anatomy cannot keep a `min_width` for '{column.name}'; use mondrian"
            )
        return column

    def _release(self, table: Table, randomness: Randomness) -> Release:
        column = self._column(table)
        groups = anatomy(table, column.name, self.l, rng=randomness.generator("anatomy deal"))
        return assemble(
            anatomized_tables(table, groups, rng=randomness.generator("tables")),
            method=self.name,
            rows=table.rows,
            models=[LDiversity(column.name, self.l), LUniqueGroups(column.name, self.l)],
            parameters={},
            is_test=randomness.is_test,
        )
