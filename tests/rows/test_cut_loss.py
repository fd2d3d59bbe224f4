"""The losses of all cuts of a node, against those of each side, cell by cell."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from arbitrary.coded import samples
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.rows.axes import RANGE, SET, TREE, axes_of, axis_kind
from sfumato.rows.cut_loss import (
    MANY_ROWS,
    MOST_SINGLES,
    cut_losses,
    cut_range,
    gather_spans,
    new_losses,
    node_loss,
)
from sfumato.rows.cuts import count_codes, new_blocks, order_blocks
from sfumato.rows.lanes import (
    LANES,
    SPAN,
    mark,
    nothing,
    span_type,
    spread,
    swap,
    unite,
    words,
)
from sfumato.rows.span_losses import span_losses
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
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_the_losses_of_all_cuts_are_those_of_their_sides(
    sample, times, least, wide, by_frequency, many
):
    columns = tuple(sample.table.quasi_identifiers) * times  # up to twenty attributes
    again = -(-MANY_ROWS // sample.table.rows) if many else 1  # then spans are kept in copies
    rows = sample.table.rows * again
    work = np.zeros((rows, LANES * words(len(columns))), np.int32)
    for a, column in enumerate(columns):
        work[:, a] = np.tile(column.codes, again)
    axes = axes_of(columns)
    blocks, losses = new_blocks(axes), new_losses(axes, span_losses(axes))
    if wide:  # numbers of 32 bits, as for attributes of very many values
        losses = losses._replace(
            **{
                name: array.astype(np.int32)
                for name, array in losses._asdict().items()
                if array.dtype == np.int16
            }
        )
    active = count_codes(work, 0, rows, blocks)
    differing = [a for a in range(len(columns)) if len(set(work[:, a].tolist())) > 1]
    assert blocks.active[:active].tolist() == differing
    cut_on = []
    for axis in differing:
        order_blocks(axes, axis, rows, by_frequency, blocks)
        place = blocks.block_of[blocks.first[axis] + work[:, axis]]
        count = int(blocks.blocks[axis])
        singles = min(count, MOST_SINGLES) if axes.kind[axis] == TREE else 0
        sides = [sum(place <= cut) for cut in range(count - 1)]
        sides += [sum(place == block) for block in range(1, singles)]
        may = any(least <= side <= rows - least for side in sides)
        sizes = blocks.sizes[blocks.first[axis] :]
        low, high = cut_range(sizes, count, singles, rows, least)
        assert (low <= high) == may
        if may:
            slot = len(cut_on)
            losses.cut_on[slot], losses.low[slot], losses.high[slot] = axis, low, high
            cut_on.append((axis, place, count, singles))
    gather_spans(work, 0, rows, axes, active, len(cut_on), blocks, losses)
    for slot, (axis, place, count, singles) in enumerate(cut_on):
        cut_losses(axes, slot, singles, rows, least, blocks, losses)
        for cut in range(count - 1):
            if least <= sum(place <= cut) <= rows - least:
                assert losses.left[cut] == pytest.approx(row_loss(columns, work, place <= cut))
                assert losses.right[cut] == pytest.approx(row_loss(columns, work, place > cut))
        for block in range(1, singles):
            if least <= sum(place == block) <= rows - least:
                assert losses.alone[block] == pytest.approx(row_loss(columns, work, place == block))
                assert losses.rest[block] == pytest.approx(row_loss(columns, work, place != block))
        own = cell_loss(columns[axis], work[:, axis].tolist())
        assert node_loss(axes, axis, blocks) == pytest.approx(own)
    assert not blocks.counts.any()


@numba.njit
def lane_steps(spans, own, rows, missing, others, bits):
    for row in range(len(rows) // LANES):
        spread(own, 0, rows, row * LANES, missing, 0)
        unite(spans, SPAN, spans, SPAN, own, 0)
        mark(bits, LANES, rows, row * LANES)
    unite(others, 0, others, 0, spans, SPAN)


@pytest.mark.parametrize("number", [np.int16, np.int32])
@given(rows=st.lists(st.lists(st.integers(0, 40), min_size=LANES, max_size=LANES), max_size=5))
def test_lanes_hold_the_least_and_largest_codes_and_bits(number, rows):
    missing = np.arange(0, 2 * LANES, 2, dtype=np.int32)  # of each lane another code
    empty = nothing(number)
    spans, own, others = (np.full(size, empty, number) for size in (3 * SPAN, SPAN, SPAN))
    bits = np.zeros(3 * LANES, number)
    lane_steps(spans, own, np.array(rows, np.int32).ravel(), missing, others, bits)
    for lane in range(LANES):
        codes = [row[lane] for row in rows]
        assert ~spans[SPAN + lane] == min(codes, default=~empty)
        known = [code for code in codes if code != missing[lane]]
        assert spans[SPAN + LANES + lane] == max(known, default=empty)
        held = {code for code in range(16) if bits[LANES + lane] >> code & 1}
        assert held == {code for code in codes if code < 16}
    assert (others == spans[SPAN : 2 * SPAN]).all()
    assert (spans[:SPAN] == empty).all() and (spans[2 * SPAN :] == empty).all()
    assert not bits[:LANES].any() and not bits[2 * LANES :].any()


@pytest.mark.parametrize("largest", [0, 32_766, 32_767, 1_000_000])
def test_spans_hold_the_largest_code(largest):
    number = span_type(largest)
    missing = np.full(LANES, -2, np.int32)
    codes = np.array([largest, 0] * (LANES // 2), np.int32)
    spans, own, others = (np.full(size, nothing(number), number) for size in (3 * SPAN, SPAN, SPAN))
    lane_steps(spans, own, codes, missing, others, np.zeros(3 * LANES, number))
    assert (~others[:LANES] == codes).all() and (others[LANES:] == codes).all()


@numba.njit
def swap_lanes(codes, one, other):
    swap(codes, one, other)


def test_lanes_change_places_and_nothing_else_does():
    codes = np.arange(3 * LANES + 1, dtype=np.int32)
    swap_lanes(codes, 0, 2 * LANES + 1)
    kept = [*range(2 * LANES + 1, 3 * LANES + 1), *range(LANES, 2 * LANES + 1), *range(LANES)]
    assert codes.tolist() == kept
