"""Releases to audit: made by the real methods from one synthetic table, with fresh randomness."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

from sfumato.methods import Anatomy, Mondrian
from sfumato.models import LDiversity, TCloseness
from sfumato.release import Release
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema

DISEASES = [
    ("Flu", "Lungs", "*"),
    ("Asthma", "Lungs", "*"),
    ("Ulcer", "Stomach", "*"),
    ("Gastritis, acute", "Stomach", "*"),
    ("null", "Other", "*"),
]
JOBS = [("Nurse", "Health", "*"), ("Doctor", "Health", "*"), ("Clerk", "Office", "*")]
SEVERITY = ("mild", "severe", "deadly")


def people(rows: int = 240, seed: int = 7) -> pa.Table:
    """Return a table with every kind of column, missing cells and values that need quoting."""
    rng = np.random.default_rng(seed)

    def pick(values, missing=0.0):
        taken = [values[i] for i in rng.integers(0, len(values), rows)]
        return [None if rng.random() < missing else value for value in taken]

    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(40)]
    return pa.table(
        {
            "age": pick(range(15, 91), 0.05),
            "job": pick([row[0] for row in JOBS], 0.05),
            "town": pick(["Bonn", "Köln, Süd", "", "*"], 0.05),
            "severity": pick(SEVERITY),
            "admitted": pa.array(pick(days), pa.date32()),
            "disease": pick([row[0] for row in DISEASES], 0.02),
            "cost": pick([0.5, 12.25, 100.0, 2500.0, 9999.5, 31.0]),
            "ward": pick(["east", "west"]),
        }
    )


def schema() -> Schema:
    quasi = Role.QUASI_IDENTIFIER
    return Schema(
        (
            Attribute("age", quasi),
            Attribute("job", quasi, hierarchy=Hierarchy.from_rows(JOBS, "job")),
            Attribute("town", quasi),
            Attribute("severity", quasi, kind=Kind.ORDINAL, order=SEVERITY),
            Attribute("admitted", quasi),
            Attribute(
                "disease", Role.SENSITIVE, hierarchy=Hierarchy.from_rows(DISEASES, "disease")
            ),
            Attribute("cost", Role.SENSITIVE),
            Attribute("ward", Role.INSENSITIVE, keep=True),
        )
    )


@pytest.fixture(scope="session")
def generalized() -> Release:
    """A Mondrian release with ranges, sets, nodes, ordinal and date ranges, and missing cells."""
    models = (
        LDiversity("disease", 2),
        TCloseness("disease", 0.7, "hierarchical"),
        TCloseness("cost", 0.6, "ordered"),
    )
    return Mondrian(k=5, models=models).publish(people(), schema())


@pytest.fixture(scope="session")
def anatomized() -> Release:
    """An Anatomy release of the same table."""
    one = tuple(
        Attribute("cost", Role.INSENSITIVE) if each.name == "cost" else each for each in schema()
    )
    return Anatomy(l=3).publish(people(), Schema(one))


def with_manifest(release: Release, **changes: object) -> Release:
    """Return the release with other fields in its manifest."""
    manifest = release.manifest.model_copy(update=changes)
    return Release(manifest, release.tables, release.hierarchies)


def with_attribute(release: Release, name: str, **changes: object) -> Release:
    """Return the release with another description of one attribute."""
    entries = tuple(
        each.model_copy(update=changes) if each.name == name else each
        for each in release.manifest.attributes
    )
    return with_manifest(release, attributes=entries)


def with_claims(release: Release, *claims: dict[str, object]) -> Release:
    """Return the release with other claims."""
    return with_manifest(release, guarantees=claims)


def with_cells(release: Release, table: str, name: str, change) -> Release:
    """Return the release with one column's distinct cells replaced (`change` maps a list)."""
    old = release.tables[table]
    cells = old[name].to_pylist()
    place = old.column_names.index(name)
    new = pa.array(change(cells), pa.string() if isinstance(cells[0], str) else old[name].type)
    tables = {**release.tables, table: old.set_column(place, name, new)}
    return Release(release.manifest, tables, release.hierarchies)
