"""What the project rests on: bounded, listed, under licences that go with its own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from sbom import is_compatible, licence_of, needed, normal, sbom

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("dp", "learning", "excel", "stats", "web", "reports")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_dependency_has_a_lower_and_an_upper_bound():
    published = {
        k: v for k, v in PROJECT["optional-dependencies"].items() if k not in ("test", "fuzz")
    }
    for text in [*PROJECT["dependencies"], *(each for some in published.values() for each in some)]:
        each = Requirement(text)
        if each.name == "sfumato":
            continue
        signs = {part.operator for part in each.specifier}
        assert ">=" in signs and signs & {"<", "<=", "~="}, text


def test_all_licences_are_stated_and_go_with_apache():
    wrong = {
        name: licence_of(own)
        for name, (own, _) in needed(EXTRAS).items()
        if not is_compatible(licence_of(own))
    }
    assert wrong == {}
    assert not is_compatible("GPL-3.0-or-later") and not is_compatible("")


def test_the_licences_are_listed_in_the_docs():
    listed = (ROOT / "docs" / "licences.md").read_text("utf-8")
    missing = [name for name in needed(EXTRAS) if f"| {name} |" not in listed]
    assert missing == ["sfumato"] or missing == []


def test_the_bill_of_materials_is_whole_and_repeatable():
    made = sbom(EXTRAS)
    assert made["bomFormat"] == "CycloneDX" and made["specVersion"] == "1.5"
    references = {each["bom-ref"] for each in made["components"]}
    references.add(made["metadata"]["component"]["bom-ref"])
    for each in made["dependencies"]:
        assert {each["ref"], *each["dependsOn"]} <= references
    names = {each["name"] for each in made["components"]}
    core = {normal(Requirement(text).name) for text in PROJECT["dependencies"]}
    assert core <= names
    assert json.dumps(made) == json.dumps(sbom(EXTRAS))
