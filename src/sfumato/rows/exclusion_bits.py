"""What the classes of quasi-identifier values exclude of the codes of one node, as bits.

A class is what some values of a quasi-identifier exclude; a person is of a class by each of them.
A node holds few codes, so that most classes exclude none of them: bits are made from the lists of
classes by code, once for all cuts that are tried in the node.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

BITS = 64
ONE = np.uint64(1)
# The place of a lone bit: its product with this number has other first six bits for each place.
_DE_BRUIJN = 0x03F79D71B4CB0A89
_MULTIPLIER = np.uint64(_DE_BRUIJN)
_FIRST_SIX = np.uint64(58)
_PLACES = np.zeros(BITS, np.int64)
for _place in range(BITS):
    _PLACES[(_DE_BRUIJN << _place) % 2**64 >> 58] = _place


class Excluded(NamedTuple):
    """`class_of[q, v]` is the class of value v of the q-th quasi-identifier.

    `owner[c]` is the quasi-identifier of class c; the first class of each excludes nothing. Code v
    of the a-th attribute is excluded by the classes `classes[starts[a, v]]` to before
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


# Lines of the scratch by code: the number of a code within the node, the code of a number, how many
# people may have it and how many must; and room for codes that are left, and their counts.
PLACE, CODE, MAY, MUST, LEFT, COUNTS = range(6)
# Lines of the scratch by class: the node for which its bits were made, its people in the group.
MADE, PEOPLE = range(2)
# What is being looked at: a node's first and last row and column; the number of this node, of its
# codes, and of the values that need people.
_FIRST, _LAST, _COLUMN, NODE, _HELD, WANTED = range(6)


class Dropping(NamedTuple):
    """Scratch of one thread.

    Line c of `bits` says which of the node's codes class c excludes; the last two lines are those
    of the person at hand, and the codes of the group for which too few people are found so far.
    `use` is by class the share of what may be taken away from the group that it takes, `most` by
    quasi-identifier the largest of them, `own` the person's classes.
    """

    at: Ints
    codes: Ints
    classes: Ints
    own: Ints
    use: Reals
    most: Reals
    bits: Words


def new_dropping(codes: int, excluded: Excluded) -> Dropping:
    """Return scratch for attributes of at most so many codes."""
    classes, words, known = len(excluded.owner), -(-codes // BITS), len(excluded.class_of)
    return Dropping(
        np.array([-1, -1, -1, 0, 0, 0], np.int64),
        np.zeros((6, codes), np.int64),
        np.zeros((2, classes), np.int64),
        np.zeros(known, np.int64),
        np.zeros(classes, np.float64),
        np.zeros(known, np.float64),
        np.zeros((classes + 2, words), np.uint64),
    )


@numba.njit(inline="always")
def is_at(dropping: Dropping, first: int, last: int, column: int) -> bool:
    """Return whether this is the node whose codes are numbered."""
    at = dropping.at
    return bool(at[_FIRST] == first and at[_LAST] == last and at[_COLUMN] == column)


@numba.njit(inline="always")
def go_to(dropping: Dropping, first: int, last: int, column: int) -> None:
    """Begin a node, none of whose codes has a number."""
    at = dropping.at
    for j in range(at[_HELD]):
        dropping.codes[PLACE, dropping.codes[CODE, j]] = 0
    at[_FIRST], at[_LAST], at[_COLUMN] = first, last, column
    at[NODE] += 1
    at[_HELD] = 0


@numba.njit(inline="always")
def number(dropping: Dropping, code: int) -> None:
    """Give a code of the node the next number, unless it has one (numbers are kept plus one)."""
    if dropping.codes[PLACE, code] == 0:
        held = dropping.at[_HELD]
        dropping.codes[CODE, held] = code
        dropping.codes[PLACE, code] = held + 1
        dropping.at[_HELD] = held + 1


@numba.njit(inline="always")
def words_of(dropping: Dropping) -> int:
    """Return how many words hold a bit for every code of the node."""
    return int((dropping.at[_HELD] + BITS - 1) // BITS)


@loop
def make_bits(excluded: Excluded, column: int, dropping: Dropping) -> None:
    """Note what every class excludes of the node's codes, all of which are numbered."""
    node, words = dropping.at[NODE], words_of(dropping)
    for place in range(dropping.at[_HELD]):
        code = dropping.codes[CODE, place]
        for j in range(excluded.starts[column, code], excluded.starts[column, code + 1]):
            own = excluded.classes[j]
            if dropping.classes[MADE, own] != node:
                dropping.classes[MADE, own] = node
                for word in range(words):
                    dropping.bits[own, word] = 0
            dropping.bits[own, place // BITS] |= ONE << np.uint64(place % BITS)


@numba.njit(inline="always")
def meet(excluded: Excluded, q: int, value: int, people: int, dropping: Dropping) -> None:
    """Count people of the group who have a value of the q-th quasi-identifier."""
    dropping.classes[PEOPLE, excluded.class_of[q, value]] += people


@numba.njit(inline="always")
def leave(dropping: Dropping) -> None:
    """Forget the people of the group."""
    for own in range(dropping.classes.shape[1]):
        dropping.classes[PEOPLE, own] = 0


@numba.njit(inline="always")
def be(excluded: Excluded, q: int, value: int, dropping: Dropping) -> None:
    """Make a value of the q-th quasi-identifier that of the person at hand."""
    dropping.own[q] = excluded.class_of[q, value]


@numba.njit(inline="always")
def used(excluded: Excluded, q: int, value: int, dropping: Dropping) -> float:
    """Return the share that a value takes of what may be taken away, up to 1 in all."""
    return float(dropping.use[excluded.class_of[q, value]])


@numba.njit(inline="always")
def lowest(bits: int) -> int:
    """Return the place of the lowest bit that is set."""
    return int(_PLACES[((bits & (~bits + ONE)) * _MULTIPLIER) >> _FIRST_SIX])
