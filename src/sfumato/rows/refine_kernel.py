"""Rounds within each group, and if asked over what neighbouring groups have left."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.rows.bucket_rounds import Rounds, new_rounds, take_rounds
from sfumato.rows.words import Words, WordSource, below

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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


class _Made(NamedTuple):
    """What comes of groups: each row's block, and the blocks that have rows of one group alone."""

    block_of: Codes
    first: Ints  # by group: the first of its blocks, and where they end
    last: Ints
    blocks: Ints  # how many there are, one number


class _Room(NamedTuple):
    """Scratch for the runs of a group, and for the blocks that a row cannot join."""

    first_rows: Ints
    lengths: Ints
    rounds: Rounds
    taken: Bools


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
    groups, most = len(offsets) - 1, int(np.diff(offsets).max(initial=0))
    made = _Made(
        np.full(len(codes), -1, np.int32),
        np.empty(groups, np.int64),
        np.empty(groups, np.int64),
        np.zeros(1, np.int64),
    )
    room = _Room(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        new_rounds(most, most, most),
        np.zeros(most, np.bool_),
    )
    source = WordSource(rng)
    how = l, pool, residues, made, room
    rest = made, room.taken

    def take_rounds_from(group: int, words: Words) -> int:
        return int(_take_rounds(codes, offsets, group, words, *how))

    def place_the_rest_from(group: int, words: Words) -> int:
        return int(_place_the_rest(codes, offsets, group, words, *rest))

    for step in (take_rounds_from, place_the_rest_from):
        _for_all(groups, source, step)
    source.give_back()
    return made.block_of, int(made.blocks[0])


def _for_all(groups: int, source: WordSource, step: Callable[[int, Words], int]) -> None:
    """Have a step go on from every group at which it ran out of words, with more of them."""
    group, wanted = 0, 1
    while group < groups:
        words = source.at_least(wanted)
        left = len(words.drawn) - int(words.used[0])
        reached = step(group, words)
        wanted = 1 if reached > group else 2 * left
        group = reached


@loop
def _take_rounds(
    codes: Codes,
    offsets: Ints,
    group: int,
    words: Words,
    l: int,  # noqa: E741
    pool: bool,
    residues: Residues,
    made: _Made,
    room: _Room,
) -> int:
    """Make blocks of groups from this one on; return the first for which words do not suffice."""
    first_rows, lengths, rounds = room.first_rows, room.lengths, room.rounds.round_of
    blocks = made.blocks[0]
    while group < len(offsets) - 1:
        used = words.used[0]
        runs = _runs(codes, offsets[group], offsets[group + 1], first_rows, lengths)
        # in random order: of equally common values, those that are left must not always be the same
        for last in range(runs - 1, 0, -1):
            other = below(words, last + 1)
            if other < 0:
                words.used[0], made.blocks[0] = used, blocks
                return group
            first_rows[last], first_rows[other] = first_rows[other], first_rows[last]
            lengths[last], lengths[other] = lengths[other], lengths[last]
        own = take_rounds(lengths, runs, l, room.rounds)
        made.first[group], made.last[group] = blocks, blocks + own
        item = 0
        for run in range(runs):
            for row in range(first_rows[run], first_rows[run] + lengths[run]):
                if rounds[item] >= 0:
                    made.block_of[row] = blocks + rounds[item]
                elif pool:
                    _leave(residues, codes[row], row)
                item += 1
        blocks += own
        while residues.length[0] >= l:
            _take_round(residues, l, made.block_of, blocks)
            blocks += 1
        group += 1
    made.blocks[0] = blocks
    return group


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


@loop
def largest_runs(codes: Codes, offsets: Ints, largest: Ints) -> None:
    """Leave for each group the length of its longest run of equal codes."""
    for group in range(len(offsets) - 1):
        most = length = 0
        for row in range(offsets[group], offsets[group + 1]):
            length = length + 1 if row > offsets[group] and codes[row] == codes[row - 1] else 1
            most = max(most, length)
        largest[group] = most


@loop
def _leave(residues: Residues, value: int, row: int) -> None:
    if residues.counts[value] == 0:
        residues.values[residues.length[0]] = value
        residues.length[0] += 1
    residues.before[row] = residues.latest[value]
    residues.latest[value] = row
    residues.counts[value] += 1


@loop
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


@loop
def _place_the_rest(
    codes: Codes, offsets: Ints, group: int, words: Words, made: _Made, taken: Bools
) -> int:
    """Put each row that is left into a random block of its own group that lacks its value.

    There is one: a group has as many blocks of its own as its rows divided by l, rounded down, and
    at most as many rows of a value, of which one is left. Returns the first group for which words
    do not suffice: rows that have been put somewhere stay there.
    """
    block_of = made.block_of
    while group < len(offsets) - 1:
        first_block, blocks = made.first[group], made.last[group] - made.first[group]
        for row in range(offsets[group], offsets[group + 1]):
            if block_of[row] >= 0:
                continue
            for block in range(blocks):
                taken[block] = False
            free = blocks
            # rows with its value lie around it
            first, last = row, row
            while first > offsets[group] and codes[first - 1] == codes[row]:
                first -= 1
            while last + 1 < offsets[group + 1] and codes[last + 1] == codes[row]:
                last += 1
            for other in range(first, last + 1):
                block = block_of[other] - first_block
                if 0 <= block < blocks and not taken[block]:
                    taken[block] = True
                    free -= 1
            choice = below(words, free)
            if choice < 0:
                return group
            for block in range(blocks):
                if not taken[block]:
                    if choice == 0:
                        block_of[row] = first_block + block
                        break
                    choice -= 1
        group += 1
    return group
