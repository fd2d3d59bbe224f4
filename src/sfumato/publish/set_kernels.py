"""Sets drawn at random, every one equally likely, in compiled loops over rows.

Random bits come from the caller's generator in large pieces. A subset of k of m values is drawn
either as one number that a table of all subsets turns into values, or, where there are too many
subsets, by Floyd's method, several of whose choices are digits of one 64-bit number. Numbers that
would favour some outcome are thrown away and drawn again, so no choice has a bias.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from sfumato.randomness import random_words

Codes = npt.NDArray[np.int32]
Sets = npt.NDArray[np.unsignedinteger[Any]]
Words = npt.NDArray[np.unsignedinteger[Any]]
Ints = npt.NDArray[np.int64]
Picker = Callable[[int, np.random.Generator], Sets]

# Up to so many subsets stand in a table; one of so few costs 16 random bits, else 32.
_TABLE = 1 << 16
_SHORT = 1 << 12
# Choices share a 64-bit number as long as it has so few outcomes: one in 2**24 is drawn again.
_OUTCOMES = 1 << 40
# Rows at a time: random bits and sets of a piece stay in the processor's cache.
_PIECE = 1 << 16
# Outcomes of one word of a coin: those at the edge of p, one in as many, are decided by more words.
_COIN = 1 << 32


def random_sets(
    codes: Codes, *, p: float, eta: int, d: int, rng: np.random.Generator, dtype: Any
) -> Sets:
    """Return a set of eta codes below d for every row, each line sorted.

    With probability p (its decimals are meant) it is the row's own code and eta - 1 of the others,
    every choice of them equally likely; else it is any eta of all d.
    """
    out = np.empty((len(codes), eta), dtype)
    others, anything = picker(d - 1, eta - 1, dtype), picker(d, eta, dtype) if p < 1 else None
    for start in range(0, len(codes), _PIECE):
        own = codes[start : start + _PIECE]
        piece = out[start : start + _PIECE]
        if anything is None:
            _with_own(others(len(own), rng), own, piece)
            continue
        is_own = _coins(len(own), Fraction(str(p)), rng)
        heads, tails = np.flatnonzero(is_own), np.flatnonzero(~is_own)
        kept = np.empty((len(heads), eta), dtype)
        _with_own(others(len(heads), rng), own[heads], kept)
        piece[heads] = kept
        piece[tails] = anything(len(tails), rng)
    return out


def _coins(count: int, p: Fraction, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return so many draws that are true with the probability p, exactly, however small it is."""
    sure, rest = divmod(p * _COIN, 1)
    words = _bits(count, np.uint32, rng)
    found: npt.NDArray[np.bool_] = words < sure
    edge = np.flatnonzero(words == sure) if rest else ()
    if len(edge):
        found[edge] = _coins(len(edge), rest, rng)
    return found


def picker(m: int, k: int, dtype: Any) -> Picker:
    """Return what draws so many subsets of k of the m codes from 0 on, each line sorted."""
    if comb(m, k) <= _TABLE:
        return _table_picker(m, k, dtype)
    return _floyd_picker(m, k, dtype)


def _table_picker(m: int, k: int, dtype: Any) -> Picker:
    table = np.array(list(combinations(range(m), k)), dtype).reshape(comb(m, k), k)
    word = np.uint16 if len(table) <= _SHORT else np.uint32
    span = 1 << (8 * word().itemsize)

    def draw(rows: int, rng: np.random.Generator) -> Sets:
        out = np.empty((rows, k), dtype)
        if len(table) == 1:
            out[:] = table
            return out
        again = np.arange(rows)
        while len(again):
            bits = _bits(len(again), word, rng)
            again = again[_by_table(bits, again, table, span.bit_length() - 1, span, out)]
        return out

    return draw


def _floyd_picker(m: int, k: int, dtype: Any) -> Picker:
    ranges, firsts, outcomes = _digits(m, k)
    # the largest number of each word that favours no outcome
    last = np.array([2**64 - 2**64 % each - 1 for each in outcomes], np.uint64)
    sizes = np.array(outcomes, np.uint64)

    def draw(rows: int, rng: np.random.Generator) -> Sets:
        out = np.empty((rows, k), dtype)
        again = np.arange(rows)
        while len(again):
            bits = _bits(len(again) * len(sizes), np.uint64, rng).reshape(len(again), -1)
            again = again[_by_floyd(bits, again, ranges, firsts, sizes, last, out)]
        return out

    return draw


def _digits(m: int, k: int) -> tuple[npt.NDArray[np.uint64], Ints, list[int]]:
    """Return the range of each choice, the first choice of each word, and the words' outcomes."""
    ranges = list(range(m - k + 1, m + 1))
    firsts, outcomes = [0], [1]
    for place, size in enumerate(ranges):
        if outcomes[-1] > 1 and outcomes[-1] * size > _OUTCOMES:
            firsts.append(place)
            outcomes.append(1)
        outcomes[-1] *= size
    return np.array(ranges, np.uint64), np.array([*firsts, k], np.int64), outcomes


def _bits(count: int, word: Any, rng: np.random.Generator) -> Words:
    """Return so many random words; an even number of 32 bits is drawn."""
    each = 8 // word().itemsize
    drawn = random_words(rng, 2 * -(-count // each))
    found: Words = drawn.view(word)[:count]
    return found


@numba.njit(cache=True, nogil=True)
def _by_table(
    bits: Words, rows: Ints, table: Sets, shift: int, span: int, out: Sets
) -> npt.NDArray[np.bool_]:
    """Fill the rows' sets from the table; return which of the rows must be drawn again."""
    count, size = table.shape
    favoured = span % count  # a product whose lower half is below this would favour its outcome
    again = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        product = np.int64(bits[i]) * count
        if product & (span - 1) < favoured:
            again[i] = True
            continue
        line = product >> shift
        for j in range(size):
            out[rows[i], j] = table[line, j]
    return again


@numba.njit(cache=True, nogil=True)
def _by_floyd(
    bits: npt.NDArray[np.uint64],
    rows: Ints,
    ranges: npt.NDArray[np.uint64],
    firsts: Ints,
    outcomes: npt.NDArray[np.uint64],
    last: npt.NDArray[np.uint64],
    out: Sets,
) -> npt.NDArray[np.bool_]:
    """Fill the rows' sets choice by choice; return which of the rows must be drawn again."""
    again = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        row = rows[i]
        for word in range(len(outcomes)):
            if bits[i, word] > last[word]:
                again[i] = True
        if again[i]:
            continue
        for word in range(len(outcomes)):
            number = bits[i, word] % outcomes[word]
            for j in range(firsts[word], firsts[word + 1]):
                chosen = np.int64(number % ranges[j])
                number //= ranges[j]
                place = j  # the set so far is sorted
                while place > 0 and out[row, place - 1] > chosen:
                    place -= 1
                if place > 0 and out[row, place - 1] == chosen:
                    chosen, place = np.int64(ranges[j]) - 1, j  # above all that were chosen
                for later in range(j, place, -1):
                    out[row, later] = out[row, later - 1]
                out[row, place] = chosen
    return again


@numba.njit(cache=True, nogil=True)
def _with_own(others: Sets, own: Codes, out: Sets) -> None:
    """Put each row's own code among its others, which number all codes but it."""
    size = others.shape[1]
    for i in range(len(own)):
        place = 0
        while place < size and others[i, place] < own[i]:
            out[i, place] = others[i, place]
            place += 1
        out[i, place] = own[i]
        for j in range(place, size):
            out[i, j + 1] = others[i, j] + 1
