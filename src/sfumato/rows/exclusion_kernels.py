"""Whether a group satisfies rules for people who are known not to have some of its values.

Larger tables show more that is impossible, so that nobody may cost as much as the lists are long:

* Nobody's classes take away more from a group than the worst class of each quasi-identifier does,
  and a value is possible for all but the people of the classes that exclude it. Many groups are
  judged by these sums alone, without a look at single people.
* Where they do not tell, a person is judged by the sums of the own classes, then by what they take
  away in all, and only near a bound by what they leave. A value that some cannot have needs a
  number of people who can: once they are found, it is done.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from sfumato.measures.compiled import loop
from sfumato.models.kernels import L_DISTINCT, L_FREQUENCY, LINKABLE, TOLERANCE, holds
from sfumato.models.model import RuleBook, rule_at
from sfumato.rows.exclusion_bits import (
    BITS,
    CODE,
    COUNTS,
    LEFT,
    MADE,
    MAY,
    MUST,
    NODE,
    ONE,
    PEOPLE,
    PLACE,
    WANTED,
    Codes,
    Dropping,
    Excluded,
    Ints,
    be,
    go_to,
    leave,
    lowest,
    make_bits,
    meet,
    number,
    words_of,
)

# Sums of logarithms are taken in any order: what is nearer to a bound than this is looked at anew.
ROUNDING = 1e-9
# Up to here shares are sure to add up to no more than all.
ALL = 1.0 - ROUNDING


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


class Allowance(NamedTuple):
    """The most people, values and logarithms that can be taken away from a group without harm."""

    removed: int
    gone: int
    log: float


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


@numba.njit(inline="always")
def allowance(column: int, held: Held, common: Missed, book: RuleBook) -> Allowance:
    """Return what may surely be taken away from a group; nothing may where sums do not tell."""
    removed, gone, log = held.present, held.distinct, -np.inf
    for r in range(len(book.kind)):
        if book.column[r] != column:
            continue
        if book.kind[r] == L_FREQUENCY:
            removed = min(removed, held.present - held.largest * book.whole[r])
        elif book.kind[r] == L_DISTINCT:
            gone = min(gone, held.distinct - book.whole[r])
        elif r == common.rule and np.isfinite(common.total) and held.size > 1:
            chance = 1.0 - book.real[r] - TOLERANCE - ROUNDING  # that no value is shared
            # a person's own value is at most as likely as the likeliest of all
            most = np.log(chance) / (held.size - 1) if chance > 0.0 else -np.inf
            log = max(log, common.total - common.least - most)
        else:
            gone = -1
    return Allowance(removed, gone, log)


@loop
def _share(removed: int, gone: int, log: float, most: Allowance) -> float:
    """Return the share that is taken of what may be taken away; above 1, or infinite, look closer.

    Shares of several classes add up to no less than the share of all of them.
    """
    if most.removed < 1 or most.gone < 1 or most.log >= 0.0:
        return np.inf
    return float(max(removed / most.removed, gone / most.gone, log / most.log))


@loop
def surely_hold(
    excluded: Excluded,
    column: int,
    people: int,
    held: Held,
    common: Missed,
    book: RuleBook,
    most: Allowance,
    dropping: Dropping,
) -> bool:
    """Return whether the rules hold for all people met, told by the sums of classes: a no may be a
    yes. Leaves what each class uses, and the values that may still need people as `wanted`.
    """
    for q in range(len(dropping.most)):
        dropping.most[q] = 0.0
    needs = _need(column, people, held, book, dropping)
    for own in range(len(excluded.owner)):
        dropping.use[own] = 0.0
        is_telling = dropping.classes[MADE, own] == dropping.at[NODE]
        if dropping.classes[PEOPLE, own] > 0 and is_telling:
            removed, gone, log = _taken(own, held, common, book, dropping)
            if gone > 0:
                dropping.use[own] = _share(removed, gone, log, most)
                q = excluded.owner[own]
                dropping.most[q] = max(dropping.most[q], dropping.use[own])
            if needs:
                _take_away(own, dropping)
    if needs:
        _find_enough(held, dropping)
    total = 0.0
    for q in range(len(dropping.most)):
        total += dropping.most[q]
    return total <= ALL


@numba.njit(inline="always")
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
    dropping.at[WANTED] = 0
    for word in range(words_of(dropping)):
        wanted[word] = 0
    if times == 0 and least == 0:
        return False
    for j in range(len(held.codes)):
        place = dropping.codes[PLACE, held.codes[j]] - 1
        dropping.codes[MAY, place] = people
        dropping.codes[MUST, place] = max(held.by_code[held.codes[j]] * times, least)
        wanted[place // BITS] |= ONE << np.uint64(place % BITS)
    return True


@numba.njit(inline="always")
def _take_away(own: int, dropping: Dropping) -> None:
    """Take the people of a class off those who may have the values that it excludes."""
    people = dropping.classes[PEOPLE, own]
    for word in range(words_of(dropping)):
        bits = dropping.bits[own, word] & dropping.bits[-1, word]
        while bits != 0:
            dropping.codes[MAY, word * BITS + lowest(bits)] -= people
            bits &= bits - ONE


@numba.njit(inline="always")
def _find_enough(held: Held, dropping: Dropping) -> None:
    """Leave those values `wanted` of which sums do not tell that enough people may have them."""
    for word in range(words_of(dropping)):
        bits = dropping.bits[-1, word]
        while bits != 0:
            place = word * BITS + lowest(bits)
            lone = bits & (~bits + ONE)
            bits &= bits - ONE
            may = dropping.codes[MAY, place]
            if may >= dropping.codes[MUST, place] or may >= held.size:
                dropping.bits[-1, word] &= ~lone
            else:
                dropping.at[WANTED] += 1
                dropping.codes[MAY, place] = 0  # to be counted person by person


@numba.njit(inline="always")
def is_any_wanted(dropping: Dropping) -> bool:
    """Return whether too few people are found so far for some value."""
    return bool(dropping.at[WANTED] > 0)


@numba.njit(inline="always")
def enough_may_have(held: Held, dropping: Dropping) -> bool:
    """Return whether every value that some cannot have is possible for enough others."""
    for word in range(words_of(dropping)):
        bits = dropping.bits[-1, word]
        while bits != 0:
            place = word * BITS + lowest(bits)
            bits &= bits - ONE
            # what is possible for everybody is not exclusive: the rule itself says enough
            if dropping.codes[MAY, place] < held.size:
                return False
    return True


@loop
def _taken(
    line: int, held: Held, common: Missed, book: RuleBook, dropping: Dropping
) -> tuple[int, int, float]:
    """Return the people, the values and the logarithms that a line of bits takes away."""
    removed, gone, log = 0, 0, 0.0
    for word in range(words_of(dropping)):
        bits = dropping.bits[line, word]
        while bits != 0:
            code = dropping.codes[CODE, word * BITS + lowest(bits)]
            bits &= bits - ONE
            if held.by_code[code] > 0:
                removed += held.by_code[code]
                gone += 1
                if common.rule >= 0:
                    log += book.reals[common.rule, code]
    return removed, gone, log


@numba.njit(inline="always")
def _let_have(people: int, dropping: Dropping) -> None:
    """Add people like the one at hand to those who may have the values that still need some."""
    codes, own = dropping.codes, dropping.own
    for word in range(words_of(dropping)):
        wanted = dropping.bits[-1, word]
        if wanted == 0:
            continue
        for q in range(len(own)):
            if dropping.classes[MADE, own[q]] == dropping.at[NODE]:
                wanted &= ~dropping.bits[own[q], word]
        while wanted != 0:
            place = word * BITS + lowest(wanted)
            codes[MAY, place] += people
            if codes[MAY, place] >= codes[MUST, place]:
                dropping.bits[-1, word] &= ~(wanted & (~wanted + ONE))
                dropping.at[WANTED] -= 1
            wanted &= wanted - ONE


@loop
def person_holds(
    column: int,
    people: int,
    held: Held,
    common: Missed,
    book: RuleBook,
    most: Allowance,
    dropping: Dropping,
) -> bool:
    """Return whether a group satisfies the rules on a column for the person at hand.

    Adds so many `people` of the same classes to those who may have the values that still need some.
    """
    codes, own = dropping.codes, dropping.own
    if dropping.at[WANTED] > 0:
        _let_have(people, dropping)
    total = 0.0
    for q in range(len(own)):
        total += dropping.use[own[q]]
    if total <= ALL:
        return True
    line = dropping.bits.shape[0] - 2
    for word in range(words_of(dropping)):
        bits = np.uint64(0)
        for q in range(len(own)):
            if dropping.use[own[q]] > 0.0:
                bits |= dropping.bits[own[q], word]
        dropping.bits[line, word] = bits
    removed, gone, log = _taken(line, held, common, book, dropping)
    if _share(removed, gone, log, most) <= ALL:
        return True
    left = 0
    for j in range(len(held.codes)):
        place = codes[PLACE, held.codes[j]] - 1
        if (dropping.bits[line, place // BITS] >> np.uint64(place % BITS)) & ONE == 0:
            codes[LEFT, left] = held.codes[j]
            codes[COUNTS, left] = held.counts[j]
            left += 1
    for r in range(len(book.kind)):
        if book.column[r] == column and not holds(
            rule_at(book, r),
            codes[LEFT, :left],
            codes[COUNTS, :left],
            held.size,
            held.present - removed,
        ):
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
    # np.int64: a literal, or a number of 32 bits, would have a twin of what is called compiled
    go_to(dropping, int(np.int64(0)), held.size, column)
    for code in held.codes:
        number(dropping, int(np.int64(code)))
    make_bits(excluded, column, dropping)
    common = missed(column, held, book)
    most = allowance(column, held, common, book)
    everybody = int(np.int64(0))
    for i in range(len(people)):
        everybody += people[i]
        for q in range(values.shape[1]):
            meet(excluded, q, values[i, q], people[i], dropping)
    all_hold = surely_hold(excluded, column, everybody, held, common, book, most, dropping)
    failing = 0
    for i in range(len(people)):
        if all_hold and not is_any_wanted(dropping):
            break
        for q in range(values.shape[1]):
            be(excluded, q, values[i, q], dropping)
        if not person_holds(column, people[i], held, common, book, most, dropping):
            failing += people[i]
    leave(dropping)
    if failing == 0 and not enough_may_have(held, dropping):
        return -1
    return failing
