"""Rows in the order of small numbers: these are sorted many times faster than rows by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.table.groups import packed

Ints = npt.NDArray[np.int64]

_BITS = 63  # of a number; its sign is not used


def sorted_by(columns: Sequence[npt.NDArray[np.integer[Any]]]) -> Ints:
    """Return the rows in the order of the first column, then the next, and else as they stand.

    >>> sorted_by([np.array([1, 0, 1]), np.array([2, 9, 1])]).tolist()
    [1, 2, 0]
    """
    if any(column.min(initial=0) < 0 for column in columns):
        return np.asarray(np.lexsort(columns[::-1]))
    count = len(columns[0])
    row_bits = max(count - 1, 0).bit_length()
    order = np.arange(count)
    for part in _parts(columns, _BITS - row_bits):
        keys = packed(part)[order]
        if int(keys.max(initial=0)).bit_length() + row_bits > _BITS:  # one column alone
            order = order[np.argsort(keys, kind="stable")]
            continue
        # the row's place in the last bits
        keys <<= row_bits
        keys |= np.arange(count)
        keys.sort()
        keys &= (1 << row_bits) - 1
        order = order[keys]
    return order


def _parts(
    columns: Sequence[npt.NDArray[np.integer[Any]]], bits: int
) -> Iterator[Sequence[npt.NDArray[np.integer[Any]]]]:
    """Yield the columns, the last first, as many at a time as so many bits suffice for."""
    span, end = 1, len(columns)
    for place in reversed(range(len(columns))):
        width = int(columns[place].max(initial=0)) + 1
        if place + 1 < end and span * width > 1 << bits:
            yield columns[place + 1 : end]
            span, end = 1, place + 1
        span *= width
    yield columns[:end]
