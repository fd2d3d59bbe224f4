"""Loops over rows whose numbers are in no bucket, and that others' buckets decide upon."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# Up to here inserting one by one sorts faster than anything else.
_FEW = 32


@loop
def ends_of_row(
    slot: int, run: int, may_miss: Bools, low: Reals, high: Reals, status: Bytes
) -> tuple[float, float]:
    """Return what a row adds at least and at most; `low`, `high` and `status` as `add_outside`."""
    least = 0.0 if may_miss[slot] else np.inf
    greatest = -least
    for case in range(len(status)):
        if low[case, slot] <= high[case, slot]:
            # such a number may be there: it counts, may count, or does not
            own = status[case, run]
            down = low[case, slot] if own > 0 else 0.0
            up = high[case, slot] if own > 0 else 0.0
            if own == 1:
                down, up = min(down, 0.0), max(up, 0.0)
            least, greatest = min(least, down), max(greatest, up)
    return least, greatest


@loop
def gather_changes(
    runs: tuple[Codes, Codes],
    of_row: Codes,
    first_bucket: int,
    may_miss: Bools,
    low: Reals,
    high: Reals,
    of_dealt: Codes,
    first_dealt: int,
    statuses: tuple[Bytes, Bytes, Bytes],
    starts: Ints,
    found: Codes,
    down: Reals,
    up: Reals,
    out: Reals,
) -> None:
    """Add to `out` what rows in no bucket add at least and at most if a dealt part is false.

    Fill in, bucket by bucket of the dealt attribute, by how much either grows where it is true;
    `found` is how many rows of each bucket have such an entry, all others adding nothing. The
    `statuses` are those that are known anyway, and those where the part is false, and true. Rows
    in no bucket of the dealt attribute add what they do anyway.
    """
    first, size = runs
    anyway, without, with_ = statuses
    for run in range(len(first)):
        for row in range(first[run], first[run] + size[run]):
            slot = of_row[row]
            if slot >= first_bucket:
                continue
            bucket = of_dealt[row] - first_dealt
            if bucket < 0:
                least, greatest = ends_of_row(slot, run, may_miss, low, high, anyway)
            else:
                least, greatest = ends_of_row(slot, run, may_miss, low, high, without)
                lesser, greater = ends_of_row(slot, run, may_miss, low, high, with_)
                at = starts[bucket] + found[bucket]
                down[at], up[at] = lesser - least, greater - greatest
                found[bucket] += 1
            out[0] += least
            out[1] += greatest


@loop
def add_dealt_changes(starts: Ints, found: Codes, hits: Ints, changes: Reals, sign: float) -> float:
    """Return the greatest sum of changes times `sign`, so many `hits` being dealt to each bucket.

    Rows without an entry change nothing. The changes of a bucket are brought in order.
    """
    total = 0.0
    for bucket in range(len(found)):
        count, left = found[bucket], hits[bucket]
        if count == 0 or left == 0:
            continue
        own = changes[starts[bucket] : starts[bucket] + count]
        _sort(own)
        others = starts[bucket + 1] - starts[bucket] - count
        # from the best on: those that gain, then those that change nothing, then the rest
        for place in range(count):
            change = sign * (own[count - 1 - place] if sign > 0 else own[place])
            if change < 0.0 and others > 0:
                spared = min(others, left)
                left -= spared
                others -= spared
            if left == 0:
                break
            total += change
            left -= 1
    return total


@loop
def _sort(numbers: Reals) -> None:
    """Bring numbers in ascending order, without arrays of its own."""
    if len(numbers) > _FEW:
        _sort_by_heap(numbers)
        return
    for end in range(1, len(numbers)):
        own, place = numbers[end], end
        while place > 0 and numbers[place - 1] > own:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = own


@loop
def _sort_by_heap(numbers: Reals) -> None:
    """Bring many numbers in ascending order: none is below its children, the first goes last."""
    count = len(numbers)
    for step in range(count + count // 2 - 1, 0, -1):
        # first every place that has children, from the last on; then the top, after it was taken
        end, top = (count, step - count) if step >= count else (step, 0)
        if step < count:
            numbers[0], numbers[step] = numbers[step], numbers[0]
        own, child = numbers[top], 2 * top + 1
        while child < end:
            if child + 1 < end and numbers[child + 1] > numbers[child]:
                child += 1
            if numbers[child] <= own:
                break
            numbers[top] = numbers[child]
            top, child = child, 2 * child + 1
        numbers[top] = own
