"""Whether a set of rows satisfies a conjunction of models: the check inside every partitioner."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.models.kernels import K_ANONYMITY, holds
from sfumato.models.model import RuleBook, rule_at
from sfumato.rows.exclusion_kernels import (
    Dropping,
    Excluded,
    Held,
    enough_may_have,
    go_to,
    is_at,
    kind_holds,
    look_at,
    missed,
    new_dropping,
    number,
)
from sfumato.rows.sorting import sort_first

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class Sensitive(NamedTuple):
    """Where a working row holds its sensitive codes and its unit.

    Columns `first .. first + columns - 1` of a row are sensitive codes. `unit` is the column of the
    unit's number, followed by one column a sensitive attribute that numbers the distinct
    (unit, value) pairs; -1 when every row is a person of its own.
    """

    first: int
    columns: int
    unit: int
    null: Ints


class Known(NamedTuple):
    """What is known of people: `kind` is the column of their kind, of whom `excluded` says what is
    impossible. The others are scratch of one thread.

    Nothing known is None, for which none of this is compiled.
    """

    kind: int
    excluded: Excluded
    of_kind: Ints
    dropping: Dropping


class Tally(NamedTuple):
    """Scratch counters of one thread, all zero (or stale stamps) between checks."""

    counts: Ints
    touched: Ints
    found: Ints
    units_seen: Ints
    pairs_seen: Ints
    stamp: Ints


def new_tally(layout: Sensitive, units: int, pairs: int) -> Tally:
    """Return scratch for so many units and (unit, value) pairs."""
    codes = int(layout.null.max(initial=0)) + 1
    return Tally(
        np.zeros(codes, np.int64),
        np.zeros(codes, np.int64),
        np.zeros(codes, np.int64),
        np.zeros(units, np.int64),
        np.zeros(pairs, np.int64),
        np.zeros(1, np.int64),
    )


def new_known(layout: Sensitive, kind: int, excluded: Excluded) -> Known:
    """Return what is known of people whose kind is in a column, with scratch."""
    codes = int(layout.null.max(initial=0)) + 1
    of_kind = np.zeros(len(excluded.classes), np.int64)
    return Known(kind, excluded, of_kind, new_dropping(codes, excluded))


@loop
def _unit_count(
    work: Codes,
    start: int,
    end: int,
    side: npt.NDArray[np.uint8],
    want: int,
    layout: Sensitive,
    tally: Tally,
    only_known: int,
) -> int:
    """Count the distinct units of a side; with `only_known` >= 0, those with a value there."""
    tally.stamp[0] += 1
    stamp = tally.stamp[0]
    found = 0
    for i in range(start, end):
        if side[i] != want:
            continue
        if only_known >= 0 and work[i, layout.first + only_known] == layout.null[only_known]:
            continue
        unit = work[i, layout.unit]
        if tally.units_seen[unit] != stamp:
            tally.units_seen[unit] = stamp
            found += 1
    return found


@loop
def _kinds_hold(
    work: Codes,
    start: int,
    end: int,
    side: npt.NDArray[np.uint8],
    want: int,
    book: RuleBook,
    first: int,
    column: int,
    held: Held,
    known: Known,
) -> bool:
    """Return whether the rules on a column hold without what is impossible for each person."""
    for i in range(start, end):
        if side[i] == want:
            known.of_kind[work[i, known.kind]] += 1
    is_kept = True
    common = missed(column, held, book)
    if not is_at(known.dropping, start, end, column):
        go_to(known.dropping, start, end, column)
        for i in range(start, end):
            number(known.dropping, work[i, first + column])
    look_at(column, held, book, known.dropping)
    for i in range(start, end):
        if side[i] != want:
            continue
        kind = work[i, known.kind]
        people = known.of_kind[kind]
        if people == 0:
            continue
        known.of_kind[kind] = 0  # looked at once, and clean for the next side
        is_kept = is_kept and kind_holds(
            known.excluded, column, kind, people, held, common, book, known.dropping
        )
    return is_kept and enough_may_have(held, known.dropping)


@loop
def side_holds(
    work: Codes,
    start: int,
    end: int,
    side: npt.NDArray[np.uint8],
    want: int,
    layout: Sensitive,
    book: RuleBook,
    tally: Tally,
    known: Known | None,
) -> bool:
    """Return whether the rows of start..end whose side is `want` satisfy every rule.

    They must satisfy them for every person among them, too, once what is impossible for that
    person has been dropped.
    """
    rows = 0
    for i in range(start, end):
        if side[i] == want:
            rows += 1
    size = rows
    if layout.unit >= 0:
        size = _unit_count(work, start, end, side, want, layout, tally, -1)
    nothing = tally.touched[:0]
    for r in range(len(book.kind)):
        if book.kind[r] == K_ANONYMITY and not holds(
            rule_at(book, r), nothing, nothing, size, size
        ):
            return False
    for column in range(layout.columns):
        used = False
        for r in range(len(book.kind)):
            used = used or book.column[r] == column
        if not used:
            continue
        distinct = 0
        tally.stamp[0] += 1
        stamp = tally.stamp[0]
        for i in range(start, end):
            if side[i] != want:
                continue
            code = work[i, layout.first + column]
            if layout.unit >= 0:
                if code == layout.null[column]:
                    continue  # a person misses the value if no row has it: counted below
                pair = work[i, layout.unit + 1 + column]
                if tally.pairs_seen[pair] == stamp:
                    continue
                tally.pairs_seen[pair] = stamp
            if tally.counts[code] == 0:
                tally.touched[distinct] = code
                distinct += 1
            tally.counts[code] += 1
        present = 0
        if layout.unit >= 0:
            present = _unit_count(work, start, end, side, want, layout, tally, column)
            if present < size:
                tally.touched[distinct] = layout.null[column]
                tally.counts[layout.null[column]] = size - present
                distinct += 1
        sort_first(tally.touched, distinct)
        codes, counts = tally.touched[:distinct], tally.found[:distinct]
        values, largest = 0, 0
        for j in range(distinct):
            counts[j] = tally.counts[codes[j]]
            if codes[j] != layout.null[column]:
                values += 1
                largest = max(largest, counts[j])
                if layout.unit < 0:
                    present += counts[j]
        is_kept = True
        for r in range(len(book.kind)):
            is_kept = is_kept and (
                book.column[r] != column or holds(rule_at(book, r), codes, counts, size, present)
            )
        if known is not None and is_kept:  # first: without it, nothing below is compiled
            held = Held(codes, counts, tally.counts, size, present, values, largest)
            is_kept = _kinds_hold(
                work, start, end, side, want, book, layout.first, column, held, known
            )
        for j in range(distinct):
            tally.counts[codes[j]] = 0
        if not is_kept:
            return False
    return True
