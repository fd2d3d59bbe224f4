"""Rows in groups: which group each row is in, and which rows each group holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.schema.distinct import count_codes, looked_up

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_LARGEST_KEY = 2**63 - 1
BLOCK = 1 << 15  # rows that stay in the cache while several columns of them are worked on
_FEW = 1 << 16  # rows that are sorted before a further thread has begun
_MOST_NARROW = 2**31 - 1  # rows that numbers of 32 bits can count
_SPARSEST = 8  # combinations that may occur, for every row


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of rows: `ids[row]` is its group, 0 to count - 1; no group is empty.

    >>> groups = Groups(np.array([1, 0, 1], np.int32), 2)
    >>> groups.sizes.tolist(), groups.members(1).tolist()
    ([1, 2], [0, 2])
    """

    ids: Codes = field(repr=False)
    count: int

    def __post_init__(self) -> None:
        ids = np.ascontiguousarray(self.ids, np.int32).view()
        ids.flags.writeable = False
        object.__setattr__(self, "ids", ids)
        if len(ids) and (ids.min() < 0 or ids.max() >= self.count):
            raise ParameterError(f"group ids must run from 0 to {self.count - 1}")
        if not self.sizes.all():
            raise ParameterError(f"{np.count_nonzero(self.sizes == 0)} groups have no rows")

    @classmethod
    def of_equal(cls, columns: Sequence[npt.NDArray[np.integer[Any]]]) -> Groups:
        """Return the groups of rows that agree in every column of codes, in the order of the codes.

        >>> Groups.of_equal([np.array([5, 5, 2]), np.array([0, 1, 0])]).ids.tolist()
        [1, 2, 0]
        """
        if not columns:
            raise ParameterError("rows are grouped by at least one column")
        keys = packed(columns)
        span = int(keys.max(initial=0)) + 1
        if span <= _SPARSEST * len(keys):  # numbering what may occur is quicker than sorting rows
            occurs = np.zeros(span, np.bool_)
            occurs[keys] = True
            number = np.cumsum(occurs, dtype=np.int32)
            number -= 1
            return cls(looked_up(number, keys), int(number[-1]) + 1)
        number_bits = len(keys).bit_length()
        if len(keys) and span.bit_length() + number_bits < 64:
            return cls._of_sorted((keys << number_bits) + np.arange(len(keys)), number_bits)
        distinct, ids = np.unique(keys, return_inverse=True)
        return cls(ids.astype(np.int32), len(distinct))

    @classmethod
    def _of_sorted(cls, keys: Ints, number_bits: int) -> Groups:
        """Return the groups of equal keys, which have the row's number in their last bits: numbers
        are sorted in a fraction of the time that their order takes."""
        keys = np.sort(keys)
        rows = keys & ((1 << number_bits) - 1)
        keys = keys >> number_bits
        number = np.concatenate(([0], np.cumsum(keys[1:] != keys[:-1])))
        ids = np.empty(len(keys), np.int32)
        ids[rows] = number
        return cls(ids, int(number[-1]) + 1)

    @cached_property
    def sizes(self) -> Ints:
        """Rows per group."""
        return _read_only(count_codes(self.ids, self.count))

    @cached_property
    def order(self) -> Ints:
        """The rows sorted by group, in their own order within a group."""
        return _read_only(counting_order(self.ids, self.count))

    @cached_property
    def offsets(self) -> Ints:
        """Where each group starts in `order`, and after the last one its end."""
        return _read_only(np.concatenate(([0], np.cumsum(self.sizes))))

    def members(self, group: int) -> Ints:
        """Return the rows of one group, ascending."""
        return self.order[self.offsets[group] : self.offsets[group + 1]]

    def unit_sizes(self, units: Codes | None) -> Ints:
        """Return people per group; `units` as in a table, None where each row is a person.

        >>> Groups(np.array([0, 0, 1], np.int32), 2).unit_sizes(np.array([4, 4, 4], np.int32))
        array([1, 1])
        """
        if units is None:
            return self.sizes
        span = int(units.max(initial=0)) + 1
        pairs = np.unique(self.ids.astype(np.int64) * span + units)
        return np.bincount(pairs // span, minlength=self.count)


def counting_order(codes: Codes, count: int) -> Ints:
    """Return the rows sorted by code (0 to count - 1), in their own order within a code.

    >>> counting_order(np.array([1, 0, 1], np.int32), 2)
    array([1, 0, 2])
    """
    return sorted_rows(np.arange(len(codes)), codes, count)


def sorted_rows(rows: Ints, codes: Codes, count: int) -> Ints:
    """Return the rows sorted by their code (0 to count - 1), as they stand within a code.

    >>> sorted_rows(np.array([2, 1, 0]), np.array([1, 0, 1], np.int32), 2)
    array([1, 2, 0])
    """
    rows, codes = rows.view(), codes.view()
    rows.flags.writeable = codes.flags.writeable = False  # or a twin would be compiled for some
    # every thread counts all codes for itself, which pays if it has more rows than there are codes
    worth = len(rows) // max(count, _FEW)
    parts = np.array_split(rows, max(min(os.cpu_count() or 1, worth), 1))
    # where there are many codes, places are most of the memory that this takes
    narrow = np.int32 if len(rows) <= _MOST_NARROW else np.int64
    places = np.zeros((len(parts), count), narrow)
    found = np.empty(len(rows), np.int64)
    _in_threads(_count_rows, parts, repeat(codes), places)
    # from how many rows of each code a part has to where its first one goes
    total = places.sum(axis=0, dtype=narrow)
    before = np.cumsum(total, dtype=narrow) - total
    for place in places:
        own = place.copy()
        place[:] = before
        before += own
    _in_threads(_place_rows, parts, repeat(codes), places, repeat(found))
    return found


def _in_threads(work: Callable[..., None], parts: Sequence[Ints], *others: Iterable[Any]) -> None:
    """Do the work of each part in a thread of its own; that of a single one here."""
    if len(parts) == 1:
        work(parts[0], *(next(iter(each)) for each in others))
        return
    with ThreadPoolExecutor(len(parts)) as threads:
        list(threads.map(work, parts, *others))  # what fails is raised


@numba.njit(cache=True, nogil=True)
def _count_rows(rows: Ints, codes: Codes, counts: npt.NDArray[np.integer[Any]]) -> None:
    """Add to the counts how many of the rows have each code."""
    for row in rows:
        counts[codes[row]] += 1


@numba.njit(cache=True, nogil=True)
def _place_rows(rows: Ints, codes: Codes, place: npt.NDArray[np.integer[Any]], found: Ints) -> None:
    """Put each row where the next one of its code goes."""
    for row in rows:
        code = codes[row]
        found[place[code]] = row
        place[code] += 1


def packed(columns: Sequence[npt.NDArray[np.integer[Any]]]) -> Ints:
    """Return one number a row, in the order of the codes: equal where every column agrees.

    >>> packed([np.array([1, 1, 0]), np.array([0, 2, 0])]).tolist()
    [3, 5, 0]
    """
    keys = np.zeros(len(columns[0]), np.int64)
    span, ready = 1, 0
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    for place, width in enumerate(widths):
        if span * width > _LARGEST_KEY:
            _add_digits(keys, columns[ready:place], widths[ready:place])
            distinct, keys = np.unique(keys, return_inverse=True)
            span, ready = len(distinct), place
        span *= width
    _add_digits(keys, columns[ready:], widths[ready:])
    return keys


def _add_digits(
    keys: Ints,
    columns: Sequence[npt.NDArray[np.integer[Any]]],
    widths: Sequence[int],
) -> None:
    """Append a digit of each column to the keys, in blocks that stay in the cache."""
    for start in range(0, len(keys), BLOCK):
        block = slice(start, start + BLOCK)
        part = keys[block]
        for column, width in zip(columns, widths, strict=True):
            part *= width
            part += column[block]


def spread(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return for every number from `first[i]` to before `last[i]` the i, and the number.

    >>> [each.tolist() for each in spread(np.array([0, 7]), np.array([2, 8]))]
    [[0, 0, 1], [0, 1, 7]]
    """
    size = last - first
    of = np.repeat(np.arange(len(size)), size)
    start = np.cumsum(size) - size
    return of, np.arange(len(of)) - start[of] + first[of]


def starts_of(groups: Ints, count: int) -> Ints:
    """Return where each group, 0 to count - 1, begins among ascending ones, and then their end.

    >>> starts_of(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return np.append(0, np.cumsum(np.bincount(groups, minlength=count)))


def _read_only(array: Ints) -> Ints:
    array.flags.writeable = False
    return array
