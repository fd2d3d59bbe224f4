"""Slicing: blocks of associated columns, permuted within the groups of Mondrian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

from sfumato.methods.column_blocks import blocks_of, check_blocks
from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.models import LDiversity
from sfumato.models.model import one_of
from sfumato.publish.assemble import assemble
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.mondrian import mondrian
from sfumato.table import Table


@dataclass(frozen=True, slots=True)
class Slicing(Method):
    """One table whose blocks of columns are permuted within l-diverse groups.

    `columns` is the number of blocks of quasi-identifiers (found by k-medoids on their
    associations), or the blocks themselves; each sensitive attribute is a block of its own.
    `variant` is that of l-diversity: `distinct` only asks for l values in a group, however common
    one of them is.

    *Source*: Li, Li, Zhang, Molloy, "Slicing: A New Approach for Privacy Preserving Data
    Publishing" (2012). Departs from the paper: the sensitive attribute stands alone, and what is
    claimed is its frequency in every group, which implies the paper's bound.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "HIV", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> Slicing(l=2).publish(people, schema).manifest.parameters["columns"]
    [['age'], ['disease']]
    """

    name: ClassVar[str] = "slicing"
    l: int  # noqa: E741 -- the parameter's name in every paper
    columns: int | Sequence[Sequence[str]] = 2
    variant: Literal["frequency", "distinct"] = "frequency"

    def __post_init__(self) -> None:
        one_of(self.variant, ("frequency", "distinct"), "variant", self.name)
        LDiversity("", self.l, self.variant)
        check_blocks(self.columns, self.name)

    def largest_share(self) -> Fraction | None:
        """Return 1/l; distinct diversity needs no value to be rarer."""
        return Fraction(1, self.l) if self.variant == "frequency" else None

    def coarser(self) -> Method:
        """Return the method with the next l."""
        return replace(self, l=self.l + 1)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        names = sensitive_names(table, self.name)
        models = [LDiversity(name, self.l, self.variant) for name in names]
        groups = mondrian(table, models, rng=randomness.generator("mondrian ties"))
        blocks = blocks_of(table, self.columns, self.name)
        return assemble(
            sliced_records(table, groups, blocks, rng=randomness.generator("records")),
            method=self.name,
            rows=table.rows,
            models=models,
            parameters={"columns": block_names(table, blocks)},
            is_test=randomness.is_test,
        )
