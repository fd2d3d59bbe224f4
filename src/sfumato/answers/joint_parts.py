"""Attributes that were randomised as one, `a & b`, taken apart again into the texts of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.errors import ReleaseDamaged
from sfumato.release import AttributeEntry, Manifest
from sfumato.release.joint_values import parts_of


@dataclass(frozen=True, slots=True)
class Joint:
    """An attribute whose values are combinations of those of others, its parts."""

    name: str
    parts: tuple[str, ...]


def joints(manifest: Manifest) -> tuple[Joint, ...]:
    """Return the joint attributes of a release (`parameters.joint`), none where it has none.

    Refuses (ReleaseDamaged) parameters that do not say what an attribute is joined of.
    """
    stated = manifest.parameters.get("joint", {})
    if not isinstance(stated, Mapping):
        raise ReleaseDamaged("the parameter `joint` does not list attributes")
    found = []
    for name, parts in stated.items():
        listed = parts if isinstance(parts, list) else []
        texts = [part for part in listed if isinstance(part, str)]
        if len(texts) < 2 or len(set(texts)) < len(listed):
            raise ReleaseDamaged(f"the parameter `joint` does not say what '{name}' is joined of")
        found.append(Joint(name, tuple(texts)))
    return tuple(found)


def joint_of(manifest: Manifest, part: str) -> Joint | None:
    """Return the joint attribute that has the named part, None where none has."""
    return next((joint for joint in joints(manifest) if part in joint.parts), None)


def parts_of_values(entry: AttributeEntry, joint: Joint) -> list[tuple[str | None, ...]]:
    """Return the texts of the parts of each value of a joint attribute's domain; None is missing.

    Refuses (ReleaseDamaged) a domain whose values are not combinations of so many parts.
    """
    texts = entry.domain if isinstance(entry.domain, tuple) else ()
    try:
        return [parts_of(text, len(joint.parts)) for text in texts]
    except ValueError:
        raise ReleaseDamaged(
            f"attribute '{joint.name}' has values that are not combinations of its parts"
        ) from None
