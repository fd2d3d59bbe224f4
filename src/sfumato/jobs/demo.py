"""The whole job on made-up data: hospital stays, published in two ways, each audited."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.audit import AuditReport, audit
from sfumato.datasets import hospital, hospital_schema
from sfumato.errors import InputError
from sfumato.jobs.anonymize import Publication, anonymize
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.jobs.progress import Progress, Stages
from sfumato.release import Release
from sfumato.release.atomic import replacing
from sfumato.schema import Attribute, Hierarchy, Role

DATA = "hospital.parquet"
HIERARCHIES = "hierarchies"
# The methods that are shown, with what the policy asks of them beside the roles.
METHODS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "mondrian": ({"name": "mondrian", "k": 10}, {"l": 5}),
    "anatomy": ({"name": "anatomy"}, {"l": 5}),
}
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """One method's release and what its audit says."""

    publication: Publication
    report: AuditReport


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration made: where it lies, what came out, and some rows to look at."""

    path: Path
    rows: int
    shown: tuple[Shown, ...]
    before: pa.Table
    after: pa.Table


def demo(
    out: str | os.PathLike[str],
    *,
    rows: int = 10_000,
    force: bool = False,
    progress: Progress | None = None,
) -> Demo:
    """Make a folder with synthetic data, two policies and their releases; return what came out.

    Refuses (InputError) a folder that exists, unless `force` is given and it is a demonstration.
    """
    if rows < 100:
        raise InputError("the demonstration needs at least 100 rows")
    target = Path(out)
    stages = Stages(progress)
    with replacing(target, force=force, is_ours=_is_demo) as folder:
        with stages.stage(f"making {rows} synthetic hospital stays"):
            stays = hospital(rows)
            pq.write_table(stays, folder / DATA)
            _write_policies(folder)
        shown = []
        for name in METHODS:
            made = anonymize(
                folder / DATA, folder / f"{name}.yaml", folder / name, progress=progress
            )
            with stages.stage(f"auditing {name}"):
                report = audit(folder / name)
            shown.append(Shown(replace(made, path=target / name), report))
        records = Release.load(folder / "mondrian").tables["records"]
    published = [name for name in records.column_names if name != "group"]
    return Demo(
        target,
        rows,
        tuple(shown),
        stays.select(["name", *published]).slice(0, _SHOWN),
        records.slice(0, _SHOWN),
    )


def _write_policies(folder: Path) -> None:
    schema = hospital_schema()
    (folder / HIERARCHIES).mkdir()
    for attribute in schema:
        if _has_file(attribute):
            assert isinstance(attribute.hierarchy, Hierarchy)
            with (folder / HIERARCHIES / f"{attribute.name}.csv").open("x", newline="") as file:
                csv.writer(file, delimiter=";").writerows(attribute.hierarchy.rows())
    for name, (method, models) in METHODS.items():
        attributes = [
            AttributeText(each.name, _keys(each, models), "") for each in schema.attributes
        ]
        notes = [f"Made by `sfumato demo`: hospital stays under {name}."]
        (folder / f"{name}.yaml").write_text(policy_text(notes, attributes, method))


def _keys(attribute: Attribute, models: Mapping[str, Any]) -> dict[str, Any]:
    keys: dict[str, Any] = {"role": str(attribute.role)}
    if _has_file(attribute):
        keys["hierarchy"] = f"{HIERARCHIES}/{attribute.name}.csv"
    return {**keys, **models} if attribute.role is Role.SENSITIVE else keys


def _has_file(attribute: Attribute) -> bool:
    return attribute.role is Role.QUASI_IDENTIFIER and isinstance(attribute.hierarchy, Hierarchy)


def _is_demo(folder: Path) -> bool:
    """Return whether a folder is a demonstration and holds nothing else."""
    known = {DATA, HIERARCHIES, *METHODS, *(f"{name}.yaml" for name in METHODS)}
    names = {entry.name for entry in folder.iterdir()}
    return DATA in names and names <= known
