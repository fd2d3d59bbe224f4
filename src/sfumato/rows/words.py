"""Random words for compiled loops, drawn many at a time.

For every number that a compiled loop draws itself, Numba makes an array. Here NumPy draws words,
and what loops make of them is what NumPy would have made of them, word for word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.randomness import random_words

_AT_A_TIME = 1 << 16
_BITS = 32
_LOW = (1 << _BITS) - 1
_HEADS = 1 << _BITS - 1  # from here on a word has its highest bit


class Words(NamedTuple):
    """Words of 32 random bits; `used` has how many were looked at, one number."""

    drawn: npt.NDArray[np.uint32]
    used: npt.NDArray[np.int64]


class WordSource:
    """Hands out the words of a generator, and gives back those that nobody looked at.

    >>> one, other = np.random.default_rng(7), np.random.default_rng(7)
    >>> source = WordSource(one)
    >>> int(below(source.at_least(1), 10)) == int(other.integers(0, 10))
    True
    >>> source.give_back()
    >>> int(one.integers(0, 10)) == int(other.integers(0, 10))
    True
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._words = _none()
        # the draws of which words are at hand: the generator's state before, and how many
        self._draws: list[tuple[Any, int]] = []
        self._gone = 0  # words of the first of them that are not at hand any more

    def at_least(self, count: int) -> Words:
        """Return words of which at least so many are left."""
        used = int(self._words.used[0])
        left = self._words.drawn[used:]
        if len(left) < count:
            self._forget(used)
            many = max(count, _AT_A_TIME)
            self._draws.append((self._rng.bit_generator.state, many))
            more = random_words(self._rng, many)
            self._words = Words(np.concatenate([left, more]), np.zeros(1, np.int64))
        return self._words

    def give_back(self) -> None:
        """Leave the generator as if only those words had been drawn that were looked at."""
        self._forget(int(self._words.used[0]))
        if self._draws:
            self._rng.bit_generator.state = self._draws[0][0]
            random_words(self._rng, self._gone)
        self._words, self._draws, self._gone = _none(), [], 0

    def _forget(self, used: int) -> None:
        """Forget the draws of which all words were looked at, so many since they were last."""
        self._gone += used
        while self._draws and self._gone >= self._draws[0][1]:
            self._gone -= self._draws.pop(0)[1]


def _none() -> Words:
    return Words(np.zeros(0, np.uint32), np.zeros(1, np.int64))


@loop
def is_tails(words: Words) -> bool:
    """Return the next toss of a coin."""
    word = words.drawn[words.used[0]]
    words.used[0] += 1
    return bool(word < _HEADS)


@loop
def below(words: Words, count: int) -> int:
    """Return the next number from 0 to before `count`, of at most 32 bits (Lemire's method).

    -1, with no word used, where there are too few: how many it takes is up to chance.
    """
    if count <= 1:
        return 0  # and nothing is drawn
    place = words.used[0]
    while place < len(words.drawn):
        product = int(words.drawn[place]) * count
        place += 1
        # rarely is a word one of those by which some numbers would be likelier than others
        low = product & _LOW
        if low >= count or low >= ((1 << _BITS) - count) % count:
            words.used[0] = place
            return product >> _BITS
    return -1
