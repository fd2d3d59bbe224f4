"""The loss that cuts of a part would leave, from counts alone.

Of the attribute that is cut, its own counts tell it; of another one, the counts of the two
together: who works few hours may be young, so that a cut on hours narrows the ages as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.rows.axes import RANGE, axes_of
from sfumato.rows.cut_loss import cut_losses, gather_spans, new_losses, node_loss
from sfumato.rows.cuts import count_codes, new_blocks, order_blocks
from sfumato.rows.lanes import LANES
from sfumato.rows.span_losses import span_losses
from sfumato.table import Column
from sfumato.table.whole import Joint

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """The cuts of a part on one column: after each of its blocks but the last.

    `block_of` has the block of every code that occurs, `left` the rows up to each block. `loss` is
    what each cut leaves of the column's loss, added up over rows, and `whole` what it is before.
    """

    column: Column
    block_of: Ints = field(repr=False)
    left: Ints
    loss: Reals
    whole: float


def own_cuts(column: Column, joint: Joint) -> Cuts | None:
    """Return the cuts on a column of which a part has these counts; None if there is none."""
    codes, counts = joint.codes[0], joint.counts
    if len(codes) < 2:
        return None
    # the kernels of Mondrian, on one row a value: blocks and losses do not depend on how many
    axes = axes_of((column,))
    held = new_blocks(axes)
    work = _work([codes])
    count_codes(work, 0, len(work), held)
    blocks = order_blocks(axes, 0, len(work), False, held)
    place = held.block_of[codes]
    sizes = np.bincount(place, counts, blocks).astype(np.int64)
    if axes.kind[0] != RANGE:  # the commonest first, as Mondrian has them
        order = np.argsort(-sizes, kind="stable")
        rank = np.empty(blocks, np.int64)
        rank[order] = np.arange(blocks)
        place, sizes = rank[place], sizes[order]
    block_of = np.zeros(column.null_code + 1, np.int64)
    block_of[codes] = place
    left = np.cumsum(sizes)
    whole = float(left[-1] * node_loss(axes, 0, held))
    loss = _left_by_cuts((column,), [codes], block_of, left)
    return Cuts(column, block_of, left, loss, whole)


def narrowed(cuts: Cuts, others: Iterable[tuple[Cuts, Joint]]) -> Reals:
    """Return by how much each cut lessens the loss of the part, over all columns that are told.

    Each of the others comes with the joint counts of the column that is cut and its own.
    """
    gain = cuts.whole - cuts.loss
    for other, pair in others:
        columns = (cuts.column, other.column)
        both = _left_by_cuts(columns, pair.codes, cuts.block_of, cuts.left)
        gain += other.whole - (both - cuts.loss)
    return np.asarray(gain, np.float64)


def _left_by_cuts(
    columns: tuple[Column, ...], codes: Sequence[Ints], block_of: Ints, left: Ints
) -> Reals:
    """Return the loss over all rows and columns that each cut on the first column leaves."""
    axes, work = axes_of(columns), _work(codes)
    held, losses = new_blocks(axes), new_losses(axes, span_losses(axes))
    active = count_codes(work, 0, len(work), held)
    # the blocks are given: of many values they are drawn by rows, and there are fewer lines here
    blocks = held.blocks[0] = len(left)
    held.block_of[: len(block_of)] = block_of
    held.sizes[:blocks] = np.diff(left, prepend=0)
    rows = int(left[-1])
    losses.low[0], losses.high[0] = 0, blocks - 1
    gather_spans(work, 0, len(work), axes, active, 1, held, losses)
    cut_losses(axes, 0, 0, rows, 0, held, losses)
    sides = left[:-1] * losses.left[: blocks - 1], (rows - left[:-1]) * losses.right[: blocks - 1]
    return np.asarray(sides[0] + sides[1], np.float64)


def _work(codes: Sequence[Ints]) -> npt.NDArray[np.int32]:
    work = np.zeros((len(codes[0]), LANES), np.int32)
    for axis, each in enumerate(codes):
        work[:, axis] = each
    return work
