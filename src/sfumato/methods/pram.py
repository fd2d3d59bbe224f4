"""PRAM: cells are replaced at random by probabilities that are published with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isfinite
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.measures.transitions import (
    Matrix,
    epsilon,
    invariant,
    largest_posterior,
    problem,
    proportional,
    rounded_shares,
    tells_all,
    uniform,
)
from sfumato.methods.method import Method
from sfumato.models.declared import LocalDifferentialPrivacy
from sfumato.models.model import one_of
from sfumato.publish.assemble import assemble
from sfumato.publish.set_domains import over_domain
from sfumato.publish.transition_records import stated_transition, transition_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Kind, Role, Schema
from sfumato.schema.kinds import stated_values
from sfumato.schema.text import to_texts
from sfumato.table import Column, Table

KINDS = ("uniform", "proportional", "invariant")
PROTECTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
# A matrix of more values is no longer one that people read.
MOST_VALUES = 200
_DECIMALS = 10**6  # of a claimed epsilon, rounded up


@dataclass(frozen=True, slots=True)
class PRAM(Method):
    """Post-randomisation: every protected cell becomes another value with a published probability.

    A cell stays as it is with the probability `keep` (of some attributes `keep_of`). What else it
    becomes is by `kind`: any other value equally (`uniform`), others by their shares in the table
    (`proportional`), or such that the shares stay what they are in expectation (`invariant`, where
    `keep` is the share of all cells that stay). `transitions` states values and matrix of some
    attributes instead, in the words of the manifest. Missing values are values. `attributes` are
    those that are replaced: by default all quasi-identifiers and sensitive attributes.

    *Guarantee*: local differential privacy of each cell, by the epsilon of its matrix; none of an
    attribute whose matrix has a 0. Declared, since files cannot show that it was drawn so.
    A matrix of the kinds `proportional` and `invariant` tells the table's margins, rounded to
    whole thousandths of the rows (ten at least, and one at least for each value).
    *Refuses* (ParameterError): quasi-identifiers that are not replaced, attributes of more than
    200 values, people with several rows (whose cells, drawn apart, would tell more), and matrices
    that nobody could estimate from, or that hide nothing.
    *Source*: Gouweleeuw, Kooiman, Willenborg, De Wolf, "Post randomisation for statistical
    disclosure control" (1998). Departs from the paper: margins are rounded before a matrix is made
    of them, and the invariant matrix is the one that keeps the asked share of cells.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "M"] * 3, "disease": ["Flu", "Cold", "HIV"] * 2})
    >>> schema = Schema.of(sex="quasi-identifier", disease="sensitive")
    >>> release = PRAM(keep=0.75).publish(people, schema)
    >>> release.manifest.parameters["transitions"]["sex"]["matrix"]
    [[0.75, 0.25], [0.25, 0.75]]
    >>> release.manifest.guarantees[0]
    {'model': 'local-differential-privacy', 'attribute': 'sex', 'epsilon': 1.098613}
    """

    name: ClassVar[str] = "pram"
    counts_missing: ClassVar[bool] = True
    keep: float = 0.8
    kind: Literal["uniform", "proportional", "invariant"] = "uniform"
    attributes: Sequence[str] | None = None
    keep_of: Mapping[str, float] = field(default_factory=dict)
    transitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        one_of(self.kind, KINDS, "kind", self.name)
        for key in ("keep_of", "transitions"):
            if not isinstance(getattr(self, key), Mapping):
                raise ParameterError(f"pram: `{key}` must have attributes by name")
        _check_keep(self.keep, "keep")
        for name, keep in self.keep_of.items():
            _check_keep(keep, f"keep_of.{name}")
            if name in self.transitions:
                raise ParameterError(f"pram: `keep_of` and `transitions` both tell of '{name}'")
        for name, stated in self.transitions.items():
            _check_stated(name, stated)
        names = self.attributes
        if names is not None and (
            isinstance(names, str) or not all(isinstance(each, str) for each in names)
        ):
            raise ParameterError("pram: `attributes` must be a list of names")

    def doubts(self, table: Table) -> tuple[str, ...]:
        """Return which attributes are published as they are, or surely so in parts."""
        try:
            self._refuse(table)
            whole, matrices = self._made(table)
        except ParameterError:
            return ()  # the run will say so
        found = [
            f"'{column.name}' is sensitive, and published as it is; list it under `attributes`"
            for column in whole.sensitive
            if column.name not in matrices
        ]
        for name, matrix in matrices.items():
            if len(matrix) == 1:
                continue
            if largest_posterior(matrix) == 1:
                found.append(
                    f"the matrix of '{name}' has a column with a single entry: whoever shows that "
                    "value surely has the one that it stands for"
                )
            elif not isfinite(epsilon(matrix)):
                found.append(
                    f"the matrix of '{name}' has a 0, which rules values out: no guarantee is "
                    "claimed of it"
                )
        return tuple(found)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        self._refuse(table)
        whole, matrices = self._made(table)
        bounds = {name: epsilon(matrix) for name, matrix in matrices.items()}
        claims = [
            LocalDifferentialPrivacy(name, ceil(bound * _DECIMALS) / _DECIMALS)
            for name, bound in bounds.items()
            if isfinite(bound)
        ]
        stated = {name: stated_transition(whole[name], own) for name, own in matrices.items()}
        return assemble(
            transition_records(whole, matrices, rng=randomness.generator("transitions")),
            method=self.name,
            rows=table.rows,
            models=claims,
            parameters={"kind": self.kind, "transitions": stated},
            is_test=randomness.is_test,
        )

    def _replaced(self, table: Table) -> tuple[str, ...]:
        if self.attributes is not None:
            return tuple(self.attributes)
        return tuple(column.name for column in table.with_role(*PROTECTED))

    def _refuse(self, table: Table) -> None:
        if table.units is not None:
            raise ParameterError(
                "pram needs one row a person, and some people have several, whose cells would be "
                "drawn apart and tell more together; keep one row each"
            )
        if table.rows == 0:
            raise ParameterError("pram needs rows, and the table has none")
        possible = [column.name for column in table.with_role(*PROTECTED)]
        replaced = self._replaced(table)
        named = {"attributes": replaced, "keep_of": self.keep_of, "transitions": self.transitions}
        for key, names in named.items():
            for name in names:
                if name not in possible:
                    raise ParameterError(
                        f"pram: `{key}` names '{name}', which is neither a quasi-identifier nor "
                        "sensitive"
                    )
                if name not in replaced:
                    raise ParameterError(f"pram: `{key}` names '{name}', which is not replaced")
        if not replaced:
            raise ParameterError("pram needs a quasi-identifier or a sensitive attribute")
        for column in table.quasi_identifiers:
            if column.name not in replaced:
                raise ParameterError(
                    f"pram: '{column.name}' is a quasi-identifier and would be published as it is, "
                    "by which people are found whatever else is replaced; list it under "
                    "`attributes`, or make it insensitive with `keep: true`"
                )
        for column in table.sensitive:
            if column.attribute.min_width is not None:
                raise ParameterError(
                    f"pram cannot keep a `min_width` for '{column.name}'; use mondrian"
                )

    def _made(self, table: Table) -> tuple[Table, dict[str, Matrix]]:
        """Return the table over whole domains, and the matrix of each attribute."""
        replaced = self._replaced(table)
        columns, matrices = [], {}
        for column in table.columns:
            name, own = column.name, column
            if name in self.transitions:
                own, matrices[name] = _stated(column, self.transitions[name])
                _refuse_matrix(name, matrices[name])
            elif name in replaced:
                own = _whole(column)
                matrices[name] = self._matrix(own)
            columns.append(own)
        schema = Schema(tuple(column.attribute for column in columns))
        return Table(schema, tuple(columns), table.rows), matrices

    def _matrix(self, column: Column) -> Matrix:
        keep = self.keep_of.get(column.name, self.keep)
        size = column.cardinality + bool((column.codes == column.null_code).any())
        shares = rounded_shares(np.bincount(column.codes, minlength=size))
        try:
            match self.kind:
                case "uniform":
                    found = uniform(size, keep)
                case "proportional":
                    found = proportional(shares, keep)
                case "invariant":
                    found = invariant(shares, keep)
        except ParameterError as error:
            raise ParameterError(f"'{column.name}': {error}") from None
        wrong = problem(found)
        if wrong is not None:
            raise ParameterError(
                f"with `keep` {keep:g} the matrix of '{column.name}', which has {size} values, "
                f"{wrong}; keep more of them"
            )
        return found


def _check_keep(keep: Any, key: str) -> None:
    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep < 1:
        raise ParameterError(
            f"pram: `{key}` must be a number above 0 and below 1: with 1 all cells stay as they "
            "are, and with 0 none does, which tells as well"
        )


def _check_stated(name: str, stated: Any) -> None:
    if not isinstance(stated, Mapping) or stated.keys() != {"values", "matrix"}:
        raise ParameterError(f"pram: `transitions.{name}` needs `values` and `matrix`, no others")
    values, lines = stated["values"], stated["matrix"]
    is_listed = isinstance(values, list | tuple) and isinstance(lines, list | tuple)
    if not is_listed or not 0 < len(values) <= MOST_VALUES:
        raise ParameterError(
            f"pram: `transitions.{name}.values` must list 1 to {MOST_VALUES} values"
        )
    square = len(lines) == len(values) and all(
        isinstance(line, list | tuple) and len(line) == len(values) for line in lines
    )
    if not square or any(
        isinstance(each, bool) or not isinstance(each, int | float)
        for line in lines
        for each in line
    ):
        raise ParameterError(
            f"pram: `transitions.{name}.matrix` must have a line of numbers for each of the "
            f"{len(values)} values, and as many numbers in each"
        )


def _refuse_matrix(name: str, matrix: Matrix) -> None:
    wrong = problem(matrix)
    if wrong is None and tells_all(matrix):
        wrong = "replaces every value by one of its own, which hides nothing"
    if wrong is not None:
        raise ParameterError(f"pram: the matrix of '{name}' {wrong}; state another one")


def _whole(column: Column) -> Column:
    """Return the column over its whole domain: all values that a cell may become."""
    if pa.types.is_null(column.values.type) or column.cardinality == 0:
        raise ParameterError(f"'{column.name}' has no value to replace; leave it out")
    found = over_domain(column, MOST_VALUES)
    plain = replace(column, attribute=replace(column.attribute, hierarchy=None), tree=None)
    # a stated domain of more numbers than that: those that occur
    whole = found.column if found.edges is None else plain
    if whole.cardinality > MOST_VALUES:
        raise ParameterError(
            f"'{column.name}' has {whole.cardinality} values, and a matrix has {MOST_VALUES} at "
            "most; recode it first (`recode`, as in bins or rounding), or leave it out"
        )
    return whole


def _stated(column: Column, stated: Mapping[str, Any]) -> tuple[Column, Matrix]:
    """Return the column over stated values, in their order, and the matrix; a missing one last."""
    name, attribute = column.name, column.attribute
    given = list(stated["values"])
    known = [place for place, value in enumerate(given) if value is not None]
    try:
        values = stated_values(tuple(given[place] for place in known), column.values.type)
        texts = to_texts(values)
    except (ValueError, pa.ArrowException):
        raise ParameterError(
            f"pram: `transitions.{name}.values` are not all of the type of the column"
        ) from None
    if len(texts.unique()) < len(texts) or len(given) - len(known) > 1:
        raise ParameterError(f"pram: `transitions.{name}.values` lists a value twice")
    if not known:
        raise ParameterError(f"pram: `transitions.{name}.values` lists no value")
    listed = attribute.order or (attribute.domain if column.kind is not Kind.NUMERIC else None)
    order = np.arange(len(known))
    if column.kind is Kind.NUMERIC:
        order = np.asarray(pc.sort_indices(values).to_numpy())
    elif listed is not None:
        stated_texts = to_texts(stated_values(tuple(listed), column.values.type))
        places = pc.index_in(stated_texts, texts)
        if places.null_count or len(stated_texts) != len(texts):
            raise ParameterError(
                f"pram: `transitions.{name}.values` are not those of the stated domain or order"
            )
        order = np.asarray(places.to_numpy(zero_copy_only=False), np.int64)
    values, texts = (each.take(pa.array(order)) for each in (values, texts))
    places = pc.index_in(to_texts(column.values), texts)
    has_missing = bool((column.codes == column.null_code).any())
    if places.null_count or (has_missing and len(known) == len(given)):
        raise ParameterError(
            f"pram: `transitions.{name}.values` lack values that the column has (a missing one is "
            "listed as null)"
        )
    code_of = np.append(places.to_numpy(zero_copy_only=False), len(values)).astype(np.int32)
    lines = np.array([*np.array(known)[order], *(set(range(len(given))) - set(known))], np.int64)
    matrix = np.array(stated["matrix"], np.float64)[np.ix_(lines, lines)]
    plain = replace(column, attribute=replace(attribute, hierarchy=None), tree=None)
    return replace(plain, codes=code_of[column.codes], values=values), matrix
