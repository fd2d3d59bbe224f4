"""The whole job on made-up data: hospital stays, published in several ways, each audited."""

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
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.publication import Publication
from sfumato.release import Release
from sfumato.release.atomic import replacing
from sfumato.schema import Attribute, Hierarchy, Role

DATA = "hospital.parquet"
HIERARCHIES = "hierarchies"
# The methods that are shown, and what their policies say beside the roles of the schema.
METHODS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "mondrian": {"method": {"name": "mondrian", "k": 10}, "disease": {"l": 5}},
    "anatomy": {"method": {"name": "anatomy"}, "disease": {"l": 5}},
    "lgb": {
        "method": {"name": "lgb", "k": 10, "l": 5},
        "age": {"role": "semi-sensitive", "flag": "age_private"},
        "sex": {"role": "semi-sensitive", "flag": "sex_private", "t": 0.2},
        "zipcode": {"role": "semi-sensitive", "flag": "zipcode_private"},
    },
}
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """One method's release, what its audit says, and some of its rows to look at."""

    publication: Publication
    report: AuditReport
    sample: pa.Table | None


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration made: where it lies, what came out, some input to compare with."""

    path: Path
    rows: int
    shown: tuple[Shown, ...]
    before: pa.Table


def demo(
    out: str | os.PathLike[str],
    *,
    rows: int = 10_000,
    force: bool = False,
    progress: Progress | None = None,
) -> Demo:
    """Make a folder with synthetic data, policies and their releases; return what came out.

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
            records = Release.load(folder / name).tables.get("records")
            sample = None if records is None else records.slice(0, _SHOWN)
            shown.append(Shown(replace(made, path=target / name), report, sample))
    published = [attribute.name for attribute in hospital_schema() if attribute.is_published]
    before = stays.select(["name", *published]).slice(0, _SHOWN)
    return Demo(target, rows, tuple(shown), before)


def _write_policies(folder: Path) -> None:
    schema = hospital_schema()
    (folder / HIERARCHIES).mkdir()
    for attribute in schema:
        if _has_file(attribute):
            assert isinstance(attribute.hierarchy, Hierarchy)
            with (folder / HIERARCHIES / f"{attribute.name}.csv").open("x", newline="") as file:
                csv.writer(file, delimiter=";").writerows(attribute.hierarchy.rows())
    for name, says in METHODS.items():
        attributes = [
            AttributeText(each.name, {**_keys(each), **says.get(each.name, {})}, "")
            for each in schema.attributes
        ]
        notes = [f"Made by `sfumato demo`: hospital stays under {name}."]
        (folder / f"{name}.yaml").write_text(policy_text(notes, attributes, says["method"]))


def _keys(attribute: Attribute) -> dict[str, Any]:
    keys: dict[str, Any] = {"role": str(attribute.role)}
    if _has_file(attribute):
        keys["hierarchy"] = f"{HIERARCHIES}/{attribute.name}.csv"
    return keys


def _has_file(attribute: Attribute) -> bool:
    return attribute.role is Role.QUASI_IDENTIFIER and isinstance(attribute.hierarchy, Hierarchy)


def _is_demo(folder: Path) -> bool:
    """Return whether a folder is a demonstration and holds nothing else."""
    known = {DATA, HIERARCHIES, *METHODS, *(f"{name}.yaml" for name in METHODS)}
    names = {entry.name for entry in folder.iterdir()}
    return DATA in names and names <= known
