"""Anatomised tables whose groups keep (alpha, beta, gamma, delta): what SLPPA and ASN share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.slppa_parameters import Asked, rounded_up
from sfumato.models import AlphaBetaGammaDelta
from sfumato.models.association import Commonest
from sfumato.models.counting import group_statistics, table_totals
from sfumato.models.model import exact_share
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.divide import divide
from sfumato.rows.eligible_runs import Values
from sfumato.rows.merge_groups import Limits, Merged, merge_groups
from sfumato.schema.distinct import count_codes
from sfumato.table import Column, Table

_ATTEMPTS = 5  # at a deal whose groups can be merged under gamma


class Plan(NamedTuple):
    """How attributes are published, and what is asked of the groups: by sensitive attribute.

    `values` are the `combinations` of the divided tables and of these attributes.
    """

    divided: Sequence[Sequence[Column]]
    values: Values
    asked: Mapping[str, Asked]


def publish_associated(
    method: str,
    table: Table,
    shares: Mapping[str, tuple[float, float]],
    plan: Callable[[], Plan],
    randomness: Randomness,
) -> Release:
    """Return the release of divided tables whose groups keep what is asked for each attribute.

    `shares` are the beta and delta of the plan: groups are dealt by them while it is made.

    *Refuses* (Infeasible): parameters that no groups can keep, with the least that some can.
    """
    division, merging = randomness.generator("group division"), randomness.generator("merging")
    with ThreadPoolExecutor(1) as beside:
        dealt = beside.submit(divide, table, shares, rng=division)
        divided, values, asked = plan()
        _refuse_infeasible(table, most_alike(values, len(divided)), asked)
        groups = dealt.result()
        del dealt
    models = [AlphaBetaGammaDelta(name, *each) for name, each in asked.items()]
    limits = Limits(
        min(each.alpha for each in asked.values()),
        np.array([each.gamma for each in asked.values()]),
    )
    refusals = []
    while True:
        merged = merge_groups(values, groups, limits, rng=merging)
        groups = merged.groups
        refusal = _unkept(table, merged, models)
        if refusal is None:
            break
        refusals.append(refusal)
        if len(refusals) == _ATTEMPTS:
            raise Infeasible(min(refusals).message)
        # whether gamma can be kept depends on who is dealt into which group
        groups = divide(table, shares, rng=division)
    del values, merged
    return assemble(
        anatomized_tables(table, groups, divided, rng=randomness.generator("tables")),
        method=method,
        rows=table.rows,
        models=models,
        parameters={"tables": len(divided)},
        is_test=randomness.is_test,
    )


def most_alike(values: Values, tables: int) -> int:
    """Return how many rows have the commonest combination of any of so many tables.

    Some group has at least the share that they have in the whole table: no groups keep an alpha
    below it.
    """
    width = len(values.attribute)
    return max(int(count_codes(shown, width).max()) for shown in values.of_row[:tables])


def _refuse_infeasible(table: Table, alike: int, asked: Mapping[str, Asked]) -> None:
    problems = []
    least = Fraction(alike, table.rows)
    alpha = min(each.alpha for each in asked.values())
    if exact_share(alpha) < least:
        problems.append(
            f"alpha = {alpha:g} is infeasible: in one of the tables {float(least):.1%} of the rows "
            "agree; "
            f"use alpha >= {rounded_up(least):g}, or another division into tables"
        )
    for name, each in asked.items():
        column = table[name]
        counts = column.counts[:-1]
        if not counts.sum():
            raise ParameterError(f"every value of `{name}` is missing")
        share = Fraction(int(counts.max()), int(counts.sum()))
        if exact_share(each.beta) < share:
            problems.append(
                f"beta = {each.beta:g} is infeasible: the commonest value of `{name}` has "
                f"{float(share):.1%} of the rows; use beta >= {rounded_up(share):g}"
            )
    if problems:
        raise Infeasible("; ".join(problems))


class _Refusal(NamedTuple):
    """How far groups are from keeping a model, and what to say of them."""

    excess: float
    message: str


def _unkept(table: Table, merged: Merged, models: Sequence[AlphaBetaGammaDelta]) -> _Refusal | None:
    """Return why groups do not keep the models, with what they reach; None if they do."""
    names = [model.attribute for model in models]
    totals = table_totals(table, names)
    groups, largest, known = merged
    tables = len(largest) - len(models)
    repeats = largest[:tables]
    if table.units is None and all(
        model.bind(totals).surely_hold(
            Commonest(groups.sizes, repeats, known[tables + i], largest[tables + i])
        )
        for i, model in enumerate(models)
    ):
        return None
    statistics = group_statistics(table, groups, names, repeats)
    for model in models:
        bound = model.bind(totals)
        if not bound.holds(statistics).all():
            reached = bound.reached(statistics)
            found = ", ".join(
                f"{key} = {rounded_up(Fraction(float(values.max()))):g}"
                for key, values in zip(Asked._fields, reached, strict=True)
                if values.max() > float(exact_share(getattr(model, key)))
            )
            return _Refusal(
                float(bound.levels(statistics).max()),
                f"no groups were found that keep all four parameters for `{model.attribute}`; the "
                f"best that was reached is {found}: use at least that, or another number of tables",
            )
    return None
