"""SLPPA: attributes in tables of their own, rows in groups, under (alpha, beta, gamma, delta)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations as pairs_of
from typing import ClassVar

from sfumato.columns.tables import Cap, check_division, divide_columns, most_columns
from sfumato.errors import ParameterError
from sfumato.methods.associated import Plan, most_alike, publish_associated
from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.methods.slppa_parameters import Asked, derived
from sfumato.methods.splitting import Splitting, refuse_unsplittable
from sfumato.models.model import exact_share, positive_number
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.divide import fewest_values
from sfumato.rows.eligible_runs import Values
from sfumato.rows.merge_groups import combinations
from sfumato.rows.shard_conditions import HasValues
from sfumato.table import Column, Table


@dataclass(frozen=True, slots=True)
class SLPPA(Method):
    """Anatomised tables under the (alpha, beta, gamma, delta) model.

    The quasi-identifiers are divided into `tables`; the rows into groups in which no sensitive
    value is commoner than `beta` or strays from its share in the table by more than `delta`;
    groups are merged until no combination in a table is commoner than `alpha`, and no product of
    the commonest shares exceeds `gamma`. `attributes` has `beta` and `delta` of single sensitive
    attributes, as in `{"disease": {"beta": 0.1}}`. Of the four, those that are not given follow
    from the others: see `derived`. `cap` is the most columns a table may have: `even`, a number,
    or None for the letter of the paper.

    *Source*: Yao, Chen, Wang, Liu, Wu, "Sensitive Label Privacy Preservation with Anatomization for
    Data Publishing". Departs from the paper: the cap; a second order of group division; merging
    takes in the groups with most room first; several sensitive attributes; where the values are
    too uneven for groups of values that all differ, groups in which each has its share.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({
    ...     "age": [25, 28, 41, 47], "job": ["A", "B", "B", "A"], "pay": [10, 20, 30, 40],
    ... })
    >>> schema = Schema.of(age="quasi-identifier", job="quasi-identifier", pay="sensitive")
    >>> release = SLPPA(alpha=0.5, beta=0.5, tables=2).publish(people, schema)
    >>> sorted(release.tables)
    ['qi_1', 'qi_2', 'sensitive_1']
    """

    name: ClassVar[str] = "slppa"
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    delta: float | None = None
    tables: int = 2
    cap: Cap = "even"
    attributes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in Asked._fields:
            if getattr(self, key) is not None:
                positive_number(getattr(self, key), key, self.name, most=1)
        check_division(self.tables, self.cap, self.name)
        if not isinstance(self.attributes, Mapping):
            raise ParameterError("slppa: `attributes` must map attributes to `beta` and `delta`")
        for name, own in self.attributes.items():
            if not isinstance(own, Mapping):
                raise ParameterError(f"slppa: `attributes` must say `beta` or `delta` for '{name}'")
            for key, value in own.items():
                if key not in ("beta", "delta"):
                    raise ParameterError(
                        f"slppa: an attribute has `beta` and `delta` of its own, not `{key}`"
                    )
                positive_number(value, key, f"slppa, '{name}'", most=1)

    def largest_share(self) -> Fraction | None:
        """Return beta, where it is given; delta needs no value to be rarer."""
        own = [each.get("beta") for each in self.attributes.values()]
        beta = next((each for each in own if each is not None), self.beta)
        beta = self.delta if beta is None else beta
        return None if beta is None else exact_share(beta)

    def joints(self, frame: Table) -> tuple[tuple[str, ...], ...]:
        """Return the pairs of quasi-identifiers, whose associations divide them into tables."""
        return tuple(pairs_of([column.name for column in frame.quasi_identifiers], 2))

    def splitting(self, frame: Table) -> Splitting:
        """Return a deal in which every shard keeps beta as one group, and can be close to all."""
        refuse_unsplittable(frame, self.name)
        names = sensitive_names(frame, self.name)
        assert frame.whole is not None
        conditions = []
        for name in names:
            beta, delta = self._shares(name)
            most = Fraction(1, fewest_values(beta, delta))
            counts = frame.whole.counts[name][:-1]
            # of values that cannot all differ, each shard has its share
            if Fraction(int(counts.max(initial=0)), max(int(counts.sum()), 1)) > most:
                most = exact_share(beta)
            conditions.append(HasValues(name, frame[name].null_code, most))
        divided = self._divided(frame)
        return Splitting(
            "deal",
            tuple(names),
            tuple(conditions),
            commonest=tuple(tuple(column.name for column in part) for part in divided),
        )

    def _shares(self, name: str) -> tuple[float, float]:
        """Return beta and delta of an attribute, which can be told without the data."""
        asked = derived(*self._given(name), tables=self.tables, least_alpha=Fraction(1))
        return asked.beta, asked.delta

    def _divided(self, table: Table) -> list[list[Column]]:
        return divide_columns(table.quasi_identifiers, self.tables, self.cap, table.whole)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        names = sensitive_names(table, self.name)
        for name in self.attributes:
            if name not in names:
                raise ParameterError(f"slppa: `attributes` names '{name}', which is not sensitive")
        most_columns(table.quasi_identifiers, self.tables, self.cap)  # refused before all else
        shares = {name: self._shares(name) for name in names}
        return publish_associated(
            self.name, table, shares, partial(self._plan, table, names), randomness
        )

    def _plan(self, table: Table, names: Sequence[str]) -> Plan:
        divided = self._divided(table)
        values = combinations(divided, [table[name] for name in names])
        asked = {name: self._asked(table, divided, values, name) for name in names}
        return Plan(divided, values, asked)

    def _asked(
        self, table: Table, divided: Sequence[Sequence[Column]], values: Values, name: str
    ) -> Asked:
        if table.whole is None:
            least = Fraction(most_alike(values, len(divided)), table.rows)
        else:
            parts = [tuple(column.name for column in part) for part in divided]
            most = max(table.whole.commonest[names] for names in parts)
            least = Fraction(most, table.whole.rows)
        return derived(*self._given(name), tables=len(divided), least_alpha=least)

    def _given(self, name: str) -> tuple[float | None, float | None, float | None, float | None]:
        """Return the four parameters of an attribute as they are given."""
        own = self.attributes.get(name, {})
        return self.alpha, own.get("beta", self.beta), self.gamma, own.get("delta", self.delta)
