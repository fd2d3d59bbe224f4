"""Whether a group satisfies rules for people who are known not to have some of its values.

What is impossible for a person comes as lists of codes, one a class of quasi-identifier values;
a kind of person is a combination of classes. Larger tables show more that is impossible, and have
more kinds, so that no kind may cost as much as its lists are long:

* A node holds few codes. Each class is boiled down to bits, one a code that the node holds, once
  for all cuts that are tried there.
* What a kind takes away from a group's sums is at most what its classes do, one by one. Most kinds
  are judged by that, some by what they take away in all, and only those near a bound by what they
  leave.
* A value that some cannot have needs a number of people who can: once they are found, it is done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.models.kernels import L_DISTINCT, L_FREQUENCY, LINKABLE, TOLERANCE, holds
from sfumato.models.model import RuleBook, rule_at

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

_BITS = 64
_ONE = np.uint64(1)
# The place of a lone bit: its product with this number has other first six bits for each place.
_DE_BRUIJN = 0x03F79D71B4CB0A89
_MULTIPLIER = np.uint64(_DE_BRUIJN)
_FIRST_SIX = np.uint64(58)
_PLACES = np.zeros(_BITS, np.int64)
for _place in range(_BITS):
    _PLACES[(_DE_BRUIJN << _place) % 2**64 >> 58] = _place


class Excluded(NamedTuple):
    """Kind j is of the classes `classes[j]`; of the a-th attribute, class c excludes the codes
    `codes[starts[a, c]]` to before `codes[starts[a, c + 1]]`."""

    classes: Codes
    starts: Ints
    codes: Codes


# Nothing is known of anybody.
NOBODY = Excluded(np.zeros((0, 0), np.int32), np.zeros((0, 1), np.int64), np.zeros(0, np.int32))


class Held(NamedTuple):
    """One attribute in a group of `size` people: codes ascending, their counts, and these by code.

    `present` people have a value; `distinct` are the values, `largest` the largest count of one.
    """

    codes: Ints
    counts: Ints
    by_code: Ints
    size: int
    present: int
    distinct: int
    largest: int


class Missed(NamedTuple):
    """For the rule of a book (-1: none) that asks for one shared value: the logarithms of the
    chances to miss each of a group's values once, summed, and the least of them."""

    rule: int
    total: float
    least: float


# Lines of the scratch by code: the number of a code within the node, the code of a number, how many
# people may have it and how many must; and room for codes that are left, and their counts.
_PLACE, _CODE, _MAY, _MUST, _LEFT, _COUNTS = range(6)
# Lines of the scratch by class: when its bits were made and its sums counted; these sums.
_MADE, _SUMMED, _REMOVED, _GONE = range(4)
# What is being looked at: a node's first and last row and column; the number of this node, of this
# group in it, and of the node's codes.
_FIRST, _LAST, _COLUMN, _NODE, _GROUP, _HELD = range(6)


class Dropping(NamedTuple):
    """Scratch of one thread.

    Line c of `bits` says which of the node's codes class c excludes; the last two lines are those
    of the kind at hand, and the codes of the group for which too few people are found so far.
    """

    at: Ints
    codes: Ints
    classes: Ints
    logs: npt.NDArray[np.float64]
    bits: Words


