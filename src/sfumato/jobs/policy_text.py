"""The text of a policy file, with a reason above every attribute."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What no reader of YAML takes for anything but a text.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True, slots=True)
class AttributeText:
    """One attribute of a policy: its name, its keys, and why they are so."""

    name: str
    keys: Mapping[str, Any]
    reason: str


def policy_text(
    notes: Sequence[str],
    attributes: Sequence[AttributeText],
    method: Mapping[str, Any],
    unit: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> str:
    """Return a policy file as text; `notes` are comments on top.

    >>> age = AttributeText("age", {"role": "quasi-identifier"}, "others know it")
    >>> print(policy_text(["A draft."], [age], {"name": "mondrian", "k": 5}), end="")
    # A draft.
    attributes:
      # others know it
      age: {role: quasi-identifier}
    method: {name: mondrian, k: 5}
    """
    lines = [f"# {_one_line(note)}" if note else "#" for note in notes]
    lines.append("attributes:")
    for attribute in attributes:
        if attribute.reason:
            lines.append(f"  # {_one_line(attribute.reason)}")
        lines.append(f"  {spelled(attribute.name)}: {spelled(attribute.keys)}")
    if unit is not None:
        lines.append(f"unit: {spelled(unit)}")
    lines.append(f"method: {spelled(method)}")
    lines += [f"{key}: {spelled(value)}" for key, value in (more or {}).items()]
    return "\n".join(lines) + "\n"


def spelled(value: Any) -> str:
    """Return a plain value in the inline form of YAML.

    >>> spelled({"hierarchy": {"mask": "right"}, "order": ["no", "a b"], "keep": True})
    '{hierarchy: {mask: right}, order: ["no", "a b"], keep: true}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{spelled(k)}: {spelled(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(spelled(each) for each in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return str(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() and character != "\N{ZERO WIDTH NO-BREAK SPACE}":
        return character
    return f"\\U{ord(character):08x}"


def _one_line(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)
