"""People with several rows: claims are judged by the stated counts, within what rows allow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged
from sfumato.methods import Mondrian
from sfumato.models import LDiversity
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Schema

from .conftest import with_claims

RECORDS = {  # group 1: people A (Flu, Flu), B (Ulcer), C (none); group 2: D (Flu, none), E (Ulcer)
    "group": [1, 1, 1, 1, 2, 2, 2],
    "age": ["[20, 30]"] * 4 + ["40"] * 3,
    "disease": ["Flu", "Flu", "Ulcer", None, "Flu", None, "Ulcer"],
}
UNITS = {"group": [2, 1], "count": [2, 3]}
VALUES = {
    "group": [1, 1, 1, 2, 2],
    "disease": ["Flu", "Ulcer", None, "Flu", "Ulcer"],
    "count": [1, 1, 1, 1, 1],
}
K2 = {"model": "k-anonymity", "k": 2}
L2 = {"model": "l-diversity", "attribute": "disease", "variant": "frequency", "l": 2}


def entry_of(name: str, *attributes: str) -> TableEntry:
    return TableEntry(name=name, attributes=attributes, group="group", count="count")


def release(units=UNITS, values=VALUES, claims=(K2, L2), drop=()) -> Release:
    attributes = (
        AttributeEntry(
            name="age",
            role="quasi-identifier",
            kind="numeric",
            type="int64",
            domain=Bounds(min=20, max=40),
        ),
        AttributeEntry(
            name="disease",
            role="sensitive",
            kind="categorical",
            type="string",
            domain=("Cold", "Flu", "Ulcer"),
        ),
    )
    entries = {
        "records": TableEntry(name="records", attributes=("age", "disease"), group="group"),
        "units": entry_of("units"),
        "units_1": entry_of("units_1", "disease"),
    }
    tables = {"records": pa.table(RECORDS), "units": pa.table(units), "units_1": pa.table(values)}
    manifest = Manifest(
        method="mondrian",
        layout="generalized",
        software="sfumato 0.1.0",
        created="2026-01-31",
        rows=7,
        attributes=attributes,
        tables=tuple(entry for name, entry in entries.items() if name not in drop),
        guarantees=claims,
    )
    return Release(manifest, {n: t for n, t in tables.items() if n not in drop})


def test_claims_are_judged_in_people():
    report = audit(release())
    assert report.ok
    assert [verdict.worst for verdict in report.guarantees] == [2, 2]
    assert {verdict.note for verdict in report.guarantees} == {"given the stated unit counts"}


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_a_mondrian_release_of_visits_holds_in_people(file_format, tmp_path):
    rng = np.random.default_rng(5)
    rows = 400
    visits = pa.table(
        {
            "patient": rng.integers(0, 350, rows),
            "age": rng.integers(15, 90, rows),
            "disease": rng.choice(["Flu", "Ulcer", "Cold", None], rows),
        }
    )
    roles = Schema.of(patient="identifier", age="quasi-identifier", disease="sensitive")
    models = (LDiversity("disease", 2), LDiversity("disease", 3, "distinct", missing="value"))
    made = Mondrian(k=4, models=models).publish(visits, Schema(roles.attributes, unit="patient"))
    made.save(tmp_path / "release", format=file_format)
    report = audit(tmp_path / "release")
    assert report.ok
    assert [verdict.holds for verdict in report.guarantees] == [True] * 3
    assert {verdict.note for verdict in report.guarantees} == {"given the stated unit counts"}


def test_in_rows_the_same_release_has_other_levels():
    report = audit(release(drop=("units", "units_1")))
    assert [verdict.worst for verdict in report.guarantees] == [3, 1.5]
    assert not report.ok


def test_a_person_with_two_values_counts_for_both_and_once_for_the_group():
    """Everybody in group 1 has Flu and somebody also Ulcer: three people, Flu three in three."""
    records = {
        "group": [1, 1, 1, 1],
        "age": ["40"] * 4,
        "disease": ["Flu", "Flu", "Flu", "Ulcer"],
    }
    made = release(
        units={"group": [1], "count": [3]},
        values={"group": [1, 1], "disease": ["Flu", "Ulcer"], "count": [3, 1]},
    )
    manifest = made.manifest.model_copy(update={"rows": 4})
    report = audit(Release(manifest, {**made.tables, "records": pa.table(records)}))
    assert [verdict.worst for verdict in report.guarantees] == [3, 1]
    assert [verdict.holds for verdict in report.guarantees] == [True, False]


def changed(table: dict[str, list], column: str, place: int, value: object) -> dict[str, list]:
    return table | {column: [value if i == place else v for i, v in enumerate(table[column])]}


@pytest.mark.parametrize(
    ("units", "values", "reason"),
    [
        (changed(UNITS, "count", 1, 5), VALUES, "more people in a group than"),
        (changed(UNITS, "count", 1, 0), VALUES, "below 1"),
        (changed(UNITS, "group", 0, 1), VALUES, "one row for each group"),
        ({"group": [1], "count": [3]}, VALUES, "one row for each group"),
        ({"group": [1, 2, 3], "count": [3, 2, 1]}, VALUES, "one row for each group"),
        (UNITS, changed(VALUES, "count", 0, 3), "more people with a value than"),
        (UNITS, changed(VALUES, "count", 2, 2), "more people with a value than"),
        (UNITS, changed(VALUES, "disease", 4, "Cold"), "contradicts the values"),
        (UNITS, changed(VALUES, "disease", 0, "Gout"), "outside its domain"),
        (UNITS, changed(VALUES, "disease", 4, "*"), "not exact"),
        (UNITS, changed(VALUES, "group", 2, 2), "contradicts the values"),  # 3 of group 1 have one
        (UNITS, changed(VALUES, "disease", 1, "Flu"), "twice"),
        (UNITS, {name: cells[:-1] for name, cells in VALUES.items()}, "contradicts the values"),
        (UNITS, changed(VALUES, "group", 0, 3), "groups"),
        (changed(UNITS, "count", 1, 2), VALUES, None),  # A and B may be one person: still possible
        (changed(UNITS, "count", 1, 1), VALUES, "contradicts the values"),  # who then lacks one?
        (changed(UNITS, "count", 0, 3), VALUES, "contradicts the values"),
    ],
)
def test_counts_of_people_that_rows_do_not_allow(units, values, reason):
    if reason is None:
        assert audit(with_claims(release(units, values), {"model": "k-anonymity", "k": 2})).ok
        return
    with pytest.raises(ReleaseDamaged, match=reason):
        audit(release(units, values))


@pytest.mark.parametrize("drop", ["units", "units_1"])
def test_tables_of_people_come_together(drop):
    with pytest.raises(ReleaseDamaged, match="units"):
        audit(release(drop=(drop,)))
