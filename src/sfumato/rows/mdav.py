"""Microaggregation by maximum distance to the average vector (MDAV)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible
from sfumato.rows.mdav_kernel import group_points
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import packed
from sfumato.table.permutation import permutation

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# Distinct points that are looked at together: time grows with their square.
MOST_POINTS = 50_000


def mdav(
    table: Table, k: int, *, rng: np.random.Generator, most_points: int = MOST_POINTS
) -> Groups:
    """Return groups of k to 2k - 1 rows that are near each other in their quasi-identifiers.

    While there are 3k rows or more, the row farthest from the mean and its k - 1 nearest form a
    group, and so do the row farthest from that one and its k - 1 nearest; of what is left two
    groups are made, or one. Attributes are numeric, and taken in units of their standard
    deviations. Ties are broken by values; which of several equal rows is in which group is up to
    `rng`. Rows in which different attributes are missing are never together.

    *Guarantee*: k to 2k - 1 rows a group; the same cells of a group are missing.
    *Refuses* (Infeasible): fewer than k rows, or fewer than k that miss the same attributes.
    *Source*: Domingo-Ferrer and Mateo-Sanz, TKDE 2002; MDAV-generic of Domingo-Ferrer and Torra,
    DMKD 2005.
    Departs from the paper: more than `most_points` different rows are first halved, at the median
    of the attribute that varies most, until no part has more.
    """
    columns = table.quasi_identifiers
    missing = np.stack([column.codes == column.null_code for column in columns], axis=1)
    pattern = packed([each.astype(np.int64) for each in missing.T])
    _refuse_few(pattern, k)
    # equal rows in random order, and else by value: nothing depends on the order of the input
    order = permutation(rng, table.rows)
    keys = packed([pattern, *(column.codes for column in columns)])[order]
    by_value = np.argsort(keys, kind="stable")
    order, keys = order[by_value], keys[by_value]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    counts = np.diff(np.append(first, table.rows))
    scaled = np.stack([_in_deviations(column) for column in columns])[:, order[first]]
    parts = [
        part
        for own in _runs(pattern[order[first]])
        for part in _halved(own, scaled, counts, k, most_points)
    ]
    ids = np.empty(table.rows, np.int64)
    sizes = [int(counts[part].sum()) // max(k, 1) + 1 for part in parts]
    starts = np.concatenate(([0], np.cumsum(sizes)))

    def group(number: int) -> None:
        part = parts[number]
        own = np.concatenate([np.arange(first[j], first[j] + counts[j]) for j in part])
        begins = np.concatenate(([0], np.cumsum(counts[part])[:-1]))
        found = np.empty(len(own), np.int64)
        group_points(
            np.ascontiguousarray(scaled[:, part]),
            counts[part].copy(),
            begins,
            k,
            int(starts[number]),
            found,
        )
        ids[order[own]] = found

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(group, range(len(parts))))
    used, dense = np.unique(ids, return_inverse=True)
    return Groups(dense.astype(np.int32), len(used))


def _refuse_few(pattern: Ints, k: int) -> None:
    rows = len(pattern)
    if rows < k:
        raise Infeasible(f"k = {k} is more than the {rows} people in the table; use k <= {rows}")
    _, counts = np.unique(pattern, return_counts=True)
    few = int(counts[counts < k].sum())
    if few:
        raise Infeasible(
            f"{few} rows miss values in a combination of quasi-identifiers that fewer than k = {k} "
            "rows miss, and a mean needs numbers; fill them in, leave the rows or the columns out, "
            "or use mondrian"
        )


def _in_deviations(column: Column) -> Reals:
    """Return the numbers of all rows in standard deviations, 0 where they are missing."""
    points = column.points
    width = float(np.ptp(points)) if len(points) else 0.0
    if width == 0:
        return np.zeros(len(column.codes))
    unit = (points - points[0]) / width  # or squares of the largest numbers would overflow
    present = column.codes < column.null_code
    found = np.append(unit, 0.0)[column.codes]
    counts = np.bincount(column.codes[present], minlength=len(points))
    # sums of NumPy's own: a dot product's last digit depends on the processor
    mean = float((unit * counts).sum()) / int(counts.sum())
    deviation = float(np.sqrt(((unit - mean) ** 2 * counts).sum() / int(counts.sum())))
    return np.where(present, (found - mean) / deviation, 0.0)


def _runs(keys: Ints) -> list[Ints]:
    """Return the places of each run of equal keys."""
    cuts = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    return np.split(np.arange(len(keys)), cuts)


def _halved(part: Ints, scaled: Reals, counts: Ints, k: int, most_points: int) -> Sequence[Ints]:
    """Return parts of at most so many points, cut where half of the records are on either side."""
    if len(part) <= most_points:
        return [part]
    weight = counts[part]
    own = scaled[:, part]
    means = (own * weight).sum(axis=1) / weight.sum()
    spread = (((own - means[:, None]) ** 2) * weight).sum(axis=1)
    for axis in np.argsort(-spread, kind="stable").tolist():
        order = np.argsort(own[axis], kind="stable")
        values, records = own[axis][order], np.cumsum(weight[order])
        cuts = np.flatnonzero(values[1:] > values[:-1])  # equal values stay together
        if not len(cuts):
            continue
        cut = int(cuts[np.argmin(np.abs(records[cuts] - records[-1] / 2))]) + 1
        if min(records[cut - 1], records[-1] - records[cut - 1]) < k:
            continue
        sides = np.sort(part[order[:cut]]), np.sort(part[order[cut:]])
        return [each for side in sides for each in _halved(side, scaled, counts, k, most_points)]
    return [part]
