"""Loops over what slots may hold, and over buckets of numbers (see `slots.py`)."""

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
def weigh_slots(
    slot: Codes, atom: Codes, weight: Codes, status: Bytes, sure: Ints, open_: Ints, true: Reals
) -> None:
    """Add up each slot's entries that satisfy a predicate surely, or perhaps, and their weights.

    `status` is that of every atom. There are no branches here: which atom comes next is anybody's
    guess.
    """
    for entry in range(len(slot)):
        own, at = status[atom[entry]], slot[entry]
        is_sure = np.int64(own == 2)
        open_[at] += np.int64(own > 0)
        sure[at] += is_sure
        true[at] += np.int64(weight[entry]) * is_sure


@loop
def judge_slots(
    entries: Ints,
    sure: Ints,
    open_: Ints,
    weight: Reals,
    true: Reals,
    status: Bytes,
    share: Reals,
) -> None:
    """Fill in each slot's status and the share of its weight that is true.

    `entries`, and how many of them are sure and open; nothing is known of a slot without weight.
    """
    for slot in range(len(status)):
        status[slot] = 0 if open_[slot] == 0 else 2 if sure[slot] == entries[slot] else 1
        share[slot] = true[slot] / weight[slot] if weight[slot] > 0.0 else status[slot] / 2.0


@loop
def find_ends(
    slot: Codes,
    atom: Codes,
    weight: Codes,
    counts: Bools,
    is_sure: Bools,
    ends: tuple[Reals, Reals, Reals],
    low: Reals,
    high: Reals,
    total: Reals,
) -> None:
    """Widen each slot's ends to the numbers that count, and add up those that do for sure.

    `ends` are the least, the greatest and the mean number of every atom.
    """
    least, greatest, mean = ends
    for entry in range(len(slot)):
        own, at = atom[entry], slot[entry]
        low[at] = min(low[at], least[own] if counts[own] else np.inf)
        high[at] = max(high[at], greatest[own] if counts[own] else -np.inf)
        total[at] += weight[entry] * (mean[own] if is_sure[own] else 0.0)


@loop
def limit_hits(
    tally: Reals, hits: Ints, sizes: Ints, mean: Reals, least: Ints, most: Ints
) -> float:
    """Fill in how many of each bucket's hits count at least and at most.

    Of the numbers of a bucket, `hits` count if they fall to rows that do (see `gather_buckets`).
    Return the sum of those that count on average.
    """
    value = 0.0
    for bucket in range(len(hits)):
        value += tally[bucket, 0] * mean[bucket]
        most[bucket] = min(hits[bucket], np.int64(tally[bucket, 1]))
        least[bucket] = max(hits[bucket] - (sizes[bucket] - np.int64(tally[bucket, 2])), 0)
    return value


@loop
def add_extremes(
    starts: Ints, atom: Codes, number: Reals, counts: Bools, least: Ints, most: Ints, out: Reals
) -> None:
    """Add the least and the greatest sum of numbers chosen from each bucket to `out`.

    From each bucket, whose numbers ascend, at least `least` and at most `most` are chosen, of those
    whose atom counts.
    """
    low = high = 0.0
    for bucket in range(len(starts) - 1):
        few, many = least[bucket], most[bucket]
        if many == 0:
            continue
        start, end = starts[bucket], starts[bucket + 1]
        taken = 0
        for entry in range(start, end):
            if taken >= many or (taken >= few and number[entry] >= 0.0):
                break
            if counts[atom[entry]]:
                low += number[entry]
                taken += 1
        taken = 0
        for entry in range(end - 1, start - 1, -1):
            if taken >= many or (taken >= few and number[entry] <= 0.0):
                break
            if counts[atom[entry]]:
                high += number[entry]
                taken += 1
    out[0] += low
    out[1] += high
