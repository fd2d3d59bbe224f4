"""Whether a group satisfies rules for people who are known not to have some of its values.

A class is what some values of a quasi-identifier exclude; a person is of a class by each of them.
Larger tables show more that is impossible, so that nobody may cost as much as the lists are long:

* A node holds few codes. What each class excludes of them becomes bits, once for all cuts that are
  tried there; most classes exclude none.
* Nobody's classes take away more from a group than the worst class of each quasi-identifier does,
  and a value is possible for all but the people of the classes that exclude it. Large groups are
  judged by these sums alone, without a look at single people.
* Where they do not tell, a person is judged by the sums of the own classes, then by what they take
  away in all, and only near a bound by what they leave. A value that some cannot have needs a
  number of people who can: once they are found, it is done.
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

# Sums of logarithms are taken in any order: what is nearer to a bound than this is looked at anew.
ROUNDING = 1e-9
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
    """`class_of[q, v]` is the class of value v of the q-th quasi-identifier.

    Class 0 excludes nothing; `owner[c]` is the quasi-identifier of class c. Code v of the a-th
    attribute is excluded by the classes `classes[starts[a, v]]` to before
    `classes[starts[a, v + 1]]`.
    """

    class_of: Codes
    owner: Ints
    starts: Ints
    classes: Codes


# Nothing is known of anybody.
NOBODY = Excluded(
    np.zeros((0, 0), np.int32),
    np.zeros(1, np.int64),
    np.zeros((0, 1), np.int64),
    np.zeros(0, np.int32),
)


class Held(NamedTuple):
    """One attribute in a group of `size` people: its codes, their counts, and these by code.

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
# Lines of the scratch by class: the node for which its bits were made, its people in the group,
# what it takes away from them; and the list of classes that the group has met.
_MADE, _PEOPLE, _REMOVED, _GONE, _MET = range(5)
# What is being looked at: a node's first and last row and column; the number of this node, of its
# codes, and of the classes that the group has met.
_FIRST, _LAST, _COLUMN, _NODE, _HELD, _CLASSES = range(6)
# Lines of the scratch by quasi-identifier: the person's classes, and the most that one takes away.
_OWN, _MOST_REMOVED, _MOST_GONE = range(3)


class Dropping(NamedTuple):
    """Scratch of one thread.

    Line c of `bits` says which of the node's codes class c excludes; the last two lines are those
    of the person at hand, and the codes of the group for which too few people are found so far.
    `logs` are by class what it takes away, `log_most` by quasi-identifier the most of it.
    """

    at: Ints
    codes: Ints
    classes: Ints
    known: Ints
    logs: npt.NDArray[np.float64]
    log_most: npt.NDArray[np.float64]
    bits: Words


