"""Attributes whose cells are means of their groups, and so are nobody's own value.

The manifest names them as `parameters.microaggregated`. Their cells read like exact values; who
reads a release must ask here whether they are.
"""

from __future__ import annotations

from sfumato.errors import ReleaseDamaged
from sfumato.release.manifest import Manifest
from sfumato.schema.attribute import Kind, Role

KEY = "microaggregated"


def microaggregated(manifest: Manifest) -> frozenset[str]:
    """Return the attributes whose cells are means of groups.

    Refuses (ReleaseDamaged) names that are no numeric quasi-identifiers of generalised records.
    """
    if KEY not in manifest.parameters:
        return frozenset()
    stated = manifest.parameters[KEY]
    names = [name for name in stated if isinstance(name, str)] if isinstance(stated, list) else []
    if not names or not isinstance(stated, list) or len(set(names)) != len(stated):
        raise ReleaseDamaged(f"the parameter '{KEY}' is not a list of different attributes")
    if manifest.layout != "generalized":
        raise ReleaseDamaged(f"the layout '{manifest.layout}' has no place for means of groups")
    for name in names:
        entry = manifest.attribute(name)
        if entry.role is not Role.QUASI_IDENTIFIER or entry.kind is not Kind.NUMERIC:
            raise ReleaseDamaged(
                f"attribute '{name}' is said to hold means, and is no numeric quasi-identifier"
            )
    return frozenset(names)
