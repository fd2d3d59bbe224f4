"""Whether both sides of a cut satisfy a conjunction of models: the check inside Mondrian.

One pass counts the values of both sides. Sums decide most rules; only what they leave open is put
before the models themselves. Functions with a single caller are compiled as part of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.models.kernels import (
    K_ANONYMITY,
    L_DISTINCT,
    L_FREQUENCY,
    LINKABLE,
    TOLERANCE,
    holds,
)
from sfumato.models.model import RuleBook, rule_at
from sfumato.rows.exclusion_bits import (
    Dropping,
    Excluded,
    be,
    go_to,
    is_at,
    leave,
    make_bits,
    meet,
    new_dropping,
    number,
    used,
)
from sfumato.rows.exclusion_kernels import (
    ALL,
    ROUNDING,
    Held,
    Missed,
    allowance,
    enough_may_have,
    is_any_wanted,
    missed,
    person_holds,
    surely_hold,
)
from sfumato.rows.sorting import sort_first

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

# What sums tell of a rule.
_BROKEN, _KEPT, _OPEN = 0, 1, 2


class Sensitive(NamedTuple):
    """Where a working row holds its sensitive codes and its unit.

    Columns `first .. first + columns - 1` of a row are sensitive codes. `unit` is the column of the
    unit's number, followed by one column a sensitive attribute that numbers the distinct
    (unit, value) pairs; -1 when every row is a person of its own. `null` are the codes of missing
    values; `complete` says of which attributes there are none.
    """

    first: int
    columns: int
    unit: int
    null: Ints
    complete: npt.NDArray[np.bool_]


class Known(NamedTuple):
    """What is known of people: by the values in `columns` of their rows, `excluded` says what is
    impossible for them. The last is scratch of one thread.

    Nothing known is None, for which none of this is compiled.
    """

    columns: Ints
    excluded: Excluded
    dropping: Dropping


class Tally(NamedTuple):
    """Scratch of one thread: counters, all zero (or stale stamps) between checks, by side first.

    `people` has by side the rows, the units, those of them who have a value, and how many codes are
    in `touched`.
    """

    counts: Ints
    touched: Ints
    found: Ints
    units_seen: Ints
    pairs_seen: Ints
    stamp: Ints
    people: Ints


_ROWS, _UNITS, _PRESENT, _DISTINCT = range(4)


def new_tally(layout: Sensitive, units: int, pairs: int) -> Tally:
    """Return scratch for so many units and (unit, value) pairs."""
    codes = int(layout.null.max(initial=0)) + 1
    return Tally(
        np.zeros((2, codes), np.int64),
        np.zeros((2, codes), np.int64),
        np.zeros(codes, np.int64),
        np.zeros((2, units), np.int64),
        np.zeros((2, pairs), np.int64),
        np.zeros(1, np.int64),
        np.zeros((2, 4), np.int64),
    )


def new_known(layout: Sensitive, columns: Ints, excluded: Excluded) -> Known:
    """Return what is known of people by some columns of their rows, with scratch."""
    codes = int(layout.null.max(initial=0)) + 1
    return Known(columns, excluded, new_dropping(codes, excluded))


@loop
def too_few(rows: int, layout: Sensitive, book: RuleBook) -> bool:
    """Return whether no group of so many rows, or fewer, satisfies the rules."""
    for r in range(len(book.kind)):
        needed = 0
        if book.kind[r] == K_ANONYMITY or book.kind[r] == L_DISTINCT:
            needed = book.whole[r]
        elif book.kind[r] == L_FREQUENCY and layout.complete[book.column[r]]:
            needed = book.whole[r]  # the commonest value has at least one of them
        if rows < needed and needed > 1:
            return True
    return False


@loop
def is_whole(
    work: Codes, start: int, end: int, layout: Sensitive, book: RuleBook, tally: Tally
) -> bool:
    """Return whether sums show that no cut of start..end leaves two sides that satisfy the rules.

    For linkability, the logarithms of a side's values, the likeliest left out, must sum up to a
    number that is divided by the side's rows less one. Two such sums need most room on sides of
    equal size; and all that there is to share out are the values of the rows, each at most twice.
    """
    rows = end - start
    if too_few(rows // 2, layout, book):
        return True
    for r in range(len(book.kind)):
        if book.kind[r] != LINKABLE or book.whole[r] != 1:
            continue
        chance = 1.0 - book.real[r] - TOLERANCE + ROUNDING  # that no value is shared
        if rows < 3 or layout.unit >= 0 or not layout.complete[book.column[r]]:
            continue
        needed = 4.0 * np.log(min(chance, 1.0)) / (rows - 2)
        place, counts, logs = layout.first + book.column[r], tally.counts[0], book.reals[r]
        total, least, i = 0.0, 0.0, start
        while i < end and total - least > needed:
            code = work[i, place]
            if counts[code] < 2:
                counts[code] += 1
                total += logs[code]
                least = min(least, logs[code])
            i += 1
        for j in range(start, i):
            counts[work[j, place]] = 0
        if total - least > needed:
            return True
    return False


@loop
def _count_units(
    work: Codes, start: int, end: int, side: Bytes, layout: Sensitive, tally: Tally, column: int
) -> None:
    """Count the units of both sides; with a column, those with a value there."""
    tally.stamp[0] += 1
    stamp = tally.stamp[0]
    line = _UNITS if column < 0 else _PRESENT
    tally.people[0, line] = tally.people[1, line] = 0
    for i in range(start, end):
        if column >= 0 and work[i, layout.first + column] == layout.null[column]:
            continue
        own, unit = side[i], work[i, layout.unit]
        if tally.units_seen[own, unit] != stamp:
            tally.units_seen[own, unit] = stamp
            tally.people[own, line] += 1


@numba.njit(inline="always")
def _count_values(
    work: Codes, start: int, end: int, side: Bytes, layout: Sensitive, tally: Tally, column: int
) -> None:
    """Count the people of both sides by their values on a column."""
    people, place = tally.people, layout.first + column
    people[0, _DISTINCT] = people[1, _DISTINCT] = 0
    tally.stamp[0] += 1
    for i in range(start, end):
        own, code = side[i], work[i, place]
        if layout.unit >= 0:
            if code == layout.null[column]:
                continue  # a person misses the value if no row has it: counted below
            pair = work[i, layout.unit + 1 + column]
            if tally.pairs_seen[own, pair] == tally.stamp[0]:
                continue
            tally.pairs_seen[own, pair] = tally.stamp[0]
        if tally.counts[own, code] == 0:
            tally.touched[own, people[own, _DISTINCT]] = code
            people[own, _DISTINCT] += 1
        tally.counts[own, code] += 1
    null = layout.null[column]
    if layout.unit < 0:
        for own in range(2):
            people[own, _PRESENT] = people[own, _ROWS] - tally.counts[own, null]
        return
    _count_units(work, start, end, side, layout, tally, column)
    for own in range(2):
        lacking = people[own, _UNITS] - people[own, _PRESENT]
        if lacking > 0:
            tally.touched[own, people[own, _DISTINCT]] = null
            tally.counts[own, null] = lacking
            people[own, _DISTINCT] += 1


@numba.njit(inline="always")
def _held(own: int, null: int, tally: Tally) -> Held:
    """Return a side's values on the column that was counted."""
    distinct = tally.people[own, _DISTINCT]
    codes = tally.touched[own, :distinct]
    values, largest = 0, 0
    for j in range(distinct):
        tally.found[j] = tally.counts[own, codes[j]]
        if codes[j] != null:
            values += 1
            largest = max(largest, tally.found[j])
    people = tally.people[own]
    counts = tally.found[:distinct]
    return Held(codes, counts, tally.counts[own], people[_UNITS], people[_PRESENT], values, largest)


