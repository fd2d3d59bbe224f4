"""A release without some of its attributes, as one who does not look at them sees it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sfumato.errors import ParameterError
from sfumato.release.manifest import Manifest, TableEntry
from sfumato.release.release import Release
from sfumato.schema.attribute import RESERVED_SUFFIX

# Parameters with an entry for every attribute that they are about.
_BY_ATTRIBUTE = ("sets", "bins", "types", "joint", "transitions")
_NEVER_EMPTY = ("transitions", "microaggregated")


def without_attributes(release: Release, names: Collection[str]) -> Release:
    """Return the release without the attributes, and without those that are joined of them.

    Groups and all other cells stay what they are, so that whatever is found in the rest is found
    in the whole, too.

    Refuses (ParameterError) to leave nothing.
    """
    manifest = release.manifest
    joint = manifest.parameters.get("joint", {})
    joined = joint.items() if isinstance(joint, Mapping) else ()
    gone = {*names}
    gone |= {
        name for name, parts in joined if isinstance(parts, list) and gone & {*map(str, parts)}
    }
    gone &= {entry.name for entry in manifest.attributes}
    if not gone:
        return release
    attributes = tuple(entry for entry in manifest.attributes if entry.name not in gone)
    tables = tuple(_narrower(entry, gone) for entry in manifest.tables)
    kept = tuple(
        new
        for old, new in zip(manifest.tables, tables, strict=True)
        if new.attributes or not old.attributes
    )
    if not attributes:
        raise ParameterError("the release has no attribute that can be compared with an original")
    claims = tuple(each for each in manifest.guarantees if each.get("attribute") not in gone)
    narrower = manifest.model_copy(
        update={
            "attributes": attributes,
            "tables": kept,
            "guarantees": claims,
            "parameters": _parameters(manifest, gone),
        }
    )
    contents = {}
    for entry in kept:
        content = release.tables[entry.name]
        columns = {*gone, *(name + RESERVED_SUFFIX for name in gone)}
        contents[entry.name] = content.select(
            [name for name in content.column_names if name not in columns]
        )
    hierarchies = {name: each for name, each in release.hierarchies.items() if name not in gone}
    return Release(narrower, contents, hierarchies)


def _narrower(entry: TableEntry, gone: Collection[str]) -> TableEntry:
    names = tuple(name for name in entry.attributes if name not in gone)
    return entry.model_copy(update={"attributes": names})


def _parameters(manifest: Manifest, gone: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = dict(manifest.parameters)
    for key in _BY_ATTRIBUTE:
        if isinstance(stated := found.get(key), Mapping):
            found[key] = {name: value for name, value in stated.items() if name not in gone}
    if isinstance(blocks := found.get("columns"), list):
        left = [[name for name in block if name not in gone] for block in blocks]
        found["columns"] = [block for block in left if block]
    if isinstance(means := found.get("microaggregated"), list):
        found["microaggregated"] = [name for name in means if name not in gone]
    return {key: value for key, value in found.items() if value or key not in _NEVER_EMPTY}
