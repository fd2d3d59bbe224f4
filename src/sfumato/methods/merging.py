"""Merging: sliced records that give away little when independent releases are combined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar, Literal

import numpy as np

from sfumato.columns.incompatible import incompatible_pairs, rule_columns
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.column_blocks import block_joints, blocks_of, check_blocks
from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.methods.splitting import Splitting, model_conditions, refuse_unsplittable
from sfumato.models import KAnonymity, LDiversity, Linkable, Model
from sfumato.models.model import one_of, positive_integer, positive_number
from sfumato.predicates.incompatible import Incompatible
from sfumato.publish.assemble import assemble
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.rows.exclusions import Exclusions, excluded_conditions, refuse_excluded
from sfumato.rows.fakes import with_fakes
from sfumato.rows.mondrian import mondrian
from sfumato.table import Table

_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_SMALLEST_CLASS = 4
_TIMES = (2, 4, 8, 16, 32, 64)  # the `expected` that are tried for advice


@dataclass(frozen=True, slots=True)
class Merging(Method):
    """One table whose blocks of columns are permuted within classes, fakes among them.

    Classes are l-diverse (`variant`) and of at least `min_class` people, default max(l, k, 4); they
    are so even after each person's impossible values are dropped: those that `incompatible` rules
    exclude, and those that are never seen with one of the person's quasi-identifiers although
    `expected` rows would by chance (None: rules only). And where some cannot have a value, l times
    as many people of the class can as have it. A published row that joins an incompatible
    pair has its quasi-identifier generalised over k rows of its class.

    `collapse` is the largest chance that an independent release of like data, with classes of the
    same size, shares nothing with a person's class but the person's own value; None asks for
    nothing, as in the paper. `columns` as for slicing. `fakes` is a number, or a share such as
    "5%", of records that belong to nobody; estimates take them off.

    *Guarantee*: l-diversity of every class, with and without its fakes.
    *Source*: Hasan, Jiang, Chen, Wang, "A New Approach to Privacy-Preserving Multiple Independent
    Data Publishing" (2018). Departs from the paper: `collapse`; the impossible values of a person
    count in every split; fakes join after the classes are made, so that real rows alone are
    diverse.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "HIV", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> Merging(l=2, collapse=None).publish(people, schema).manifest.parameters
    {'columns': [['age'], ['disease']], 'fakes': 1}
    """

    name: ClassVar[str] = "merging"
    l: int  # noqa: E741 -- the parameter's name in every paper
    k: int = 2
    columns: int | Sequence[Sequence[str]] = 2
    fakes: int | str = 1
    incompatible: Sequence[str] = ()
    expected: float | None = 5.0
    min_class: int | None = None
    collapse: float | None = 0.05
    variant: Literal["frequency", "distinct"] = "frequency"

    def __post_init__(self) -> None:
        one_of(self.variant, ("frequency", "distinct"), "variant", self.name)
        LDiversity("", self.l, self.variant)
        KAnonymity(self.k)
        check_blocks(self.columns, self.name)
        if self.min_class is not None:
            positive_integer(self.min_class, "min_class", self.name)
            if self.min_class < self.k:
                raise ParameterError(f"{self.name}: `min_class` must be at least `k`")
        if self.expected is not None:
            positive_number(self.expected, "expected", self.name)
        if self.collapse is not None:
            positive_number(self.collapse, "collapse", self.name)
            if self.collapse >= 1:
                raise ParameterError(f"{self.name}: `collapse` must be below 1, or null")
        self._fakes_of(1)
        self._rules()

    def largest_share(self) -> Fraction | None:
        """Return 1/l; distinct diversity needs no value to be rarer."""
        return Fraction(1, self.l) if self.variant == "frequency" else None

    def doubts(self, table: Table) -> tuple[str, ...]:
        """Return which rules are about nobody in the table, and which the table contradicts."""
        found = []
        for number, rule in enumerate(self._rules(), start=1):
            subject, told = (rule.meets(each)[each.codes] for each in rule_columns(rule, table))
            met = int(np.count_nonzero(subject & told))
            start = f"rule {number} of `incompatible`"
            if not subject.any() or not told.any():
                found.append(f"{start} is about no value in the data, and so protects nobody")
            elif met:
                found.append(f"{start} is not so: {met} of {table.rows} rows meet it")
        return tuple(found)

    def coarser(self) -> Method:
        """Return the method with classes of at least twice as many people."""
        return replace(self, min_class=2 * self._smallest)

    @property
    def _smallest(self) -> int:
        return self.min_class or max(self.l, self.k, _SMALLEST_CLASS)

    def _rules(self) -> list[Incompatible]:
        if not isinstance(self.incompatible, list | tuple):
            raise ParameterError(f"{self.name}: `incompatible` must be a list of conditions")
        if not all(isinstance(text, str) for text in self.incompatible):
            raise ParameterError(f"{self.name}: each entry of `incompatible` is a condition")
        return [Incompatible.parse(text) for text in self.incompatible]

    def _fakes_of(self, rows: int) -> int:
        """Return the number of fakes among so many rows; a share is rounded up."""
        if isinstance(self.fakes, int) and not isinstance(self.fakes, bool) and self.fakes >= 0:
            return self.fakes
        match = _SHARE.fullmatch(self.fakes) if isinstance(self.fakes, str) else None
        if match is None or float(match[1]) > 100:
            raise ParameterError(
                f"{self.name}: `fakes` must be a whole number from 0 on, or a share up to 100%"
            )
        return ceil(Fraction(match[1]) / 100 * rows)

    def _asked(self, table: Table) -> list[Model]:
        """Return what every class must satisfy."""
        asked: list[Model] = [KAnonymity(self._smallest)]
        for column in table.sensitive:
            asked.append(LDiversity(column.name, self.l, self.variant))
            if self.collapse is not None:
                asked.append(Linkable(column.name, 1, 1 - self.collapse))
        return asked

    def _ways_out(self, table: Table, exclusions: Exclusions | None) -> str:
        """Return what would be feasible where incompatible pairs make the request infeasible."""
        if exclusions is None or not _holds(table, self._asked(table), None):
            return ""
        ways = []
        for l in range(self.l - 1, 1, -1):  # noqa: E741
            if _holds(table, replace(self, l=l)._asked(table), exclusions):
                ways.append(f"l = {l}")
                break
        for times in _TIMES:
            if self.expected is None:
                break
            pairs = incompatible_pairs(table, self._rules(), expected=times * self.expected)
            if _holds(table, self._asked(table), Exclusions.of(table, pairs)):
                ways.append(f"`expected: {times * self.expected:g}`")
                break
        return f"; feasible would be {' or '.join(ways)}" if ways else ""

    def joints(self, frame: Table) -> tuple[tuple[str, ...], ...]:
        """Return the pairs of columns that blocks and incompatible values are found by."""
        pairs = list(block_joints(frame, self.columns))
        if self.expected is not None:
            pairs += [(q.name, s.name) for q in frame.quasi_identifiers for s in frame.sensitive]
        return tuple(pairs)

    def splitting(self, frame: Table) -> Splitting:
        """Return cuts of the kind that the method goes on with."""
        refuse_unsplittable(frame, self.name)
        sensitive_names(frame, self.name)
        models = self._asked(frame)
        pairs = incompatible_pairs(frame, self._rules(), expected=self.expected)
        return Splitting(
            "cuts",
            tuple(column.name for column in frame.quasi_identifiers),
            (*model_conditions(frame, models), *excluded_conditions(frame, models, pairs)),
            max(model.minimum_rows for model in models),
        )

    def for_shard(self, before: int, rows: int, whole: int) -> Method:
        """Return the method with the part's own share of the fakes."""
        fakes = self._fakes_of(whole)
        own = fakes * (before + rows) // whole - fakes * before // whole
        return replace(self, fakes=own)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        models = [
            LDiversity(name, self.l, self.variant) for name in sensitive_names(table, self.name)
        ]
        blocks = blocks_of(table, self.columns, self.name)
        pairs = incompatible_pairs(table, self._rules(), expected=self.expected)
        exclusions = Exclusions.of(table, pairs)
        try:
            classes = mondrian(
                table,
                self._asked(table),
                rng=randomness.generator("mondrian ties"),
                exclusions=exclusions,
                strict=False,  # nothing is generalised: equal rows may be in different classes
            )
        except Infeasible as error:
            raise Infeasible(f"{error}{self._ways_out(table, exclusions)}") from None
        fakes = self._fakes_of(table.rows)
        if fakes > table.rows:
            raise ParameterError(f"{self.name}: `fakes` must not outnumber the {table.rows} rows")
        whole, classes = with_fakes(
            table,
            classes,
            fakes,
            l=self.l if self.variant == "frequency" else None,
            exclusions=exclusions,
            rng=randomness.generator("fakes"),
        )
        return assemble(
            sliced_records(
                whole,
                classes,
                [[whole[column.name] for column in block] for block in blocks],
                rng=randomness.generator("records"),
                incompatible=pairs,
                k=self.k,
            ),
            method=self.name,
            rows=whole.rows,
            models=models,
            parameters={"columns": block_names(table, blocks), "fakes": fakes},
            is_test=randomness.is_test,
        )


def _holds(table: Table, asked: list[Model], exclusions: Exclusions | None) -> bool:
    """Return whether the whole table satisfies the models."""
    try:
        refuse_infeasible(table, asked)
        if exclusions is not None:
            refuse_excluded(table, asked, exclusions)
    except Infeasible:
        return False
    return True
