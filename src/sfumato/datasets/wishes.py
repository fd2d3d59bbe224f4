"""Which of their cells invented people want kept private: the flags of personalised privacy."""

from __future__ import annotations

import numpy as np

from sfumato.datasets.occupations import OLDEST
from sfumato.datasets.sampling import Batch, Codes, Flags

# Young adults care most. The curve is set so that about a fifth of all cells are private.
_DENSITY = np.interp(
    np.arange(OLDEST + 1), [0, 14, 24, 45, 70, OLDEST], [0.13, 0.22, 0.31, 0.23, 0.16, 0.11]
)
# One person in four is private about everything: flags of one person go together.
_RESERVED_SHARE = 0.25
_RESERVED_FACTOR = 2.0
_OPEN_FACTOR = (1.0 - _RESERVED_SHARE * _RESERVED_FACTOR) / (1.0 - _RESERVED_SHARE)


def private_cells(batch: Batch, age: Codes, columns: tuple[str, ...]) -> dict[str, Flags]:
    """Return a flag column `<column>_private` for each column; density falls with age."""
    reserved = batch.chance("reserved", _RESERVED_SHARE)
    density = _DENSITY[age] * np.where(reserved, _RESERVED_FACTOR, _OPEN_FACTOR)
    return {f"{column}_private": batch.chance(f"{column} private", density) for column in columns}
