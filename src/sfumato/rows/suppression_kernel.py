"""Groups of rows that agree once some cells are suppressed, in compiled loops.

A *mask* is a set of suppressed attributes, a bit each; a *class* of a mask are the rows that agree
in all others. Rows that are in no group yet are *free*; a group with more than k rows can *lend*
some. Rows are compared by sums of random numbers, one a value: whoever publishes the groups looks
at the codes themselves, so that no accident of these numbers can do harm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float64]

_TINY = 1e-9


class Rows(NamedTuple):
    """The rows: codes, a random number a cell, and their sums; and what a cell of each costs."""

    codes: Codes
    marks: Words
    sums: Words
    weights: Reals

    @classmethod
    def marked(cls, codes: Codes, weights: Reals, rng: np.random.Generator) -> Rows:
        """Return the rows with random numbers for their values."""
        marks = np.empty(codes.shape, np.uint64)
        for a in range(codes.shape[1]):
            count = int(codes[:, a].max(initial=0)) + 1
            marks[:, a] = rng.integers(0, 2**64, count, dtype=np.uint64)[codes[:, a]]
        return cls(codes, marks, marks.sum(axis=1, dtype=np.uint64), weights)


class Work(NamedTuple):
    """Who is in which group (-1: free), and the size, mask and cost a row of each group.

    `state` has the number of groups ever made, and of rows looked at.
    """

    group: Ints
    size: Ints
    mask: Ints
    cost: Reals
    state: Ints


class Events(NamedTuple):
    """Masks to try in order: classes are made where a free row costs at most `limit` each."""

    mask: Ints
    weight: Reals
    limit: Reals


class Scratch(NamedTuple):
    """Room for one pass over the rows."""

    slot: Ints
    class_of: Ints
    free: Ints
    free_count: Ints
    free_head: Ints
    lend_head: Ints
    lend_count: Ints
    next_row: Ints
    chosen: Ints


def new_work(rows: int) -> Work:
    """Return the work at its beginning: all rows are free."""
    size, mask = np.zeros((2, rows + 1), np.int64)
    return Work(np.full(rows, -1), size, mask, np.zeros(rows + 1), np.zeros(2, np.int64))


def new_scratch(rows: int, k: int) -> Scratch:
    """Return room for so many rows."""
    slots = 2
    while slots < 2 * rows:
        slots *= 2
    own = np.empty((7, rows + 1), np.int64)
    return Scratch(
        np.empty(slots, np.int64),
        *(own[0], own[1], own[2], own[3], own[4], own[5], own[6]),
        np.empty(k, np.int64),
    )


@numba.njit(cache=True, nogil=True)
def weight_of(mask: int, weights: Reals) -> float:
    """Return what a row with the mask costs."""
    total = 0.0
    for a in range(len(weights)):
        if mask >> a & 1:
            total += weights[a]
    return total


@numba.njit(cache=True, nogil=True)
def _key(rows: Rows, i: int, mask: int) -> Any:
    key = rows.sums[i]
    for a in range(len(rows.weights)):
        if mask >> a & 1:
            key -= rows.marks[i, a]
    return key


@numba.njit(cache=True, nogil=True)
def _find(rows: Rows, slot: Ints, key: Any, mask: int) -> Any:
    """Return the place of a key in the table: that of a row with the same one, or a free one."""
    last = len(slot) - 1
    place = np.int64((key ^ (key >> np.uint64(29))) & np.uint64(last))
    while slot[place] >= 0 and _key(rows, slot[place], mask) != key:
        place = (place + 1) & last
    return place


@numba.njit(cache=True, nogil=True)
def _classes(rows: Rows, free: Ints, mask: int, scratch: Scratch) -> int:
    """Number the classes of free rows by their first rows, and count their rows."""
    count, size = 0, 1
    while size < 2 * len(free):
        size *= 2
    slot = scratch.slot[:size]
    slot[:] = -1
    for i in free:
        place = _find(rows, slot, _key(rows, i, mask), mask)
        if slot[place] < 0:
            slot[place] = i
            scratch.class_of[i] = count
            scratch.free_count[count] = 0
            scratch.free_head[count] = -1
            scratch.lend_head[count] = -1
            scratch.lend_count[count] = 0
            count += 1
        own = scratch.class_of[slot[place]]
        scratch.class_of[i] = own
        scratch.free_count[own] += 1
        scratch.next_row[i] = scratch.free_head[own]
        scratch.free_head[own] = i
    return count


@numba.njit(cache=True, nogil=True)
def count_safe(rows: Rows, free: Ints, mask: int, k: int, scratch: Scratch) -> int:
    """Return how many free rows are in classes of k or more."""
    safe = 0
    for own in range(_classes(rows, free, mask, scratch)):
        if scratch.free_count[own] >= k:
            safe += scratch.free_count[own]
    return safe


@numba.njit(cache=True, nogil=True)
def _lenders(
    rows: Rows, active: Ints, free: Ints, mask: int, k: int, work: Work, scratch: Scratch
) -> None:
    """List for each small class the rows of other groups that could join it, some at least."""
    size = 1
    while size < 2 * len(free):
        size *= 2
    slot = scratch.slot[:size]
    for i in active:
        own = work.group[i]
        if own < 0 or work.size[own] <= k:
            continue
        place = _find(rows, slot, _key(rows, i, mask), mask)
        if slot[place] < 0:
            continue
        found = scratch.class_of[slot[place]]
        if scratch.free_count[found] < k and scratch.lend_count[found] < 4 * k:
            scratch.lend_count[found] += 1
            scratch.next_row[i] = scratch.lend_head[found]
            scratch.lend_head[found] = i


@numba.njit(cache=True, nogil=True)
def _borrow(own: int, wanted: int, k: int, work: Work, scratch: Scratch) -> float:
    """Choose so many rows that others lend, the costliest first; return what they cost now.

    -1 where there are not enough; nothing has changed then.
    """
    total, count = 0.0, 0
    while count < wanted:
        best, row = -1.0, -1
        i = scratch.lend_head[own]
        while i >= 0:
            group = work.group[i]
            if group >= 0 and work.size[group] > k and work.cost[group] > best:
                best, row = work.cost[group], i
            i = scratch.next_row[i]
        if row < 0:
            for j in range(count):
                i = scratch.chosen[j]
                work.group[i] = -2 - work.group[i]
                work.size[work.group[i]] += 1
            return -1.0
        work.size[work.group[row]] -= 1
        work.group[row] = -2 - work.group[row]  # chosen, and can be put back
        scratch.chosen[count] = row
        count += 1
        total += best
    return total


@numba.njit(cache=True, nogil=True)
def secure(
    rows: Rows,
    active: Ints,
    free: Ints,
    event: tuple[int, float, float],
    k: int,
    borrow: bool,
    work: Work,
    scratch: Scratch,
) -> bool:
    """Make groups of one mask's classes, where a free row costs no more than the limit."""
    mask, weight, limit = event
    count = _classes(rows, free, mask, scratch)
    work.state[1] += len(free)
    if borrow:
        some = False
        for own in range(count):
            free_rows = scratch.free_count[own]
            if free_rows < k and k * weight <= limit * free_rows + _TINY:
                some = True
                break
        if some:
            _lenders(rows, active, free, mask, k, work, scratch)
            work.state[1] += len(active)
        borrow = some
    made = False
    for own in range(count):
        free_rows = scratch.free_count[own]
        wanted = k - free_rows
        if wanted > 0:
            if not borrow or scratch.lend_count[own] < wanted:
                continue
            if k * weight > limit * free_rows + _TINY:
                continue
            before = _borrow(own, wanted, k, work, scratch)
            if before < 0:
                continue
        new = work.state[0]
        work.state[0] += 1
        for j in range(wanted):
            work.group[scratch.chosen[j]] = new
        i = scratch.free_head[own]
        while i >= 0:
            work.group[i] = new
            i = scratch.next_row[i]
        work.size[new] = max(free_rows, k)
        work.mask[new], work.cost[new] = mask, weight
        made = True
    return made


