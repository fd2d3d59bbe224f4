"""Counting many codes in a compiled loop, which other threads need not wait for."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

LANES = 4  # lines of counts, which codes take in turns: one need not wait for the one before


@numba.njit(cache=True, nogil=True)
def add_counts(codes: Codes, counts: Ints) -> bool:
    """Add up how often each code occurs; False, and the counts are worth nothing, where one has no
    place among them.

    `counts` has one line of them, or `LANES`, which are to be added up.
    """
    lanes, size = counts.shape
    most = np.uint64(size)
    whole = len(codes) // LANES * LANES if lanes == LANES else 0
    for i in range(0, whole, LANES):
        # a negative number is a very large one
        one, two = np.uint64(codes[i]), np.uint64(codes[i + 1])
        three, four = np.uint64(codes[i + 2]), np.uint64(codes[i + 3])
        if one >= most or two >= most or three >= most or four >= most:
            return False
        counts[0, one] += 1
        counts[1, two] += 1
        counts[2, three] += 1
        counts[3, four] += 1
    for i in range(whole, len(codes)):
        code = np.uint64(codes[i])
        if code >= most:
            return False
        counts[0, code] += 1
    return True
