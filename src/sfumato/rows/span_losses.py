"""The losses of all cells over spans of codes, looked up: of attributes with few values.

A set of at most two values is the span of both, so it is looked up likewise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.ncp import leaves_loss
from sfumato.rows.axes import RANGE, SET, TREE, Axes

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

WALKED, IS_SET = -1, -2  # attributes that are not looked up

_MOST_CODES = 512  # two megabytes an attribute, of which nodes with narrow spans use little
_SPAN_VALUES = 2  # of a set that is a span


class SpanLosses(NamedTuple):
    """What `span_loss` says, times the attribute's weight, of the codes low to high of attribute a:
    `losses[start[a] + low * (null + 1) + high]`; 0 where low is high.

    `start` is `WALKED` for attributes of many values, and `IS_SET` for sets that are no spans.
    """

    start: Ints
    losses: Reals


def span_losses(axes: Axes) -> SpanLosses:
    """Return the losses of all spans of attributes of few values."""
    is_set = (axes.kind == SET) & (axes.null > _SPAN_VALUES)
    start = np.where(is_set, IS_SET, WALKED).astype(np.int64)
    squares: list[Reals] = []
    filled = 0
    for axis in np.flatnonzero(~is_set & (axes.null < _MOST_CODES)).tolist():
        start[axis] = filled
        squares.append(axes.weight[axis] * _square(axes, axis))
        filled += squares[-1].size
    flat = [square.ravel() for square in squares]
    return SpanLosses(start, np.concatenate([np.zeros(0), *flat]))


def _square(axes: Axes, axis: int) -> Reals:
    """Return the losses of one attribute, by the least code of a span and the largest."""
    kind, values, extent = axes.kind[axis], int(axes.null[axis]), axes.extent[axis]
    square = np.zeros((values + 1, values + 1))
    if values == 0:
        return square
    if kind == TREE:
        _fill_nodes(axes, axis, square)
    elif kind == RANGE:
        points = axes.points[axes.code_start[axis] :][:values]
        width = points - points[:, np.newaxis]
        np.divide(width, extent, out=square[:values, :values], where=width > 0)
    elif values == _SPAN_VALUES:
        square[0, 1] = _leaves_loss(values, axes, axis)
    return np.triu(square, 1)


def _fill_nodes(axes: Axes, axis: int, square: Reals) -> None:
    """Fill in the losses of the lowest nodes over all spans; a missing value is below the root."""
    begin = int(axes.node_start[axis])
    values = int(axes.null[axis])
    first: dict[int, int] = {}
    for code in range(values):  # a loop over values: few
        node = code
        while node not in first:
            first[node] = code  # codes come in their order
            node = int(axes.parent[begin + node])
    # a node comes after those above it, which have its codes and others, or its leaves and others
    leaves, last = axes.leaves[begin:], axes.last[begin:]
    for node in sorted(first, key=lambda n: (last[n] - first[n], leaves[n], n), reverse=True):
        codes = slice(first[node], int(last[node]) + 1)
        square[codes, codes] = _leaves_loss(int(leaves[node]), axes, axis)
    square[:, values] = _leaves_loss(int(leaves[max(first)]), axes, axis)  # the root's


def _leaves_loss(leaves: int, axes: Axes, axis: int) -> float:
    extent: Any = float(axes.extent[axis])  # the kernel takes either number
    return float(leaves_loss(leaves, extent))
