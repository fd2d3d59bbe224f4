"""The quasi-identifiers of a table as flat arrays that compiled partitioners can walk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.measures.ncp import leaves_loss, range_loss
from sfumato.schema.attribute import Kind
from sfumato.table.column import Column

RANGE = 0  # numeric or ordinal: generalises to a closed interval
SET = 1  # categorical without a hierarchy: generalises to a set of values
TREE = 2  # under a hierarchy: generalises to the lowest common ancestor

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_NO_NODES = np.zeros(0, dtype=np.int64)


class Axes(NamedTuple):
    """One entry an attribute; arrays over codes and tree nodes are laid end to end.

    `kind` is RANGE, SET or TREE; `null` the code of a missing value; `extent` the range or the
    domain size that losses are relative to; `weight` how much they count. Codes of attribute a
    start at `code_start[a]` in `points` (positions of RANGE values), its nodes at `node_start[a]`
    in the node arrays.
    """

    kind: Ints
    null: Ints
    extent: Reals
    weight: Reals
    code_start: Ints
    points: Reals
    node_start: Ints
    parent: Ints
    last: Ints
    leaves: Ints


def axis_kind(column: Column) -> int:
    """Return how the column generalises."""
    if column.tree is not None:
        return TREE
    return SET if column.kind is Kind.CATEGORICAL else RANGE


def axes_of(columns: tuple[Column, ...]) -> Axes:
    """Return the axes of the columns, in their order."""
    kinds, nulls, extents = [], [], []
    points: list[Reals] = []
    parent: list[Ints] = []
    last: list[Ints] = []
    leaves: list[Ints] = []
    for column in columns:
        kind = axis_kind(column)
        kinds.append(kind)
        nulls.append(column.null_code)
        own = column.points if kind == RANGE else np.zeros(0)
        points.append(own)
        tree = column.tree
        if tree is None:
            extents.append(float(np.ptp(own)) if len(own) else 0.0)
            if kind == SET:
                extents[-1] = float(column.cardinality)
        else:
            extents.append(float(tree.domain_size))
            parent.append(np.asarray(tree.parent, dtype=np.int64))
            last.append(np.asarray(tree.last, dtype=np.int64))
            leaves.append(np.asarray(tree.leaves, dtype=np.int64))
    nodes = [0 if column.tree is None else len(column.tree.parent) for column in columns]
    return Axes(
        np.array(kinds, dtype=np.int64),
        np.array(nulls, dtype=np.int64),
        np.array(extents, dtype=np.float64),
        np.array([column.attribute.loss_weight for column in columns], dtype=np.float64),
        _starts([len(each) for each in points]),
        np.concatenate([np.zeros(0), *points]),
        _starts(nodes),
        np.concatenate([_NO_NODES, *parent]),
        np.concatenate([_NO_NODES, *last]),
        np.concatenate([_NO_NODES, *leaves]),
    )


def _starts(lengths: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)


@loop
def common_ancestor(axes: Axes, axis: int, low: int, high: int) -> int:
    """Return the lowest node (numbered within the axis) over the codes low..high.

    A missing value is a child of the root, so a range that reaches it has the root.
    """
    start = axes.node_start[axis]
    node = low
    if low == axes.null[axis]:
        return -1  # missing alone: no node
    while axes.last[start + node] < high:
        above = axes.parent[start + node]
        if above == node:
            break
        node = above
    return node


@loop
def span_loss(axes: Axes, axis: int, low: int, high: int) -> float:
    """Return the NCP of a RANGE or TREE cell over the codes low..high (0 when empty)."""
    if low >= high:
        return 0.0
    if axes.kind[axis] == RANGE:
        start = axes.code_start[axis]
        return range_loss(axes.points[start + low], axes.points[start + high], axes.extent[axis])
    node = common_ancestor(axes, axis, low, high)
    return leaves_loss(axes.leaves[axes.node_start[axis] + node], axes.extent[axis])
