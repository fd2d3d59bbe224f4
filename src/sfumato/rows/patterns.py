"""Rows by which of their cells are sensitive, and what to do with patterns of too few rows.

A flag pattern says which semi-sensitive attributes of a row are sensitive. Rows of one pattern are
generalised among themselves. A pattern with fewer than k people cannot form a group of its own, so
it is united with others: in the united group every attribute that is sensitive for some and not
for others is withheld for all of them. (Flagging more cells instead would not do: the adversary
knows the cells that are not sensitive, and in a bucket they would be known elements.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible
from sfumato.table import Groups

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Rows grouped by flag pattern; `flags[p, a]`: is attribute a sensitive in pattern p?"""

    groups: Groups
    flags: Bools

    @classmethod
    def of(cls, flags: list[Bools], rows: int) -> Patterns:
        """Return the patterns of rows, given the flags of each semi-sensitive attribute.

        >>> flags = [np.array([True, False, True])]
        >>> Patterns.of(flags, 3).groups.sizes.tolist()
        [1, 2]
        """
        if not flags:
            return cls(Groups(np.zeros(rows, dtype=np.int32), 1), np.zeros((1, 0), dtype=np.bool_))
        groups = Groups.of_equal([flag.astype(np.int64) for flag in flags])
        first = groups.order[groups.offsets[:-1]]
        return cls(groups, np.stack([flag[first] for flag in flags], axis=1))

    def unions(self, people: Ints, k: int) -> list[Union]:
        """Return which undersized patterns to unite, at the least cost in withheld cells.

        `people` counts the people of each pattern. Repeatedly the smallest undersized union joins
        whatever makes the fewest cells withheld: another undersized one, or k people of a pattern
        that is large enough. Refuses a table of fewer than k people.
        """
        if people.sum() < k:
            raise Infeasible(
                f"k = {k} is more than the {int(people.sum())} people in the table; "
                f"use k <= {int(people.sum())}"
            )
        pending = [
            Union((int(p),), int(people[p]), self.flags[p], self.flags[p], None)
            for p in np.flatnonzero(people < k)
        ]
        hosts = np.flatnonzero(people >= k).tolist()
        done: list[Union] = []
        while pending:
            pending.sort(key=lambda union: union.people, reverse=True)
            smallest = pending.pop()
            others = pending or ([] if hosts else done)
            joins = [(smallest.cost(o.all, o.any, o.people), i) for i, o in enumerate(others)]
            visits = [(smallest.cost(self.flags[p], self.flags[p], k), p) for p in hosts]
            if visits and (not joins or min(visits) <= min(joins)):
                done.append(replace(smallest, host=min(visits)[1]))
                continue
            joined = smallest.joined(others.pop(min(joins)[1]))
            (done if joined.people >= k else pending).append(joined)
        return done


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """Patterns whose rows are to form one group, together with a group of pattern `host` if any.

    `people` counts its people, `all` and `any` say which flags all and any of its patterns have.
    """

    patterns: tuple[int, ...]
    people: int
    all: Bools
    any: Bools
    host: int | None

    def cost(self, other_all: Bools, other_any: Bools, other_people: int) -> int:
        """Return how many cells would be withheld if others with these flags joined."""
        mixed = int(np.count_nonzero((self.any | other_any) & ~(self.all & other_all)))
        return mixed * (self.people + other_people)

    def joined(self, other: Union) -> Union:
        """Return the union of the two."""
        return Union(
            self.patterns + other.patterns,
            self.people + other.people,
            self.all & other.all,
            self.any | other.any,
            None,
        )
