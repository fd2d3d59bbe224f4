"""The losses of all cuts of a node, against those of each side, cell by cell."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from arbitrary.coded import samples
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.rows.axes import RANGE, SET, TREE, axes_of, axis_kind
from sfumato.rows.cut_loss import MOST_SINGLES, cut_losses, gather_spans, new_losses, node_loss
from sfumato.rows.cuts import count_codes, new_blocks, order_blocks
from sfumato.rows.lanes import LANES, SPAN, mark, take_in, unite, words
from sfumato.table import Column


def cell_loss(column: Column, codes: list[int]) -> float:
    """Return the NCP of the cell that holds these codes, by definition."""
    values = {code for code in codes if code != column.null_code}
    if len(values) + (column.null_code in codes) < 2 or not values:
        return 0.0
    if axis_kind(column) == RANGE:
        points = [column.points[code] for code in values]
        return (max(points) - min(points)) / np.ptp(column.points) if len(values) > 1 else 0.0
    if axis_kind(column) == SET:
        return len(values) / column.cardinality if len(values) > 1 else 0.0
    if len(values) == 1 and column.null_code not in codes:
        return 0.0
    parent, leaves = column.tree.parent, column.tree.leaves
    above = [set(ancestors(parent, code)) for code in values]
    common = set.intersection(*above)
    if column.null_code in codes:  # a missing value is a child of the root
        common = {node for node in common if parent[node] == node}
    return min(leaves[node] for node in common) / column.tree.domain_size


def ancestors(parent, node: int) -> list[int]:
    above = [node]
    while parent[above[-1]] != above[-1]:
        above.append(int(parent[above[-1]]))
    return above


def row_loss(columns, work, rows) -> float:
    return sum(cell_loss(c, work[rows, a].tolist()) for a, c in enumerate(columns))


@settings(max_examples=150)
@given(
    samples(quasi=("age", "size", "job", "place"), people=False),
    st.integers(1, 5),
    st.booleans(),
)
def test_the_losses_of_all_cuts_are_those_of_their_sides(sample, times, by_frequency):
    columns = tuple(sample.table.quasi_identifiers) * times  # up to twenty attributes
    rows = sample.table.rows
    work = np.zeros((rows, LANES * words(len(columns))), np.int32)
    for a, column in enumerate(columns):
        work[:, a] = column.codes
    axes = axes_of(columns)
    blocks, losses = new_blocks(axes), new_losses(axes)
    active = count_codes(work, 0, rows, blocks)
    differing = [a for a in range(len(columns)) if len(set(work[:, a].tolist())) > 1]
    assert blocks.active[:active].tolist() == differing
    for slot, axis in enumerate(differing):
        order_blocks(axes, axis, rows, by_frequency, blocks)
        losses.cut_on[slot] = axis
    gather_spans(work, 0, rows, axes, active, active, blocks, losses)
    for slot, axis in enumerate(differing):
        place = blocks.block_of[blocks.first[axis] + work[:, axis]]
        count = int(blocks.blocks[axis])
        singles = min(count, MOST_SINGLES) if axes.kind[axis] == TREE else 0
        cut_losses(axes, slot, singles, rows, 1, blocks, losses)
        for cut in range(count - 1):
            assert losses.left[cut] == pytest.approx(row_loss(columns, work, place <= cut))
            assert losses.right[cut] == pytest.approx(row_loss(columns, work, place > cut))
        for block in range(1, singles):
            assert losses.alone[block] == pytest.approx(row_loss(columns, work, place == block))
            assert losses.rest[block] == pytest.approx(row_loss(columns, work, place != block))
        own = cell_loss(columns[axis], work[:, axis].tolist())
        assert node_loss(axes, axis, blocks) == pytest.approx(own)
    assert not blocks.counts.any()


@numba.njit
def lane_steps(spans, rows, missing, others, bits):
    for row in range(len(rows) // LANES):
        take_in(spans, SPAN, rows, row * LANES, missing, 0)
        mark(bits, LANES, rows, row * LANES)
    unite(others, 0, spans, SPAN)


@given(st.lists(st.lists(st.integers(0, 40), min_size=LANES, max_size=LANES), max_size=5))
def test_lanes_hold_the_least_and_largest_codes_and_bits(rows):
    missing = np.arange(0, 2 * LANES, 2, dtype=np.int32)  # of each lane another code
    spans, others = np.full(3 * SPAN, -1, np.int32), np.full(SPAN, -1, np.int32)
    bits = np.zeros(3 * LANES, np.int32)
    lane_steps(spans, np.array(rows, np.int32).ravel(), missing, others, bits)
    for lane in range(LANES):
        codes = [row[lane] for row in rows]
        assert spans[SPAN + lane] == min(codes, default=-1)
        known = [code for code in codes if code != missing[lane]]
        assert spans[SPAN + LANES + lane] == max(known, default=-1)
        held = {code for code in range(32) if bits[LANES + lane] >> code & 1}
        assert held == {code for code in codes if code < 32}
    assert (others == spans[SPAN : 2 * SPAN]).all()
    assert (spans[:SPAN] == -1).all() and (spans[2 * SPAN :] == -1).all()
    assert not bits[:LANES].any() and not bits[2 * LANES :].any()
