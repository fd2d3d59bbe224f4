"""Linked tables: several tables about the same people, published so that their join protects them.

Tokens (pseudonyms) tell which rows of which tables are one person's. People are therefore put into
groups, not rows: all tables generalise their cells over the rows of the same groups of people, and
the people of a group have as many rows in each table as one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.controlled import (
    check_models,
    check_suppression,
    most_withheld,
    sensitive_widths,
)
from sfumato.methods.mondrian import Mondrian
from sfumato.models import KAnonymity, Model
from sfumato.models.counting import group_statistics
from sfumato.publish.assemble import assemble
from sfumato.publish.records import generalized_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.axes import SET, axis_kind
from sfumato.rows.eligibility import bind_to_table
from sfumato.rows.equal_counts import classes, drawn_rows, equal_counts
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Role, Schema
from sfumato.table import Column, Groups, Table
from sfumato.table.sample import rows_of

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A coded table with tokens, and the models that its release is to claim beside k-anonymity."""

    table: Table
    models: tuple[Model, ...] = ()


def publish_linked(
    tables: Mapping[str, LinkedTable], *, k: int, suppression: float = 0.0, randomness: Randomness
) -> dict[str, Release]:
    """Return a release of every table.

    *Guarantee*: in the join of all tables over their tokens, at least k people share everybody's
    quasi-identifier cells and numbers of rows. Models of a table's sensitive attributes hold in
    each of its groups, counted in people. At most the share `suppression` of all rows is withheld.
    *Refuses* (ParameterError): tables without tokens; (Infeasible) too many rows to withhold, and
    models that the groups do not satisfy.
    """
    KAnonymity(k)
    check_suppression(suppression, "linked tables")
    for name, each in tables.items():
        check_models(each.models, "linked tables")
        _refuse_unfit(name, each.table)
    people = _people([each.table for each in tables.values()])
    count = max(int(own.max(initial=-1)) for own in people) + 1
    counts = np.stack([np.bincount(own, minlength=count) for own in people], axis=1)
    kept = equal_counts(counts, k)
    _refuse_too_many(tables, counts, kept, k, suppression)
    rng = randomness.generator("rows of linked people")
    rows = [drawn_rows(own, kept[:, i], rng) for i, own in enumerate(people)]
    left = np.flatnonzero(kept.any(axis=1))
    place = np.full(count, -1)
    place[left] = np.arange(len(left))
    parts = [
        _Part(
            name,
            rows_of(each.table, some),
            place[own[some]],
            (*each.models, *sensitive_widths(each.table)),
        )
        for (name, each), own, some in zip(tables.items(), people, rows, strict=True)
    ]
    groups = _groups(parts, kept[left], k, randomness)
    return {
        part.name: _release(part, groups, k, counts[:, i].sum(), list(tables), randomness)
        for i, part in enumerate(parts)
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One table without the rows that are withheld; `people` says whose each row is."""

    name: str
    table: Table
    people: Ints
    models: tuple[Model, ...]

    @property
    def is_single(self) -> bool:
        """Whether nobody has several rows."""
        return bool(np.bincount(self.people, minlength=1).max() <= 1)


def _refuse_unfit(name: str, table: Table) -> None:
    if not table.tokens:
        raise ParameterError(
            f"table '{name}' has no pseudonyms, by which tables are linked: its `unit` needs one"
        )
    (tokens,) = table.tokens.values()
    if tokens.null_count:
        raise ParameterError(
            f"table '{name}': the unit is missing in {tokens.null_count} of {table.rows} rows"
        )
    if not table.columns:
        raise ParameterError(
            f"table '{name}' has nothing to publish besides its unit; leave the table out, or give "
            "its columns other roles"
        )
    for attribute in table.schema:
        if attribute.role not in Mondrian.handles:
            raise ParameterError(
                f"linked tables cannot protect '{attribute.name}', which is {attribute.role}"
            )
        if attribute.max_level is not None or attribute.max_width is not None:
            raise ParameterError(
                f"linked tables do not know `max_level` and `max_width` of '{attribute.name}'"
            )


def _people(tables: Sequence[Table]) -> list[Ints]:
    """Return whose each row is, by numbers that are the same in all tables."""
    columns = [next(iter(table.tokens.values())) for table in tables]
    known = pa.chunked_array(columns).unique()
    return [
        np.asarray(pc.index_in(column, value_set=known).to_numpy(zero_copy_only=False), np.int64)
        for column in columns
    ]


def _refuse_too_many(
    tables: Mapping[str, LinkedTable], counts: Ints, kept: Ints, k: int, suppression: float
) -> None:
    lost = (counts - kept).sum(axis=0)
    rows = int(counts.sum())
    emptied = [name for name, left in zip(tables, kept.any(axis=0), strict=True) if not left]
    if emptied:
        raise Infeasible(
            f"all rows of table '{emptied[0]}' would have to be withheld so that {k} people have "
            "the same numbers of rows; leave it out, or ask for a smaller k"
        )
    if int(lost.sum()) <= most_withheld(suppression, rows):
        return
    by = ", ".join(f"{n} of '{name}'" for name, n in zip(tables, lost.tolist(), strict=True) if n)
    share = -(-int(lost.sum()) * 1000 // rows) / 1000
    raise Infeasible(
        f"numbers of rows tell people apart: {int(lost.sum())} of {rows} rows ({by}) would have "
        f"to be withheld so that {k} people have the same; allow it with `suppression: {share:g}`, "
        "ask for a smaller k, or keep fewer rows a person"
    )


def _groups(parts: Sequence[_Part], kept: Ints, k: int, randomness: Randomness) -> Groups:
    """Return the people in groups of k, of equal numbers of rows and near quasi-identifiers."""
    within = classes(kept)
    columns: list[Column] = []
    single: list[tuple[Ints, list[Model]]] = []
    for i, part in enumerate(parts):
        columns += _profile(part, len(kept))
        if part.is_single:
            models = [_renamed(model, part.name) for model in part.models if model.checkable]
            single += [((kept[:, i] > 0).astype(np.int64), models)] if models else []
    if not any(column.attribute.role is Role.QUASI_IDENTIFIER for column in columns):
        raise ParameterError("linked tables need at least one quasi-identifier")
    schema = Schema(tuple(column.attribute for column in columns))
    profile = Table(schema, tuple(columns), len(kept))
    # who has no row in a table has no sensitive value there that its models could protect
    alike = Groups.of_equal([np.zeros(len(kept), np.int64), *(here for here, _ in single)])
    ids = np.zeros(len(kept), dtype=np.int64)
    for kind in range(alike.count):  # a loop over sets of tables
        some = alike.members(kind)
        of_present = [model for here, models in single if here[some[0]] for model in models]
        asked = [KAnonymity(k), *of_present]
        _refuse_impossible(profile, within, np.unique(within.ids[some]), asked)
        rng = randomness.generator("mondrian ties")
        ids[some] = mondrian(profile, asked, rng=rng, within=within, strict=True).ids[some]
    return Groups.of_equal([alike.ids, ids])


def _refuse_impossible(profile: Table, within: Groups, some: Ints, models: Sequence[Model]) -> None:
    """Refuse (Infeasible) models that do not hold in some of the classes, which only get finer."""
    needed = dict.fromkeys(name for model in models for name in model.needs)
    statistics = group_statistics(profile, within, needed)
    for bound in bind_to_table(profile, models):
        fails = int((~bound.holds(statistics))[some].sum())
        if fails:
            about = "".join(f" of '{name}'" for name in bound.model.needs)
            raise Infeasible(
                f"{bound.model.name}{about} cannot hold for {fails} of {within.count} classes of "
                "people with equal numbers of rows; ask for less, or keep fewer rows a person"
            )


def _profile(part: _Part, count: int) -> list[Column]:
    """Return a table's columns with one row a person, by which people are put into groups.

    Of several rows the lowest and the highest value count, or the commonest of values without
    order. What is published covers all of them, whatever stands here.
    """
    found = []
    for column in part.table.columns:
        own = column.codes.astype(np.int64)
        role = column.attribute.role
        if part.is_single and role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            codes = np.full(count, column.null_code)
            codes[part.people] = own
            found.append(_told(column, part.name, codes))
        elif role is Role.QUASI_IDENTIFIER and axis_kind(column) == SET:
            found.append(_told(column, part.name, _commonest(part.people, own, column, count)))
        elif role is Role.QUASI_IDENTIFIER:
            known = own < column.null_code
            low = np.full(count, column.null_code)
            np.minimum.at(low, part.people[known], own[known])
            high = np.full(count, -1)
            np.maximum.at(high, part.people[known], own[known])
            high[high < 0] = column.null_code
            found += [
                _told(column, f"{part.name} from", low),
                _told(column, f"{part.name} to", high),
            ]
    return found


def _commonest(people: Ints, codes: Ints, column: Column, count: int) -> Ints:
    width = column.null_code + 1
    pairs, times = np.unique(people * width + codes, return_counts=True)
    order = np.lexsort((pairs, times))  # the commonest of a person comes last
    found = np.full(count, column.null_code)
    found[pairs[order] // width] = pairs[order] % width
    return found


def _told(column: Column, place: str, codes: Ints) -> Column:
    attribute = replace(column.attribute, name=_name(place, column.name))
    return replace(column, attribute=attribute, codes=codes.astype(np.int32))


def _name(place: str, name: str) -> str:
    return f"{place}: {name}"


def _renamed(model: Model, place: str) -> Model:
    attribute = getattr(model, "attribute", None)
    return model if attribute is None else replace(model, attribute=_name(place, attribute))  # type: ignore[type-var]


def _release(
    part: _Part, groups: Groups, k: int, before: int, names: list[str], randomness: Randomness
) -> Release:
    numbers, ids = np.unique(groups.ids[part.people], return_inverse=True)
    own = Groups(ids.astype(np.int32), len(numbers))
    units = None if part.is_single else np.unique(part.people, return_inverse=True)[1]
    table = replace(part.table, units=None if units is None else units.astype(np.int32))
    _refuse_broken(part, table, own)
    return assemble(
        generalized_records(table, own, rng=randomness.generator(f"records of {part.name}")),
        method=Mondrian.name,
        rows=table.rows,
        models=[KAnonymity(k), *part.models],
        parameters={"linked": names},
        is_test=randomness.is_test,
        suppressed=int(before) - table.rows,
    )


def _refuse_broken(part: _Part, table: Table, groups: Groups) -> None:
    """Refuse (Infeasible) groups that break a model of a table, counted in people."""
    models = [model for model in part.models if model.checkable]
    needed = dict.fromkeys(name for model in models for name in model.needs)
    statistics = group_statistics(table, groups, needed)
    for bound in bind_to_table(table, models):
        fails = int((~bound.holds(statistics)).sum())
        if fails:
            about = "".join(f" of '{name}'" for name in bound.model.needs)
            raise Infeasible(
                f"table '{part.name}': {bound.model.name}{about} does not hold in {fails} of "
                f"{groups.count} groups; ask for less of it, or for a larger k"
            )
