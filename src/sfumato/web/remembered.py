"""What left the policy of a project and may come back: a role's own keys, a method's parameters.

Someone who tries another role or scheme and returns finds what they had stated before. It stands
in a file beside the policy, and nothing but pages reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sfumato.jobs.policy_file import MODEL_KEYS, SET_KEYS
from sfumato.web.small_files import read_json, write_json

FILE: Final = "remembered.json"
# The keys of an attribute that go with its role.
KEYS_OF_A_ROLE: Final = (
    "flag", "when", "density", *MODEL_KEYS, *SET_KEYS, "min_width", "pseudonym", "keep", "missing",
    "loss_weight", "max_level", "max_width",
)  # fmt: skip
_ASKED: Final = (*MODEL_KEYS, *SET_KEYS)


class Remembered:
    """What was stated before, by column and role, and by method."""

    def __init__(self, content: Mapping[str, Any] | None = None) -> None:
        given = content or {}
        self._roles = _mapping(given.get("roles"))
        self._columns = _mapping(given.get("columns"))
        self._methods = _mapping(given.get("methods"))

    @classmethod
    def load(cls, folder: Path) -> Remembered:
        """Return what a project remembers; nothing where its file cannot be read."""
        return cls(read_json(folder / FILE))

    def save(self, folder: Path) -> None:
        """Write it into the folder of the project, if there is anything new."""
        content = {"roles": self._roles, "columns": self._columns, "methods": self._methods}
        if any(content.values()) and content != read_json(folder / FILE):
            write_json(folder / FILE, content)

    def keys_of(self, column: str, role: str) -> dict[str, Any]:
        """Return the keys that a column had when it last had a role."""
        return _mapping(_mapping(self._roles.get(column)).get(role))

    def column(self, name: str) -> dict[str, Any]:
        """Return the keys of a column when it last had a role at all."""
        return _mapping(self._columns.get(name))

    def parameters_of(self, method: str) -> dict[str, Any]:
        """Return the parameters that a method last had."""
        return _mapping(_mapping(self._methods.get(method)).get("parameters"))

    def asked_of(self, method: str, column: str) -> dict[str, Any]:
        """Return what a column last asked of a method."""
        columns = _mapping(_mapping(self._methods.get(method)).get("attributes"))
        return _mapping(columns.get(column))

    def note(self, before: Any, after: Any) -> None:
        """Remember what a policy said and its successor does not say any more."""
        old, new = _mapping(before), _mapping(after)
        kept = _mapping(new.get("attributes"))
        for name, keys in _mapping(old.get("attributes")).items():
            given = _mapping(keys)
            if name not in kept:
                self._columns[name] = given
            elif given.get("role") != _mapping(kept[name]).get("role"):
                own = {key: given[key] for key in KEYS_OF_A_ROLE if key in given}
                if own:
                    self._roles.setdefault(name, {})[str(given.get("role"))] = own
        was, now = _mapping(old.get("method")), _mapping(new.get("method"))
        if was and was.get("name") != now.get("name"):
            self._methods[str(was.pop("name"))] = {
                "parameters": was,
                "attributes": {
                    name: asked
                    for name, keys in _mapping(old.get("attributes")).items()
                    if (asked := {key: keys[key] for key in _ASKED if key in keys})
                },
            }


def _mapping(given: Any) -> dict[str, Any]:
    """Return a copy of a mapping, empty for anything else: files may be changed by hand."""
    return dict(given) if isinstance(given, Mapping) else {}