def new_dropping(codes: int, excluded: Excluded) -> Dropping:
    """Return scratch for attributes of at most so many codes."""
    classes, words, known = len(excluded.owner), -(-codes // _BITS), len(excluded.class_of)
    return Dropping(
        np.array([-1, -1, -1, 0, 0, 0], np.int64),
        np.zeros((6, codes), np.int64),
        np.zeros((5, classes), np.int64),
        np.zeros((3, known), np.int64),
        np.zeros(classes, np.float64),
        np.zeros(known, np.float64),
        np.zeros((classes + 2, words), np.uint64),
    )


@loop
def is_at(dropping: Dropping, first: int, last: int, column: int) -> bool:
    """Return whether this is the node whose codes are numbered."""
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
def _words(dropping: Dropping) -> int:
    return int((dropping.at[_HELD] + _BITS - 1) // _BITS)


@loop
def make_bits(excluded: Excluded, column: int, dropping: Dropping) -> None:
    """Note what every class excludes of the node's codes, all of which are numbered."""
    node, words = dropping.at[_NODE], _words(dropping)
    for place in range(dropping.at[_HELD]):
        code = dropping.codes[_CODE, place]
        for j in range(excluded.starts[column, code], excluded.starts[column, code + 1]):
            own = excluded.classes[j]
            if dropping.classes[_MADE, own] != node:
                dropping.classes[_MADE, own] = node
                for word in range(words):
                    dropping.bits[own, word] = 0
            dropping.bits[own, place // _BITS] |= _ONE << np.uint64(place % _BITS)


@loop
def meet(excluded: Excluded, q: int, value: int, people: int, dropping: Dropping) -> None:
    """Count people of the group who have a value of the q-th quasi-identifier."""
    own = excluded.class_of[q, value]
    classes = dropping.classes
    if classes[_MADE, own] == dropping.at[_NODE]:
        if classes[_PEOPLE, own] == 0:
            classes[_MET, dropping.at[_CLASSES]] = own
            dropping.at[_CLASSES] += 1
        classes[_PEOPLE, own] += people


@loop
def be(excluded: Excluded, q: int, value: int, dropping: Dropping) -> None:
    """Make a value of the q-th quasi-identifier that of the person at hand."""
    own = excluded.class_of[q, value]
    is_telling = dropping.classes[_MADE, own] == dropping.at[_NODE]
    dropping.known[_OWN, q] = own if is_telling else 0


@loop
def surely_hold(
    excluded: Excluded,
    column: int,
    people: int,
    held: Held,
    common: Missed,
    book: RuleBook,
    dropping: Dropping,
) -> tuple[bool, bool]:
    """Return whether the rules hold for all people met, and whether their values need no more.

    Both are told by the sums of classes alone: a no may be a yes. Leaves the values that may still
    need people among the `wanted` bits.
    """
    known = dropping.known
    for q in range(known.shape[1]):
        known[_MOST_REMOVED, q] = known[_MOST_GONE, q] = 0
        dropping.log_most[q] = 0.0
    needs = _need(column, people, held, book, dropping)
    for j in range(dropping.at[_CLASSES]):
        own = dropping.classes[_MET, j]
        removed, gone, log = _taken(own, held, common, book, dropping)
        dropping.classes[_REMOVED, own], dropping.classes[_GONE, own] = removed, gone
        dropping.logs[own] = log
        q = excluded.owner[own]
        known[_MOST_REMOVED, q] = max(known[_MOST_REMOVED, q], removed)
        known[_MOST_GONE, q] = max(known[_MOST_GONE, q], gone)
        dropping.log_most[q] = min(dropping.log_most[q], log)
        if needs:
            _take_away(own, dropping)
    removed, gone, log = 0, 0, 0.0
    for q in range(known.shape[1]):
        removed += known[_MOST_REMOVED, q]
        gone += known[_MOST_GONE, q]
        log += dropping.log_most[q]
    is_enough = not needs or _enough_in_sums(held, dropping)
    return gone == 0 or _surely_holds(column, removed, gone, log, held, common, book), is_enough


@loop
def _need(column: int, people: int, held: Held, book: RuleBook, dropping: Dropping) -> bool:
    """Note how many people must be able to have each value; return whether any must.

    Where diversity is asked for, all values need people: one that is one of l to each must have l
    times as many people who may have it as do have it, or one of them has it for sure.
    """
    times, least = 0, 0
    for r in range(len(book.kind)):
        if book.column[r] == column and book.kind[r] == L_FREQUENCY:
            times = max(times, book.whole[r])
        elif book.column[r] == column and book.kind[r] == L_DISTINCT:
            least = max(least, book.whole[r])
    wanted = dropping.bits[-1]
    for word in range(_words(dropping)):
        wanted[word] = 0
    if times == 0 and least == 0:
        return False
    for j in range(len(held.codes)):
        place = dropping.codes[_PLACE, held.codes[j]] - 1
        dropping.codes[_MAY, place] = people
        dropping.codes[_MUST, place] = max(held.by_code[held.codes[j]] * times, least)
        wanted[place // _BITS] |= _ONE << np.uint64(place % _BITS)
    return True


@loop
def _take_away(own: int, dropping: Dropping) -> None:
    """Take the people of a class off those who may have the values that it excludes."""
    people = dropping.classes[_PEOPLE, own]
    for word in range(_words(dropping)):
        bits = dropping.bits[own, word] & dropping.bits[-1, word]
        while bits != 0:
            dropping.codes[_MAY, word * _BITS + _lowest(bits)] -= people
            bits &= bits - _ONE


@loop
def _enough_in_sums(held: Held, dropping: Dropping) -> bool:
    """Return whether all values have enough people; else leave those `wanted` that may not."""
    is_enough = True
    for word in range(_words(dropping)):
        bits = dropping.bits[-1, word]
        while bits != 0:
            place = word * _BITS + _lowest(bits)
            lone = bits & (~bits + _ONE)
            bits &= bits - _ONE
            may = dropping.codes[_MAY, place]
            if may >= dropping.codes[_MUST, place] or may >= held.size:
                dropping.bits[-1, word] &= ~lone
            else:
                is_enough = False
                dropping.codes[_MAY, place] = 0  # to be counted person by person
    return is_enough


@loop
def no_more_wanted(dropping: Dropping) -> bool:
    """Return whether enough people are found for every value."""
    wanted = np.uint64(0)
    for word in range(_words(dropping)):
        wanted |= dropping.bits[-1, word]
    return bool(wanted == 0)


@loop
def enough_may_have(held: Held, dropping: Dropping) -> bool:
    """Return whether every value that some cannot have is possible for enough others."""
    for word in range(_words(dropping)):
        bits = dropping.bits[-1, word]
        while bits != 0:
            place = word * _BITS + _lowest(bits)
            bits &= bits - _ONE
            # what is possible for everybody is not exclusive: the rule itself says enough
            if dropping.codes[_MAY, place] < held.size:
                return False
    return True


@loop
def leave(dropping: Dropping) -> None:
    """Forget the people of the group."""
    for j in range(dropping.at[_CLASSES]):
        dropping.classes[_PEOPLE, dropping.classes[_MET, j]] = 0
    dropping.at[_CLASSES] = 0


@loop
def _lowest(bits: int) -> int:
    """Return the place of the lowest bit that is set."""
    return int(_PLACES[((bits & (~bits + _ONE)) * _MULTIPLIER) >> _FIRST_SIX])


@loop
def missed(column: int, held: Held, book: RuleBook) -> Missed:
    """Return what all people of a group have in common in the eyes of linkability."""
    for r in range(len(book.kind)):
        if book.column[r] == column and book.kind[r] == LINKABLE and book.whole[r] == 1:
            total, least = 0.0, 0.0
            for j in range(len(held.codes)):
                if held.codes[j] != book.skip[r]:
                    total += book.reals[r, held.codes[j]]
                    least = min(least, book.reals[r, held.codes[j]])
            return Missed(r, total, least)
    return Missed(-1, 0.0, 0.0)


@loop
def _taken(
    line: int, held: Held, common: Missed, book: RuleBook, dropping: Dropping
) -> tuple[int, int, float]:
    """Return the people, the values and the logarithms that a line of bits takes away."""
    removed, gone, log = 0, 0, 0.0
    for word in range(_words(dropping)):
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
def person_holds(
    column: int, people: int, held: Held, common: Missed, book: RuleBook, dropping: Dropping
) -> bool:
    """Return whether a group satisfies the rules on a column for the person at hand.

    Adds so many `people` of the same classes to those who may have the values that still need some.
    """
    codes, own = dropping.codes, dropping.known[_OWN]
    removed, gone, log = 0, 0, 0.0
    for q in range(len(own)):
        if own[q] > 0:
            removed += dropping.classes[_REMOVED, own[q]]
            gone += dropping.classes[_GONE, own[q]]
            log += dropping.logs[own[q]]
    words = _words(dropping)
    line = dropping.bits.shape[0] - 2
    for word in range(words):
        wanted = dropping.bits[line + 1, word]
        if wanted == 0:
            continue
        for q in range(len(own)):
            if own[q] > 0:
                wanted &= ~dropping.bits[own[q], word]
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
    for q in range(len(own)):
        if own[q] > 0:
            for word in range(words):
                dropping.bits[line, word] |= dropping.bits[own[q], word]
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
            chance = 1.0 - np.exp((held.size - 1) * rest)
            if chance < book.real[r] + TOLERANCE + ROUNDING:
                return False
        else:
            return False
    return True


@loop
def people_failing(
    excluded: Excluded,
    column: int,
    values: Codes,
    people: Ints,
    held: Held,
    book: RuleBook,
    dropping: Dropping,
) -> int:
    """Return for how many people the rules on a column do not hold; -1 if values need more people.

    Line i of `values` has the quasi-identifiers of `people[i]` people, who are some. The held codes
    ascend.
    """
    go_to(dropping, 0, held.size, column)
    for code in held.codes:
        number(dropping, code)
    make_bits(excluded, column, dropping)
    common = missed(column, held, book)
    everybody = 0
    for i in range(len(people)):
        everybody += people[i]
        for q in range(values.shape[1]):
            meet(excluded, q, values[i, q], people[i], dropping)
    all_hold, is_enough = surely_hold(excluded, column, everybody, held, common, book, dropping)
    failing = 0
    for i in range(len(people)):
        if all_hold and (is_enough or no_more_wanted(dropping)):
            break
        for q in range(values.shape[1]):
            be(excluded, q, values[i, q], dropping)
        if not person_holds(column, people[i], held, common, book, dropping):
            failing += people[i]
    leave(dropping)
    if failing == 0 and not enough_may_have(held, dropping):
        return -1
    return failing
