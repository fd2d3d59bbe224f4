"""Sorting for compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]


@loop
def sort_first(values: Ints, count: int) -> None:
    """Sort the first values in place (Shell's sort: `np.sort` takes seconds to compile)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3
