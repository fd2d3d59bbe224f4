"""A first policy for a table: what `sfumato init` writes, for someone who knows it to review."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import SfumatoError
from sfumato.io.read import read_table
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.jobs.private_file import new_file, refuse_occupied
from sfumato.jobs.progress import Progress, Stages
from sfumato.models.counting import table_totals
from sfumato.schema import Attribute, Dates, Mask, Proposal, Role, Schema, propose, propose_unit
from sfumato.schema.distinct import distinct
from sfumato.table import Table, encode

K = 5
L = 3
T = 0.2
_NOTES = (
    "Roles: identifier (never published), quasi-identifier (others may know it: generalised),",
    "sensitive (must not be learnt about a person), insensitive (left out, or `keep: true`).",
)
_CODED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a drafted policy, and what keeps it from being run as it is."""

    text: str
    warnings: tuple[str, ...]


def draft(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Draft:
    """Return a draft for the table of a file, written to `out` if that is given.

    Refuses (InputError) data that cannot be read, and a file that exists, without `force`.
    """
    stages = Stages(progress)
    path = None if out is None else Path(out)
    if path is not None:
        refuse_occupied(path, force=force, is_ours=_is_policy)
    with stages.stage("reading the data"):
        table = read_table(data)
    with stages.stage("looking at the columns"):
        made = draft_of(table, Path(data).name)
    if path is not None:
        with new_file(path, force=force, is_ours=_is_policy, private=False) as file:
            file.write(made.text.encode())
    return made


def draft_of(data: pa.Table, title: str) -> Draft:
    """Return a draft for a table; `title` names it in the text.

    >>> data = pa.table({"age": [33, 41, 58, 60], "disease": ["Flu", "HIV", "Flu", "Fever"]})
    >>> print(draft_of(data, "patients").text.splitlines()[-1])
    method: {name: mondrian, k: 4}
    """
    proposals = [_complete(proposal, data) for proposal in propose(data)]
    attributes = tuple(proposal.attribute for proposal in proposals)
    unit = _unit(data, attributes)
    table, warnings = _trial(data, Schema(attributes, unit))
    feasible = _feasible(table)
    texts = []
    for proposal in proposals:
        keys, reason = _keys(proposal.attribute), proposal.reason
        if proposal.attribute.role is Role.SENSITIVE:
            largest = feasible.get(proposal.attribute.name, 0)
            if largest >= 2:
                keys["l"] = min(L, largest)
                reason += f"; l can be at most {largest}"
            else:
                keys["t"] = T
                reason += "; too uneven for an l"
        texts.append(AttributeText(proposal.attribute.name, keys, reason))
    people = table.unit_count if table is not None else data.num_rows
    if not any(attribute.role is Role.QUASI_IDENTIFIER for attribute in attributes):
        warnings += ("no column looks like a quasi-identifier, which mondrian needs",)
    notes = [
        f"A draft by `sfumato init` for {title}: check every role, then run `sfumato anonymize`.",
        *_NOTES,
        *(f"Before it can run: {warning}" for warning in warnings),
    ]
    method = {"name": "mondrian", "k": min(K, people)}
    return Draft(policy_text(notes, texts, method, unit), warnings)


def _complete(proposal: Proposal, data: pa.Table) -> Proposal:
    """Return the proposal, or to leave a column out that should tell people apart and cannot."""
    attribute = proposal.attribute
    if attribute.role is not Role.IDENTIFIER:
        return proposal
    missing = int(distinct(data[attribute.name], attribute.name).counts[-1])
    if not missing:
        return proposal
    return Proposal(
        replace(attribute, role=Role.INSENSITIVE),
        f"{proposal.reason}; left out, since with {missing} missing it cannot tell people apart",
    )


def _unit(data: pa.Table, attributes: tuple[Attribute, ...]) -> str | None:
    """Return the unit proposed, or else the identifier that repeats most, if any does."""
    unit = propose_unit(data, attributes)
    if unit is not None:
        return unit
    counted = [
        (len(distinct(data[attribute.name], attribute.name).values), attribute.name)
        for attribute in attributes
        if attribute.role is Role.IDENTIFIER
    ]
    values, name = min(counted, default=(data.num_rows, ""))
    return name if values < data.num_rows else None


def _trial(data: pa.Table, schema: Schema) -> tuple[Table | None, tuple[str, ...]]:
    try:
        return encode(data, schema), ()
    except SfumatoError as error:
        return None, (str(error),)


def _feasible(table: Table | None) -> dict[str, int]:
    """Return for every sensitive attribute the largest l that the whole table has."""
    if table is None:
        return {}
    totals = table_totals(table, [column.name for column in table.sensitive])
    return {
        name: total.present // max(int(total.counts[: total.null_code].max(initial=0)), 1)
        for name, total in totals.items()
    }


def _keys(attribute: Attribute) -> dict[str, Any]:
    keys: dict[str, Any] = {"role": str(attribute.role)}
    if attribute.role not in _CODED:
        return keys
    if attribute.kind is not None:
        keys["kind"] = str(attribute.kind)
    if isinstance(attribute.hierarchy, Mask):
        keys["hierarchy"] = {"mask": attribute.hierarchy.side}
    elif isinstance(attribute.hierarchy, Dates):
        keys["hierarchy"] = {"dates": list(attribute.hierarchy.levels)}
    if attribute.order is not None:
        keys["order"] = list(attribute.order)
    return keys


def _is_policy(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml")
