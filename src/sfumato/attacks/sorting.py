"""Rows in the order of small numbers, which is found by counting and not by comparing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.table.groups import packed, sorted_rows

Ints = npt.NDArray[np.int64]

_FEWEST = 1 << 12  # rows; fewer are sorted before anything is counted


def sorted_by(columns: Sequence[Ints]) -> Ints:
    """Return the rows in the order of the first column, then the next, and else as they stand.

    >>> sorted_by([np.array([1, 0, 1]), np.array([2, 9, 1])]).tolist()
    [1, 2, 0]
    """
    count = len(columns[0])
    if count < _FEWEST:
        return np.argsort(packed(columns), kind="stable")
    order = np.arange(count)
    for digit in _digits(columns, count):
        order = sorted_rows(order, digit.astype(np.int32), int(digit.max(initial=0)) + 1)
    return order


def _digits(columns: Sequence[Ints], most: int) -> list[Ints]:
    """Return the same order in fewer columns, the last first, of about so many numbers each."""
    found: list[Ints] = []
    span = most
    for column in reversed(columns):
        width = int(column.max(initial=0)) + 1
        if found and span * width <= most:
            found[-1] = column * span + found[-1]
            span *= width
        else:
            found.append(column)
            span = width
    return found
