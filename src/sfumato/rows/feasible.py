"""Whether a set of rows satisfies a conjunction of models: the check inside every partitioner."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.models.kernels import K_ANONYMITY, L_DISTINCT, L_FREQUENCY, holds
from sfumato.models.model import RuleBook, rule_at
from sfumato.rows.sorting import sort_first

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class Sensitive(NamedTuple):
    """Where a working row holds its sensitive codes and its unit.

    Columns `first .. first + columns - 1` of a row are sensitive codes. `unit` is the column of the
    unit's number, followed by one column a sensitive attribute that numbers the distinct
    (unit, value) pairs; -1 when every row is a person of its own. `kind` is the column of the kind
    of person, for whom `impossible[column, kind, code]` is known; -1 when nothing is.
    """

    first: int
    columns: int
    unit: int
    null: Ints
    kind: int
    impossible: npt.NDArray[np.bool_]


class Tally(NamedTuple):
    """Scratch counters of one thread, all zero (or stale stamps) between checks."""

    counts: Ints
    touched: Ints
    found: Ints
    units_seen: Ints
    pairs_seen: Ints
    of_kind: Ints
    excluded: Ints
    left_codes: Ints
    left_counts: Ints
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
        np.zeros(layout.impossible.shape[1], np.int64),
        np.zeros(codes, np.int64),
        np.zeros(codes, np.int64),
        np.zeros(codes, np.int64),
        np.zeros(1, np.int64),
    )


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
    layout: Sensitive,
    book: RuleBook,
    tally: Tally,
    column: int,
    codes: Ints,
    counts: Ints,
    size: int,
) -> bool:
    """Return whether the rules on a column hold without what is impossible for each person.

    And whether every value is possible for enough people: where diversity is asked for, a value
    that is one of l to each must have l times as many people who may have it, or one of them has
    it for sure.
    """
    for i in range(start, end):
        if side[i] == want:
            tally.of_kind[work[i, layout.kind]] += 1
    excluded = tally.excluded[: len(codes)]
    excluded[:] = 0
    is_kept = True
    for i in range(start, end):
        kind = work[i, layout.kind]
        people = tally.of_kind[kind]
        if side[i] != want or people == 0:
            continue
        tally.of_kind[kind] = 0  # looked at once, and clean for the next side
        if not is_kept:
            continue
        left, present = 0, 0
        for j in range(len(codes)):
            if layout.impossible[column, kind, codes[j]]:
                excluded[j] += people
                continue
            tally.left_codes[left] = codes[j]
            tally.left_counts[left] = counts[j]
            left += 1
            if codes[j] != layout.null[column]:
                present += counts[j]
        if left == len(codes):
            continue  # nothing is impossible
        for r in range(len(book.kind)):
            is_kept = is_kept and (
                book.column[r] != column
                or holds(
                    rule_at(book, r),
                    tally.left_codes[:left],
                    tally.left_counts[:left],
                    size,
                    present,
                )
            )
    for r in range(len(book.kind)):
        if book.column[r] != column:
            continue
        for j in range(len(codes)):
            if excluded[j] == 0:
                continue  # possible for everybody: the rule itself says enough
            needed = 0
            if book.kind[r] == L_FREQUENCY:
                needed = counts[j] * book.whole[r]
            elif book.kind[r] == L_DISTINCT:
                needed = book.whole[r]
            is_kept = is_kept and size - excluded[j] >= needed
    return is_kept


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
        for j in range(distinct):
            counts[j] = tally.counts[codes[j]]
            tally.counts[codes[j]] = 0
            if layout.unit < 0 and codes[j] != layout.null[column]:
                present += counts[j]
        for r in range(len(book.kind)):
            if book.column[r] == column and not holds(
                rule_at(book, r), codes, counts, size, present
            ):
                return False
        if layout.kind >= 0 and not _kinds_hold(
            work, start, end, side, want, layout, book, tally, column, codes, counts, size
        ):
            return False
    return True
