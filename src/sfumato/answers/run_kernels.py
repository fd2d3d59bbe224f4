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
def judge_groups(
    slot: Codes, varies: Bools, starts: Codes, of_row: Codes, found: Bytes, out: Bytes
) -> None:
    """Fill in what is found at each group's slot; where its rows have several, perhaps (1) if
    something is found at one of them."""
    for group in range(len(slot)):
        out[group] = found[slot[group]]
        if varies[group]:
            row, end = starts[group], starts[group + 1]
            while row < end and found[of_row[row]] == 0:
                row += 1
            out[group] = 1 if row < end else 0


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

    To `tally`: rows that satisfy the predicate in any case, only with the part, and only without
    it, first surely and then perhaps. To `outside`: rows in no bucket that satisfy it surely or
    perhaps. All rows of a run have the same slot.
    """
    for run in range(len(first)):
        if given[run] == 0 and without[run] == 0:
            continue
        slot, count = of_row[first[run]], size[run]
        if slot < first_bucket:
            outside[0] += count if status[run] == 2 else 0
            outside[1] += count if status[run] > 0 else 0
            continue
        bucket = slot - first_bucket
        for least in (2, 1):
            with_, else_ = np.int32(given[run] >= least), np.int32(without[run] >= least)
            at = 3 * (2 - least)
            tally[bucket, at] += count * with_ * else_
            tally[bucket, at + 1] += count * with_ * (1 - else_)
            tally[bucket, at + 2] += count * (1 - with_) * else_


@loop
def total_runs(size: Codes, status: Bytes, chance: Reals, out: Reals) -> None:
    """Add to `out` how many rows satisfy a predicate: expected, surely, and at most."""
    total = 0.0
    sure = may = 0
    for run in range(len(size)):
        total += size[run] * chance[run]
        sure += size[run] * (status[run] == 2)
        may += size[run] * (status[run] > 0)
    out[0] += total
    out[1] += sure
    out[2] += may


@loop
def bound_tallies(tally: Codes, sizes: Ints, hits: Ints, out: Ints) -> None:
    """Add to `out` how many rows of all buckets satisfy a predicate at least and at most.

    `tally` is that of `tally_runs`; of each bucket so many values (`hits`) satisfy the part. At
    least: they fall to rows that the part rules out, then to those for which it does not matter.
    At most: to those that need it, then to those for which it does not matter.
    """
    low = high = 0
    for bucket in range(len(sizes)):
        hit, size = hits[bucket], sizes[bucket]
        need, fear = np.int64(tally[bucket, 1]), np.int64(tally[bucket, 2])
        low += tally[bucket, 0] + max(fear - hit, 0) + max(hit - (size - need), 0)
        need, fear = np.int64(tally[bucket, 4]), np.int64(tally[bucket, 5])
        high += tally[bucket, 3] + min(hit, need) + fear - max(hit - (size - fear), 0)
    out[0] += low
    out[1] += high


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


@loop
def is_open_outside(
    first: Codes, of_row: Codes, first_bucket: int, status: Bytes, whole: Bytes
) -> bool:
    """Return whether a run in no bucket has a status that is open (1), and so has the whole."""
    for run in range(len(first)):
        if whole[run] == 1 and status[run] == 1 and of_row[first[run]] < first_bucket:
            return True
    return False


@loop
def weigh_amounts(
    slot: Codes, atom: Codes, weight: Codes, amount: Reals, mean: Reals, square: Reals
) -> None:
    """Add up by slot the amounts of its atoms, and their squares."""
    for entry in range(len(slot)):
        own = amount[atom[entry]]
        mean[slot[entry]] += weight[entry] * own
        square[slot[entry]] += weight[entry] * own * own


@loop
def gather_pairs(
    first: Codes, size: Codes, of_row: Codes, first_bucket: int, amount: Reals, sums: Reals
) -> None:
    """Add up by bucket the amounts of its rows, and their squares.

    All rows of a run have the same slot.
    """
    for run in range(len(first)):
        bucket = of_row[first[run]] - first_bucket
        if bucket >= 0:
            sums[bucket, 0] += size[run] * amount[run]
            sums[bucket, 1] += size[run] * amount[run] * amount[run]


@loop
def spread_runs(first: Codes, size: Codes, amount: Reals, out: Reals) -> None:
    """Fill in the amount of each run at all of its rows."""
    for run in range(len(first)):
        for row in range(first[run], first[run] + size[run]):
            out[row] = amount[run]


@loop
def add_meetings(starts: Codes, rows: Codes, amount: Reals, factor: Reals) -> float:
    """Return the sum over classes of their factor times the products of pairs of amounts."""
    total = 0.0
    for met in range(len(starts) - 1):
        plain = square = 0.0
        for place in range(starts[met], starts[met + 1]):
            own = amount[rows[place]]
            plain += own
            square += own * own
        total += factor[met] * (plain * plain - square)
    return total
