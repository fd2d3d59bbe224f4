"""LGB whose top-down greedy follows Algorithm 4 of its paper to the letter, to compare with ours.

Rows join, in random order, the side whose loss (summed over its rows) grows less; a node one of
whose sides would have fewer than k rows is not split at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numba
import numpy as np
import numpy.typing as npt

from sfumato.methods import LGB
from sfumato.randomness import Randomness
from sfumato.rows.axes import axes_of
from sfumato.rows.mondrian_kernel import part
from sfumato.rows.scales import Scales, scales_of
from sfumato.rows.top_down_kernel import (
    Sides,
    _distances,
    _growth,
    _some_apart,
    _start,
    new_sides,
)
from sfumato.rows.working import Splitter, WorkingRows, row_order, split_all
from sfumato.table import Column, Groups, Table

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


class LiteralLGB(LGB):
    """LGB that gives a split up where ours tops a short side up."""

    def _partitioner(
        self, table: Table, randomness: Randomness
    ) -> Callable[[Sequence[Column], Groups], Groups]:
        rng = randomness.generator("local groups")

        def partition(columns: Sequence[Column], within: Groups) -> Groups:
            return literal_top_down(table, self.k, columns, within, rng)

        return partition


def literal_top_down(
    table: Table,
    k: int,
    columns: Sequence[Column],
    within: Groups | None,
    rng: np.random.Generator,
) -> Groups:
    """Return groups of at least k rows; one of 2k rows or more may be left whole."""
    working = WorkingRows.of(columns, table, row_order(table.rows, within, rng))
    scales = scales_of(axes_of(tuple(columns)))
    side = np.zeros(table.rows, dtype=np.uint8)

    def split_once(start: int, end: int, sides: Sides) -> int:
        return int(_halve(working.matrix, start, end, scales, k, side, sides))

    def finish(start: int, end: int, sides: Sides) -> None:
        _halve_all(working.matrix, start, end, scales, k, side, working.begins, sides)

    return split_all(working, Splitter(lambda: new_sides(scales), split_once, finish), within)


@numba.njit(cache=True, nogil=True)
def _halve(
    work: Codes, start: int, end: int, scales: Scales, minimum: int, side: Bytes, sides: Sides
) -> int:
    rows = end - start
    if rows < 2 * minimum:
        return -1
    near = np.empty(rows)
    one = two = _some_apart(work, start, end, scales)
    if one < 0:
        return -1
    for _ in range(3):
        one = two
        _distances(work, start, end, one, scales, near)
        two = start + int(np.argmax(near))
    if one == two:
        return -1
    sides.stamp[0] += 1
    _start(work, one, 0, scales, sides)
    _start(work, two, 1, scales, sides)
    counts = np.ones(2, np.int64)
    for i in range(start, end):
        if i in (one, two):
            side[i] = i == two
            continue
        growth0 = _growth(work, i, 0, scales, sides, False)[0]
        growth1 = _growth(work, i, 1, scales, sides, False)[0]
        cost0 = sides.loss[0].sum() + (counts[0] + 1) * growth0
        cost1 = sides.loss[1].sum() + (counts[1] + 1) * growth1
        chosen = 1 if cost1 < cost0 or (cost1 == cost0 and counts[1] < counts[0]) else 0
        side[i] = chosen
        counts[chosen] += 1
        _growth(work, i, chosen, scales, sides, True)
    if counts.min() < minimum:
        return -1
    return part(work, start, end, side)


@numba.njit(cache=True, nogil=True)
def _halve_all(
    work: Codes,
    start: int,
    end: int,
    scales: Scales,
    minimum: int,
    side: Bytes,
    begins: npt.NDArray[np.bool_],
    sides: Sides,
) -> None:
    pending = [(start, end)]
    while len(pending) > 0:
        first, last = pending.pop()
        middle = _halve(work, first, last, scales, minimum, side, sides)
        if middle < 0:
            begins[first] = True
        else:
            pending.append((first, middle))
            pending.append((middle, last))
