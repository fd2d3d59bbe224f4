"""What a policy says beside roles and method: how files are written, and further guarantees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sfumato.errors import InputError
from sfumato.jobs.policy_text import spelled
from sfumato.web.forms import Form
from sfumato.web.policy_form import PolicyForm
from sfumato.web.scheme_fields import FieldError
from sfumato.web.typed_values import same_text, structure_of

FORMAT, GUARD, GUARANTEES = "output-format", "output-guard", "guarantees"
FORMATS: Final = {"": "As usual: Parquet", "parquet": "Parquet", "csv": "CSV"}


def format_of(policy: PolicyForm) -> str:
    """Return the format that the policy states, empty if none."""
    return str(_output(policy).get("format", ""))


def is_guarded(policy: PolicyForm) -> bool:
    """Whether texts that a spreadsheet would run are marked in CSV."""
    return bool(_output(policy).get("formula_guard", True))


def guarantees_text(policy: PolicyForm) -> str:
    """Return the further guarantees, a line each."""
    return "\n".join(spelled(each) for each in policy.content.get("guarantees") or [])


def read_output(form: Form, policy: PolicyForm) -> None:
    """Change the policy to what was sent; fields that were not sent or not changed change nothing.

    Refuses (FieldError) a line that is no guarantee; whether it can be given is checked after.
    """
    if FORMAT in form.fields:
        output = _output(policy)
        chosen, is_on = form.text(FORMAT), form.text(GUARD) == "yes"
        if chosen not in FORMATS:
            raise FieldError(FORMAT, "choose a format of the list")
        if chosen != format_of(policy):
            output.pop("format", None)
            output |= {"format": chosen} if chosen else {}
        if is_on != is_guarded(policy):
            output["formula_guard"] = is_on
        if output != _output(policy):
            policy.content["output"] = output
            if not output:
                del policy.content["output"]
    if GUARANTEES in form.fields:
        text = form.text(GUARANTEES)
        if not same_text(text, guarantees_text(policy)):
            _change_guarantees(policy, text)


def _change_guarantees(policy: PolicyForm, text: str) -> None:
    found = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        try:
            claim = structure_of(line)
        except InputError as error:
            raise FieldError(GUARANTEES, f"further guarantees, line {number}: {error}") from None
        if not isinstance(claim, Mapping):
            words = "write it as {model: delta-presence, minimum: 0, maximum: 0.5}"
            raise FieldError(GUARANTEES, f"further guarantees, line {number}: {words}")
        found.append(dict(claim))
    policy.content.pop("guarantees", None)
    if found:
        policy.content["guarantees"] = found


def _output(policy: PolicyForm) -> dict[str, Any]:
    given = policy.content.get("output")
    return dict(given) if isinstance(given, Mapping) else {}
