"""The policy of a project, changed piece by piece: the one place of pages that writes it.

A change is checked as the command line would check it before it is kept; what is refused leaves
the file as it was. Comments that someone wrote into the file by hand are not kept, reasons are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.jobs.yaml_file import read_yaml
from sfumato.web.projects import Project
from sfumato.web.small_files import read_json, write_json, write_text

REASONS: Final = "reasons.json"
_ELSEWHERE: Final = ("attributes", "method", "unit")


class PolicyForm:
    """The content of a policy as plain data (`content`), to be changed and then saved."""

    def __init__(self, content: dict[str, Any], folder: Path, reasons: Mapping[str, str]) -> None:
        self.content, self.folder, self.reasons = content, folder, dict(reasons)

    @classmethod
    def load(cls, project: Project) -> PolicyForm:
        """Return the policy of a project.

        Refuses (SchemaError) a file that cannot be read.
        """
        reasons = read_json(project.folder / REASONS) or {}
        return cls(copy.deepcopy(read_yaml(project.policy)), project.folder, reasons)

    @property
    def attributes(self) -> dict[str, dict[str, Any]]:
        """The keys of every attribute by its name."""
        found: dict[str, dict[str, Any]] = self.content["attributes"]
        return found

    @property
    def method(self) -> dict[str, Any]:
        """The method's name and parameters."""
        found: dict[str, Any] = self.content["method"]
        return found

    def set(self, name: str, **keys: Any) -> None:
        """Change keys of an attribute; one that becomes None is left out.

        A role takes the keys away with it that only the old role could have.
        """
        own = self.attributes[name]
        role = keys.get("role", own.get("role"))
        if role != own.get("role"):
            for key in _KEYS_OF_A_ROLE:
                own.pop(key, None)
        own.update(keys)
        self.attributes[name] = {key: value for key, value in own.items() if value is not None}

    def set_method(self, name: str, **parameters: Any) -> None:
        """Change the method; parameters that are None are left out."""
        given = {key: value for key, value in parameters.items() if value is not None}
        self.content["method"] = {"name": name, **given}

    def checked(self) -> Policy:
        """Return the policy as a run would take it.

        Refuses (SfumatoError, one line) what a run would refuse of the policy alone.
        """
        policy = Policy.of(self.content, self.folder)
        policy.schema()
        policy.recoding()
        policy.method()
        return policy

    def checked_roles(self) -> None:
        """Refuse (SfumatoError) what a run would refuse of the attributes, whatever the method."""
        policy = Policy.of(self.content, self.folder)
        policy.schema()
        policy.recoding()

    def text(self) -> str:
        """Return the text of the policy file."""
        attributes = [
            AttributeText(name, keys, self.reasons.get(name, ""))
            for name, keys in self.attributes.items()
        ]
        more = {key: value for key, value in self.content.items() if key not in _ELSEWHERE}
        return policy_text([], attributes, self.method, self.content.get("unit"), more)

    def save(self, project: Project, *, check: bool = True) -> None:
        """Write the policy of the project.

        Refuses (SfumatoError) what `checked` refuses; the file then stays as it is. Without
        `check`, only what is no policy at all: roles may be half done while the method waits.
        """
        if check:
            self.checked()
        else:
            Policy.of(self.content, self.folder)
        write_text(project.policy, self.text())


_KEYS_OF_A_ROLE: Final = (
    "flag", "when", "density", "l", "variant", "c", "t", "distance", "alpha", "beta", "k",
    "max_eta", "prior", "min_width", "pseudonym", "keep", "missing", "loss_weight", "max_level",
    "max_width",
)  # fmt: skip


def adopt_draft(project: Project, draft: Path, reasons: Mapping[str, str]) -> None:
    """Make a draft the policy of a project that has none yet."""
    if not project.policy.exists() and draft.is_file():
        write_json(project.folder / REASONS, dict(reasons))
        write_text(project.policy, draft.read_text("utf-8"))
