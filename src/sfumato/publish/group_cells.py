"""What the rows of each group have in common on one attribute, in compiled loops over rows."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class GroupSpans(NamedTuple):
    """The lowest and highest code of each group, -1 where all is missing; and who misses any."""

    low: Codes
    high: Codes
    with_null: Bools


@numba.njit(cache=True, nogil=True)
def group_spans(ids: Codes, group_count: int, codes: Codes, null: int) -> GroupSpans:
    """Return the span of non-missing codes in every group."""
    low = np.full(group_count, -1, np.int32)
    high = np.full(group_count, -1, np.int32)
    with_null = np.zeros(group_count, np.bool_)
    for i in range(len(ids)):
        group, code = ids[i], codes[i]
        if code == null:
            with_null[group] = True
        else:
            if low[group] < 0 or code < low[group]:
                low[group] = code
            high[group] = max(high[group], code)
    return GroupSpans(low, high, with_null)


@numba.njit(cache=True, nogil=True)
def group_bits(ids: Codes, group_count: int, codes: Codes) -> Ints:
    """Return the set of codes in every group, as bits of a number: for codes below 63."""
    held = np.zeros(group_count, np.int64)
    for i in range(len(ids)):
        held[ids[i]] |= 1 << codes[i]
    return held


@numba.njit(cache=True, nogil=True)
def group_sets(
    order: Ints, starts: Ints, codes: Codes, code_count: int, keys: npt.NDArray[np.uint64]
) -> tuple[Codes, Ints, npt.NDArray[np.uint64]]:
    """Return the distinct codes of each group, ascending, where they start, and a hash of each.

    `keys` are random numbers, one a code; a set's hash is their exclusive or.
    """
    group_count = len(starts) - 1
    seen = np.full(code_count, -1, np.int64)
    members = np.empty(len(order), np.int32)
    offsets = np.zeros(group_count + 1, np.int64)
    hashes = np.zeros(group_count, np.uint64)
    filled = 0
    for group in range(group_count):
        for position in range(starts[group], starts[group + 1]):
            code = codes[order[position]]
            if seen[code] != group:
                seen[code] = group
                members[filled] = code
                filled += 1
                hashes[group] ^= keys[code]
        offsets[group + 1] = filled
        for i in range(offsets[group] + 1, filled):  # few codes: by insertion
            code = members[i]
            j = i
            while j > offsets[group] and members[j - 1] > code:
                members[j] = members[j - 1]
                j -= 1
            members[j] = code
    return members[:filled].copy(), offsets, hashes


@numba.njit(cache=True, nogil=True)
def sets_equal(members: Codes, offsets: Ints, representative: Ints) -> bool:
    """Return whether every group's set is the same as its representative's."""
    for group in range(len(offsets) - 1):
        first, other = offsets[group], offsets[representative[group]]
        length = offsets[group + 1] - first
        if offsets[representative[group] + 1] - other != length:
            return False
        for j in range(length):
            if members[first + j] != members[other + j]:
                return False
    return True