@numba.njit(cache=True, nogil=True)
def run(
    rows: Rows,
    active: Ints,
    events: Events,
    k: int,
    borrow: bool,
    most: int,
    work: Work,
    scratch: Scratch,
) -> int:
    """Try the events in order on the active rows; return how many of these are free in the end.

    Stops once about `most` rows have been looked at. The free rows come first in `scratch.free`.
    """
    left = 0
    for i in active:
        if work.group[i] == -1:
            scratch.free[left] = i
            left += 1
    for e in range(len(events.mask)):
        if left == 0 or work.state[1] > most:
            break
        event = (events.mask[e], events.weight[e], events.limit[e])
        if secure(rows, active, scratch.free[:left], event, k, borrow, work, scratch):
            kept = 0
            for j in range(left):
                if work.group[scratch.free[j]] == -1:
                    scratch.free[kept] = scratch.free[j]
                    kept += 1
            left = kept
    return left


@numba.njit(cache=True, nogil=True)
def join(rows: Rows, active: Ints, free: Ints, work: Work, first_row: Ints) -> None:
    """Let each free row join the group of active rows that loses least by it.

    `first_row` is scratch: a number a group.
    """
    for i in active:
        if work.group[i] >= 0:
            first_row[work.group[i]] = i
    for i in free:
        best, where, its_mask = np.inf, -1, 0
        for j in active:
            group = work.group[j]
            if group < 0 or first_row[group] != j:
                continue
            mask = work.mask[group]
            for a in range(len(rows.weights)):
                if rows.codes[i, a] != rows.codes[j, a]:
                    mask |= 1 << a
            size = work.size[group]
            more = (size + 1) * weight_of(mask, rows.weights) - size * work.cost[group]
            if more < best:
                best, where, its_mask = more, group, mask
        work.group[i] = where
        work.size[where] += 1
        work.mask[where] = its_mask
        work.cost[where] = weight_of(its_mask, rows.weights)


@numba.njit(cache=True, nogil=True)
def tighten(rows: Rows, active: Ints, work: Work, first_row: Ints) -> float:
    """Suppress no cell that a group's rows share; return what all rows cost then.

    `first_row` is scratch: a number a group.
    """
    for i in active:
        first_row[work.group[i]] = i
        work.mask[work.group[i]] = 0
    for i in active:
        group = work.group[i]
        j = first_row[group]
        for a in range(len(rows.weights)):
            if rows.codes[i, a] != rows.codes[j, a]:
                work.mask[group] |= 1 << a
    total = 0.0
    for i in active:
        total += weight_of(work.mask[work.group[i]], rows.weights)
    return total
