"""One node of the top-down greedy: two far seeds, each row to the side whose loss grows less.

The loops below take arrays out of their tuples before they start: compiled code would otherwise
count references to them at every step, which costs more than the arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.rows.axes import RANGE, SET, TREE
from sfumato.rows.mondrian_kernel import part
from sfumato.rows.scales import Scales

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_SEED_ROUNDS = 3
# A side gets at least this share of the rows, so that the depth stays logarithmic.
_SMALLEST_SHARE = 1 / 32
_LEAD_CLASSES = 256
_BLOCK = 1 << 12  # rows that stay in the cache
_FETCHED = 1 << 6  # rows that are fetched at a time, from anywhere


class Sides(NamedTuple):
    """The two sides in the making: spans by side and attribute, values seen by side, losses."""

    low: Codes
    high: Codes
    seen: Ints
    values: Ints
    loss: Reals
    stamp: Ints


def new_sides(scales: Scales) -> Sides:
    """Return scratch for one thread."""
    count = len(scales.kind)
    return Sides(
        np.zeros((2, count), np.int32),
        np.zeros((2, count), np.int32),
        np.zeros((2, len(scales.loss)), np.int64),
        np.zeros((2, count), np.int64),
        np.zeros((2, count), np.float64),
        np.zeros(1, np.int64),
    )


@numba.njit(cache=True, nogil=True)
def _span_loss(
    kind: int, start: int, low: int, high: int, loss: Reals, parent: Ints, last: Ints
) -> float:
    """Return the loss of a RANGE or TREE cell over the codes low..high, of which low is a value."""
    if kind == RANGE:
        return float(loss[start + high] - loss[start + low])
    node = low
    while last[start + node] < high and parent[start + node] != node:
        node = parent[start + node]
    return float(loss[start + node])


@numba.njit(cache=True, nogil=True)
def _distances(work: Codes, start: int, end: int, row: int, scales: Scales, found: Reals) -> None:
    """Write for each row what it would lose (a row) in a group of just it and the given one."""
    for first in range(start, end, _BLOCK):
        last = min(first + _BLOCK, end)
        _block_distances(work, first, last, row, scales, found[first - start : last - start])


@numba.njit(cache=True, nogil=True)
def _block_distances(
    work: Codes, start: int, end: int, row: int, scales: Scales, found: Reals
) -> None:
    """Do what `_distances` does for rows that stay in the cache, attribute by attribute."""
    loss, parent, last = scales.loss, scales.parent, scales.last
    found[:] = 0.0
    for axis in range(len(scales.kind)):
        kind, null, first = scales.kind[axis], scales.null[axis], scales.start[axis]
        own = work[row, axis]
        if own == null and kind != TREE:
            continue  # a missing value widens nothing
        for i in range(start, end):
            code = work[i, axis]
            if code == own or (code == null and kind != TREE):
                continue
            if kind == SET:
                found[i - start] += loss[first + 2]
            else:
                low, high = min(code, own), max(code, own)
                found[i - start] += _span_loss(kind, first, low, high, loss, parent, last)


@numba.njit(cache=True, nogil=True)
def _some_apart(work: Codes, start: int, end: int, scales: Scales) -> int:
    """Return a row that differs from another where both have a value, or -1 if none does.

    The first row will not do to look for far ones from: it may miss what all others differ in.
    """
    for axis in range(len(scales.kind)):
        kind, null = scales.kind[axis], scales.null[axis]
        seen = -1
        for i in range(start, end):
            code = work[i, axis]
            if code == null and kind != TREE:
                continue
            if seen >= 0 and code != seen:
                return i
            seen = code
    return -1


@numba.njit(cache=True, nogil=True)
def _start(work: Codes, row: int, side: int, scales: Scales, sides: Sides) -> None:
    """Make the side hold one row."""
    for axis in range(len(scales.kind)):
        code = work[row, axis]
        sides.loss[side, axis] = 0.0
        missing = code == scales.null[axis]
        if scales.kind[axis] == SET:
            sides.values[side, axis] = 0 if missing else 1
            if not missing:
                sides.seen[side, scales.start[axis] + code] = sides.stamp[0]
        elif scales.kind[axis] == RANGE and missing:
            sides.low[side, axis], sides.high[side, axis] = 2**31 - 1, -1
        else:
            sides.low[side, axis] = code
            sides.high[side, axis] = code


@numba.njit(cache=True, nogil=True)
def _growth(
    work: Codes, i: int, side: int, scales: Scales, sides: Sides, join: bool
) -> tuple[float, bool]:
    """Return by how much the loss a row of the side grows if row i joins, and if it fits already.

    With `join` it does join.
    """
    kinds, nulls, starts = scales.kind, scales.null, scales.start
    losses, parent, last = scales.loss, scales.parent, scales.last
    lows, highs, side_losses = sides.low, sides.high, sides.loss
    seen, values, stamp = sides.seen, sides.values, sides.stamp
    growth = 0.0
    fits = True
    for axis in range(len(kinds)):
        code = work[i, axis]
        kind = kinds[axis]
        if kind == SET:
            if code == nulls[axis] or seen[side, starts[axis] + code] == stamp[0]:
                continue
            loss = losses[starts[axis] + values[side, axis] + 1]
            if join:
                seen[side, starts[axis] + code] = stamp[0]
                values[side, axis] += 1
        else:
            low, high = lows[side, axis], highs[side, axis]
            if low <= code <= high or (kind == RANGE and code == nulls[axis]):
                continue
            low, high = min(low, code), max(high, code)
            loss = _span_loss(kind, starts[axis], low, high, losses, parent, last)
            if join:
                lows[side, axis], highs[side, axis] = low, high
        fits = False
        growth += loss - side_losses[side, axis]
        if join:
            side_losses[side, axis] = loss
    return growth, fits


@numba.njit(cache=True, nogil=True)
def _clearest_first(lead: Reals) -> Ints:
    """Return the places of all numbers, large ones first.

    Numbers are counted into classes instead of sorted, so that it costs no more than a pass.
    """
    classes = min(_LEAD_CLASSES, len(lead))
    largest = lead.max()
    scale = (classes - 1) / largest if largest > 0.0 else 0.0
    ends = np.zeros(classes + 1, np.int64)
    for j in range(len(lead)):
        ends[classes - int(lead[j] * scale)] += 1
    ends = np.cumsum(ends)
    order = np.empty(len(lead), np.int64)
    for j in range(len(lead)):
        place = classes - 1 - int(lead[j] * scale)
        order[ends[place]] = j
        ends[place] += 1
    return order


@numba.njit(cache=True, nogil=True)
def _deal(
    work: Codes,
    start: int,
    end: int,
    seeds: tuple[int, int],
    lead: Reals,
    scales: Scales,
    side: Bytes,
    sides: Sides,
) -> Ints:
    """Let each row join the side whose loss grows less; return the sizes of the sides.

    Rows come in the order of their `lead`, how much nearer they are to one seed than to the other:
    the clear cases draw the outlines of the sides, the doubtful ones then fit into them.
    """
    sides.stamp[0] += 1
    counts = np.ones(2, np.int64)
    losses = np.zeros(2)
    for s in range(2):
        _start(work, seeds[s], s, scales, sides)
        side[seeds[s]] = s
    order, axes = _clearest_first(lead), len(scales.kind)
    # rows are fetched many at a time: each would be waited for
    near = np.empty((_FETCHED, axes), np.int32)
    for first in range(0, len(order), _FETCHED):
        fetched = min(_FETCHED, len(order) - first)
        for j in range(fetched):
            for axis in range(axes):
                near[j, axis] = work[start + order[first + j], axis]
        for j in range(fetched):
            i = start + order[first + j]
            if i in seeds:
                continue
            growth0, fits0 = _growth(near, j, 0, scales, sides, False)
            growth1, fits1 = _growth(near, j, 1, scales, sides, False)
            # what the loss of all rows of the side would grow by, the newcomer's own included
            cost0 = losses[0] + (counts[0] + 1) * growth0
            cost1 = losses[1] + (counts[1] + 1) * growth1
            chosen = 1 if cost1 < cost0 or (cost1 == cost0 and counts[1] < counts[0]) else 0
            if not (fits1 if chosen == 1 else fits0):
                losses[chosen] += _growth(near, j, chosen, scales, sides, True)[0]
            side[i] = chosen
            counts[chosen] += 1
    better = 0 if losses[0] < losses[1] else 1
    for i in range(start, end):  # who fits into the side that loses less is better off there
        if side[i] == better or i in seeds:
            continue
        if _growth(work, i, better, scales, sides, False)[1]:
            side[i] = better
            counts[better] += 1
            counts[1 - better] -= 1
    return counts


@numba.njit(cache=True, nogil=True)
def _smallest(numbers: Reals, place: int) -> float:
    """Return which of the numbers would stand at a place if they ascended; moves them about.

    (NumPy's own way takes seconds to compile.)
    """
    low, high = 0, len(numbers) - 1
    while low < high:
        middle = numbers[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while numbers[i] < middle:
                i += 1
            while numbers[j] > middle:
                j -= 1
            if i <= j:
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return float(numbers[place])


@numba.njit(cache=True, nogil=True)
def _top_up(
    work: Codes,
    start: int,
    end: int,
    short: int,
    wanted: int,
    scales: Scales,
    side: Bytes,
    sides: Sides,
) -> None:
    """Move to the short side the `wanted` rows that let its loss grow least."""
    count = 0
    for i in range(start, end):
        count += side[i] != short
    rows = np.empty(count, np.int64)
    costs = np.empty(count, np.float64)
    count = 0
    for i in range(start, end):
        if side[i] != short:
            rows[count] = i
            costs[count] = _growth(work, i, short, scales, sides, False)[0]
            count += 1
    most = _smallest(costs.copy(), wanted - 1)
    ties = wanted  # the first of those that cost the most
    for j in range(count):
        ties -= costs[j] < most
    for j in range(count):
        if costs[j] < most:
            side[rows[j]] = short
        elif costs[j] == most and ties > 0:
            side[rows[j]] = short
            ties -= 1


@numba.njit(cache=True, nogil=True)
def halve(
    work: Codes, start: int, end: int, scales: Scales, minimum: int, side: Bytes, sides: Sides
) -> int:
    """Part the rows start..end in two of at least `minimum`; return where, or -1 if not to be."""
    rows = end - start
    if rows < 2 * minimum:
        return -1
    near, far = np.empty(rows), np.empty(rows)
    one = two = _some_apart(work, start, end, scales)
    if one < 0:
        return -1  # all rows are alike
    for _ in range(_SEED_ROUNDS):
        one = two
        _distances(work, start, end, one, scales, near)
        two = start + int(np.argmax(near))
    if one == two:
        return -1  # they differ by too little for a loss
    _distances(work, start, end, two, scales, far)
    lead = near  # whose room serves
    for j in range(rows):
        lead[j] = abs(near[j] - far[j])
    counts = _deal(work, start, end, (one, two), lead, scales, side, sides)
    smallest = max(minimum, int(rows * _SMALLEST_SHARE))
    short = 0 if counts[0] < counts[1] else 1
    if counts[short] < smallest:
        _top_up(work, start, end, short, smallest - counts[short], scales, side, sides)
    return part(work, start, end, side)


@numba.njit(cache=True, nogil=True)
def halve_all(
    work: Codes,
    start: int,
    end: int,
    scales: Scales,
    minimum: int,
    side: Bytes,
    begins: npt.NDArray[np.bool_],
    sides: Sides,
) -> None:
    """Halve start..end as far as it goes; mark in `begins` the row where each group begins."""
    pending = [(start, end)]
    while len(pending) > 0:
        first, last = pending.pop()
        middle = halve(work, first, last, scales, minimum, side, sides)
        if middle < 0:
            begins[first] = True
        else:
            pending.append((first, middle))
            pending.append((middle, last))
