"""LGB on a part of a table: flag patterns set apart, buckets that heed the cells of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sfumato.methods.splitting import Splitting, model_conditions
from sfumato.models import KAnonymity, LUniqueBuckets, TCloseBuckets
from sfumato.models.counting import column_total
from sfumato.rows.masking import places_among, visible_column
from sfumato.rows.shard_conditions import (
    Condition,
    FlaggedClose,
    FlaggedEligible,
    FullPatterns,
    HasValues,
)
from sfumato.schema import Role
from sfumato.table import Column, Table
from sfumato.table.whole import Joint, flag_name, visible_name

Ints = npt.NDArray[np.int64]
Protection = LUniqueBuckets | TCloseBuckets


def pattern_splitting(frame: Table, k: int, models: Mapping[str, Protection]) -> Splitting:
    """Return flag patterns set apart, large ones cut; each part can be put into buckets.

    Patterns are generalised among themselves anyway, so to set them apart costs nothing. Cuts look
    at visible cells alone: a part must not tell of sensitive ones.
    """
    conditions: list[Condition] = list(model_conditions(frame, [KAnonymity(k)]))
    for name, model in models.items():
        condition = _bucket_condition(frame, frame[name], in_part(frame, k, model))
        # where not even all flagged cells can be protected, withholding some must help
        if _holds_in_whole(frame, frame[name], condition):
            conditions.append(condition)
    apart = tuple(map(flag_name, frame.flags))
    if apart:
        assert frame.whole is not None
        conditions.append(FullPatterns(apart, k, frame.whole.joint(*apart)))
    on = [
        visible_name(column.name) if column.name in frame.flags else column.name
        for column in frame.with_role(Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)
    ]
    return Splitting("cuts", tuple(on), tuple(conditions), k, apart=apart)


def in_part(table: Table, k: int, model: Protection) -> Protection:
    """Return the protection to keep in a part, so that the whole keeps what is asked for.

    Buckets are close to all sensitive cells of the whole that are published. How many of them will
    be withheld, with those of rare patterns, no part knows; so t leaves room for them.
    """
    if table.whole is None or isinstance(model, LUniqueBuckets) or not table.flags:
        return model
    cells = int(table.whole.flagged.get(model.attribute, np.zeros(1, np.int64)).sum())
    patterns = table.whole.joint(*map(flag_name, table.flags)).counts
    rare = patterns[patterns < k]
    if not cells or not len(rare):
        return model
    withheld = int(rare.sum()) + 2 * k * len(rare)
    return replace(model, t=model.t - min(model.t / 2, withheld / cells))


def shown_counts(table: Table, column: Column) -> Ints | None:
    """Return how many cells of the whole table have each code and are not sensitive.

    None if the table is a whole itself, or the column has no such cells.
    """
    if table.whole is None or column.name not in table.whole.flagged:
        return None
    return np.asarray(table.whole.counts[column.name] - table.whole.flagged[column.name])


def sensitive_counts(table: Table, column: Column) -> Ints | None:
    """Return how many sensitive cells of the whole table have each code; None if it is one."""
    if table.whole is None:
        return None
    return table.whole.flagged.get(column.name, table.whole.counts[column.name])


def among(counts: Ints) -> Ints:
    """Return the counts of those values that occur, a missing one last."""
    return np.append(counts[:-1][counts[:-1] > 0], counts[-1])


def _bucket_condition(frame: Table, column: Column, model: Protection) -> Condition:
    """Return what the sensitive cells of an attribute must satisfy in a shard."""
    flag = flag_name(column.name) if column.name in frame.flags else None
    if isinstance(model, LUniqueBuckets):
        if flag is None:
            return HasValues(column.name, column.null_code, Fraction(1, model.l))
        return FlaggedEligible(column.name, flag, column.null_code, model.l)
    counts = sensitive_counts(frame, column)
    assert counts is not None
    shown = visible_column(column, np.zeros(0, np.bool_), counts)
    total = column_total(shown, among(counts), int(counts[:-1].sum()))
    place = places_among(counts).astype(np.int64)
    return FlaggedClose(column.name, flag, model.bind({column.name: total}), place)


def _holds_in_whole(frame: Table, column: Column, condition: Condition) -> bool:
    """Return whether the sensitive cells of the whole table satisfy a condition on shards."""
    counts = sensitive_counts(frame, column)
    assert counts is not None
    codes = (np.arange(len(counts)), np.ones(len(counts), np.int64))[: len(condition.columns)]
    return bool(condition.holds(np.zeros(len(counts), np.int64), Joint(codes, counts), 1)[0])
