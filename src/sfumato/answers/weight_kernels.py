"""Loops over the runs of groups whose records share a total weight (see `weighted.py`).

Runs stand in the order of their groups, and a group that has some has all of its rows in them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]


@loop
def weigh_counts(
    first: Codes,
    size: Codes,
    starts: Codes,
    weight: Reals,
    rounding: float,
    status: Bytes,
    chance: Reals,
    out: Reals,
) -> None:
    """Add to `out` the weight of rows that satisfy a predicate: expected, at least and at most.

    `weight` is the mean of each group, known up to a share (`rounding`) of itself.
    """
    value = low = high = 0.0
    run = group = 0
    while run < len(first):
        while starts[group + 1] <= first[run]:
            group += 1
        end, expected, sure, may = starts[group + 1], 0.0, True, False
        while run < len(first) and first[run] < end:
            expected += size[run] * chance[run]
            sure = sure and status[run] == 2
            may = may or status[run] > 0
            run += 1
        total = (end - starts[group]) * weight[group]
        value += expected * weight[group]
        low += total * (1.0 - rounding) if sure else 0.0
        high += total * (1.0 + rounding) if may else 0.0
    out[0] += value
    out[1] += low
    out[2] += high


@loop
def weigh_sums(
    first: Codes,
    size: Codes,
    starts: Codes,
    weight: Reals,
    rounding: float,
    of_row: Codes,
    may_miss: Bools,
    worth: tuple[Reals, Reals, Reals],
    status: Bytes,
    chance: Reals,
    out: Reals,
) -> None:
    """Add to `out` what rows add to a weighted sum: expected, at least and at most; and the sizes
    of what these two ends were added up from, as far as they are finite.

    There is a line for each case: that the row's number satisfies the predicate's part on it, and
    that it does not. `worth` has the least, the greatest and the mean number of each case and slot.
    Of a group all weight may lie on the row that adds least, or on the one that adds most.
    """
    low, high, mean = worth
    value = fewest = most = size_of_fewest = size_of_most = 0.0
    run = group = 0
    while run < len(first):
        while starts[group + 1] <= first[run]:
            group += 1
        end, expected, down, up = starts[group + 1], 0.0, np.inf, -np.inf
        while run < len(first) and first[run] < end:
            for row in range(first[run], first[run] + size[run]):
                slot = of_row[row]
                least = 0.0 if may_miss[slot] else np.inf
                greatest = -least
                for case in range(len(status)):
                    expected += mean[case, slot] * chance[case, run]
                    if low[case, slot] <= high[case, slot]:
                        # such a number may be there: it counts, may count, or does not
                        own = status[case, run]
                        one = low[case, slot] if own > 0 else 0.0
                        other = high[case, slot] if own > 0 else 0.0
                        if own == 1:
                            one, other = min(one, 0.0), max(other, 0.0)
                        least, greatest = min(least, one), max(greatest, other)
                down, up = min(down, least), max(up, greatest)
            run += 1
        total = (end - starts[group]) * weight[group]
        value += expected * weight[group]
        fewest += down * total * (1.0 - rounding if down > 0 else 1.0 + rounding)
        most += up * total * (1.0 - rounding if up < 0 else 1.0 + rounding)
        size_of_fewest += total * abs(down) if np.isfinite(down) else 0.0
        size_of_most += total * abs(up) if np.isfinite(up) else 0.0
    out[0] += value
    out[1] += fewest
    out[2] += most
    out[3] += size_of_fewest
    out[4] += size_of_most
