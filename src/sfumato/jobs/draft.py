"""A first policy for a table: what `sfumato init` writes, for someone who knows it to review."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.databases.source import Source
from sfumato.errors import SfumatoError
from sfumato.io.read import read_table
from sfumato.io.statistical_files import COLUMN_LABEL
from sfumato.jobs.from_arx import ArxHierarchies
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.jobs.private_file import new_file, refuse_occupied
from sfumato.jobs.progress import Progress, Stages
from sfumato.models.counting import table_totals
from sfumato.predicates.flags import flagged
from sfumato.schema import Attribute, Dates, Mask, Proposal, Role, Schema, propose, propose_unit
from sfumato.schema.distinct import DistinctColumns, distinct
from sfumato.schema.headers import about_header
from sfumato.schema.names import flagged_column
from sfumato.table import Table, encode

K = 5
L = 3
T = 0.2
_NOTES = (
    "Roles: identifier (never published), quasi-identifier (others may know it: generalised),",
    "sensitive (must not be learnt about a person), insensitive (left out, or `keep: true`).",
)
_PROTECTED = (Role.SENSITIVE, Role.SEMI_SENSITIVE)
_FLAG_NOTE = "semi-sensitive (some people's cells are sensitive: those that a column flags),"
_CODED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.SEMI_SENSITIVE)


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a drafted policy, and what keeps it from being run as it is.

    `reasons` says by column why it has its role.
    """

    text: str
    warnings: tuple[str, ...]
    reasons: Mapping[str, str]


