"""Weights of records: equal within every group, so that none is anybody's own."""

from __future__ import annotations

import numpy as np

from sfumato.audit.groups import GroupedTable
from sfumato.errors import ReleaseDamaged
from sfumato.release import Release
from sfumato.release.weights import DIGITS, rounded, weight_of


def check_weights(release: Release, records: GroupedTable) -> None:
    """Refuse (ReleaseDamaged) weights that differ within a group, or have too many digits.

    One's own weight nearly says who one is, and the last digits of a mean how it was added up.
    """
    name = weight_of(release.manifest)
    if name is None:
        return
    weights = release.tables["records"][name].to_numpy()
    some = np.empty(len(records.sizes), dtype=np.float64)
    some[records.groups] = weights
    strays = np.unique(records.groups[some[records.groups] != weights])
    if len(strays):
        raise ReleaseDamaged(
            f"in {len(strays)} of {len(records.sizes)} groups the records differ in their weights, "
            f"column '{name}'"
        )
    if not np.array_equal(rounded(some), some):
        raise ReleaseDamaged(f"the weights of column '{name}' have more than {DIGITS} digits")
