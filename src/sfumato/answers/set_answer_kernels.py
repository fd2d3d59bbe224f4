"""Loops over records of sets, for questions to them; see `set_levels.py` and `set_sums.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.unsignedinteger[Any]]
Keys = npt.NDArray[np.signedinteger[Any]]
Cells = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@loop
def scale_keys(keys: Keys, factor: int) -> None:
    """Multiply all keys by a factor."""
    for row in range(len(keys)):
        keys[row] *= factor


@loop
def add_levels(members: Codes, weights: Keys, keys: Keys) -> None:
    """Add to each record's key the weight of one member of its set."""
    for row in range(len(members)):
        keys[row] += weights[members[row]]


@loop
def count_keys(keys: Keys, counts: Ints) -> None:
    """Count how many records have each key."""
    for row in range(len(keys)):
        counts[keys[row]] += 1


@loop
def add_set_sums(
    members: Codes,
    cells: Cells,
    numbers: Reals,
    shifts: Reals,
    chances: Reals,
    plain: int,
    out: Reals,
) -> None:
    """Add to `out` the estimated sum over records, that of its squares, and that of the truth's.

    A line counts with its chance for the record's cell, times what the members of the record's set
    add up to in it, and what is added for the whole set. The first `plain` lines estimate what a
    record adds to the sum, the others the square of what it truly adds.
    """
    size = len(members)
    total = own_squares = true_squares = 0.0
    for row in range(len(cells)):
        cell = cells[row]
        own = true = 0.0
        for line in range(len(numbers)):
            found = shifts[line]
            for place in range(size):
                found += numbers[line, members[place, row]]
            if line < plain:
                own += chances[line, cell] * found
            else:
                true += chances[line, cell] * found
        total += own
        own_squares += own * own
        true_squares += true
    out[0] += total
    out[1] += own_squares
    out[2] += true_squares


@loop
def add_set_bounds(
    members: Codes, cells: Cells, case_of_cell: Ints, low: Reals, high: Reals, out: Reals
) -> None:
    """Add to `out` the least and the greatest sum, each record having one member of its set.

    `low[z, c]` and `high[z, c]` are what member c adds in case z.
    """
    size = len(members)
    least = greatest = 0.0
    for row in range(len(cells)):
        case = case_of_cell[cells[row]]
        down, up = np.inf, -np.inf
        for place in range(size):
            code = members[place, row]
            down = min(down, low[case, code])
            up = max(up, high[case, code])
        least += down
        greatest += up
    out[0] += least
    out[1] += greatest