@numba.njit(inline="always")
def _by_sums(column: int, held: Held, common: Missed, book: RuleBook) -> int:
    """Return what sums tell of the rules on a column."""
    answer = _KEPT
    for r in range(len(book.kind)):
        if book.column[r] != column:
            continue
        if book.kind[r] == L_DISTINCT and book.skip[r] >= 0:
            if held.distinct < book.whole[r] and book.whole[r] != 1:
                return _BROKEN
        elif book.kind[r] == L_FREQUENCY and book.skip[r] >= 0:
            if held.largest * book.whole[r] > held.present:
                return _BROKEN
        elif r == common.rule and held.distinct > 0 and np.isfinite(common.total):
            chance = 1.0 - np.exp((held.size - 1) * (common.total - common.least))
            if chance < book.real[r] + TOLERANCE - ROUNDING:
                return _BROKEN
            if chance < book.real[r] + TOLERANCE + ROUNDING:
                answer = _OPEN
        else:
            answer = _OPEN
    return answer


@loop
def _everybody_holds(
    work: Codes,
    start: int,
    end: int,
    side: Bytes,
    want: int,
    book: RuleBook,
    first: int,
    column: int,
    rows: int,
    held: Held,
    common: Missed,
    known: Known,
) -> bool:
    """Return whether the rules on a column hold without what is impossible for each person."""
    excluded, dropping = known.excluded, known.dropping
    one = int(np.int64(1))  # person; a literal would have a twin of what is called compiled
    if not is_at(dropping, start, end, column):
        go_to(dropping, start, end, column)
        for i in range(start, end):
            number(dropping, int(np.int64(work[i, first + column])))
        make_bits(excluded, column, dropping)
    for i in range(start, end):
        if side[i] == want:
            for q in range(len(known.columns)):
                meet(excluded, q, work[i, known.columns[q]], one, dropping)
    most = allowance(column, held, common, book)
    all_hold = surely_hold(excluded, column, rows, held, common, book, most, dropping)
    is_kept = True
    if not all_hold or is_any_wanted(dropping):
        _sort(held)
        for i in range(start, end):
            if side[i] != want:
                continue
            total = 0.0
            for q in range(len(known.columns)):
                total += used(excluded, q, work[i, known.columns[q]], dropping)
            if total <= ALL and not is_any_wanted(dropping):
                continue
            for q in range(len(known.columns)):
                be(excluded, q, work[i, known.columns[q]], dropping)
            is_kept = person_holds(column, one, held, common, book, most, dropping)
            if not is_kept or (all_hold and not is_any_wanted(dropping)):
                break
        is_kept = is_kept and enough_may_have(held, dropping)
    leave(dropping)
    return is_kept


