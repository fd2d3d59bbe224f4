"""The correlation-ordered partition: rows alike in what tells most of their sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
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
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import BLOCK
from sfumato.table.whole import Whole

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_BITS = 63  # of a word; its sign is not used
_VALUE = 32  # the bit from which a word holds a value, and below it the row
_ROW = (1 << _VALUE) - 1
_MANY_CODES = 4  # for every row of a part: those that occur are compared, not all counted


def correlation_order(
    columns: Sequence[Column], sensitive: Sequence[Column], whole: Whole | None = None
) -> list[Column]:
    """Return the columns from the most to the least associated with a sensitive attribute.

    With several sensitive attributes, the strongest of a column's associations counts. Where
    columns are those of a part of a table, the `whole` tells.
    """
    strongest = np.max([associations(columns, target, whole) for target in sensitive], axis=0)
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
    targets = [table[name] for name in sensitive]
    columns = correlation_order(table.quasi_identifiers, targets, table.whole)
    values = values_of(targets)
    lines, digits = _lines(columns, values)
    room = Room(
        np.empty(table.rows, np.int64),
        np.empty(int(digits.width.max()) // _MANY_CODES + 1, np.int64),
        np.empty(int(digits.width.max()) + 1, np.int64),
        np.empty((table.rows, 3), np.int64),
        np.empty_like(lines),
    )
    counters, pile = (new_counter(values), new_counter(values)), new_pile(values, table.rows)
    begins, ids = np.zeros(table.rows, np.bool_), np.empty(table.rows, np.int32)
    _partition(lines, digits, values, l, merged == "split", rng, begins, room, counters, pile)
    return Groups(ids, int(_number(lines, begins, ids)))


class Digits(NamedTuple):
    """Where the code of each attribute stands in a line: in a word, from a bit on.

    `width` has the number of codes, a missing one included.
    """

    word: Ints
    shift: Ints
    mask: Ints
    width: Ints


def _lines(columns: Sequence[Column], values: Values) -> tuple[Ints, Digits]:
    """Return all that is looked at of every row in few words: they are sorted as a whole.

    First the codes, packed; then a word for each sensitive attribute, its value and the row.
    """
    width = [column.cardinality + 1 for column in columns]
    bits = [(each - 1).bit_length() for each in width]
    word, shift = [0], [0]
    for own, before in zip(bits[1:], bits, strict=False):
        is_full = shift[-1] + before + own > _BITS
        word.append(word[-1] + is_full)
        shift.append(0 if is_full else shift[-1] + before)
    rows = values.of_row.shape[1]
    lines = np.zeros((rows, word[-1] + 1 + len(values.of_row)), np.int64)
    for start in range(0, rows, BLOCK):
        block = lines[start : start + BLOCK]
        for column, place, low in zip(columns, word, shift, strict=True):
            block[:, place] |= column.codes[start : start + BLOCK].astype(np.int64) << low
        for place, own in enumerate(values.of_row, start=word[-1] + 1):
            block[:, place] = own[start : start + BLOCK]
            block[:, place] <<= _VALUE
            block[:, place] |= np.arange(start, start + len(block))
    masks = [(1 << each) - 1 for each in bits]
    return lines, Digits(*(np.array(each, np.int64) for each in (word, shift, masks, width)))


class Room(NamedTuple):
    """Scratch: `starts` of runs, `keys` and `moved` lines, `place_of` codes, `pending` parts."""

    starts: Ints
    keys: Ints
    place_of: Ints
    pending: Ints
    moved: Ints


@loop
def _partition(
    lines: Ints,
    digits: Digits,
    values: Values,
    l: int,  # noqa: E741
    cut_merged: bool,
    rng: np.random.Generator,
    begins: npt.NDArray[np.bool_],
    room: Room,
    counters: tuple[Counter, Counter],
    pile: Pile,
) -> None:
    """Sort the lines, and mark at which of them a group begins.

    `values` are overwritten: with those of the lines in their order.
    """
    attributes = len(digits.width)
    first_value = lines.shape[1] - len(values.of_row)
    starts, pending = room.starts, room.pending
    pending[0, 0], pending[0, 1], pending[0, 2] = 0, len(lines), 0
    height = 1
    while height > 0:
        height -= 1
        start, end, attribute = pending[height, 0], pending[height, 1], pending[height, 2]
        if end - start < min(2 * l, l + 2):
            # too few for two groups, and one row too many at most, for which nothing is drawn
            begins[start] = True
            continue
        _sort(lines, attribute, digits, start, end, room)
        runs, before = 0, -1
        for place in range(start, end):
            for a in range(len(values.of_row)):
                values.of_row[a, place] = lines[place, first_value + a] >> _VALUE
            code = _code(lines, place, attribute, digits)
            if code != before:
                starts[runs] = place
                runs += 1
                before = code
        if runs == 1 and attribute + 1 < attributes:  # eligible it is, and nothing is drawn
            pending[height, 0], pending[height, 1], pending[height, 2] = start, end, attribute + 1
            height += 1
            continue
        done = join_runs(values, starts[:runs], end, l, rng, counters, pile)
        for i in range(done):
            stop = pile.start[i + 1] if i + 1 < done else end
            is_final = pile.parts[i] > 1 and not cut_merged
            if is_final or attribute + 1 == attributes:
                begins[pile.start[i]] = True
            else:
                pending[height, 0], pending[height, 1] = pile.start[i], stop
                pending[height, 2] = attribute + 1
                height += 1


@loop
def _number(lines: Ints, begins: npt.NDArray[np.bool_], ids: Codes) -> int:
    """Leave the group of every row, and return how many there are."""
    groups = 0
    for place in range(len(lines)):
        groups += begins[place]
        ids[lines[place, lines.shape[1] - 1] & _ROW] = groups - 1
    return groups


@loop
def _sort(lines: Ints, attribute: int, digits: Digits, start: int, end: int, room: Room) -> None:
    """Sort some of the lines by code; those of a code in any order."""
    keys, place_of, moved = room.keys, room.place_of, room.moved
    width = digits.width[attribute]
    if (end - start) * _MANY_CODES < width:
        for place in range(start, end):
            keys[place - start] = _code(lines, place, attribute, digits) << 32 | place
        sort_first(keys, end - start)
        for place in range(start, end):
            _copy(lines, keys[place - start] & _ROW, moved, place)
    else:
        for code in range(width + 1):
            place_of[code] = 0
        for place in range(start, end):
            place_of[_code(lines, place, attribute, digits) + 1] += 1
        for code in range(width):
            if place_of[code + 1] == end - start:  # all alike
                return
            place_of[code + 1] += place_of[code]
        for place in range(start, end):
            code = _code(lines, place, attribute, digits)
            _copy(lines, place, moved, start + place_of[code])
            place_of[code] += 1
    for place in range(start, end):
        _copy(moved, place, lines, place)


@loop
def _code(lines: Ints, place: int, attribute: int, digits: Digits) -> int:
    return int(lines[place, digits.word[attribute]] >> digits.shift[attribute]) & int(
        digits.mask[attribute]
    )


@loop
def _copy(source: Ints, row: int, target: Ints, to: int) -> None:
    for column in range(source.shape[1]):
        target[to, column] = source[row, column]
