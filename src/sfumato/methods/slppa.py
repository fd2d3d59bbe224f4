"""SLPPA: attributes in tables of their own, rows in groups, under (alpha, beta, gamma, delta)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import combinations as pairs_of
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.columns.tables import Cap, check_division, divide_columns
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.methods.splitting import Splitting, refuse_unsplittable
from sfumato.models import AlphaBetaGammaDelta
from sfumato.models.counting import group_statistics, table_totals
from sfumato.models.model import exact_share, positive_number
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.divide import divide, fewest_values
from sfumato.rows.eligible_runs import largest_counts
from sfumato.rows.merge_groups import Limits, combinations, merge_groups
from sfumato.rows.shard_conditions import HasValues
from sfumato.table import Column, Groups, Table

_KEYS = ("alpha", "beta", "gamma", "delta")
_UPWARDS = Context(prec=4, rounding=ROUND_CEILING)
_ATTEMPTS = 5  # at a deal whose groups can be merged under gamma
# Where nobody says: what alpha allows, over the least that the whole table allows.
_ROOM = Fraction(3, 2)


class Asked(NamedTuple):
    """The four parameters for one sensitive attribute, all known."""

    alpha: float
    beta: float
    gamma: float
    delta: float


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
        for key in _KEYS:
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
        """Return beta and delta of an attribute, as far as they can be told without the data."""
        asked = derived(*self._given(name), tables=self.tables, least_alpha=Fraction(1))
        return asked.beta, asked.delta

    def _divided(self, table: Table) -> list[list[Column]]:
        return divide_columns(table.quasi_identifiers, self.tables, self.cap, table.whole)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        names = sensitive_names(table, self.name)
        for name in self.attributes:
            if name not in names:
                raise ParameterError(f"slppa: `attributes` names '{name}', which is not sensitive")
        divided = self._divided(table)
        return publish_associated(
            self.name,
            table,
            divided,
            {name: self._asked(table, divided, name) for name in names},
            {"tables": len(divided)},
            randomness,
        )

    def _asked(self, table: Table, divided: Sequence[Sequence[Column]], name: str) -> Asked:
        if table.whole is None:
            least = Fraction(_most_alike(table, divided), table.rows)
        else:
            parts = [tuple(column.name for column in part) for part in divided]
            most = max(table.whole.commonest[names] for names in parts)
            least = Fraction(most, table.whole.rows)
        return derived(*self._given(name), tables=len(divided), least_alpha=least)

    def _given(self, name: str) -> tuple[float | None, float | None, float | None, float | None]:
        """Return the four parameters of an attribute as they are given."""
        own = self.attributes.get(name, {})
        return self.alpha, own.get("beta", self.beta), self.gamma, own.get("delta", self.delta)


def derived(
    alpha: float | None,
    beta: float | None,
    gamma: float | None,
    delta: float | None,
    *,
    tables: int,
    least_alpha: Fraction,
) -> Asked:
    """Return all four parameters, those not given derived from the others.

    `delta` is `beta`, and the other way round: groups of values that all differ keep both. `gamma`
    is alpha to the number of quasi-identifier tables, times beta, which always suffices. `alpha`
    is what gamma leaves for it; without gamma, half as much again as the least that is feasible,
    and at least what two people in a group of different values have.

    >>> derived(0.5, 0.05, None, None, tables=3, least_alpha=Fraction(1, 5))
    Asked(alpha=0.5, beta=0.05, gamma=0.00625, delta=0.05)
    """
    if beta is None and delta is None and gamma is not None and alpha is not None:
        if gamma >= alpha**tables:
            raise ParameterError("slppa: `alpha` and `gamma` leave beta free; say `beta`")
        beta = float(f"{gamma / alpha**tables:.4g}")
    if beta is None:
        beta = delta
    if beta is None:
        raise ParameterError("slppa needs `beta` or `delta`, or both `alpha` and `gamma`")
    if delta is None:
        delta = beta
    if alpha is None:
        room = max(_ROOM * least_alpha, 2 * Fraction(str(beta)))
        if gamma is not None:
            left = gamma / beta if gamma < beta else 1.0
            room = Fraction(f"{left ** (1 / tables):.12g}")
        alpha = min(_rounded_up(room), 1.0)
    if gamma is None:
        gamma = min(_rounded_up(Fraction(str(alpha)) ** tables * Fraction(str(beta))), 1.0)
    return Asked(alpha, beta, gamma, delta)


def _rounded_up(value: Fraction) -> float:
    """Return a number of four digits that is not smaller.

    >>> _rounded_up(Fraction(2, 3)), _rounded_up(Fraction(3, 10))
    (0.6667, 0.3)
    """
    return float(_UPWARDS.divide(Decimal(value.numerator), Decimal(value.denominator)))


def publish_associated(
    method: str,
    table: Table,
    divided: Sequence[Sequence[Column]],
    asked: Mapping[str, Asked],
    parameters: Mapping[str, int],
    randomness: Randomness,
) -> Release:
    """Return the release of divided tables whose groups keep what is asked for each attribute.

    *Refuses* (Infeasible): parameters that no groups can keep, with the least that some can.
    """
    names = list(asked)
    sensitive = [table[name] for name in names]
    values = combinations(divided, sensitive)
    _refuse_infeasible(table, divided, asked)
    models = [AlphaBetaGammaDelta(name, *each) for name, each in asked.items()]
    limits = Limits(
        min(each.alpha for each in asked.values()),
        np.array([each.gamma for each in asked.values()]),
    )
    division, merging = randomness.generator("group division"), randomness.generator("merging")
    shares = {name: (each.beta, each.delta) for name, each in asked.items()}
    refusals = []
    for _ in range(_ATTEMPTS):
        # whether gamma can be kept depends on who is dealt into which group
        groups = divide(table, shares, rng=division)
        groups = merge_groups(values, groups, limits, rng=merging)
        refusal = _unkept(table, groups, largest_counts(values, groups)[: len(divided)], models)
        if refusal is None:
            break
        refusals.append(refusal)
    else:
        raise Infeasible(min(refusals).message)
    return assemble(
        anatomized_tables(table, groups, divided, rng=randomness.generator("tables")),
        method=method,
        rows=table.rows,
        models=models,
        parameters=parameters,
        is_test=randomness.is_test,
    )


def _most_alike(table: Table, divided: Sequence[Sequence[Column]]) -> int:
    """Return how many rows have the commonest combination of any table.

    Some group has at least the share that they have in the whole table: no groups keep an alpha
    below it.
    """
    return max(
        int(Groups.of_equal([column.codes for column in part]).sizes.max()) for part in divided
    )


def _refuse_infeasible(
    table: Table, divided: Sequence[Sequence[Column]], asked: Mapping[str, Asked]
) -> None:
    problems = []
    least = Fraction(_most_alike(table, divided), table.rows)
    alpha = min(each.alpha for each in asked.values())
    if exact_share(alpha) < least:
        problems.append(
            f"alpha = {alpha:g} is infeasible: in one of the tables {float(least):.1%} of the rows "
            "agree; "
            f"use alpha >= {_rounded_up(least):g}, or another division into tables"
        )
    for name, each in asked.items():
        column = table[name]
        counts = np.bincount(column.codes, minlength=column.cardinality + 1)[:-1]
        if not counts.sum():
            raise ParameterError(f"every value of `{name}` is missing")
        share = Fraction(int(counts.max()), int(counts.sum()))
        if exact_share(each.beta) < share:
            problems.append(
                f"beta = {each.beta:g} is infeasible: the commonest value of `{name}` has "
                f"{float(share):.1%} of the rows; use beta >= {_rounded_up(share):g}"
            )
    if problems:
        raise Infeasible("; ".join(problems))


class _Refusal(NamedTuple):
    """How far groups are from keeping a model, and what to say of them."""

    excess: float
    message: str


def _unkept(
    table: Table,
    groups: Groups,
    repeats: npt.NDArray[np.int64],
    models: Sequence[AlphaBetaGammaDelta],
) -> _Refusal | None:
    """Return why groups do not keep the models, with what they reach; None if they do."""
    names = [model.attribute for model in models]
    totals = table_totals(table, names)
    statistics = group_statistics(table, groups, names, repeats)
    for model in models:
        bound = model.bind(totals)
        if not bound.holds(statistics).all():
            reached = bound.reached(statistics)
            found = ", ".join(
                f"{key} = {_rounded_up(Fraction(float(values.max()))):g}"
                for key, values in zip(_KEYS, reached, strict=True)
                if values.max() > float(exact_share(getattr(model, key)))
            )
            return _Refusal(
                float(bound.levels(statistics).max()),
                f"no groups were found that keep all four parameters for `{model.attribute}`; the "
                f"best that was reached is {found}: use at least that, or another number of tables",
            )
    return None
