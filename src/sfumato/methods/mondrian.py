"""Mondrian: rows partitioned on their quasi-identifiers and generalised within each part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

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
from sfumato.methods.splitting import (
    Splitting,
    model_conditions,
    refuse_unsplittable,
    unavailable,
)
from sfumato.models import KAnonymity, Model
from sfumato.models.model import one_of
from sfumato.publish.assemble import assemble
from sfumato.publish.records import generalized_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.caps import CoarseCells, coarse_cells
from sfumato.rows.mondrian import mondrian
from sfumato.table import Table
from sfumato.table.sample import rows_of


@dataclass(frozen=True, slots=True)
class Mondrian(Method):
    """k-anonymity, and any further monotone models, by multidimensional generalisation.

    `models` are asked for beside k-anonymity and claimed in the release. `strict`, `choose`,
    `cut` and `categories` are the rules of the partitioner; the defaults lose least. `suppression`
    is the share of the records that may be withheld where attributes have a `max_level` or a
    `max_width` that they would break; without such caps nothing is withheld.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = Mondrian(k=2).publish(people, schema)
    >>> sorted(set(release.tables["records"]["age"].to_pylist()))
    ['[25, 28]', '[41, 47]']
    """

    name: ClassVar[str] = "mondrian"
    weighs: ClassVar[bool] = True
    counts_units: ClassVar[bool] = True
    counts_missing: ClassVar[bool] = True  # as its models say
    controlled: ClassVar[bool] = True
    tells_people_apart: ClassVar[bool] = True
    k: int
    models: tuple[Model, ...] = ()
    strict: bool = True
    choose: Literal["loss", "widest"] = "loss"
    cut: Literal["best", "median"] = "best"
    categories: Literal["frequency", "value"] = "frequency"
    suppression: float = 0.0

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        check_models(self.models, self.name)
        check_suppression(self.suppression, self.name)
        if not isinstance(self.strict, bool):
            raise ParameterError("mondrian: `strict` must be true or false")
        one_of(self.choose, ("loss", "widest"), "choose", self.name)
        one_of(self.cut, ("best", "median"), "cut", self.name)
        one_of(self.categories, ("frequency", "value"), "categories", self.name)

    def coarser(self) -> Method:
        """Return the method with twice the k."""
        return replace(self, k=2 * self.k)

    def withheld(self, table: Table) -> Ints:
        """Return the rows that a release of the table withholds."""
        coarse = self._coarse(table)
        return rows_left_out(table, np.arange(table.rows) if coarse is None else coarse.kept)

    def splitting(self, frame: Table) -> Splitting:
        """Return cuts of the kind that the method goes on with.

        *Refuses* (EngineUnavailable): caps, under which the rows to withhold are found in all.
        """
        refuse_unsplittable(frame, self.name)
        for column in frame.quasi_identifiers:
            for cap in ("max_level", "max_width"):
                if getattr(column.attribute, cap) is not None:
                    raise unavailable(f"{self.name} with `{cap}`")
        models = self._checked(frame)
        return Splitting(
            "cuts",
            tuple(column.name for column in frame.quasi_identifiers),
            model_conditions(frame, models),
            max(model.minimum_rows for model in models),
        )

    def _checked(self, table: Table) -> list[Model]:
        """Return the models that every group must satisfy."""
        asked = (KAnonymity(self.k), *self.models)
        return [*(model for model in asked if model.checkable), *sensitive_widths(table)]

    def _coarse(self, table: Table) -> CoarseCells | None:
        """Return the cells within which the caps on generalisation hold."""
        limit = most_withheld(self.suppression, table.rows)
        return coarse_cells(table, self._checked(table), limit=limit)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        if not table.quasi_identifiers:
            raise ParameterError("mondrian needs at least one quasi-identifier")
        coarse = self._coarse(table)
        rows = table.rows
        within = None if coarse is None else coarse.cells
        if coarse is not None and len(coarse.kept) < rows:
            table = rows_of(table, coarse.kept)
        groups = mondrian(
            table,
            self._checked(table),
            rng=randomness.generator("mondrian ties"),
            within=within,
            strict=self.strict,
            choose=self.choose,
            cut=self.cut,
            categories=self.categories,
        )
        return assemble(
            generalized_records(table, groups, rng=randomness.generator("records")),
            method=self.name,
            rows=table.rows,
            models=[KAnonymity(self.k), *self.models, *sensitive_widths(table)],
            parameters={"suppression": self.suppression} if self.suppression else {},
            is_test=randomness.is_test,
            suppressed=rows - table.rows,
            by_value=coarse is not None and coarse.by_value,
        )
