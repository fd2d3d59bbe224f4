"""LGB: each person's own cells generalised or bucketised, as that person's flags say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.lgb_shards import (
    Protection,
    among,
    in_part,
    pattern_splitting,
    sensitive_counts,
    shown_counts,
)
from sfumato.methods.method import Method
from sfumato.methods.splitting import Splitting, refuse_unsplittable, unavailable
from sfumato.models import KAnonymity, LUniqueBuckets, TCloseBuckets
from sfumato.models.counting import column_total
from sfumato.models.model import one_of
from sfumato.publish.assemble import assemble
from sfumato.publish.local_records import Bucketed, local_records
from sfumato.randomness import Randomness, random_shares
from sfumato.release import Release
from sfumato.rows.local_buckets import close_buckets, unique_buckets
from sfumato.rows.local_groups import local_groups
from sfumato.rows.masking import visible_column
from sfumato.rows.mondrian import mondrian
from sfumato.rows.top_down import top_down
from sfumato.schema import Role
from sfumato.table import Column, Groups, Table
from sfumato.table.whole import flag_name

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LGB(Method):
    """Local generalisation and bucketisation: k-anonymity, and l-unique or t-close buckets.

    `l` and `t` protect every semi-sensitive and sensitive attribute that `protection` does not
    name; one of them must be given for those (`l` wins). `generalize` is the partitioner of local
    equivalence groups: `mdp` (multidimensional partition) or `ncp` (top-down greedy); the former
    has the rules of `Mondrian`, with its defaults, which lose least. The paper's own rules are
    `choose="widest", categories="value"`.

    *Source*: Li, He, Sun, "Local Generalization and Bucketization Technique for Personalized
    Privacy Preservation". Departs from the paper: flag patterns of fewer than k rows are united
    and their mixed cells withheld.
    """

    name: ClassVar[str] = "lgb"
    handles: ClassVar[frozenset[Role]] = frozenset(
        {
            Role.IDENTIFIER,
            Role.QUASI_IDENTIFIER,
            Role.SENSITIVE,
            Role.SEMI_SENSITIVE,
            Role.INSENSITIVE,
        }
    )
    k: int
    l: int | None = None  # noqa: E741 -- the parameter's name in every paper
    t: float | None = None
    protection: Mapping[str, Protection] = field(default_factory=dict)
    generalize: Literal["mdp", "ncp"] = "mdp"
    choose: Literal["loss", "widest"] = "loss"
    cut: Literal["best", "median"] = "best"
    categories: Literal["frequency", "value"] = "frequency"

    def __post_init__(self) -> None:
        KAnonymity(self.k)
        if self.l is not None:
            LUniqueBuckets("", self.l)
        if self.t is not None:
            TCloseBuckets("", self.t)
        one_of(self.generalize, ("mdp", "ncp"), "generalize", self.name)
        one_of(self.choose, ("loss", "widest"), "choose", self.name)
        one_of(self.cut, ("best", "median"), "cut", self.name)
        one_of(self.categories, ("frequency", "value"), "categories", self.name)

    def joints(self, frame: Table) -> tuple[tuple[str, ...], ...]:
        """Return the flags, whose joint counts are those of the patterns."""
        names = tuple(map(flag_name, frame.flags))
        return (names,) if names else ()

    def splitting(self, frame: Table) -> Splitting:
        """Return flag patterns set apart, large ones cut; each part can be put into buckets.

        *Refuses* (EngineUnavailable): flags that are drawn in the run.
        """
        refuse_unsplittable(frame, self.name)
        protected = frame.with_role(Role.SEMI_SENSITIVE, Role.SENSITIVE)
        self._refuse_unprotectable(protected)
        for column in frame.with_role(Role.SEMI_SENSITIVE):
            if column.name not in frame.flags:
                raise unavailable(f"{self.name} with the `density` of '{column.name}'")
        models = {column.name: self._protection(column) for column in protected}
        return pattern_splitting(frame, self.k, models)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        if table.units is not None:
            raise ParameterError(
                "lgb needs one row a person, and some people have several; keep one row each"
            )
        protected = table.with_role(Role.SEMI_SENSITIVE, Role.SENSITIVE)
        self._refuse_unprotectable(protected)
        models = [self._protection(column) for column in protected]
        flags = _flags(table, randomness)
        generalised = table.with_role(Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)
        if not generalised:
            raise ParameterError("lgb needs a quasi-identifier or semi-sensitive attribute")
        groups = local_groups(
            generalised,
            [flags.get(column.name) for column in generalised],
            self.k,
            self._partitioner(table, randomness),
            [shown_counts(table, column) for column in generalised],
        )
        withheld = {name: _mixed(groups, flag) for name, flag in flags.items()}
        bucketed = {}
        for column, model in zip(protected, models, strict=True):
            sensitive = np.ones(table.rows, dtype=np.bool_)
            if column.name in flags:
                sensitive = flags[column.name] & ~withheld[column.name]
            rng = randomness.generator(f"buckets of {column.name}")
            counts = sensitive_counts(table, column)
            bucketed[column.name] = _bucketize(
                column, sensitive, in_part(table, self.k, model), counts, rng
            )
        return assemble(
            local_records(table, groups, bucketed, withheld, rng=randomness.generator("records")),
            method=self.name,
            rows=table.rows,
            models=[KAnonymity(self.k), *models],
            parameters={
                "generalize": self.generalize,
                "withheld_cells": int(sum(hidden.sum() for hidden in withheld.values())),
            },
            is_test=randomness.is_test,
        )

    def _refuse_unprotectable(self, protected: Sequence[Column]) -> None:
        names = [column.name for column in protected]
        for name, model in self.protection.items():
            if name not in names:
                raise ParameterError(f"lgb: `protection` names '{name}', which is not sensitive")
            if model.attribute != name:
                raise ParameterError(f"lgb: the protection of '{name}' is about another attribute")
        for column in protected:
            if column.attribute.min_width is not None:
                raise ParameterError(
                    f"lgb cannot keep a `min_width` for '{column.name}'; use mondrian"
                )

    def _protection(self, column: Column) -> Protection:
        given = self.protection.get(column.name)
        if given is not None:
            return given
        if self.l is not None:
            return LUniqueBuckets(column.name, self.l)
        if self.t is not None:
            return TCloseBuckets(column.name, self.t)
        raise ParameterError(f"lgb: say `l` or `t` for '{column.name}', or for all attributes")

    def _partitioner(
        self, table: Table, randomness: Randomness
    ) -> Callable[[Sequence[Column], Groups], Groups]:
        rng = randomness.generator("local groups")

        def partition(columns: Sequence[Column], within: Groups) -> Groups:
            if self.generalize == "ncp":
                return top_down(table, self.k, rng=rng, quasi_identifiers=columns, within=within)
            return mondrian(
                table,
                [KAnonymity(self.k)],
                rng=rng,
                quasi_identifiers=columns,
                within=within,
                choose=self.choose,
                cut=self.cut,
                categories=self.categories,
            )

        return partition


def _flags(table: Table, randomness: Randomness) -> dict[str, Bools]:
    """Return which cells of each semi-sensitive attribute are sensitive."""
    flags = {}
    for column in table.with_role(Role.SEMI_SENSITIVE):
        density = column.attribute.density
        if density is None or (table.whole is not None and column.name in table.flags):
            flags[column.name] = table.flags[column.name]
        else:
            rng = randomness.generator(f"flags of {column.name}")
            flags[column.name] = random_shares(rng, table.rows) < density
    return flags


def _mixed(groups: Groups, flag: Bools) -> Bools:
    """Return the rows of groups in which some cells are sensitive and some are not."""
    flagged = np.bincount(groups.ids, weights=flag, minlength=groups.count)
    mixed: Bools = (flagged > 0) & (flagged < groups.sizes)
    return mixed[groups.ids]


def _bucketize(
    column: Column,
    sensitive: Bools,
    model: Protection,
    whole: Ints | None,
    rng: np.random.Generator,
) -> Bucketed:
    """Return the sensitive cells of the attribute in buckets that satisfy the model.

    `whole` counts the sensitive cells by code in the table of which this is a part.
    """
    rows = np.flatnonzero(sensitive)
    if not len(rows):
        return Bucketed(rows, Groups(np.zeros(0, dtype=np.int32), 0))
    # Ranks and levels of values are those among these cells: an auditor sees no others in buckets,
    # and how many buckets there are must not tell of cells that are withheld.
    if whole is not None or len(rows) < len(column.codes):
        column = visible_column(column, ~sensitive, whole)
    codes = column.codes[rows]
    counts = np.bincount(codes, minlength=column.null_code + 1).astype(np.int64)
    present, values = int(counts[:-1].sum()), int(np.count_nonzero(counts[:-1]))
    if values == 0:
        raise Infeasible(
            f"'{column.name}' cannot be protected: all its sensitive cells are missing; "
            + _way_out(column)
        )
    if isinstance(model, LUniqueBuckets):
        largest = int(counts[:-1].max())
        if largest * model.l > present:
            raise Infeasible(
                f"l = {model.l} is infeasible for '{column.name}': "
                + (_too_common(largest, present) if values > 1 else _one_value(column))
            )
        return Bucketed(rows, unique_buckets(codes, column.null_code, model.l, rng=rng))
    if whole is None:
        total = column_total(column, counts, present)
    else:
        total = column_total(column, among(whole), int(whole[:-1].sum()))
    bound = model.bind({column.name: total})
    buckets = close_buckets(codes, column.null_code, bound.rule, rng=rng)
    if buckets is None:
        raise Infeasible(f"t = {model.t:g} is infeasible for '{column.name}': {_one_value(column)}")
    return Bucketed(rows, buckets)


def _too_common(largest: int, present: int) -> str:
    return (
        f"its commonest sensitive value has {largest / present:.1%} of the sensitive cells; "
        f"the largest feasible l is {present // largest}, or protect it by `t`"
    )


def _one_value(column: Column) -> str:
    return "its sensitive cells have only one value, which no bucket can hide; " + _way_out(column)


def _way_out(column: Column) -> str:
    """Return what to do about cells that no bucket can hide."""
    is_semi = column.attribute.role is Role.SEMI_SENSITIVE
    return "leave the column out" + (", or flag other cells too" if is_semi else "")
