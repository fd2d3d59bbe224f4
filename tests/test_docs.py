"""The reference pages are complete, their examples run, and links lead somewhere."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from sfumato.audit import audit
from sfumato.cli.app import app
from sfumato.datasets import hospital
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_file import AttributePolicy, DomainBounds, OutputPolicy, PolicyFile
from sfumato.methods import METHODS
from sfumato.models import MODELS
from sfumato.schema import Kind, Role, builders

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
POLICY = (ROOT / "docs" / "policy.md").read_text("utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What Python takes and a policy says in another way.
NOT_IN_POLICIES = ("models", "protection")


def section(page: str, heading: str) -> str:
    """Return the text under a heading, down to the next one of its level or above."""
    marks = heading.split(maxsplit=1)[0]
    found = re.search(
        rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(marks)}}} |\Z)", page, re.M | re.S
    )
    assert found, f"there is no heading '{heading}'"
    return found[1]


def mentions(text: str, key: str) -> bool:
    return f"`{key}`" in text or re.search(rf"\b{re.escape(key)}:", text) is not None


def rows_of(text: str) -> set[str]:
    """Return every key in the first cells of tables."""
    return {
        key
        for line in text.splitlines()
        if line.startswith("|")
        for key in re.findall(r"`([^`]+)`", line.split("|")[1])
    }


@pytest.mark.parametrize("key", PolicyFile.model_fields)
def test_every_section_of_a_policy_has_its_row(key: str) -> None:
    assert key in rows_of(POLICY.partition("\n## ")[0])


@pytest.mark.parametrize("key", AttributePolicy.model_fields)
def test_every_key_of_an_attribute_has_its_row(key: str) -> None:
    assert key in rows_of(section(POLICY, "## Attributes"))


@pytest.mark.parametrize("key", OutputPolicy.model_fields)
def test_every_key_of_the_output_has_its_row(key: str) -> None:
    assert key in rows_of(section(POLICY, "## Output"))


@pytest.mark.parametrize("key", DomainBounds.model_fields)
def test_the_ends_of_a_domain_are_told(key: str) -> None:
    assert mentions(section(POLICY, "## Attributes"), key)


@pytest.mark.parametrize("word", [*Role, *Kind])
def test_every_role_and_kind_is_told(word: str) -> None:
    assert mentions(POLICY, str(word))


@pytest.mark.parametrize("key", [*builders._MAKERS, *builders._OPTIONS])
def test_every_key_of_a_builder_is_told(key: str) -> None:
    assert mentions(section(POLICY, "## Hierarchies"), key)


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_method_has_its_row(name: str) -> None:
    method: Any = METHODS[name]
    names = {f.metadata.get("key", f.name) for f in dataclasses.fields(method)}
    parameters = names - set(NOT_IN_POLICIES)
    assert rows_of(section(POLICY, f"### {name}")) == parameters


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_an_example(name: str) -> None:
    assert f"name: {name}" in section(POLICY, f"### {name}")


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_among_the_guarantees(name: str) -> None:
    assert mentions((ROOT / "docs" / "guarantees.md").read_text("utf-8"), name)


# Commands

_CLI: Any = typer.main.get_command(app)


@pytest.mark.parametrize("name", _CLI.commands)
def test_every_option_of_a_command_has_its_row_and_no_other(name: str) -> None:
    text = section(COMMANDS, f"## sfumato {name}")
    options = {
        option
        for parameter in _CLI.commands[name].params
        if parameter.param_type_name == "option"
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert rows_of(text) == options
    assert f"\nsfumato {name} " in text, "an example is missing"


def test_the_options_of_sfumato_itself_are_told() -> None:
    options = [option for parameter in _CLI.params for option in parameter.opts]
    names = _CLI.context_settings["help_option_names"]
    assert all(option in COMMANDS for option in (*options, *names))


def test_there_are_no_sections_about_commands_that_do_not_exist() -> None:
    assert set(re.findall(r"^## sfumato (\S+)$", COMMANDS, re.MULTILINE)) == set(_CLI.commands)


# Examples

EXAMPLES = {
    content["method"]["name"]: content
    for language, block in FENCE.findall(POLICY)
    if language == "yaml"
    and isinstance(content := yaml.safe_load(block), dict)
    and {"attributes", "method"} <= set(content)
}


def test_there_is_one_example_a_method() -> None:
    assert set(EXAMPLES) == set(METHODS)
    whole_policies = re.findall(r"^attributes:$", POLICY, re.MULTILINE)
    assert len(whole_policies) == len(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_publish_what_their_audit_confirms(name: str) -> None:
    policy = Policy.of(EXAMPLES[name])
    schema, method = policy.schema(), policy.method()
    flags = [attribute.flag for attribute in schema if attribute.flag is not None]
    stays = hospital(1_000).select([*schema.names, *flags])
    release = method.publish(stays, schema)
    declared = {"local-differential-privacy", "differential-privacy"}
    models = {claim["model"] for claim in release.manifest.guarantees}
    assert audit(release).ok == bool(models - declared)
    assert policy.warnings() == ()


# Links


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as they are made from their texts."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = FENCE.sub("", page.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        goal = (page.parent / name).resolve() if name else page
        assert goal.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(goal), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", ["policy.md", "commands.md"])
def test_the_readme_links_to_the_reference(name: str) -> None:
    assert f"(docs/{name})" in (ROOT / "README.md").read_text("utf-8")
