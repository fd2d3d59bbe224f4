"""Loops over records of sets; see `set_counts.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@loop
def find_complements(members: Codes, size: int, out: Codes) -> None:
    """Fill in, for each record, the codes below `size` that are not among its ascending members."""
    for row in range(len(members)):
        at = place = 0
        for code in range(size):
            if at < members.shape[1] and members[row, at] == code:
                at += 1
            else:
                out[row, place] = code
                place += 1


@loop
def add_products(members: Codes, firsts: Ints, sizes: Ints, starts: Ints, out: Codes) -> None:
    """Add 1, for each record, to every cell of the product of its sets.

    The set of axis j is in the columns `firsts[j]` to `firsts[j + 1]`, and `sizes[j]` is the number
    of values on it. `starts` is scratch with room for the product of all sets but the last.
    """
    last = len(sizes) - 1
    for row in range(len(members)):
        starts[0] = 0
        count = 1
        for axis in range(last):
            first, width = firsts[axis], firsts[axis + 1] - firsts[axis]
            # from the end, so that none is overwritten before it is read
            for place in range(count - 1, -1, -1):
                base = starts[place] * sizes[axis]
                for member in range(width):
                    starts[place * width + member] = base + members[row, first + member]
            count *= width
        for column in range(firsts[last], firsts[last + 1]):
            # Codes without a sign: others are checked at every step for counting from the end.
            own = np.uint64(members[row, column])
            for place in range(count):
                out[np.uint64(starts[place] * sizes[last]) + own] += 1
