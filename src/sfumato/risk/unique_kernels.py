"""Which records a combination of columns singles out, a column at a time.

A record that the columns before single out already is left aside (its group is -1): it stays alone
whatever is added, and need not be counted.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

_NOBODY, _SEVERAL = -1, -2
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(cache=True, nogil=True)
def by_table(
    groups: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    width: int,
    units: npt.NDArray[np.int32],
    owners: npt.NDArray[np.int32],
    alone: npt.NDArray[np.bool_],
    finer: npt.NDArray[np.int32],
) -> int:
    """Split groups by one more column; return how many groups of several people there are.

    `alone` tells which records are now of a person of their own, `finer` the groups of the rest.
    `owners` is scratch with a place for every group and code; without units, `units` is empty.
    """
    owners[:] = _NOBODY
    has_units = len(units) > 0
    for row in range(len(groups)):
        group = groups[row]
        if group >= 0:
            key = np.int64(group) * width + codes[row]
            unit = units[row] if has_units else np.int32(row)
            if owners[key] == _NOBODY:
                owners[key] = unit
            elif owners[key] != unit:
                owners[key] = _SEVERAL
    count = 0
    for row in range(len(groups)):
        group = groups[row]
        alone[row] = True
        finer[row] = -1
        if group >= 0:
            key = np.int64(group) * width + codes[row]
            owner = owners[key]
            if owner == _SEVERAL:
                owner = np.int32(-3 - count)
                owners[key] = owner
                count += 1
            if owner < 0:
                alone[row] = False
                finer[row] = -3 - owner
    return count


@numba.njit(cache=True, nogil=True)
def by_hash(
    groups: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    width: int,
    units: npt.NDArray[np.int32],
    keys: npt.NDArray[np.int64],
    owners: npt.NDArray[np.int32],
    alone: npt.NDArray[np.bool_],
    finer: npt.NDArray[np.int32],
) -> int:
    """Do the same where groups times codes are too many for a table.

    `keys` and `owners` are scratch of equal length, a power of two above the number of records.
    """
    owners[:] = _NOBODY
    has_units = len(units) > 0
    mask = np.uint64(len(keys) - 1)
    for row in range(len(groups)):
        group = groups[row]
        finer[row] = -1
        if group >= 0:
            key = np.int64(group) * width + codes[row]
            mixed = np.uint64(key) * _GOLDEN
            place = (mixed ^ (mixed >> np.uint64(32))) & mask
            while owners[place] != _NOBODY and keys[place] != key:
                place = (place + np.uint64(1)) & mask
            unit = units[row] if has_units else np.int32(row)
            if owners[place] == _NOBODY:
                keys[place] = key
                owners[place] = unit
            elif owners[place] != unit:
                owners[place] = _SEVERAL
            finer[row] = np.int32(place)
    count = 0
    for row in range(len(groups)):
        alone[row] = True
        place = finer[row]
        if place >= 0:
            finer[row] = -1
            owner = owners[place]
            if owner == _SEVERAL:
                owner = np.int32(-3 - count)
                owners[place] = owner
                count += 1
            if owner < 0:
                alone[row] = False
                finer[row] = -3 - owner
    return count
