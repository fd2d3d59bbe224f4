"""Weights of records: which column of a release holds them, and how far they are rounded.

A record's own weight nearly says who it is of, so a release has the mean weight of each group in
the place of its records' own: sums over whole groups stay what they were. The manifest names the
column as `weight` of the table `records`; it is no attribute, and cannot be asked for as one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.errors import ReleaseDamaged
from sfumato.release.manifest import Manifest
from sfumato.release.origin import is_noisy
from sfumato.release.transitions import is_randomised

Reals = npt.NDArray[np.float64]

# Significant digits of a published weight: more would tell of the order in which it was added up.
DIGITS: Final = 9
# By how much of itself a mean may have been rounded: half a unit of the last digit, and of a float.
ROUNDED: Final = 0.5 * 10.0 ** (1 - DIGITS) * (1 + 1e-6)
# Records that are nobody's own, or not everybody's, have no weights.
_NOT_THEIR_OWN = ("sample", "perturb", "fakes")


def weight_of(manifest: Manifest) -> str | None:
    """Return the column of weights, None if records have none.

    Refuses (ReleaseDamaged) weights in tables or layouts whose rows are not people's own.
    """
    having = {table.name: table.weight for table in manifest.tables if table.weight is not None}
    if not having:
        return None
    if manifest.layout != "generalized" or list(having) != ["records"]:
        raise ReleaseDamaged("weights have no place but in the records of generalized releases")
    is_random = is_randomised(manifest) or is_noisy(manifest)
    if is_random or any(manifest.parameters.get(name) for name in _NOT_THEIR_OWN):
        raise ReleaseDamaged("weights have no place beside records that are not people's own")
    return having["records"]


def rounded(means: Reals) -> Reals:
    """Return numbers above 0 to as many digits as a release has.

    >>> rounded(np.array([1234.56789012, 2 / 3])).tolist()
    [1234.56789, 0.666666667]
    """
    return np.array([float(f"{mean:.{DIGITS - 1}e}") for mean in means.tolist()], np.float64)
