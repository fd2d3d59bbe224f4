"""Maximum distance to the average vector, in compiled loops over distinct points.

Rows with the same numbers are one point that stands for several records. Points keep their order,
which breaks all ties, and are taken out of the arrays in batches once none of their records is
left. Distances are worked out attribute by attribute over a stretch of points, so that the machine
does several points at a time.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_STRETCH = 1024  # points whose distances stay in the nearest memory
_DEAD_SHARE = 16  # points are moved together once one in so many is used up


@numba.njit(cache=True, nogil=True)
def distances(points: Reals, start: int, end: int, centre: Reals, found: Reals) -> None:
    """Write the squared distances of the points from start to end into `found`."""
    for j in range(start, end):
        found[j] = 0.0
    for axis in range(points.shape[0]):
        row, own = points[axis], centre[axis]
        for j in range(start, end):
            gap = row[j] - own
            found[j] += gap * gap


@numba.njit(cache=True, nogil=True)
def farthest(points: Reals, left: Ints, size: int, centre: Reals, found: Reals) -> int:
    """Return the first of the points farthest from a centre of which a record is left."""
    best, where = -1.0, -1
    for start in range(0, size, _STRETCH):
        end = min(start + _STRETCH, size)
        distances(points, start, end, centre, found)
        for j in range(start, end):
            if found[j] > best and left[j] > 0:
                best, where = found[j], j
    return where


@numba.njit(cache=True, nogil=True)
def nearest(
    points: Reals,
    left: Ints,
    size: int,
    centre: Reals,
    k: int,
    found: Reals,
    chosen: Ints,
    gaps: Reals,
) -> int:
    """Write the points nearest to a centre into `chosen`, until k records are there; say how many.

    They are in the order of their distances, equal ones in the order of points. `found` has the
    distances of all points afterwards.
    """
    count, records, limit = 0, 0, np.inf
    for start in range(0, size, _STRETCH):
        end = min(start + _STRETCH, size)
        distances(points, start, end, centre, found)
        for j in range(start, end):
            if found[j] < limit and left[j] > 0:
                place = count
                while place > 0 and gaps[place - 1] > found[j]:
                    chosen[place], gaps[place] = chosen[place - 1], gaps[place - 1]
                    place -= 1
                chosen[place], gaps[place] = j, found[j]
                count += 1
                records += left[j]
                while records - left[chosen[count - 1]] >= k:
                    count -= 1
                    records -= left[chosen[count]]
                if records >= k:
                    limit = gaps[count - 1]
    return count


@numba.njit(cache=True, nogil=True)
def take(
    points: Reals,
    left: Ints,
    name: Ints,
    chosen: Ints,
    count: int,
    k: int,
    group: int,
    total: Reals,
    filled: Ints,
    out: Ints,
) -> None:
    """Give k records of the chosen points to a group, and take them out of the total.

    Records of point `name[j]` have the places up to `filled[name[j]]` in `out`; the next ones are
    given away.
    """
    wanted = k
    for i in range(count):
        j = chosen[i]
        given = min(left[j], wanted)
        wanted -= given
        left[j] -= given
        for axis in range(len(total)):
            total[axis] -= given * points[axis, j]
        first = filled[name[j]]
        for place in range(first, first + given):
            out[place] = group
        filled[name[j]] += given


@numba.njit(cache=True, nogil=True)
def _move_together(points: Reals, left: Ints, name: Ints, size: int) -> int:
    kept = 0
    for j in range(size):
        if left[j] > 0:
            if kept < j:
                left[kept], name[kept] = left[j], name[j]
                for axis in range(points.shape[0]):
                    points[axis, kept] = points[axis, j]
            kept += 1
    return kept


@numba.njit(cache=True, nogil=True)
def _centre(points: Reals, left: Ints, size: int, records: int, total: Reals, mean: Reals) -> None:
    """Write the mean of the records that are left; the running total is refreshed meanwhile."""
    total[:] = 0.0
    for axis in range(points.shape[0]):
        for j in range(size):
            total[axis] += left[j] * points[axis, j]
        mean[axis] = total[axis] / records


@numba.njit(cache=True, nogil=True)
def group_points(points: Reals, counts: Ints, starts: Ints, k: int, first: int, out: Ints) -> int:
    """Write the group of every record into `out`, from `first` on; return the next free number.

    `points` has an attribute a line; `counts` says how many records each point stands for, whose
    places in `out` begin at `starts`. All three are changed.
    """
    axes, size = points.shape
    left, name, filled = counts, np.arange(size), starts
    found, gaps = np.empty(size), np.empty(max(size, k) + 1)
    chosen = np.empty(max(size, k) + 1, np.int64)
    total, mean, centre = np.empty(axes), np.empty(axes), np.empty(axes)
    records, group = int(left.sum()), first
    _centre(points, left, size, records, total, mean)
    dead_limit = max(size // _DEAD_SHARE, 64)
    used = 0
    while records >= 2 * k:
        for axis in range(axes):
            mean[axis] = total[axis] / records
        one = farthest(points, left, size, mean, found)
        centre[:] = points[:, one]
        count = nearest(points, left, size, centre, k, found, chosen, gaps)
        used += count
        take(points, left, name, chosen, count, k, group, total, filled, out)
        records -= k
        group += 1
        if records >= 2 * k:
            best, other = -1.0, -1
            for j in range(size):
                if found[j] > best and left[j] > 0:
                    best, other = found[j], j
            centre[:] = points[:, other]
            count = nearest(points, left, size, centre, k, found, chosen, gaps)
            used += count
            take(points, left, name, chosen, count, k, group, total, filled, out)
            records -= k
            group += 1
        if used > dead_limit:
            size = _move_together(points, left, name, size)
            _centre(points, left, size, records, total, mean)
            dead_limit, used = max(size // _DEAD_SHARE, 64), 0
    for j in range(size):
        for place in range(filled[name[j]], filled[name[j]] + left[j]):
            out[place] = group
    return group + 1