def draft(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    from_arx: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Draft:
    """Return a draft for the table of a file, written to `out` if that is given.

    `from_arx` is a folder of hierarchy files as ARX has them, `*_hierarchy_<column>.csv`.

    Refuses (InputError) data that cannot be read, a folder without hierarchy files, and a file
    that exists, without `force`.
    """
    stages = Stages(progress)
    path = None if out is None else Path(out)
    if path is not None:
        refuse_occupied(path, force=force, is_ours=_is_policy)
    with stages.stage("reading the data"):
        table = read_table(data)
    with stages.stage("looking at the columns"):
        name = _title(data)
        arx = None if from_arx is None else ArxHierarchies.read(Path(from_arx), table, name, path)
        made = draft_of(table, name, arx)
    if path is not None:
        with new_file(path, force=force, is_ours=_is_policy, private=False) as file:
            file.write(made.text.encode())
    return made


def draft_of(
    data: pa.Table,
    title: str,
    arx: ArxHierarchies | None = None,
    *,
    found: DistinctColumns | None = None,
) -> Draft:
    """Return a draft for a table; `title` names it in the text, `arx` has hierarchies for it.

    `found` has what was counted of the columns already.

    >>> data = pa.table({"age": [33, 41, 58, 60], "disease": ["Flu", "HIV", "Flu", "Fever"]})
    >>> print(draft_of(data, "patients").text.splitlines()[-1])
    method: {name: mondrian, k: 4}
    """
    found = found or DistinctColumns(data)
    proposals = [_complete(proposal, found) for proposal in propose(data, found)]
    if arx is not None:
        proposals = [arx.applied(proposal) for proposal in proposals]
    unit = _unit(data, tuple(proposal.attribute for proposal in proposals), found)
    if unit is None:  # the method that heeds flags needs one row a person
        proposals = _with_flags(proposals, data)
    attributes = tuple(proposal.attribute for proposal in proposals)
    tried = attributes if arx is None else arx.trial(attributes)
    table, warnings = _trial(data, Schema(tried, unit))
    feasible = _feasible(table)
    texts = []
    for proposal in proposals:
        keys, reason = _keys(proposal.attribute), _titled(proposal, data)
        if arx is not None and proposal.attribute.name in arx.found:
            keys["hierarchy"] = arx.found[proposal.attribute.name][1]
        if proposal.attribute.role in _PROTECTED:
            largest = feasible.get(proposal.attribute.name, 0)
            if largest >= 2:
                keys["l"] = min(L, largest)
                reason += f"; l can be at most {largest}"
            else:
                keys["t"] = T
                reason += "; too uneven for an l"
        texts.append(AttributeText(proposal.attribute.name, keys, reason))
    people = table.unit_count if table is not None else data.num_rows
    has_flags = any(attribute.role is Role.SEMI_SENSITIVE for attribute in attributes)
    if not has_flags and all(each.role is not Role.QUASI_IDENTIFIER for each in attributes):
        warnings += ("no column looks like a quasi-identifier, which mondrian needs",)
    notes = [
        f"A draft by `sfumato init` for {title}: check every role, then run `sfumato anonymize`.",
        _NOTES[0],
        *([_FLAG_NOTE] if has_flags else []),
        *_NOTES[1:],
        *(f"Before it can run: {warning}" for warning in warnings),
        *(f"From ARX: {doubt}" for doubt in (arx.doubts if arx is not None else ())),
    ]
    warnings += arx.doubts if arx is not None else ()
    warnings += about_header(data)
    method = {"name": "lgb" if has_flags else "mondrian", "k": min(K, people)}
    reasons = {each.name: each.reason for each in texts}
    return Draft(policy_text(notes, texts, method, unit), warnings, reasons)


def _titled(proposal: Proposal, data: pa.Table) -> str:
    """Return the reason, after the label that the file has for the column."""
    about = data.schema.field(proposal.attribute.name).metadata or {}
    title = about.get(COLUMN_LABEL, b"").decode()
    return f'"{title}": {proposal.reason}' if title else proposal.reason


def _complete(proposal: Proposal, found: DistinctColumns) -> Proposal:
    """Return the proposal, or to leave a column out that should tell people apart and cannot."""
    attribute = proposal.attribute
    if attribute.role is not Role.IDENTIFIER:
        return proposal
    missing = int(found[attribute.name].counts[-1])
    if not missing:
        return proposal
    return Proposal(
        replace(attribute, role=Role.INSENSITIVE),
        f"{proposal.reason}; left out, since with {missing} missing it cannot tell people apart",
    )


def _with_flags(proposals: list[Proposal], data: pa.Table) -> list[Proposal]:
    """Return the proposals with columns as semi-sensitive whose cells another column flags.

    Only where that column is boolean, and flags cells of two values or more: no bucket can hide
    a single one.
    """
    flag_of = {}
    names = data.column_names  # made anew at every look
    for name in names:
        column = flagged_column(name, names)
        if column is not None and pa.types.is_boolean(data[name].type):
            flag_of[column] = name
    return [_semi_sensitive(each, flag_of.get(each.attribute.name), data) for each in proposals]


def _semi_sensitive(proposal: Proposal, flag: str | None, data: pa.Table) -> Proposal:
    attribute = proposal.attribute
    if flag is None or attribute.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        return proposal
    cells = data[attribute.name].filter(data[flag].fill_null(True))
    if len(distinct(cells, attribute.name).values) < 2:
        return proposal
    return Proposal(
        replace(attribute, role=Role.SEMI_SENSITIVE, flag=flag),
        f"column '{flag}' flags its sensitive cells; {proposal.reason}",
    )


def _unit(data: pa.Table, attributes: tuple[Attribute, ...], found: DistinctColumns) -> str | None:
    """Return the unit proposed, or else the identifier that repeats most, if any does."""
    unit = propose_unit(data, attributes, found)
    if unit is not None:
        return unit
    counted = [
        (len(found[attribute.name].values), attribute.name)
        for attribute in attributes
        if attribute.role is Role.IDENTIFIER
    ]
    values, name = min(counted, default=(data.num_rows, ""))
    return name if values < data.num_rows else None


def _trial(data: pa.Table, schema: Schema) -> tuple[Table | None, tuple[str, ...]]:
    try:
        return flagged(encode(data, schema), data), ()
    except SfumatoError as error:
        return None, (str(error),)


def _feasible(table: Table | None) -> dict[str, int]:
    """Return for every attribute to be protected the largest l that its sensitive cells have."""
    if table is None:
        return {}
    totals = table_totals(table, [column.name for column in table.sensitive])
    counts = {name: total.counts[: total.null_code] for name, total in totals.items()}
    for name, flags in table.flags.items():
        column = table[name]
        counts[name] = np.bincount(column.codes[flags], minlength=column.null_code + 1)[:-1]
    return {
        # some flagged cells may be withheld: an l at the limit would then be too much
        name: int(each.sum()) // max(int(each.max(initial=0)), 1) - (name in table.flags)
        for name, each in counts.items()
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
    if attribute.flag is not None:
        keys["flag"] = attribute.flag
    return keys


def _title(data: str | os.PathLike[str]) -> str:
    """Return what the data are called: a file, a table, or a query, which is not repeated."""
    source = Source.of(data)
    if source is None:
        return Path(data).name
    return "a query" if source.table is None else source.table[1]


def _is_policy(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml")
