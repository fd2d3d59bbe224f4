"""Local suppression withholds no cell without need, so records with fewer such cells come first.

A record of withheld cells alone fits everybody, and is hardly anybody's: who is in a group of k
with fewer cells withheld was left there. An adversary who knows the method takes the records that
fit and have the fewest cells withheld. Some people were lent to other groups, and are missed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.attacks.axis import parsed
from sfumato.attacks.fits import Fits
from sfumato.attacks.view import View
from sfumato.release import Manifest
from sfumato.release.cells import Star

Ints = npt.NDArray[np.int64]

KEY = "suppressed_cells"


def withheld_cells(manifest: Manifest, view: View) -> Ints | None:
    """Return how many cells of each group are withheld; None where cells are not suppressed."""
    if KEY not in manifest.parameters or manifest.layout != "generalized":
        return None
    found = np.zeros(view.groups, np.int64)
    for block in view.blocks:
        for column, name in enumerate(block.names):
            stars = [isinstance(cell, Star) for cell in parsed(view.published[name])]
            is_star = np.array([*stars, False, False])  # then a missing cell, and one in a bucket
            found[block.group] += is_star[block.cells[:, column]]
    return found


def most_specific(fits: Fits, withheld: Ints) -> Fits:
    """Return of each person's groups those with the fewest withheld cells.

    >>> fits = Fits(np.array([0, 2]), np.array([4, 5]), np.array([3.0, 9.0]))
    >>> most_specific(fits, np.array([0, 0, 0, 0, 1, 2])).group.tolist()
    [4]
    """
    if not len(fits.group):
        return fits
    own = withheld[fits.group]
    fewest = np.full(fits.people, np.iinfo(np.int64).max)
    np.minimum.at(fewest, fits.person, own)
    kept = own == fewest[fits.person]
    counts = np.bincount(fits.person[kept], minlength=fits.people)
    start = np.concatenate(([0], np.cumsum(counts)))
    return Fits(start, fits.group[kept], fits.weight[kept])
