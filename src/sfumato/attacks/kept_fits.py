"""The groups of the people whom all attacks ask about, kept so that they are found once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.attacks.fits import Fits

Ints = npt.NDArray[np.int64]

MOST_KEPT: Final = 1 << 23  # fits, of 16 bytes each
_MOST_AGAIN: Final = 1 << 20  # people asked about again and their fits, with orders and sums


@dataclass(frozen=True, slots=True, eq=False)
class KeptFits:
    """The fits of some people: `people` are rows, ascending, `kind` whose of the fits each has.

    Attacks ask about the same rows one after the other, and put their fits into the same order: so
    those stay, as far as they are few.

    >>> fits = Fits(np.array([0, 1, 1]), np.array([5]), np.array([2.0]))
    >>> kept = KeptFits(np.array([3, 8, 9]), np.array([0, 1, 0]), fits)
    >>> kept.of(np.array([9, 8, 3])).group.tolist(), kept.has(np.array([4]))
    ([5, 5], False)
    """

    people: Ints
    kind: Ints
    fits: Fits
    _again: dict[bytes, Fits] = field(default_factory=dict)

    def has(self, rows: Ints) -> bool:
        """Return whether the fits of all of these rows are kept."""
        at = np.minimum(np.searchsorted(self.people, rows), max(len(self.people) - 1, 0))
        return not len(rows) or bool(len(self.people) and (self.people[at] == rows).all())

    def of(self, rows: Ints) -> Fits:
        """Return the fits of these rows, in their order."""
        key = rows.tobytes()
        found = self._again.get(key)
        if found is None:
            found = self.fits.of(self.kind[np.searchsorted(self.people, rows)])
            all_of_them = [found, *self._again.values()]
            if sum(len(each.group) + each.people for each in all_of_them) <= _MOST_AGAIN:
                self._again[key] = found
        return found
