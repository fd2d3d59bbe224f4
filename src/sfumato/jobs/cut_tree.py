"""The cuts behind the groups of a generalised release, found again from its cells.

A partitioner cuts the rows again and again, each time on one attribute. Its groups show the hulls
of what lies between the cuts, so wherever the cells of some groups fall into parts that have no
value in common, a cut can lie between them. A value in the gap of two numbers goes to the nearer
part; other values that no part covers belong nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.attacks.reach import MISSING, Reach, covers

Ints = npt.NDArray[np.int64]

NOWHERE: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of one attribute by group; of numbers, gaps between them can be divided."""

    of_group: Ints
    reach: Reach
    is_numeric: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Some groups in parts that share no value of an attribute: `stretch` in order of `low`."""

    part_of_group: Ints
    low: Ints
    high: Ints
    part: Ints
    part_of_missing: int
    count: int

    def of(self, ranks: Ints, is_numeric: bool) -> Ints:
        """Return the part of each rank, or NOWHERE."""
        if not len(self.low):
            return np.where(ranks == MISSING, self.part_of_missing, NOWHERE)
        before = np.searchsorted(self.low, ranks, "right") - 1
        left = np.maximum(before, 0)
        right = np.minimum(before + 1, len(self.low) - 1)
        inside = (before >= 0) & (ranks <= self.high[left])
        if is_numeric:
            is_left = (before >= 0) & (ranks - self.high[left] <= self.low[right] - ranks)
            is_left |= right == left
            found = self.part[np.where(inside | is_left, left, right)]
        else:
            found = np.where(inside, self.part[left], NOWHERE)
        return np.where(ranks == MISSING, self.part_of_missing, found)


def assigned(
    cells: Mapping[str, Cells], groups: int, people: Mapping[str, Ints], rng: np.random.Generator
) -> Ints:
    """Return the group of each person, whose ranks are given by attribute; NOWHERE if there is
    none.

    Of groups that no cut parts, such as those under a node of a hierarchy beside those of the whole
    node, the one with the narrowest cells takes whom it covers, at random where several are.
    """
    rows = len(next(iter(people.values())))
    found = np.full(rows, NOWHERE)
    waiting = [(np.arange(groups), np.arange(rows))]
    while waiting:  # a loop over the inner nodes of the tree
        own, members = waiting.pop()
        if not len(members):
            continue
        if len(own) == 1:
            found[members] = own[0]
            continue
        for name, column in cells.items():
            parts = _parts(column.of_group[own], column.reach)
            if parts.count > 1:
                place = parts.of(people[name][members], column.is_numeric)
                waiting += [
                    (own[parts.part_of_group == part], members[place == part])
                    for part in range(parts.count)
                ]
                break
        else:
            found[members] = _covering(cells, own, people, members, rng)
    return found


def _parts(of_group: Ints, reach: Reach) -> _Parts:
    """Return the parts that the cells of some groups fall into."""
    used, own = np.unique(of_group, return_inverse=True)
    seen = reach.take(used)
    order = np.argsort(seen.low, kind="stable")
    low, high, cell = seen.low[order], seen.high[order], seen.cell[order]
    reached = np.maximum.accumulate(high) if len(high) else high
    begins = np.concatenate(([True], low[1:] > reached[:-1])) if len(low) else np.zeros(0, np.bool_)
    stretch = np.cumsum(begins) - 1
    part_of_cell = _joined(cell, stretch, seen.nulls)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(low)) - 1
    missing = np.flatnonzero(seen.nulls)
    return _Parts(
        part_of_cell[own],
        low[first],
        reached[last] if len(first) else high,
        part_of_cell[cell[first]],
        int(part_of_cell[missing[0]]) if len(missing) else NOWHERE,
        int(part_of_cell.max(initial=-1)) + 1,
    )


def _joined(cell: Ints, stretch: Ints, nulls: npt.NDArray[np.bool_]) -> Ints:
    """Return the part of each cell: cells are joined by stretches, and by missing values."""
    count = int(stretch.max(initial=-1)) + 1
    node = np.concatenate([stretch, np.full(int(nulls.sum()), count)])
    owner = np.concatenate([cell, np.flatnonzero(nulls)])
    part = np.arange(len(nulls))
    while True:  # as often as the longest chain of cells that join each other
        least = np.full(count + 1, len(nulls))
        np.minimum.at(least, node, part[owner])
        new = part.copy()
        np.minimum.at(new, owner, least[node])
        if np.array_equal(new, part):
            return np.asarray(np.unique(part, return_inverse=True)[1], np.int64)
        part = new


def _covering(
    cells: Mapping[str, Cells],
    own: Ints,
    people: Mapping[str, Ints],
    members: Ints,
    rng: np.random.Generator,
) -> Ints:
    """Return for each person one of the groups whose cells cover them, or NOWHERE."""
    found = np.full(len(members), NOWHERE)
    width = sum(_log_widths(column.reach)[column.of_group[own]] for column in cells.values())
    rank = np.lexsort((rng.random(len(own)), width))  # from the narrowest on
    step = max(1, (1 << 24) // len(own))
    for start in range(0, len(members), step):
        some = members[start : start + step]
        fits = np.ones((len(some), len(own)), np.bool_)
        for name, column in cells.items():
            ranks, at = np.unique(people[name][some], return_inverse=True)
            used, of = np.unique(column.of_group[own[rank]], return_inverse=True)
            fits &= covers(ranks, column.reach.take(used))[at][:, of]
        best = own[rank][fits.argmax(axis=1)]
        found[start : start + step] = np.where(fits.any(axis=1), best, NOWHERE)
    return found


def _log_widths(reach: Reach) -> npt.NDArray[np.float64]:
    """Return how many ranks each cell covers, as logarithms."""
    stretches = (reach.high - reach.low + 1).clip(min=0)
    covered = np.bincount(reach.cell, stretches, minlength=reach.count) + reach.nulls
    return np.asarray(np.log(np.maximum(covered, 1.0)), np.float64)
