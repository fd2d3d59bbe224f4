"""A policy as the text of a file that loads as the same policy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import ParameterError
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_file import parse
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.jobs.yaml_file import plain_data

_ELSEWHERE = ("attributes", "method", "unit")


def written(policy: Policy, notes: Sequence[str] = (), folder: Path | None = None) -> str:
    """Return the text of a policy, with comments on top.

    Paths of hierarchies are made relative to `folder`, where the file will lie.

    >>> roles = {"age": {"role": "quasi-identifier"}, "disease": {"role": "sensitive"}}
    >>> rules = Policy.of({"attributes": roles, "method": {"name": "anatomy", "l": 3}})
    >>> print(written(rules).splitlines()[-1])
    method: {name: anatomy, l: 3}
    """
    plain = policy.content.model_dump(exclude_unset=True)
    for keys in plain["attributes"].values():
        if isinstance(keys.get("hierarchy"), str) and folder is not None:
            path = (policy.folder / keys["hierarchy"]).resolve()
            keys["hierarchy"] = Path(os.path.relpath(path, folder.resolve())).as_posix()
    attributes = [AttributeText(name, keys, "") for name, keys in plain["attributes"].items()]
    more = {key: _sparse(value) for key, value in plain.items() if key not in _ELSEWHERE}
    text = policy_text(notes, attributes, plain["method"], plain.get("unit"), more)
    if parse(plain_data(text), "policy") != parse(plain, "policy"):
        raise ParameterError(
            "this policy cannot be written as it is: a value has no form in YAML; change the "
            "`method` of the policy by hand"
        )
    return text


def _sparse(value: Any) -> Any:
    """Return a section without keys that are empty."""
    if isinstance(value, dict):
        return {key: each for key, each in value.items() if each is not None}
    return value
