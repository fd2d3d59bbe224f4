"""The policy of a project, changed piece by piece: the one place of pages that writes it.

A change is checked as the command line would check it before it is kept; what is refused leaves
the file as it was. Comments that someone wrote into the file by hand are not kept, reasons are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final

from sfumato.errors import InputError, SchemaError
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.jobs.yaml_file import read_yaml
from sfumato.web.projects import Project
from sfumato.web.remembered import KEYS_OF_A_ROLE, Remembered
from sfumato.web.small_files import read_json, write_json, write_text

REASONS: Final = "reasons.json"
STAMP: Final = "stamp"  # the field of a form that carries the stamp
_ELSEWHERE: Final = ("attributes", "method", "unit")


class StalePageError(InputError):
    """A form whose page showed another state of the policy; what it says is not to be used."""


class PolicyForm:
    """The content of a policy as plain data (`content`), to be changed and then saved."""

    def __init__(
        self,
        content: dict[str, Any],
        folder: Path,
        reasons: Mapping[str, str],
        remembered: Remembered | None = None,
    ) -> None:
        self.content, self.folder, self.reasons = content, folder, dict(reasons)
        self.remembered = remembered or Remembered()

    @classmethod
    def load(cls, project: Project) -> PolicyForm:
        """Return the policy of a project.

        Refuses (SchemaError) a file that cannot be read.
        """
        reasons = read_json(project.folder / REASONS) or {}
        remembered = Remembered.load(project.folder)
        return cls(copy.deepcopy(read_yaml(project.policy)), project.folder, reasons, remembered)

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

    @property
    def stamp(self) -> str:
        """What tells all that the policy says, its hierarchy files too, which keep their names.

        A form shows it, and names columns by number.
        """
        said = sha256(self.text().encode())
        for keys in self.attributes.values():
            if isinstance(keys.get("hierarchy"), str):
                said.update(_digest(self.folder / keys["hierarchy"]))
        return said.hexdigest()[:16]

    def refuse_other(self, stamp: str) -> None:
        """Refuse (StalePageError) a form that was made of another state of the policy.

        It would bring back what was changed since, or publish what its page did not show.
        """
        if stamp and stamp != self.stamp:
            raise StalePageError(
                "the policy was changed since this page was loaded, in another window maybe; "
                "nothing was saved. This page shows what is kept now: make your change again"
            )

    def set(self, name: str, **keys: Any) -> None:
        """Change keys of an attribute; one that becomes None is left out.

        A role takes the keys away with it that only the old role could have, and brings those back
        that the attribute had when it last had the new one.
        """
        own = self.attributes[name]
        role = keys.get("role", own.get("role"))
        if role != own.get("role"):
            for key in KEYS_OF_A_ROLE:
                own.pop(key, None)
            own.update(self.remembered.keys_of(name, str(role)))
        own.update(keys)
        self.attributes[name] = {key: value for key, value in own.items() if value is not None}

    def set_method(self, name: str, **parameters: Any) -> None:
        """Change the method; parameters that are None are left out."""
        given = {key: value for key, value in parameters.items() if value is not None}
        self.content["method"] = {"name": name, **given}

    @property
    def served(self) -> frozenset[str]:
        """The columns that say something about rows or cells, and need no role of their own."""
        flags = [keys["flag"] for keys in self.attributes.values() if "flag" in keys]
        named = [self.content[key] for key in ("weight", "household") if key in self.content]
        return frozenset([*flags, *named])

    def complete(self, columns: Sequence[str]) -> None:
        """Give a role to every column of the data that has none and needs one: that of before.

        One that never had any is left out of releases.
        """
        lost = [name for name in columns if name not in {*self.attributes, *self.served}]
        for name in lost:
            self.attributes[name] = self.remembered.column(name) or {"role": "insensitive"}
        if lost:
            places = {name: place for place, name in enumerate(columns)}
            ordered = sorted(
                self.attributes.items(), key=lambda item: places.get(item[0], len(places))
            )
            self.content["attributes"] = dict(ordered)

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
        with suppress(SchemaError):  # a file that cannot be read says nothing to be remembered
            self.remembered.note(read_yaml(project.policy), self.content)
        write_text(project.policy, self.text())
        self.remembered.save(project.folder)


def _digest(path: Path) -> bytes:
    """Return the digest of a file; one of nothing where it cannot be read, which a run tells."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").digest()
    except (OSError, ValueError):
        return sha256().digest()


def adopt_draft(project: Project, draft: Path, reasons: Mapping[str, str]) -> None:
    """Make a draft the policy of a project that has none yet."""
    if not project.policy.exists() and draft.is_file():
        write_json(project.folder / REASONS, dict(reasons))
        write_text(project.policy, draft.read_text("utf-8"))
