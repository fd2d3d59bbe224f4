"""Whatever a policy file can say has a place on a page, and saving a page loses none of it."""

from __future__ import annotations

import copy
import dataclasses
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sfumato.datasets import hospital
from sfumato.jobs.policy_file import MODEL_KEYS, AttributePolicy, PolicyFile
from sfumato.jobs.yaml_file import plain_data
from sfumato.methods import METHODS
from sfumato.schema import Role
from sfumato.web.attribute_form import SETTINGS
from sfumato.web.policy_form import PolicyForm
from sfumato.web.schemes import SCHEMES
from web.form_reader import fields_of, fields_of_scheme

DOCUMENT = Path(__file__).parents[2] / "docs" / "policy.md"
# Fields that are not named after their key, or stand on a page of their own.
USUAL = {"role", "kind", "l", "t", "flag", "when", "keep"}
OTHERS = {"domain", "recode", "pseudonym", "hierarchy"}


def examples() -> dict[str, dict]:
    """Return the policies of the document, by method."""
    found = {}
    for block in re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL):
        if block.startswith("attributes:") and "method:" in block:
            content = plain_data(block)
            found[content["method"]["name"]] = content
    return found


def test_every_key_of_an_attribute_has_a_field():
    keys = [each.key for each in SETTINGS]
    assert len(keys) == len(set(keys))
    assert {*keys, *USUAL, *OTHERS} == set(AttributePolicy.model_fields)


def test_every_section_of_a_policy_has_a_place():
    pages = {"attributes", "method", "unit", "weight", "household", "on_infeasible"}
    assert {*pages, "output", "guarantees"} == set(PolicyFile.model_fields)


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_every_method_has_a_field(name):
    fields = {
        each.metadata.get("key", each.name): each for each in dataclasses.fields(METHODS[name])
    }
    asked = [knob.key for knob in SCHEMES[name].knobs]
    assert len(asked) == len(set(asked))
    wanted = set(fields) - {"models", "protection"}
    if "models" in fields:
        wanted |= set(MODEL_KEYS)
    assert {*asked, *SCHEMES[name].each} >= wanted
    assert set(asked) <= wanted


@pytest.fixture(scope="module")
def stays(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("stays") / "stays.parquet"
    pq.write_table(hospital(300), path)
    return path.read_bytes()


@pytest.fixture
def opened(house, stays):
    visitor = house.visitor()
    return visitor, house.opened(visitor, stays, "stays.parquet")


def test_what_the_document_says_survives_both_pages(opened):
    visitor, project = opened
    found = examples()
    assert set(found) == set(METHODS)
    for name, content in found.items():
        flags = {keys.get("flag") for keys in content["attributes"].values()}
        for column in hospital(1).column_names:
            if column not in content["attributes"] and column not in flags:
                content["attributes"][column] = {"role": "insensitive"}
        form = PolicyForm(content, project.folder, {})
        project.policy.write_text(form.text())
        before = PolicyForm.load(project).content
        assert before == content

        address = f"/p/{project.id}/roles"
        fields = fields_of(visitor.get(address).text, address)
        answer = visitor.post(address, fields)
        assert answer.status == 200, (name, answer.words)
        assert PolicyForm.load(project).content == before, name

        address = f"/p/{project.id}/protect"
        fields = fields_of_scheme(visitor.get(address).text, address)
        answer = visitor.post(address, fields)
        assert answer.status == 200, (name, answer.words)
        assert meaning(PolicyForm.load(project).content) == meaning(before), name


def meaning(content: dict) -> dict:
    """Return a policy with what stands for all attributes at each, and defaults left out."""
    content = copy.deepcopy(content)
    if content.get("on_infeasible") == "error":
        del content["on_infeasible"]
    scheme, method = SCHEMES[content["method"]["name"]], content["method"]
    secret = (Role.SENSITIVE, Role.SEMI_SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)
    for key in scheme.each:
        given = method.pop(key, None)
        for keys in content["attributes"].values():
            if given is not None and keys["role"] in secret and not keys.keys() & {"l", "t", "k"}:
                keys[key] = given
    if method["name"] == "arp":
        method.setdefault("publish", "anatomy")
    return content
