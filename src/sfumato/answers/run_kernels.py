"""Loops over groups of records, and over runs of their rows (see `records.py`).

Rows stand group by group: those of group g are `starts[g]` to `starts[g + 1]`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@loop
def judge_groups(slot: Codes, varies: Bools, found: Bytes, out: Bytes) -> None:
    """Fill in what is found at each group's slot: perhaps (1), where its rows have several."""
    for group in range(len(slot)):
        out[group] = 1 if varies[group] else found[slot[group]]


@loop
def count_runs(starts: Codes, status: Bytes, varies: Bools) -> int:
    """Return the number of runs that `find_runs` finds."""
    count = 0
    for group in range(len(status)):
        if status[group] > 0:
            count += starts[group + 1] - starts[group] if varies[group] else 1
    return count


@loop
def find_runs(starts: Codes, status: Bytes, varies: Bools, first: Codes, size: Codes) -> None:
    """Fill in the runs of groups that are not out (0): whole, or row by row where they vary."""
    at = 0
    for group in range(len(status)):
        if status[group] > 0:
            start, end = starts[group], starts[group + 1]
            step = 1 if varies[group] else end - start
            for row in range(start, end, step):
                first[at], size[at] = row, step
                at += 1


@loop
def judge_runs(
    first: Codes, of_row: Codes, found: Bytes, shares: Reals, status: Bytes, chance: Reals
) -> None:
    """Fill in the status and the share that are found at the slot of each run."""
    for run in range(len(first)):
        slot = of_row[first[run]]
        status[run], chance[run] = found[slot], shares[slot]


@loop
def tally_runs(
    first: Codes,
    size: Codes,
    of_row: Codes,
    first_bucket: int,
    status: Bytes,
    without: Bytes,
    given: Bytes,
    tally: Codes,
    outside: Ints,
) -> None:
    """Count rows by bucket: what they are `without` a part of the predicate, and `given` it.

    To `tally`: rows that satisfy the predicate in any case, surely or perhaps; rows for which the
    part decides, surely or perhaps. To `outside`: rows in no bucket that satisfy it surely or
    perhaps. All rows of a run have the same slot.
    """
    for run in range(len(first)):
        if given[run] == 0:  # without the part there is no more
            continue
        slot, count = of_row[first[run]], size[run]
        if slot < first_bucket:
            outside[0] += count if status[run] == 2 else 0
            outside[1] += count if status[run] > 0 else 0
            continue
        bucket = slot - first_bucket
        if without[run] == 2:
            tally[bucket, 0] += count
        elif given[run] == 2:
            tally[bucket, 2] += count
        if without[run] > 0:
            tally[bucket, 1] += count
        else:
            tally[bucket, 3] += count


@loop
def gather_buckets(
    first: Codes,
    size: Codes,
    of_row: Codes,
    first_bucket: int,
    status: Bytes,
    chance: Reals,
    tally: Reals,
) -> None:
    """Add up by bucket: the chances of its rows to count, how many may count, and how many must."""
    for run in range(len(first)):
        own, likely = status[run], chance[run]
        if own == 0:
            continue
        for row in range(first[run], first[run] + size[run]):
            bucket = of_row[row] - first_bucket
            if bucket >= 0:
                tally[bucket, 0] += likely
                tally[bucket, 1] += 1.0
                tally[bucket, 2] += own == 2


@loop
def add_outside(
    first: Codes,
    size: Codes,
    of_row: Codes,
    first_bucket: int,
    may_miss: Bools,
    worth: tuple[Reals, Reals, Reals],
    status: Bytes,
    chance: Reals,
    out: Reals,
) -> None:
    """Add to `out` what rows in no bucket add to a sum: expected, at least and at most.

    There is a line for each case: that the row's number satisfies the predicate's part on it, and
    that it does not. `worth` has the least, the greatest and the mean number of each case and slot.
    """
    low, high, mean = worth
    value = fewest = most = 0.0
    for run in range(len(first)):
        for row in range(first[run], first[run] + size[run]):
            slot = of_row[row]
            if slot >= first_bucket:
                continue
            least = 0.0 if may_miss[slot] else np.inf
            greatest = -least
            for case in range(len(status)):
                value += mean[case, slot] * chance[case, run]
                if low[case, slot] <= high[case, slot]:
                    # such a number may be there: it counts, may count, or does not
                    own = status[case, run]
                    down = low[case, slot] if own > 0 else 0.0
                    up = high[case, slot] if own > 0 else 0.0
                    if own == 1:
                        down, up = min(down, 0.0), max(up, 0.0)
                    least, greatest = min(least, down), max(greatest, up)
            fewest += least
            most += greatest
    out[0] += value
    out[1] += fewest
    out[2] += most
