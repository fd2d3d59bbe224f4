"""One node of the top-down greedy: two far seeds, each row to the side whose loss grows less."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.ncp import leaves_loss
from sfumato.rows.axes import RANGE, SET, TREE, Axes, span_loss
from sfumato.rows.mondrian_kernel import part

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_SEED_ROUNDS = 3
# A side gets at least this share of the rows, so that the depth stays logarithmic.
_SMALLEST_SHARE = 1 / 32
_LEAD_CLASSES = 256


class Sides(NamedTuple):
    """The two sides in the making: spans by side and attribute, values seen by side, losses."""

    low: Codes
    high: Codes
    seen: Ints
    values: Ints
    set_start: Ints
    loss: Reals
    stamp: Ints


@numba.njit(cache=True, nogil=True)
def new_sides(axes: Axes) -> Sides:
    """Return scratch for one thread."""
    count = len(axes.kind)
    set_start = np.zeros(count, np.int64)
    values = 0
    for axis in range(count):
        set_start[axis] = values
        if axes.kind[axis] == SET:
            values += axes.null[axis] + 1
    return Sides(
        np.zeros((2, count), np.int32),
        np.zeros((2, count), np.int32),
        np.zeros((2, values), np.int64),
        np.zeros((2, count), np.int64),
        set_start,
        np.zeros((2, count), np.float64),
        np.zeros(1, np.int64),
    )


@numba.njit(cache=True, nogil=True)
def _pair_loss(work: Codes, one: int, two: int, axes: Axes) -> float:
    """Return the loss a row of a group of just two rows."""
    total = 0.0
    for axis in range(len(axes.kind)):
        a, b = work[one, axis], work[two, axis]
        if a == b:
            continue
        null = axes.null[axis]
        if axes.kind[axis] == SET:
            if a != null and b != null:
                total += leaves_loss(2, int(axes.extent[axis]))
        elif axes.kind[axis] != RANGE or (a != null and b != null):
            total += span_loss(axes, axis, min(a, b), max(a, b))
    return total


@numba.njit(cache=True, nogil=True)
def _start(work: Codes, row: int, side: int, axes: Axes, sides: Sides) -> None:
    """Make the side hold one row."""
    for axis in range(len(axes.kind)):
        code = work[row, axis]
        sides.loss[side, axis] = 0.0
        missing = code == axes.null[axis]
        if axes.kind[axis] == SET:
            sides.values[side, axis] = 0 if missing else 1
            if not missing:
                sides.seen[side, sides.set_start[axis] + code] = sides.stamp[0]
        elif axes.kind[axis] == RANGE and missing:
            sides.low[side, axis], sides.high[side, axis] = 2**31 - 1, -1
        else:
            sides.low[side, axis] = code
            sides.high[side, axis] = code


@numba.njit(cache=True, nogil=True)
def _growth(work: Codes, row: int, side: int, axes: Axes, sides: Sides) -> float:
    """Return by how much the loss a row of the side would grow if the row joined."""
    growth = 0.0
    for axis in range(len(axes.kind)):
        code = work[row, axis]
        if axes.kind[axis] == SET:
            if (
                code != axes.null[axis]
                and sides.seen[side, sides.set_start[axis] + code] != sides.stamp[0]
            ):
                growth += (
                    leaves_loss(sides.values[side, axis] + 1, int(axes.extent[axis]))
                    - sides.loss[side, axis]
                )
        elif not (axes.kind[axis] == RANGE and code == axes.null[axis]):
            low, high = sides.low[side, axis], sides.high[side, axis]
            if code < low or code > high:
                growth += (
                    span_loss(axes, axis, min(low, code), max(high, code)) - sides.loss[side, axis]
                )
    return growth


@numba.njit(cache=True, nogil=True)
def _join(work: Codes, row: int, side: int, axes: Axes, sides: Sides) -> None:
    """Let the row join the side."""
    for axis in range(len(axes.kind)):
        code = work[row, axis]
        if axes.kind[axis] == SET:
            value = sides.set_start[axis] + code
            if code != axes.null[axis] and sides.seen[side, value] != sides.stamp[0]:
                sides.seen[side, value] = sides.stamp[0]
                sides.values[side, axis] += 1
                sides.loss[side, axis] = leaves_loss(
                    sides.values[side, axis], int(axes.extent[axis])
                )
        elif not (axes.kind[axis] == RANGE and code == axes.null[axis]):
            low, high = sides.low[side, axis], sides.high[side, axis]
            if code < low or code > high:
                sides.low[side, axis] = min(low, code)
                sides.high[side, axis] = max(high, code)
                sides.loss[side, axis] = span_loss(
                    axes, axis, sides.low[side, axis], sides.high[side, axis]
                )


@numba.njit(cache=True, nogil=True)
def _farthest(work: Codes, start: int, end: int, row: int, axes: Axes) -> int:
    """Return the row that loses most together with the given one (itself if all are alike)."""
    best, best_loss = row, 0.0
    for i in range(start, end):
        loss = _pair_loss(work, row, i, axes)
        if loss > best_loss:
            best, best_loss = i, loss
    return best


@numba.njit(cache=True, nogil=True)
def _clearest_first(
    work: Codes, start: int, end: int, one: int, two: int, axes: Axes
) -> npt.NDArray[np.int64]:
    """Return the rows ordered by how much nearer they are to one seed than to the other.

    The clear cases draw the outlines of the sides; the doubtful ones then fit into them. Rows are
    counted into classes instead of sorted, so the order costs no more than a pass.
    """
    rows = end - start
    lead = np.empty(rows, np.float64)
    for i in range(start, end):
        lead[i - start] = abs(_pair_loss(work, one, i, axes) - _pair_loss(work, two, i, axes))
    classes = min(_LEAD_CLASSES, rows)
    scale = (classes - 1) / lead.max() if lead.max() > 0.0 else 0.0
    ends = np.zeros(classes + 1, np.int64)
    for j in range(rows):
        ends[classes - int(lead[j] * scale)] += 1
    ends = np.cumsum(ends)
    order = np.empty(rows, np.int64)
    for j in range(rows):
        place = classes - 1 - int(lead[j] * scale)
        order[ends[place]] = start + j
        ends[place] += 1
    return order


@numba.njit(cache=True, nogil=True)
def _deal(
    work: Codes,
    start: int,
    end: int,
    seeds: tuple[int, int],
    axes: Axes,
    side: Bytes,
    sides: Sides,
) -> Ints:
    """Let each row join the side whose loss grows less; return the sizes of the sides."""
    sides.stamp[0] += 1
    counts = np.ones(2, np.int64)
    losses = np.zeros(2)
    for s in range(2):
        _start(work, seeds[s], s, axes, sides)
        side[seeds[s]] = s
    for i in _clearest_first(work, start, end, seeds[0], seeds[1], axes):
        if i in seeds:
            continue
        growth0 = _growth(work, i, 0, axes, sides)
        growth1 = _growth(work, i, 1, axes, sides)
        # what the loss of all rows of the side would grow by, the newcomer's own included
        cost0 = losses[0] + (counts[0] + 1) * growth0
        cost1 = losses[1] + (counts[1] + 1) * growth1
        chosen = 1 if cost1 < cost0 or (cost1 == cost0 and counts[1] < counts[0]) else 0
        growth = growth1 if chosen == 1 else growth0
        side[i] = chosen
        counts[chosen] += 1
        losses[chosen] += growth
        if growth > 0.0:
            _join(work, i, chosen, axes, sides)
    better = 0 if losses[0] < losses[1] else 1
    for i in range(start, end):  # who fits into the side that loses less is better off there
        if side[i] != better and i not in seeds and _growth(work, i, better, axes, sides) == 0.0:
            side[i] = better
            counts[better] += 1
            counts[1 - better] -= 1
    return counts


@numba.njit(cache=True, nogil=True)
def _top_up(
    work: Codes,
    start: int,
    end: int,
    short: int,
    wanted: int,
    axes: Axes,
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
            costs[count] = _growth(work, i, short, axes, sides)
            count += 1
    order = np.argsort(costs, kind="mergesort")
    for j in range(wanted):
        side[rows[order[j]]] = short


@numba.njit(cache=True, nogil=True)
def halve(
    work: Codes, start: int, end: int, axes: Axes, minimum: int, side: Bytes, sides: Sides
) -> int:
    """Part the rows start..end in two of at least `minimum`; return where, or -1 if not to be."""
    rows = end - start
    if rows < 2 * minimum:
        return -1
    one = start
    two = _farthest(work, start, end, one, axes)
    for _ in range(_SEED_ROUNDS - 1):
        one, two = two, _farthest(work, start, end, two, axes)
    if one == two:
        return -1  # all rows are alike
    counts = _deal(work, start, end, (one, two), axes, side, sides)
    smallest = max(minimum, int(rows * _SMALLEST_SHARE))
    short = 0 if counts[0] < counts[1] else 1
    if counts[short] < smallest:
        _top_up(work, start, end, short, smallest - counts[short], axes, side, sides)
    return part(work, start, end, side)


@numba.njit(cache=True, nogil=True)
def halve_all(
    work: Codes,
    start: int,
    end: int,
    axes: Axes,
    minimum: int,
    side: Bytes,
    begins: npt.NDArray[np.bool_],
    sides: Sides,
) -> None:
    """Halve start..end as far as it goes; mark in `begins` the row where each group begins."""
    pending = [(start, end)]
    while len(pending) > 0:
        first, last = pending.pop()
        middle = halve(work, first, last, axes, minimum, side, sides)
        if middle < 0:
            begins[first] = True
        else:
            pending.append((first, middle))
            pending.append((middle, last))
