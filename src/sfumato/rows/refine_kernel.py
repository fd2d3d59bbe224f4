"""Rounds within each group, and if asked over what neighbouring groups have left."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.rows.bucket_rounds import new_rounds, take_rounds

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class Residues(NamedTuple):
    """Rows that are left over, by value: lists through `before`, the latest first."""

    latest: Ints  # by value, -1 where there is none
    before: Ints  # by row
    counts: Ints  # by value
    values: Codes  # those that have a row
    length: Ints  # of `values`, one number


def new_residues(values: int, rows: int) -> Residues:
    """Return an empty store."""
    return Residues(
        np.full(values, -1, np.int64),
        np.empty(rows, np.int64),
        np.zeros(values, np.int64),
        np.empty(values, np.int32),
        np.zeros(1, np.int64),
    )


@numba.njit(cache=True, nogil=True)
def refine_groups(
    codes: Codes,
    offsets: Ints,
    l: int,  # noqa: E741
    pool: bool,
    rng: np.random.Generator,
    residues: Residues,
) -> tuple[Codes, int]:
    """Return each row's block and the number of blocks.

    With `pool`, what groups have left over goes into further blocks of neighbouring groups first.

    Rows are sorted by group, and by code within a group, in random order within a code;
    `offsets[g]` is where group g starts. No code has more than 1/l of a group.
    """
    block_of = np.full(len(codes), -1, np.int32)
    groups = len(offsets) - 1
    first_block = np.empty(groups, np.int64)  # of those made of rows of one group
    last_block = np.empty(groups, np.int64)
    blocks = 0
    most = 0
    for group in range(groups):
        most = max(most, offsets[group + 1] - offsets[group])
    first_rows, lengths = np.empty(most, np.int64), np.empty(most, np.int64)
    room = new_rounds(most, most, most)
    rounds = room.round_of
    for group in range(groups):
        runs = _runs(codes, offsets[group], offsets[group + 1], first_rows, lengths)
        # in random order: of equally common values, those that are left must not always be the same
        _shuffle(first_rows, lengths, runs, rng)
        made = take_rounds(lengths, runs, l, room)
        first_block[group], last_block[group] = blocks, blocks + made
        item = 0
        for run in range(runs):
            for row in range(first_rows[run], first_rows[run] + lengths[run]):
                if rounds[item] >= 0:
                    block_of[row] = blocks + rounds[item]
                elif pool:
                    _leave(residues, codes[row], row)
                item += 1
        blocks += made
        while residues.length[0] >= l:
            _take_round(residues, l, block_of, blocks)
            blocks += 1
    _place_the_rest(codes, offsets, rng, first_block, last_block, block_of)
    return block_of, blocks


@loop
def _runs(codes: Codes, start: int, end: int, first_rows: Ints, lengths: Ints) -> int:
    """Return the number of runs of equal codes, leaving where they start, and how long they are."""
    runs = 0
    for row in range(start, end):
        if row == start or codes[row] != codes[row - 1]:
            first_rows[runs] = row
            lengths[runs] = 0
            runs += 1
        lengths[runs - 1] += 1
    return runs


@numba.njit(cache=True, nogil=True)
def _shuffle(first_rows: Ints, lengths: Ints, runs: int, rng: np.random.Generator) -> None:
    for last in range(runs - 1, 0, -1):
        other = rng.integers(0, last + 1)
        first_rows[last], first_rows[other] = first_rows[other], first_rows[last]
        lengths[last], lengths[other] = lengths[other], lengths[last]


@loop
def largest_runs(codes: Codes, offsets: Ints, largest: Ints) -> None:
    """Leave for each group the length of its longest run of equal codes."""
    for group in range(len(offsets) - 1):
        most = length = 0
        for row in range(offsets[group], offsets[group + 1]):
            length = length + 1 if row > offsets[group] and codes[row] == codes[row - 1] else 1
            most = max(most, length)
        largest[group] = most


@numba.njit(cache=True, nogil=True)
def _leave(residues: Residues, value: int, row: int) -> None:
    if residues.counts[value] == 0:
        residues.values[residues.length[0]] = value
        residues.length[0] += 1
    residues.before[row] = residues.latest[value]
    residues.latest[value] = row
    residues.counts[value] += 1


@numba.njit(cache=True, nogil=True)
def _take_round(residues: Residues, l: int, block_of: Codes, block: int) -> None:  # noqa: E741
    """Put the latest row of each of the l commonest values that are left into a block.

    Fewer than 2l values are ever left, so that the commonest are found by plain comparison.
    """
    values, length = residues.values, residues.length[0]
    for place in range(l):
        best = place
        for other in range(place + 1, length):
            more = residues.counts[values[other]] - residues.counts[values[best]]
            # of equally common ones those left last, whose groups lie nearest
            if more > 0 or (
                more == 0 and residues.latest[values[other]] > residues.latest[values[best]]
            ):
                best = other
        values[place], values[best] = values[best], values[place]
    for place in range(l):
        value = values[place]
        row = residues.latest[value]
        block_of[row] = block
        residues.latest[value] = residues.before[row]
        residues.counts[value] -= 1
    kept = 0
    for place in range(length):
        if residues.counts[values[place]] > 0:
            values[kept] = values[place]
            kept += 1
    residues.length[0] = kept


@numba.njit(cache=True, nogil=True)
def _place_the_rest(
    codes: Codes,
    offsets: Ints,
    rng: np.random.Generator,
    first_block: Ints,
    last_block: Ints,
    block_of: Codes,
) -> None:
    """Put each row that is left into a random block of its own group that lacks its value.

    There is one: a group has as many blocks of its own as its rows divided by l, rounded down, and
    at most as many rows of a value, of which one is left.
    """
    taken = np.zeros(1, np.bool_)
    for group in range(len(offsets) - 1):
        blocks = last_block[group] - first_block[group]
        for row in range(offsets[group], offsets[group + 1]):
            if block_of[row] >= 0:
                continue
            if len(taken) < blocks:
                taken = np.zeros(blocks, np.bool_)
            taken[:blocks] = False
            free = blocks
            for other in _rows_alike(codes, offsets, group, row):
                block = block_of[other] - first_block[group]
                if 0 <= block < blocks and not taken[block]:
                    taken[block] = True
                    free -= 1
            choice = rng.integers(0, free)
            for block in range(blocks):
                if not taken[block]:
                    if choice == 0:
                        block_of[row] = first_block[group] + block
                        break
                    choice -= 1


@numba.njit(cache=True, nogil=True)
def _rows_alike(codes: Codes, offsets: Ints, group: int, row: int) -> range:
    """Return the rows of a group with the value of a row, but for it: they lie around it."""
    first = row
    while first > offsets[group] and codes[first - 1] == codes[row]:
        first -= 1
    last = row
    while last + 1 < offsets[group + 1] and codes[last + 1] == codes[row]:
        last += 1
    return range(first, last + 1)
