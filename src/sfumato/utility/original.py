"""The original table coded as a release describes it, with or without the policy at hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sfumato.answers.joint_parts import joints
from sfumato.errors import ParameterError
from sfumato.recoding import recorded_steps, with_orders
from sfumato.release import AttributeEntry, Manifest, Release
from sfumato.release.beside import beside
from sfumato.release.origin import refuse_other
from sfumato.release.weights import weight_of
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema
from sfumato.schema.distinct import distinct
from sfumato.schema.frames import as_arrow
from sfumato.schema.kinds import value_type
from sfumato.schema.text import to_texts
from sfumato.table import Table, encode


def coded_original(data: Any, release: Release, schema: Schema | None = None) -> Table:
    """Return the original as a coded table with the release's attributes.

    Without a schema, roles, kinds and orders are those of the manifest, and hierarchies the
    published ones where they know every value: one that was built from the data is published
    without the values that were generalised. Other columns are left out. The original is recoded
    as the release was; attributes with shifted dates are lacking (`beside` leaves them out of the
    release, too). It has weights if the release has.

    Refuses (ParameterError) a table without a published attribute, or with other numbers of rows
    than the release can be of; (SchemaError) data that do not fit the schema.
    """
    table = as_arrow(data)
    refuse_other(release.manifest, table.num_rows)
    steps = recorded_steps(release.manifest.parameters)
    pair = beside(release, table)
    release, lost = pair.release, set(table.column_names) - pair.names
    table = pair.original
    needed = original_names(release.manifest)
    weight = weight_of(release.manifest)
    weights = [] if weight is None else [weight]
    for name in (*needed, *weights):
        if name not in table.column_names:
            raise ParameterError(
                f"the original has no column '{name}', which the release publishes: is it the "
                "table that the release was made from?"
            )
    if schema is not None:
        left = tuple(attribute for attribute in schema if attribute.name not in lost)
        if schema.weight not in (None, weight, *schema.names):
            table = table.drop_columns([schema.weight])  # the release does not weigh by it
        asked = Schema(left, schema.unit, weight, schema.household)
        return encode(table, with_orders(asked, table, steps))
    entries = {entry.name: entry for entry in release.manifest.attributes}
    attributes = [_attribute(table[name], name, entries.get(name), release) for name in needed]
    return encode(table.select([*needed, *weights]), Schema(tuple(attributes), weight=weight))


def original_names(manifest: Manifest) -> list[str]:
    """Return the original's attributes that a release publishes: of joint ones, their parts."""
    names = [entry.name for entry in manifest.attributes]
    for joint in joints(manifest):
        names = [name for name in names if name != joint.name]
        names += [part for part in joint.parts if part not in names]
    return names


def _attribute(
    column: pa.ChunkedArray, name: str, entry: AttributeEntry | None, release: Release
) -> Attribute:
    if entry is None or value_type(column.type) != entry.dtype:
        # a part of a joint attribute, or numbers that were published as ranges
        return Attribute(name, Role.SENSITIVE if entry is None else entry.role, keep=_keeps(entry))
    kind, order = entry.kind, None
    texts = to_texts(distinct(column, name).values).to_pylist()
    if kind is Kind.ORDINAL:
        known = set(texts) <= set(entry.listed)
        kind, order = (kind, tuple(entry.listed)) if known else (Kind.CATEGORICAL, None)
    hierarchy = release.hierarchies.get(name)
    if isinstance(hierarchy, Hierarchy) and hierarchy.report(texts).missing:
        hierarchy = None
    density = 0.0 if entry.role is Role.SEMI_SENSITIVE else None  # flags are not needed here
    return Attribute(
        name,
        entry.role,
        kind=kind,
        order=order,
        hierarchy=hierarchy,
        keep=_keeps(entry),
        density=density,
    )


def _keeps(entry: AttributeEntry | None) -> bool:
    return entry is not None and entry.role is Role.INSENSITIVE
