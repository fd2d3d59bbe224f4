"""Whether the models of a release counted households: the manifest says `parameters.household`."""

from __future__ import annotations

from sfumato.errors import ReleaseDamaged
from sfumato.release.manifest import Manifest

KEY = "household"


def counts_households(manifest: Manifest) -> bool:
    """Return whether models counted households instead of people.

    Refuses (ReleaseDamaged) a parameter that is not true.
    """
    stated = manifest.parameters.get(KEY)
    if stated is not None and stated is not True:
        raise ReleaseDamaged(f"the parameter '{KEY}' is not true, and says nothing else")
    return stated is True
