"""The correlation-ordered partition: rows alike in what tells most of their sensitive value."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.columns.association import associations
from sfumato.errors import ParameterError
from sfumato.measures.compiled import loop
from sfumato.models import LDiversity
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.rows.eligible_runs import (
    Counter,
    Pile,
    Values,
    join_runs,
    new_counter,
    new_pile,
    values_of,
)
from sfumato.rows.sorting import sort_first
from sfumato.rows.words import Words, WordSource
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import BLOCK
from sfumato.table.kinds import Kinds
from sfumato.table.whole import Whole

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_BITS = 63  # of a word; its sign is not used
_VALUE = 32  # the bit from which a word holds a value, and below it the row
_ROW = (1 << _VALUE) - 1
_FEW = 256  # lines that are sorted by numbers
_MOST_CODES = 4  # for every line, of those that are counted
_LARGEST = 2**63 - 1


def correlation_order(
    columns: Sequence[Column],
    sensitive: Sequence[Column],
    whole: Whole | None = None,
    alike: Ints | None = None,
) -> list[Column]:
    """Return the columns from the most to the least associated with a sensitive attribute.

    With several sensitive attributes, the strongest of a column's associations counts. Where
    columns are those of a part of a table, the `whole` tells. Each row counts once, or as often as
    `alike` says.
    """
    strongest = np.max(
        [associations(columns, target, whole, alike) for target in sensitive], axis=0
    )
    order = np.argsort(-np.asarray(strongest), kind="stable")
    return [columns[i] for i in order]


def correlation_partition(
    table: Table,
    sensitive: Sequence[str],
    l: int,  # noqa: E741
    *,
    rng: np.random.Generator,
    merged: Literal["split", "final"] = "split",
) -> Groups:
    """Return l-eligible groups of rows that agree in what is most associated with the values.

    All rows are sorted by the quasi-identifier that is most associated with the sensitive
    attribute, and cut wherever it changes; a part that is not l-eligible joins a random neighbour
    until it is. Each part is then sorted and cut by the next attribute, and so on. Groups are
    numbered in the order of the sort: those of neighbouring numbers are alike.

    `merged` says what becomes of joined parts: they are cut further (`split`), or not (`final`, to
    the letter of the paper, which leaves a table in one piece when its first attribute cannot cut
    it).

    *Guarantee*: frequency l-diversity of every named attribute in every group.
    *Refuses*: an attribute whose commonest value has more than 1/l of the rows that have one.
    *Source*: Zhu, Tian, Du, Xie, "Anonymization on Refining Partition", Algorithm 1.
    Departs from the paper: joined parts are cut further by default; several sensitive attributes;
    missing values count for nothing.
    """
    if not table.quasi_identifiers:
        raise ParameterError("the correlation partition needs at least one quasi-identifier")
    refuse_infeasible(table, [LDiversity(name, l) for name in sensitive])
    known, targets = table.quasi_identifiers, tuple(table[name] for name in sensitive)
    # rows that agree in everything are one line: what becomes of them depends on their counts
    kinds = Kinds.of([*known, *targets])
    if kinds is not None:
        known, targets = kinds.columns[: len(known)], kinds.columns[len(known) :]
    alike = None if kinds is None else kinds.counts
    columns = correlation_order(known, targets, table.whole, alike)
    lines, digits, values, ordered = _lines(columns, targets, alike)
    count, widest = len(lines.codes), int(digits.width.max())
    room = Room(
        np.empty(widest, np.int64),
        np.empty(_FEW, np.int64),
        np.empty(widest + 1, np.int64),
        np.empty((min(table.rows // l, count) + 2, 4), np.int64),
        Lines(*(np.empty_like(each) for each in lines)),
        values.alike if alike is None else alike,
    )
    counter, pile = new_counter(values), new_pile(values, widest)
    begins, ids = np.zeros(count, np.bool_), np.empty(count, np.int32)
    room.pending[0] = 0, count, 0, ordered
    height, source = 1, WordSource(rng)
    while height:
        how = l, merged == "split", source.at_least(2 * widest)
        height = int(_partition(lines, digits, height, values, *how, begins, room, counter, pile))
    source.give_back()
    groups = int(_number(lines.held, begins, ids))
    return Groups(ids if kinds is None else kinds.of_rows(ids), groups)


class Lines(NamedTuple):
    """All that is looked at of every row, in few words: a line is moved as a whole.

    `codes` has the codes, packed; `held` a word for each sensitive attribute, the value and the
    row. A row may stand for several that are alike.
    """

    codes: Ints
    held: Ints


class Digits(NamedTuple):
    """Where the code of each attribute stands in a line: in a word, from a bit on.

    Within a word, attributes stand in order, the first in the highest bits. `mask` is of the code,
    and `rest` of all bits from those of the attribute down; `width` has the number of codes, a
    missing one included, and `last` the attribute after the last of the word.
    """

    word: Ints
    shift: Ints
    mask: Ints
    rest: Ints
    width: Ints
    last: Ints


def _digits(columns: Sequence[Column]) -> Digits:
    """Return which bits of which words hold the codes of these columns."""
    width = [column.cardinality + 1 for column in columns]
    bits = [(each - 1).bit_length() for each in width]
    word: list[int] = []
    room = 0
    for own in bits:
        is_full = not word or own > room
        room = (_BITS if is_full else room) - own
        word.append(word[-1] + is_full if word else 0)
    last = [len(word) - word[::-1].index(each) for each in word]
    shift = [sum(bits[place + 1 : end]) for place, end in enumerate(last)]
    mask = [(1 << own) - 1 for own in bits]
    rest = [(1 << low + own) - 1 for low, own in zip(shift, bits, strict=True)]
    parts = (word, shift, mask, rest, width, last)
    return Digits(*(np.array(each, np.int64) for each in parts))


def _lines(
    columns: Sequence[Column], targets: Sequence[Column], alike: Ints | None
) -> tuple[Lines, Digits, Values, int]:
    """Return the lines of all rows, sorted by the first columns, and by how many of them.

    As many as fit into one number beside the row: numbers are sorted quickly. The values are those
    of the lines. Each row stands for itself, or for as many as `alike` says.
    """
    digits, rows = _digits(columns), len(columns[0].codes)
    low = (rows - 1).bit_length()
    bits = np.cumsum([int(each).bit_length() for each in digits.mask])
    ordered = int(np.count_nonzero((bits + low <= _BITS) & (digits.word == 0)))
    lines = Lines(
        np.zeros((rows, int(digits.word[-1]) + 1), np.int64),
        np.empty((rows, len(targets)), np.int64),
    )
    keys = np.zeros(rows, np.int64) if lines.codes.shape[1] > 1 else lines.codes[:, 0]

    def fill_keys(block: slice) -> None:
        key = keys[block]
        for column, mask in zip(columns[:ordered], digits.mask, strict=False):
            key <<= int(mask).bit_length()
            key |= column.codes[block]
        key <<= low
        key |= np.arange(block.start, block.stop)

    _for_blocks(rows, fill_keys)
    keys.sort()
    order = lines.held[:, 0]
    np.bitwise_and(keys, (1 << low) - 1, out=order)
    values = values_of(targets, order)
    if alike is not None:
        values = values._replace(alike=alike[order])

    def fill_lines(block: slice) -> None:
        codes, held = lines.codes[block], lines.held[block]
        # which may be the keys themselves
        codes[:, 0] = keys[block] >> low << digits.shift[ordered - 1] if ordered else 0
        for place in range(ordered, len(columns)):
            own = columns[place].codes[order[block]].astype(np.int64)
            codes[:, digits.word[place]] |= own << digits.shift[place]
        held[:] = held[:, :1]
        held |= values.of_row[:, block].T.astype(np.int64) << _VALUE

    _for_blocks(rows, fill_lines)
    return lines, digits, values, ordered


def _for_blocks(rows: int, work: Callable[[slice], None]) -> None:
    """Do the work on all rows, by all cores, in blocks that stay in the cache."""
    blocks = (slice(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for _ in threads.map(work, blocks):  # what fails is raised
            pass


class Room(NamedTuple):
    """Scratch: `starts` of runs, `keys` and `moved` lines, `places` of codes, and `pending` parts.

    Of a part: where it starts and ends, the next attribute, and the one before which its lines are
    sorted by that and further ones. `alike` says how many rows each row stands for; a single 1 is
    that of all.
    """

    starts: Ints
    keys: Ints
    places: Ints
    pending: Ints
    moved: Lines
    alike: Ints


@loop
def _partition(
    lines: Lines,
    digits: Digits,
    height: int,
    values: Values,
    l: int,  # noqa: E741
    cut_merged: bool,
    words: Words,
    begins: npt.NDArray[np.bool_],
    room: Room,
    counter: Counter,
    pile: Pile,
) -> int:
    """Sort the lines of pending parts, and mark at which of them a group begins.

    Returns how many parts are pending still, since more words may be needed: none when all is
    done. `values` are kept those of the lines in their order.
    """
    attributes = len(digits.width)
    starts, pending = room.starts, room.pending
    each_is_one = len(room.alike) == 1
    # too few for two groups, and one row too many at most, for which nothing is drawn
    few = min(2 * l, l + 2) if each_is_one else 2
    while height > 0 and len(words.drawn) - words.used[0] >= 2 * len(starts):
        height -= 1
        start, end = pending[height, 0], pending[height, 1]
        attribute, known = pending[height, 2], pending[height, 3]
        if end - start < few:
            begins[start] = True
            continue
        runs = 0
        while True:
            if known <= attribute:
                known = _sort_lines(lines, start, end, attribute, digits, room)
                for place in range(start, end):
                    for a in range(len(values.of_row)):
                        values.of_row[a, place] = lines.held[place, a] >> _VALUE
                    if not each_is_one:
                        values.alike[place] = room.alike[lines.held[place, 0] & _ROW]
            runs = _runs(lines.codes, start, end, attribute, digits, starts)
            if runs > 1 or attribute + 1 == attributes:
                break
            attribute += 1  # eligible it is, and nothing is drawn
        done = join_runs(values, starts[:runs], end, l, words, counter, pile)
        for i in range(done):
            is_merged = pile.parts[i] > 1
            if attribute + 1 == attributes or (is_merged and not cut_merged):
                begins[pile.start[i]] = True
                continue
            pending[height, 0] = pile.start[i]
            pending[height, 1] = pile.start[i + 1] if i + 1 < done else end
            pending[height, 2] = attribute + 1
            pending[height, 3] = 0 if is_merged else known
            height += 1
    return height


@loop
def _runs(codes: Ints, start: int, end: int, attribute: int, digits: Digits, starts: Ints) -> int:
    """Return how many runs of equal codes sorted lines have; `starts` has where each begins.

    Runs are of any length: the end of each is looked for in steps that double, then halve.
    """
    word, shift, mask = digits.word[attribute], digits.shift[attribute], digits.mask[attribute]
    runs, place = 0, start
    while place < end:
        starts[runs] = place
        runs += 1
        code = codes[place, word] >> shift & mask
        step = 1
        while place + step < end and codes[place + step, word] >> shift & mask == code:
            place += step
            step *= 2
        beyond = min(place + step, end)
        place += 1
        while place < beyond:
            middle = (place + beyond) // 2
            if codes[middle, word] >> shift & mask == code:
                place = middle + 1
            else:
                beyond = middle
    return runs


@loop
def _number(held: Ints, begins: npt.NDArray[np.bool_], ids: Codes) -> int:
    """Leave the group of every row, and return how many there are."""
    groups = 0
    for place in range(len(held)):
        groups += begins[place]
        ids[held[place, 0] & _ROW] = groups - 1
    return groups


@loop
def _sort_lines(
    lines: Lines, start: int, end: int, attribute: int, digits: Digits, room: Room
) -> int:
    """Sort some of the lines by an attribute, and maybe further ones; return before which not.

    Equal ones come in any order. Few lines are sorted by numbers that have their places in them,
    many by counting the codes. Where these are too many to be counted, runs that are sorted already
    are merged, two by two.
    """
    codes, keys, places, moved = lines.codes, room.keys, room.places, room.moved
    word, rest = digits.word[attribute], digits.rest[attribute]
    shift, mask, width = digits.shift[attribute], digits.mask[attribute], digits.width[attribute]
    low = 0
    while 1 << low < end - start:
        low += 1
    if end - start <= len(keys) and rest <= _LARGEST >> low:
        for place in range(start, end):
            keys[place - start] = (codes[place, word] & rest) << low | (place - start)
        sort_first(keys, end - start)
        for place in range(start, end):
            _copy(lines, start + (keys[place - start] & (1 << low) - 1), moved, place - start)
        for place in range(start, end):
            _copy(moved, place - start, lines, place)
        return int(digits.last[attribute])
    if width <= _MOST_CODES * (end - start):
        for code in range(width + 1):
            places[code] = 0
        for place in range(start, end):
            places[(codes[place, word] >> shift & mask) + 1] += 1
        for code in range(width):
            if places[code + 1] == end - start:  # all alike
                return attribute + 1
            places[code + 1] += places[code]
        for place in range(start, end):
            code = codes[place, word] >> shift & mask
            _copy(lines, place, moved, places[code])
            places[code] += 1
        for place in range(start, end):
            _copy(moved, place - start, lines, place)
        return attribute + 1
    merged = 0
    while merged != 1:
        merged, low = 0, start
        while low < end:
            middle = _ascent(codes, low, end, word, rest)
            high = _ascent(codes, middle, end, word, rest) if middle < end else end
            merged += 1
            if low == start and middle == end:  # all of them are
                return int(digits.last[attribute])
            one, two = low, middle
            for place in range(low, high):
                if two == high or (
                    one < middle and codes[one, word] & rest <= codes[two, word] & rest
                ):
                    _copy(lines, one, moved, place - start)
                    one += 1
                else:
                    _copy(lines, two, moved, place - start)
                    two += 1
            low = high
        for place in range(start, end):
            _copy(moved, place - start, lines, place)
    return int(digits.last[attribute])


@loop
def _ascent(codes: Ints, start: int, end: int, word: int, rest: int) -> int:
    """Return where the lines from the start on stop ascending."""
    place = start + 1
    while place < end and codes[place - 1, word] & rest <= codes[place, word] & rest:
        place += 1
    return place


@loop
def _copy(source: Lines, place: int, target: Lines, to: int) -> None:
    for column in range(source.codes.shape[1]):
        target.codes[to, column] = source.codes[place, column]
    for column in range(source.held.shape[1]):
        target.held[to, column] = source.held[place, column]
