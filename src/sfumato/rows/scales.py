"""What cells of an attribute lose, as the top-down greedy looks it up."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.ncp import leaves_loss, range_loss
from sfumato.rows.axes import RANGE, SET, Axes

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class Scales(NamedTuple):
    """What an attribute's cells lose, laid out for speed: losses are looked up, not worked out.

    From `start[a]` on, `loss` has for a RANGE the positions of its values in units of its range
    (a cell loses the difference of its ends), for a TREE the loss of each node, and for a SET the
    loss of so many values. `parent` and `last` are those of tree nodes at the same places.
    """

    kind: Ints
    null: Ints
    start: Ints
    loss: Reals
    parent: Ints
    last: Ints


def scales_of(axes: Axes) -> Scales:
    """Return the scales of the axes."""
    starts, losses, parents, lasts = [0], [], [], []
    for axis, kind in enumerate(axes.kind):
        extent = float(axes.extent[axis])
        size = int(axes.null[axis])
        parent = last = np.zeros(size, np.int64)
        if kind == RANGE:
            loss = _positions(axes.points[axes.code_start[axis] :][:size], extent)
        elif kind == SET:
            loss = _leaves_losses(np.arange(size + 1), int(extent))
            parent = last = np.zeros(size + 1, np.int64)
        else:
            end = axes.node_start[axis + 1] if axis + 1 < len(axes.kind) else len(axes.parent)
            nodes = slice(axes.node_start[axis], end)
            loss = _leaves_losses(axes.leaves[nodes], int(extent))
            parent, last = axes.parent[nodes], axes.last[nodes]
        losses.append(loss)
        parents.append(parent)
        lasts.append(last)
        starts.append(starts[-1] + len(loss))
    return Scales(
        axes.kind,
        axes.null,
        np.array(starts[:-1], np.int64),
        np.concatenate([np.zeros(0), *losses]),
        np.concatenate([np.zeros(0, np.int64), *parents]),
        np.concatenate([np.zeros(0, np.int64), *lasts]),
    )


@numba.njit(cache=True, nogil=True)
def _positions(points: Reals, extent: float) -> Reals:
    found = np.empty(len(points))
    for j in range(len(points)):
        found[j] = range_loss(points[0], points[j], extent)
    return found


@numba.njit(cache=True, nogil=True)
def _leaves_losses(counts: Ints, size: int) -> Reals:
    found = np.empty(len(counts))
    for j in range(len(counts)):
        found[j] = leaves_loss(counts[j], size)
    return found
