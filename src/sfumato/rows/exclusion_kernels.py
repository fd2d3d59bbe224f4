"""Whether a group satisfies rules for people who are known not to have some of its values.

What is impossible for a person comes as lists of codes, one a class of quasi-identifier values;
a kind of person is a combination of classes. Lists are short, so most kinds are judged by what they
take away from the group's sums, and only those near a bound by what they leave.
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


class Dropping(NamedTuple):
    """Scratch of one thread: which codes the kind at hand excludes, and for how many people."""

    mark: Ints
    stamp: Ints
    people: Ints
    left_codes: Ints
    left_counts: Ints


def new_dropping(codes: int) -> Dropping:
    """Return scratch for attributes of at most so many codes."""
    return Dropping(*(np.zeros(size, np.int64) for size in (codes, 1, codes, codes, codes)))


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

    Adds the people to those for whom each excluded code is impossible.
    """
    dropping.stamp[0] += 1
    stamp = dropping.stamp[0]
    removed, gone = 0, 0
    log = 0.0
    for q in range(excluded.classes.shape[1]):
        own = excluded.classes[kind, q]
        for j in range(excluded.starts[column, own], excluded.starts[column, own + 1]):
            code = excluded.codes[j]
            if dropping.mark[code] == stamp:
                continue
            dropping.mark[code] = stamp
            if held.by_code[code] > 0:
                removed += held.by_code[code]
                gone += 1
                dropping.people[code] += people
                if common.rule >= 0:
                    log += book.reals[common.rule, code]
    if gone == 0:
        return True
    if _surely_holds(column, removed, gone, log, held, common, book):
        return True
    left = 0
    for j in range(len(held.codes)):
        if dropping.mark[held.codes[j]] != stamp:
            dropping.left_codes[left] = held.codes[j]
            dropping.left_counts[left] = held.counts[j]
            left += 1
    for r in range(len(book.kind)):
        if book.column[r] == column and not holds(
            rule_at(book, r),
            dropping.left_codes[:left],
            dropping.left_counts[:left],
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
def exclusive_values_hold(
    column: int, held: Held, book: RuleBook, dropping: Dropping, clear: bool
) -> bool:
    """Return whether every value that some cannot have is possible for enough others.

    Where diversity is asked for, a value that is one of l to each must have l times as many people
    who may have it as do have it, or one of them has it for sure. Clears the people if asked to.
    """
    is_kept = True
    for j in range(len(held.codes)):
        cannot = dropping.people[held.codes[j]]
        if clear:
            dropping.people[held.codes[j]] = 0
        if cannot == 0:
            continue  # possible for everybody: the rule itself says enough
        for r in range(len(book.kind)):
            if book.column[r] != column:
                continue
            needed = 0
            if book.kind[r] == L_FREQUENCY:
                needed = held.counts[j] * book.whole[r]
            elif book.kind[r] == L_DISTINCT:
                needed = book.whole[r]
            is_kept = is_kept and held.size - cannot >= needed
    return is_kept


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
    failing = 0
    common = missed(column, held, book)
    for kind in range(len(people)):
        if not kind_holds(excluded, column, kind, people[kind], held, common, book, dropping):
            failing += people[kind]
    return failing
