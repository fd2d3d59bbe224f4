"""A random order of many rows, the very one that NumPy draws, in half of its time.

NumPy swaps rows one by one: it draws a place, waits for the cell from a random place in memory, and
draws the next. Here many places are drawn before their cells are swapped, so that the machine
fetches many cells at a time. What is drawn is the same, word for word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.randomness import random_words
from sfumato.table.groups import sorted_rows

_FEW = 1 << 14  # rows that NumPy has drawn before a kernel is loaded
_WORDS = 1 << 16  # drawn at a time
_MOST = 1 << 32  # rows beyond which NumPy draws longer words


def permutation(rng: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
    """Return the numbers below `count` in random order, as `rng.permutation` does.

    >>> one, other = np.random.default_rng(7), np.random.default_rng(7)
    >>> bool((permutation(one, 300_000) == other.permutation(300_000)).all())
    True
    """
    order = np.arange(count)
    shuffle(rng, order)
    return order


def shuffle(rng: np.random.Generator, cells: npt.NDArray[np.int64]) -> None:
    """Put the cells in random order, as `cells[permutation(rng, len(cells))]` has them.

    >>> cells = np.array([7, 8, 9])
    >>> shuffle(np.random.default_rng(7), cells)
    >>> (cells - 7 == permutation(np.random.default_rng(7), 3)).tolist()
    [True, True, True]
    """
    if not _FEW < len(cells) <= _MOST:
        rng.shuffle(cells)
        return
    last = len(cells) - 1
    for places in _drawn(rng, len(cells)):
        last = int(_swap(cells, places, last))


class Mix(NamedTuple):
    """A random order that has been drawn, and can be given to cells by another thread.

    As an order, or as the places with which the cells change from the last one down.
    """

    order: npt.NDArray[np.int64] | None
    places: Sequence[npt.NDArray[np.uint32]]

    @classmethod
    def draw(cls, rng: np.random.Generator, count: int) -> Mix:
        """Return what `shuffle` draws for so many cells.

        >>> cells = np.array([7, 8, 9])
        >>> Mix.draw(np.random.default_rng(7), 3).shuffle(cells)
        >>> (cells - 7 == permutation(np.random.default_rng(7), 3)).tolist()
        [True, True, True]
        """
        if not _FEW < count <= _MOST:
            return cls(rng.permutation(count), ())
        return cls(None, list(_drawn(rng, count)))

    def shuffle(self, cells: npt.NDArray[np.int64]) -> None:
        """Put the cells in this order."""
        if self.order is not None:
            cells[:] = cells[self.order]
        last = len(cells) - 1
        for places in self.places:
            last = int(_swap(cells, places, last))


def _drawn(rng: np.random.Generator, count: int) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield the places with which the cells change, from the last cell down to the second."""
    last = count - 1  # the last place that is not settled
    while last:
        # every place takes a word at least, so none is drawn in vain
        places = random_words(rng, min(last, _WORDS))
        found = int(_places(places, last))
        last -= found
        yield places[:found]


def shuffled_by_code(
    codes: npt.NDArray[np.int32], count: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the rows whose code is below `count`, sorted by code, in random order within a code.

    >>> shuffled_by_code(np.array([1, 2, 0], np.int32), 2, np.random.default_rng(7)).tolist()
    [2, 0]
    """
    rows = None if codes.max(initial=-1) < count else np.flatnonzero(codes < count)
    order = permutation(rng, len(codes if rows is None else rows))
    return sorted_rows(order if rows is None else rows[order], codes, count)


@numba.njit(cache=True, nogil=True)
def _places(words: npt.NDArray[np.uint32], last: int) -> int:
    """Leave the places that the words say, for the last cell and those before; return how many.

    A word says a place by as many bits as the last one needs, and nothing if that lies beyond it.
    """
    bits = 1
    while bits <= last:
        bits *= 2
    found = 0
    for i in range(len(words)):
        if last <= 0:
            break
        if last < bits // 2:
            bits //= 2
        place = words[i] & (bits - 1)
        words[found] = place
        is_before = place <= last
        found += is_before
        last -= is_before
    return found


@numba.njit(cache=True, nogil=True)
def _swap(cells: npt.NDArray[np.int64], places: npt.NDArray[np.uint32], last: int) -> int:
    """Swap the last cells with those at the places; return the last one left.

    Since the places are known, the machine fetches many cells at a time.
    """
    for i in range(len(places)):
        cells[places[i]], cells[last - i] = cells[last - i], cells[places[i]]
    return last - len(places)
