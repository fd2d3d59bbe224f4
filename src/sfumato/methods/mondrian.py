"""Mondrian: rows partitioned on their quasi-identifiers and generalised within each part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from sfumato.errors import ParameterError
from sfumato.methods.method import Method
from sfumato.models import KAnonymity, MinimumWidth, Model
from sfumato.models.model import one_of
from sfumato.publish.assemble import assemble
from sfumato.publish.records import generalized_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.mondrian import mondrian
from sfumato.table import Table


@dataclass(frozen=True, slots=True)
class Mondrian(Method):
    """k-anonymity, and any further monotone models, by multidimensional generalisation.

    `models` are asked for beside k-anonymity and claimed in the release. `strict`, `choose`,
    `cut` and `categories` are the rules of the partitioner; the defaults lose least.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = Mondrian(k=2).publish(people, schema)
    >>> sorted(set(release.tables["records"]["age"].to_pylist()))
    ['[25, 28]', '[41, 47]']
    """

    name: ClassVar[str] = "mondrian"
    counts_missing: ClassVar[bool] = True  # as its models say
    k: int
    models: tuple[Model, ...] = ()
    strict: bool = True
    choose: Literal["loss", "widest"] = "loss"
    cut: Literal["best", "median"] = "best"
    categories: Literal["frequency", "value"] = "frequency"

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        if not isinstance(self.models, tuple) or not all(isinstance(m, Model) for m in self.models):
            raise ParameterError("mondrian: `models` must be a tuple of privacy models")
        for model in self.models:
            if model.of_tables:
                raise ParameterError(f"mondrian cannot keep {model.name}; use slppa")
        if not isinstance(self.strict, bool):
            raise ParameterError("mondrian: `strict` must be true or false")
        one_of(self.choose, ("loss", "widest"), "choose", self.name)
        one_of(self.cut, ("best", "median"), "cut", self.name)
        one_of(self.categories, ("frequency", "value"), "categories", self.name)

    def coarser(self) -> Method:
        """Return the method with twice the k."""
        return replace(self, k=2 * self.k)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        if not table.quasi_identifiers:
            raise ParameterError("mondrian needs at least one quasi-identifier")
        asked = (KAnonymity(self.k), *self.models)
        checkable = [model for model in asked if model.checkable]
        widths = [
            MinimumWidth(column.name, column.attribute.min_width)
            for column in table.sensitive
            if column.attribute.min_width is not None
        ]
        groups = mondrian(
            table,
            [*checkable, *widths],
            rng=randomness.generator("mondrian ties"),
            strict=self.strict,
            choose=self.choose,
            cut=self.cut,
            categories=self.categories,
        )
        return assemble(
            generalized_records(table, groups, rng=randomness.generator("records")),
            method=self.name,
            rows=table.rows,
            models=[*asked, *widths],
            parameters={},
            is_test=randomness.is_test,
        )
