"""Schemas for the built-in tables: which columns an adversary may know, which must stay secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sfumato.datasets.census import census_batches
from sfumato.datasets.hospital import NOT_WORKING, hospital_batches
from sfumato.datasets.households import birthplace_paths, marital_paths
from sfumato.datasets.illnesses import illness_paths
from sfumato.datasets.occupations import EDUCATION, occupation_paths
from sfumato.datasets.places import zipcode_paths
from sfumato.datasets.uci import ADULT
from sfumato.errors import SchemaError
from sfumato.schema.attribute import Attribute, Kind, Role
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.schema import Schema


def hospital_schema(
    quasi_identifiers: Sequence[str] = ("age", "sex", "zipcode", "occupation", "admitted"),
    sensitive: Sequence[str] = ("disease",),
) -> Schema:
    """Return a schema for `hospital`; columns that are not named here are dropped.

    `name` identifies. Flag columns (`<column>_private`) are never published. Hierarchies: zipcode
    by town and region, occupation by sector, disease by chapter. Refuses a column that the table
    does not have.

    >>> [attribute.name for attribute in hospital_schema().sensitive]
    ['disease']
    """
    hierarchies = {
        "zipcode": Hierarchy.from_rows(zipcode_paths(), "zipcode"),
        "occupation": Hierarchy.from_rows(
            [*occupation_paths(), *((name, "Not working", "*") for name in NOT_WORKING)],
            "occupation",
        ),
        "disease": Hierarchy.from_rows(illness_paths(), "disease"),
    }
    return _schema(
        next(hospital_batches(1)).schema.names,
        quasi_identifiers,
        sensitive,
        hierarchies,
    )


def census_schema(
    quasi_identifiers: Sequence[str] = (
        "age",
        "sex",
        "zipcode",
        "birthplace",
        "marital_status",
        "education",
        "occupation",
        "hours_per_week",
    ),
    sensitive: Sequence[str] = ("salary",),
) -> Schema:
    """Return a schema for `census`; columns that are not named here are dropped.

    `name` identifies. Flag columns (`<column>_private`) are never published. Hierarchies: zipcode,
    birthplace, marital status, occupation; education is ordinal. Refuses a column that the table
    does not have.

    >>> len(census_schema().quasi_identifiers)
    8
    """
    hierarchies = {
        "zipcode": Hierarchy.from_rows(zipcode_paths(), "zipcode"),
        "birthplace": Hierarchy.from_rows(birthplace_paths(), "birthplace"),
        "marital_status": Hierarchy.from_rows(marital_paths(), "marital_status"),
        "occupation": Hierarchy.from_rows(occupation_paths(), "occupation"),
    }
    orders = {"education": EDUCATION}
    return _schema(
        next(census_batches(1)).schema.names,
        quasi_identifiers,
        sensitive,
        hierarchies,
        orders,
    )


def adult_schema(
    quasi_identifiers: Sequence[str] = (
        "age",
        "workclass",
        "education-num",
        "marital-status",
        "race",
        "sex",
        "native-country",
    ),
    sensitive: Sequence[str] = ("occupation",),
    hierarchies: Path | None = None,
) -> Schema:
    """Return a schema for UCI Adult; columns that are not named here are dropped.

    `hierarchies` is a folder with files `adult_<column>.csv`; a column without one is generalised
    to ranges or sets of values. Refuses a column that the table does not have.
    """
    found = {}
    if hierarchies is not None:
        files = {name: hierarchies / f"adult_{name}.csv" for name in ADULT.schema.names}
        found = {name: Hierarchy.read_csv(file) for name, file in files.items() if file.is_file()}
    return _schema(ADULT.schema.names, quasi_identifiers, sensitive, found)


def _schema(
    columns: Sequence[str],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    orders: Mapping[str, tuple[str, ...]] | None = None,
) -> Schema:
    if both := set(quasi_identifiers) & set(sensitive):
        raise SchemaError(f"column '{min(both)}' is named both as quasi-identifier and sensitive")
    roles = dict.fromkeys(columns, Role.INSENSITIVE)
    roles |= {"name": Role.IDENTIFIER} if "name" in columns else {}
    roles |= dict.fromkeys(quasi_identifiers, Role.QUASI_IDENTIFIER)
    roles |= dict.fromkeys(sensitive, Role.SENSITIVE)
    orders = orders or {}
    return Schema(
        tuple(
            Attribute(
                name,
                role,
                kind=Kind.ORDINAL if name in orders else None,
                hierarchy=hierarchies.get(name),
                order=orders.get(name),
            )
            for name, role in roles.items()
        )
    ).aligned(columns)
