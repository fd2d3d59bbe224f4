"""Small releases that the tests of this room save, load and damage."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from sfumato.release.manifest import AttributeEntry, Bounds, Manifest, TableEntry
from sfumato.release.release import Release
from sfumato.schema.attribute import Kind, Role
from sfumato.schema.hierarchy import Hierarchy


def attribute(name, dtype, role=Role.QUASI_IDENTIFIER, kind=Kind.CATEGORICAL, domain=None):
    return AttributeEntry(name=name, role=role, kind=kind, type=dtype, domain=domain)


@pytest.fixture
def generalized() -> Release:
    manifest = Manifest(
        method="mondrian",
        layout="generalized",
        software="sfumato 0.1.0",
        created=datetime.date(2026, 1, 31),
        rows=4,
        attributes=(
            attribute("age", "int32", kind=Kind.NUMERIC, domain=Bounds(min=15, max=90)),
            attribute("zip code", "string"),
            attribute("joined", "date32[day]", kind=Kind.NUMERIC),
            attribute("disease", "string", role=Role.SENSITIVE, domain=("", "Flu", "Colic, mild")),
            attribute("paid", "decimal128(10, 2)", role=Role.SENSITIVE, kind=Kind.NUMERIC),
        ),
        tables=(
            TableEntry(
                name="records",
                attributes=("age", "zip code", "joined", "disease", "paid"),
                group="group",
            ),
        ),
        guarantees=({"model": "k-anonymity", "k": 2},),
        parameters={"recoding": "local"},
    )
    day = datetime.date(2020, 2, 29)
    records = pa.table(
        {
            "group": pa.array([1, 1, 2, 2]),
            "age": ["[25, 28]", "[25, 28]", "{null, 31}", "{null, 31}"],
            "zip code": ["123**", "123**", "*", "*"],
            "joined": pa.array([day, day, None, None], pa.date32()),
            "disease": ["Flu", '"Colic, mild"', "", None],
            "paid": pa.array(
                [Decimal("1.50"), None, Decimal(-2), Decimal(0)], pa.decimal128(10, 2)
            ),
        }
    )
    zips = Hierarchy.from_rows(
        [("12345", "123**", "*"), ("12399", "123**", "*"), ("=9;9", "9**", "*")], "zip code"
    )
    return Release(manifest, {"records": records}, {"zip code": zips})


@pytest.fixture
def anatomized() -> Release:
    manifest = Manifest(
        method="anatomy",
        layout="anatomized",
        software="sfumato 0.1.0",
        created=datetime.date(2026, 1, 31),
        rows=4,
        attributes=(
            attribute("age", "int32", kind=Kind.NUMERIC),
            attribute("disease", "string", role=Role.SENSITIVE),
        ),
        tables=(
            TableEntry(name="qi_1", attributes=("age",), group="group", count="count"),
            TableEntry(name="sensitive_1", attributes=("disease",), group="group", count="count"),
        ),
        guarantees=({"model": "l-diversity", "attribute": "disease", "l": 2},),
    )
    return Release(
        manifest,
        {
            "qi_1": pa.table(
                {"group": [1, 1], "age": pa.array([30, 41], "int32"), "count": [2, 2]}
            ),
            "sensitive_1": pa.table({"group": [1, 1], "disease": ["Flu", "Gout"], "count": [2, 2]}),
        },
    )