def new_dropping(codes: int, excluded: Excluded) -> Dropping:
    """Return scratch for attributes of at most so many codes."""
    classes, words = excluded.starts.shape[1] - 1, -(-codes // _BITS)
    return Dropping(
        np.array([-1, -1, -1, 0, 0, 0], np.int64),
        np.zeros((6, codes), np.int64),
        np.zeros((4, classes), np.int64),
        np.zeros(classes, np.float64),
        np.zeros((classes + 2, words), np.uint64),
    )


@loop
def is_at(dropping: Dropping, first: int, last: int, column: int) -> bool:
    """Return whether the codes of this node are numbered already."""
    at = dropping.at
    return bool(at[_FIRST] == first and at[_LAST] == last and at[_COLUMN] == column)


@loop
def go_to(dropping: Dropping, first: int, last: int, column: int) -> None:
    """Begin a node, none of whose codes has a number."""
    at = dropping.at
    for j in range(at[_HELD]):
        dropping.codes[_PLACE, dropping.codes[_CODE, j]] = 0
    at[_FIRST], at[_LAST], at[_COLUMN] = first, last, column
    at[_NODE] += 1
    at[_HELD] = 0


@loop
def number(dropping: Dropping, code: int) -> None:
    """Give a code of the node the next number, unless it has one (numbers are kept plus one)."""
    if dropping.codes[_PLACE, code] == 0:
        held = dropping.at[_HELD]
        dropping.codes[_CODE, held] = code
        dropping.codes[_PLACE, code] = held + 1
        dropping.at[_HELD] = held + 1


@loop
def look_at(column: int, held: Held, book: RuleBook, dropping: Dropping) -> None:
    """Begin a group of the node: where diversity is asked for, all its values need people.

    A value that is one of l to each must have l times as many people who may have it as do have it,
    or one of them has it for sure.
    """
    dropping.at[_GROUP] += 1
    wanted = dropping.bits[-1]
    for word in range((dropping.at[_HELD] + _BITS - 1) // _BITS):
        wanted[word] = 0
    for j in range(len(held.codes)):
        needed = 0
        for r in range(len(book.kind)):
            if book.column[r] == column and book.kind[r] == L_FREQUENCY:
                needed = max(needed, held.counts[j] * book.whole[r])
            elif book.column[r] == column and book.kind[r] == L_DISTINCT:
                needed = max(needed, book.whole[r])
        if needed > 0:
            place = dropping.codes[_PLACE, held.codes[j]] - 1
            dropping.codes[_MAY, place] = 0
            dropping.codes[_MUST, place] = needed
            wanted[place // _BITS] |= _ONE << np.uint64(place % _BITS)


@loop
def enough_may_have(held: Held, dropping: Dropping) -> bool:
    """Return whether every value that some cannot have is possible for enough others."""
    for word in range((dropping.at[_HELD] + _BITS - 1) // _BITS):
        bits = dropping.bits[-1, word]
        while bits != 0:
            place = word * _BITS + _lowest(bits)
            bits &= bits - _ONE
            # what is possible for everybody is not exclusive: the rule itself says enough
            if dropping.codes[_MAY, place] < held.size:
                return False
    return True


@loop
def _lowest(bits: int) -> int:
    """Return the place of the lowest bit that is set."""
    return int(_PLACES[((bits & (~bits + _ONE)) * _MULTIPLIER) >> _FIRST_SIX])


@loop
def drop(excluded: Excluded, column: int, kind: int, mark: Ints, stamp: int) -> None:
    """Mark the codes of a column that a kind excludes with a stamp."""
    for q in range(excluded.classes.shape[1]):
        own = excluded.classes[kind, q]
        for j in range(excluded.starts[column, own], excluded.starts[column, own + 1]):
            mark[excluded.codes[j]] = stamp


@loop
def missed(column: int, held: Held, book: RuleBook) -> Missed:
    """Return what all kinds of a group have in common in the eyes of linkability."""
    for r in range(len(book.kind)):
        if book.column[r] == column and book.kind[r] == LINKABLE and book.whole[r] == 1:
            total, least = 0.0, 0.0
            for j in range(held.distinct):
                total += book.reals[r, held.codes[j]]
                least = min(least, book.reals[r, held.codes[j]])
            return Missed(r, total, least)
    return Missed(-1, 0.0, 0.0)


@loop
def _sum_up(
    excluded: Excluded,
    column: int,
    own: int,
    held: Held,
    common: Missed,
    book: RuleBook,
    dropping: Dropping,
) -> None:
    """Count what a class takes away from the group, by its bits in the node."""
    classes, words = dropping.classes, (dropping.at[_HELD] + _BITS - 1) // _BITS
    if classes[_MADE, own] != dropping.at[_NODE]:
        classes[_MADE, own] = dropping.at[_NODE]
        for word in range(words):
            dropping.bits[own, word] = 0
        for j in range(excluded.starts[column, own], excluded.starts[column, own + 1]):
            place = dropping.codes[_PLACE, excluded.codes[j]] - 1
            if place >= 0:
                dropping.bits[own, place // _BITS] |= _ONE << np.uint64(place % _BITS)
    classes[_SUMMED, own] = dropping.at[_GROUP]
    removed, gone, log = _taken(own, held, common, book, dropping)
    classes[_REMOVED, own], classes[_GONE, own] = removed, gone
    dropping.logs[own] = log


@loop
def _taken(
    line: int, held: Held, common: Missed, book: RuleBook, dropping: Dropping
) -> tuple[int, int, float]:
    """Return the people, the values and the logarithms that a line of bits takes away."""
    removed, gone, log = 0, 0, 0.0
    for word in range((dropping.at[_HELD] + _BITS - 1) // _BITS):
        bits = dropping.bits[line, word]
        while bits != 0:
            code = dropping.codes[_CODE, word * _BITS + _lowest(bits)]
            bits &= bits - _ONE
            if held.by_code[code] > 0:
                removed += held.by_code[code]
                gone += 1
                if common.rule >= 0:
                    log += book.reals[common.rule, code]
    return removed, gone, log


@loop
def kind_holds(
    excluded: Excluded,
    column: int,
    kind: int,
    people: int,
    held: Held,
    common: Missed,
    book: RuleBook,
    dropping: Dropping,
) -> bool:
    """Return whether a group satisfies the rules on a column for so many people of a kind.

    Adds the people to those who may have the values that still need some.
    """
    classes, codes = dropping.classes, dropping.codes
    removed, gone, log = 0, 0, 0.0
    for q in range(excluded.classes.shape[1]):
        own = excluded.classes[kind, q]
        if excluded.starts[column, own] < excluded.starts[column, own + 1]:
            if classes[_SUMMED, own] != dropping.at[_GROUP]:
                _sum_up(excluded, column, own, held, common, book, dropping)
            removed += classes[_REMOVED, own]
            gone += classes[_GONE, own]
            log += dropping.logs[own]
    words = (dropping.at[_HELD] + _BITS - 1) // _BITS
    line = dropping.bits.shape[0] - 2
    for word in range(words):
        wanted = dropping.bits[line + 1, word]
        if wanted == 0:
            continue
        for q in range(excluded.classes.shape[1]):
            own = excluded.classes[kind, q]
            if excluded.starts[column, own] < excluded.starts[column, own + 1]:
                wanted &= ~dropping.bits[own, word]
        while wanted != 0:
            place = word * _BITS + _lowest(wanted)
            codes[_MAY, place] += people
            if codes[_MAY, place] >= codes[_MUST, place]:
                dropping.bits[line + 1, word] &= ~(wanted & (~wanted + _ONE))
            wanted &= wanted - _ONE
    if gone == 0 or _surely_holds(column, removed, gone, log, held, common, book):
        return True
    for word in range(words):
        dropping.bits[line, word] = 0
    for q in range(excluded.classes.shape[1]):
        own = excluded.classes[kind, q]
        if excluded.starts[column, own] < excluded.starts[column, own + 1]:
            for word in range(words):
                dropping.bits[line, word] |= dropping.bits[own, word]
    removed, gone, log = _taken(line, held, common, book, dropping)
    if _surely_holds(column, removed, gone, log, held, common, book):
        return True
    left = 0
    for j in range(len(held.codes)):
        place = codes[_PLACE, held.codes[j]] - 1
        if (dropping.bits[line, place // _BITS] >> np.uint64(place % _BITS)) & _ONE == 0:
            codes[_LEFT, left] = held.codes[j]
            codes[_COUNTS, left] = held.counts[j]
            left += 1
    for r in range(len(book.kind)):
        if book.column[r] == column and not holds(
            rule_at(book, r),
            codes[_LEFT, :left],
            codes[_COUNTS, :left],
            held.size,
            held.present - removed,
        ):
            return False
    return True


@loop
def _surely_holds(
    column: int, removed: int, gone: int, log: float, held: Held, common: Missed, book: RuleBook
) -> bool:
    """Return whether sums alone show that the rules hold for what is left; False: look closer."""
    for r in range(len(book.kind)):
        if book.column[r] != column:
            continue
        if book.kind[r] == L_FREQUENCY:
            if held.largest * book.whole[r] > held.present - removed:
                return False
        elif book.kind[r] == L_DISTINCT:
            if held.distinct - gone < book.whole[r]:
                return False
        elif r == common.rule and np.isfinite(common.total):
            # a person's own value is at most as likely as the likeliest of all
            rest = min(common.total - log - common.least, 0.0)
            if 1.0 - np.exp((held.size - 1) * rest) < book.real[r] + TOLERANCE:
                return False
        else:
            return False
    return True


@loop
def people_failing(
    excluded: Excluded,
    column: int,
    people: Ints,
    held: Held,
    book: RuleBook,
    dropping: Dropping,
) -> int:
    """Return for how many people, by kind, the rules on a column do not hold."""
    go_to(dropping, 0, held.size, column)
    for code in held.codes:
        number(dropping, code)
    look_at(column, held, book, dropping)
    failing = 0
    common = missed(column, held, book)
    for kind in range(len(people)):
        if not kind_holds(excluded, column, kind, people[kind], held, common, book, dropping):
            failing += people[kind]
    return failing
