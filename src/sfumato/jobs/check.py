"""Whether a policy fits a table, with the values that keep it from fitting.

An error message must not hold values, since it ends up in logs; here someone asks for them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import SfumatoError
from sfumato.io.read import open_table
from sfumato.jobs.policy import Policy
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.recode import about_recoding, recoded, unused_keys
from sfumato.jobs.suppress import withheld_rows, without
from sfumato.methods import Method, Mondrian
from sfumato.models import KAnonymity
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.schema import Attribute, Columns, Hierarchy, HierarchyReport, Role, Schema
from sfumato.schema.distinct import distinct
from sfumato.schema.headers import about_header
from sfumato.schema.leaf_texts import spelled_as
from sfumato.schema.text import to_texts
from sfumato.table import encode


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What keeps a policy from fitting a table, and what is doubtful.

    `problems` and `warnings` are lines without values. `missing` has, by column, the values
    without an entry in its hierarchy, `wrong_intervals` the (value, label) pairs where the label
    reads as an interval that does not contain the value.
    """

    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    missing: Mapping[str, tuple[str, ...]]
    wrong_intervals: Mapping[str, tuple[tuple[str, str], ...]]

    @property
    def fits(self) -> bool:
        """Whether `anonymize` would run."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values that JSON can hold."""
        return {
            "fits": self.fits,
            "problems": list(self.problems),
            "warnings": list(self.warnings),
            "missing": {name: list(values) for name, values in self.missing.items()},
            "wrong_intervals": {
                name: [list(pair) for pair in pairs] for name, pairs in self.wrong_intervals.items()
            },
        }


def check(
    data: str | os.PathLike[str],
    policy: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
) -> CheckReport:
    """Return whether the policy fits the table of a file.

    Refuses (SfumatoError) files that cannot be read, and a policy that is wrong in itself.
    """
    stages = Stages(progress)
    with stages.stage("reading the policy"):
        rules = Policy.load(Path(policy))
        method, schema = rules.method(), rules.schema()
    with stages.stage("reading the data"):
        raw = open_table(data)
    with stages.stage("checking"):
        try:
            table, schema, steps = recoded(raw, rules, schema, Randomness.fresh())
            idle = (*unused_keys(raw, steps), *about_recoding(raw, table, steps, schema))
        except SfumatoError as error:
            # of values that are not what the policy makes of them nothing else can be said
            return CheckReport((str(error),), (*rules.warnings(), *about_header(raw)), {}, {})
        reports = _hierarchy_reports(table, schema)
        return CheckReport(
            _problems(table, schema, method, rules),
            (*rules.warnings(), *about_header(raw), *idle, *_doubts(table, schema, method)),
            {name: report.missing for name, report in reports.items() if report.missing},
            {
                name: report.wrong_intervals
                for name, report in reports.items()
                if report.wrong_intervals
            },
        )


def _hierarchy_reports(data: Columns, schema: Schema) -> dict[str, HierarchyReport]:
    return {
        attribute.name: hierarchy_report(
            distinct(data[attribute.name], attribute.name).values, attribute.hierarchy
        )
        for attribute in schema
        if isinstance(attribute.hierarchy, Hierarchy) and attribute.name in data.column_names
    }


def hierarchy_report(values: pa.Array, hierarchy: Hierarchy) -> HierarchyReport:
    """Return what a hierarchy lacks for the distinct values of a column, and what it has wrong."""
    return spelled_as(hierarchy, values.type).report(sorted(to_texts(values).to_pylist()))


def _problems(data: Columns, schema: Schema, method: Method, rules: Policy) -> tuple[str, ...]:
    """Return what stands in the way of publishing."""
    try:
        table = flagged(encode(data, schema), data)
        capped = any(each.control for each in table.schema)
        if isinstance(method, Mondrian) and not capped:
            method.refuse_roles(table)
            asked = [KAnonymity(method.k), *(m for m in method.models if m.checkable)]
            refuse_infeasible(table, asked)
            return ()
        # what the others need of the table shows only in the making
        randomness = Randomness.fresh()
        if rules.content.on_infeasible == "suppress":
            withheld = withheld_rows(table, method, randomness)
            if len(withheld):
                table = encode(without(data, withheld), schema)
        method.release(table, randomness)
    except SfumatoError as error:
        problems = _of_columns(data, schema)
        return problems if str(error) in problems else (*problems, str(error))
    return ()


def _doubts(data: Columns, schema: Schema, method: Method) -> tuple[str, ...]:
    """Return what the method doubts about the table; a table that does not fit has problems."""
    try:
        return method.doubts(encode(data, schema))
    except SfumatoError:
        return ()


def _of_columns(data: Columns, schema: Schema) -> tuple[str, ...]:
    """Return the problems of all columns, each tried on its own."""
    problems = []
    for attribute in schema:
        if attribute.is_published and attribute.name in data.column_names:
            try:
                encode(data.select([attribute.name]), Schema((_alone(attribute),)))
            except SfumatoError as error:
                problems.append(str(error))
    return tuple(problems)


def _alone(attribute: Attribute) -> Attribute:
    """Return the attribute without what it needs other columns for."""
    if attribute.role is not Role.SEMI_SENSITIVE:
        return attribute
    return replace(attribute, flag=None, when=None, density=0.0)