@loop
def _sort(held: Held) -> None:
    """Bring the codes into the order that models expect, their counts with them."""
    sort_first(held.codes, len(held.codes))
    for j in range(len(held.codes)):
        held.counts[j] = held.by_code[held.codes[j]]


@numba.njit(inline="always")
def _side_holds(
    work: Codes,
    start: int,
    end: int,
    side: Bytes,
    want: int,
    layout: Sensitive,
    book: RuleBook,
    column: int,
    tally: Tally,
    known: Known | None,
) -> bool:
    """Return whether a side satisfies the rules on the column that was counted."""
    held = _held(want, layout.null[column], tally)
    common = missed(column, held, book)
    told = _by_sums(column, held, common, book)
    if told == _BROKEN:
        return False
    if told == _OPEN:
        _sort(held)
        for r in range(len(book.kind)):
            if book.column[r] == column and not holds(
                rule_at(book, r), held.codes, held.counts, held.size, held.present
            ):
                return False
    if known is None:  # first: without it, nothing below is compiled
        return True
    rows = tally.people[want, _ROWS]
    return _everybody_holds(
        work, start, end, side, want, book, layout.first, column, rows, held, common, known
    )


@loop
def sides_hold(
    work: Codes,
    start: int,
    end: int,
    side: Bytes,
    layout: Sensitive,
    book: RuleBook,
    tally: Tally,
    known: Known | None,
) -> bool:
    """Return whether the rows of start..end satisfy every rule on either side.

    They must satisfy them for every person among them, too, once what is impossible for that
    person has been dropped.
    """
    people = tally.people
    people[1, _ROWS] = 0
    for i in range(start, end):
        people[1, _ROWS] += side[i]
    people[0, _ROWS] = end - start - people[1, _ROWS]
    if too_few(min(people[0, _ROWS], people[1, _ROWS]), layout, book):
        return False
    if layout.unit >= 0:
        no_column = min(layout.unit, -1)  # not a literal, for which a twin would be compiled
        _count_units(work, start, end, side, layout, tally, no_column)
    for own in range(2):
        if layout.unit < 0:
            people[own, _UNITS] = people[own, _ROWS]
        size = people[own, _UNITS]
        for r in range(len(book.kind)):
            if book.kind[r] == K_ANONYMITY and size < book.whole[r]:
                return False
    for column in range(layout.columns):
        used = False
        for r in range(len(book.kind)):
            used = used or book.column[r] == column
        if not used:
            continue
        _count_values(work, start, end, side, layout, tally, column)
        is_kept = True
        for own in range(2):
            is_kept = is_kept and _side_holds(
                work, start, end, side, own, layout, book, column, tally, known
            )
        for own in range(2):
            for j in range(people[own, _DISTINCT]):
                tally.counts[own, tally.touched[own, j]] = 0
        if not is_kept:
            return False
    return True
