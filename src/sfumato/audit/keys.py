"""Several codes of a row as one number: numbers are sorted and compared in one go."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.audit.coded import Coded

Ints = npt.NDArray[np.int64]
_MOST = 2**63 - 1
_BLOCK = 1 << 15  # rows whose numbers stay in the cache while all their codes are added


def numbered(columns: Sequence[Coded], rows: int, groups: int = 1) -> tuple[Ints, int]:
    """Return a number a row, equal where all columns agree, and one that is above all of them.

    So small that there is room for as many times these numbers as there are `groups`.

    >>> few = Coded(np.array([0, 1, 0], np.int32), ["a", "b"])
    >>> many = Coded(np.array([2, 0, 2], np.int32), ["c", "d"])
    >>> keys, above = numbered([few, many], 3)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1]), bool(keys.max() < above)
    (True, False, True)
    """
    keys, above = np.zeros(rows, np.int64), 1
    for part in packs(columns):
        own, width = _joint(columns[part], rows), prod(each.width for each in columns[part])
        if above * width > _MOST:  # rare: many columns of many cells
            keys, above = _dense(keys)
            own, width = _dense(own)
        keys = own if above == 1 else keys * width + own
        above *= width
    return (keys, above) if above * groups <= _MOST else _dense(keys)


def add_multiples(keys: Ints, groups: npt.NDArray[np.integer[Any]], width: int) -> None:
    """Add its group's number times the width to every key, so that they sort by group first."""
    for block in _blocks(len(keys)):
        keys[block] += np.multiply(groups[block], width, dtype=np.int64)


def packs(columns: Sequence[Coded]) -> Iterator[slice]:
    """Yield the columns in order, as many at a time as fit into one number together."""
    first, width = 0, 1
    for place, column in enumerate(columns):
        if width * column.width > _MOST:
            yield slice(first, place)
            first, width = place, 1
        width *= column.width
    if first < len(columns):
        yield slice(first, len(columns))


def _joint(pack: Sequence[Coded], rows: int) -> Ints:
    keys = np.zeros(rows, np.int64)

    def fill(block: slice) -> None:
        part = keys[block]
        for column in pack:
            part *= column.width
            part += column.codes[block]

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for _ in threads.map(fill, _blocks(rows)):  # what fails is raised
            pass
    return keys


def _dense(keys: Ints) -> tuple[Ints, int]:
    """Return the keys by rank, and their number."""
    distinct, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int64), len(distinct)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK))
