"""The policy's recoding of a table: before it is coded, and in the release's manifest after."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.jobs.policy import Policy
from sfumato.randomness import Randomness
from sfumato.recoding import (
    PARAMETER,
    Steps,
    TruncateTo,
    idle_keys,
    recode,
    recorded_steps,
    recording,
    shifted_columns,
    with_orders,
)
from sfumato.recoding.recode import PURPOSE
from sfumato.release import Release
from sfumato.schema import Columns, Schema
from sfumato.schema.distinct import distinct


def recoded(
    rows: Columns, rules: Policy, schema: Schema, randomness: Randomness
) -> tuple[Columns, Schema, Steps]:
    """Return the table as the policy's steps leave it, the schema that fits it, and the steps.

    Everything after sees this table alone: rules of flags as well, since a flag shows in the
    release, and one that followed the values from before would tell more than the cells beside it.

    Refuses (SchemaError) steps that do not fit their columns.
    """
    steps = rules.recoding()
    if not steps:
        return rows, schema, steps
    schema.aligned(rows.column_names)  # its refusals come first: they name what is missing
    changed = recode(rows, steps, unit=schema.unit, rng=randomness.generator(PURPOSE))
    return changed, with_orders(schema, changed, steps), steps


def with_recoding(release: Release, steps: Steps, schema: Schema) -> Release:
    """Return the release with the steps of its attributes in the manifest."""
    published = [attribute.name for attribute in schema if attribute.is_published]
    words = recording(steps, published)
    if not words:
        return release
    manifest = release.manifest
    updated = manifest.model_copy(update={"parameters": {**manifest.parameters, PARAMETER: words}})
    return release.restated(updated)


def refuse_other_steps(earlier: Release, steps: Steps, schema: Schema) -> None:
    """Refuse (ParameterError) steps that are not those that an earlier release records.

    Its cells are of values that its own steps left: others would fall into the wrong ones.
    """
    published = [attribute.name for attribute in schema if attribute.is_published]
    if recording(steps, published) != recording(
        recorded_steps(earlier.manifest.parameters), published
    ):
        raise ParameterError(
            "the policy does not recode as the earlier release did (`recode`); use the policy of "
            "that release"
        )


def unused_keys(rows: Columns, steps: Steps) -> tuple[str, ...]:
    """Return a warning for every column whose maps name values that it does not have."""
    return tuple(
        f"column '{name}', `recode`: {count} values that `map` names do not occur in the data"
        for name, count in idle_keys(rows, steps).items()
    )


def about_recoding(raw: Columns, rows: Columns, steps: Steps, schema: Schema) -> tuple[str, ...]:
    """Return what is legal and probably not meant about steps, `rows` being what they left."""
    return (*_constant(raw, rows, steps), *_about_shifts(raw, steps, schema))


def _constant(raw: Columns, rows: Columns, steps: Steps) -> tuple[str, ...]:
    """Return a warning for every column of which the steps leave a single value."""
    return tuple(
        f"column '{name}', `recode`: its values differ before the steps and are all the same after "
        "them; leave the column out, or see to the steps' numbers"
        for name in steps
        if len(distinct(raw[name], name).values) > 1 and len(distinct(rows[name], name).values) == 1
    )


def _about_shifts(rows: Columns, steps: Steps, schema: Schema) -> tuple[str, ...]:
    """Return warnings where what is published may give people's shifts away."""
    names = shifted_columns(steps)
    published = [name for name in names if schema[name].is_published]
    regular = tuple(
        f"the dates of '{name}' were first days of months before they were shifted, so that the "
        "shift can be read off many of them; `truncate` them after the shift"
        for name in published
        if _first_days(rows[name]) and not isinstance(steps[name][-1], TruncateTo)
    )
    return (*regular, *_unshifted(rows, names, published, schema))


def _first_days(column: pa.ChunkedArray) -> bool:
    """Return whether there are several dates, and all are first days of months."""
    if not _is_dated(column.type):
        return False
    days = pc.min_max(pc.day(column))
    return bool(days["max"].as_py() == 1 and pc.count_distinct(column).as_py() > 1)


def _unshifted(
    rows: Columns, names: Sequence[str], published: Sequence[str], schema: Schema
) -> tuple[str, ...]:
    """Return a warning of dates that stand unshifted beside shifted ones."""
    kept = [
        attribute.name
        for attribute in schema
        if attribute.is_published
        and attribute.name not in names
        and attribute.name in rows.column_names
        and _is_dated(rows.schema.field(attribute.name).type)
    ]
    if not published or not kept:
        return ()
    listed = ", ".join(f"'{name}'" for name in kept)
    return (
        f"the dates of '{published[0]}' are shifted and those of {listed} are not: beside an "
        "unshifted date of the same person the shift can be guessed",
    )


def _is_dated(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_date(dtype) or pa.types.is_timestamp(dtype))
