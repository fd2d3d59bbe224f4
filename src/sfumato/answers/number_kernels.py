"""A loop over the numbers of groups, to order them anew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


@loop
def order_by_size(starts: Codes, numbers: Reals, about: float, scratch: Codes, out: Codes) -> None:
    """Fill `out` with the places of each group's numbers by their distance from `about`.

    The farthest come first, as they stand already by their distance from 0. So those below 0
    ascend and the others descend, and the farthest is always at one end of all that are left.
    `scratch` has room for all places.
    """
    for group in range(len(starts) - 1):
        start, end = starts[group], starts[group + 1]
        low, high = start, end - 1
        for place in range(start, end):
            if numbers[place] < 0.0:
                scratch[low] = place
                low += 1
            else:
                scratch[high] = place
                high -= 1
        low, high = start, end - 1
        for place in range(start, end):
            least, greatest = scratch[low], scratch[high]
            if abs(numbers[least] - about) > abs(numbers[greatest] - about):
                out[place] = least
                low += 1
            else:
                out[place] = greatest
                high -= 1
