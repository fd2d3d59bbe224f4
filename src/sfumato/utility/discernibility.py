"""The discernibility metric C_DM: how many others each row of a release cannot be told from."""

from __future__ import annotations

import numpy as np

from sfumato.errors import ParameterError
from sfumato.release import Release
from sfumato.release.transitions import is_randomised

_LAYOUTS = ("generalized", "local")


def discernibility(release: Release) -> int:
    """Return the sum of the squared sizes of the (local) equivalence groups.

    A suppressed row cannot be told from any row of the table, so it adds the number of all rows.

    *Source*: Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
    """
    manifest = release.manifest
    if manifest.layout not in _LAYOUTS:
        raise ParameterError(f"C_DM is not defined for the layout {manifest.layout}")
    if is_randomised(manifest):
        raise ParameterError("C_DM is not defined for cells that were replaced at random")
    groups = release.tables["records"]["group"].to_numpy()
    sizes = np.bincount(groups).astype(np.int64)
    all_rows = len(groups) + manifest.suppressed
    return int(sizes @ sizes) + manifest.suppressed * all_rows
