"""The policies of the demonstration: one protection, as each method is asked for it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sfumato.datasets import hospital_schema
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.schema import Attribute, Hierarchy, Role

HIERARCHIES: Final = "hierarchies"
SECRET: Final = "disease"

# What policies say beside the roles of the schema: k and l where a method takes them, and roles
# where a scheme is made for others. The first states the protection that all are held against.
METHODS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "mondrian": {"method": {"name": "mondrian", "k": 10}, SECRET: {"l": 5}},
    "anatomy": {"method": {"name": "anatomy"}, SECRET: {"l": 5}},
    "lgb": {
        "method": {"name": "lgb", "k": 10, "l": 5},
        "age": {"role": "semi-sensitive", "flag": "age_private"},
        "zipcode": {"role": "semi-sensitive", "flag": "zipcode_private"},
    },
    "arp": {"method": {"name": "arp"}, SECRET: {"l": 5}},
    "merging": {"method": {"name": "merging", "k": 10}, SECRET: {"l": 5}},
    "slppa": {"method": {"name": "slppa", "beta": 0.2}},
    "sensitive-qid": {
        "method": {"name": "sensitive-qid"},
        "age": {"role": "sensitive-quasi-identifier", "l": 5, "domain": {"min": 0, "max": 120}},
        SECRET: {"l": 5},
    },
}
# What is not the same as for the others.
ROLES: Final[Mapping[str, str]] = {
    "lgb": "age and zipcode are secret for those people who said so, and known of the others",
    "sensitive-qid": "age is both known and secret here, and becomes a set as well",
}
STATED: Final = next(iter(METHODS))


def policy_name(method: str) -> str:
    """Return the name of a method's policy file."""
    return f"{method}.yaml"


def write_policies(folder: Path) -> None:
    """Write the policy of every method, and the hierarchies that they share, into a folder."""
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
        (folder / policy_name(name)).write_text(policy_text(notes, attributes, says["method"]))


def _keys(attribute: Attribute) -> dict[str, Any]:
    keys: dict[str, Any] = {"role": str(attribute.role)}
    if _has_file(attribute):
        keys["hierarchy"] = f"{HIERARCHIES}/{attribute.name}.csv"
    return keys


def _has_file(attribute: Attribute) -> bool:
    return attribute.role is Role.QUASI_IDENTIFIER and isinstance(attribute.hierarchy, Hierarchy)
