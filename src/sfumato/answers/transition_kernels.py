"""The loops over records of replaced cells, for questions to them; see `transition_axes.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.unsignedinteger[Any]]
Levels = npt.NDArray[np.int32]
Keys = npt.NDArray[np.signedinteger[Any]]


@loop
def add_level(codes: Codes, level_of: Levels, size: int, keys: Keys) -> None:
    """Put to each record's key the level of its code, of which there are so many."""
    for row in range(len(codes)):
        keys[row] = keys[row] * size + level_of[codes[row]]


@loop
def count_keys(keys: Keys, counts: Ints) -> None:
    """Count how many records have each key."""
    for row in range(len(keys)):
        counts[keys[row]] += 1
