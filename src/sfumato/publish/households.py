"""That the people whom a release counts are households."""

from __future__ import annotations

from sfumato.release import Release
from sfumato.release.households import KEY
from sfumato.table import Table


def with_households(release: Release, table: Table) -> Release:
    """Return the release, whose manifest says so if the table's models counted households."""
    if table.schema.household is None:
        return release
    parameters = {**release.manifest.parameters, KEY: True}
    manifest = release.manifest.model_copy(update={"parameters": parameters})
    return release.restated(manifest)
