"""Rows by which of their cells are sensitive, and what to do with patterns of too few rows.

A flag pattern says which semi-sensitive attributes of a row are sensitive. Rows of one pattern are
generalised among themselves. A pattern with fewer than k people cannot form a group of its own, so
it is united with others: in the united group every attribute that is sensitive for some and not
for others is withheld for all of them. (Flagging more cells instead would not do: the adversary
knows the cells that are not sensitive, and in a bucket they would be known elements.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible
from sfumato.rows.unite_kernel import packed, unite
from sfumato.table import Groups

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# So many patterns are compared with each other: more make unions hardly better, and slow.
MOST_TOGETHER = 1024


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
        """Return which undersized patterns to unite, at a small cost in withheld cells.

        `people` counts the people of each pattern. Repeatedly the smallest undersized union joins
        what is nearest, which is what makes the fewest cells withheld (flags that differ, times
        people): another undersized one, or k people of a pattern that is large enough. Of very
        many patterns only those are looked at that have some flags in common (`_blocks`).

        Refuses (Infeasible) a table of fewer than k people.
        """
        if people.sum() < k:
            raise Infeasible(
                f"k = {k} is more than the {int(people.sum())} people in the table; "
                f"use k <= {int(people.sum())}"
            )
        unions: list[Union] = []
        if (people < k).any():
            for block in _blocks(self.flags, people, k):
                unions += self._united(block, people, k)
        return unions

    def _united(self, block: Ints, people: Ints, k: int) -> list[Union]:
        """Return the unions of the undersized patterns of a block."""
        small, hosts = block[people[block] < k], block[people[block] >= k]
        if not len(small):
            return []
        leaders, host_of = unite(
            packed(self.flags[small]), people[small], packed(self.flags[hosts]), k
        )
        order = np.argsort(leaders, kind="stable")
        starts = np.flatnonzero(np.diff(leaders[order], prepend=-1))
        found = []
        for members in np.split(order, starts[1:]):
            host = int(host_of[leaders[members[0]]])
            patterns = small[members]
            flags = self.flags[patterns]
            found.append(
                Union(
                    tuple(patterns.tolist()),
                    int(people[patterns].sum()),
                    flags.all(axis=0),
                    flags.any(axis=0),
                    int(hosts[host]) if host >= 0 else None,
                )
            )
        return found


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


def _blocks(flags: Bools, people: Ints, k: int) -> Iterator[Ints]:
    """Return the patterns in blocks of at most `MOST_TOGETHER`, each of k people or more.

    Uniting compares all patterns of a block with each other, which for very many would take a
    time without end. Blocks are halved by the flag that parts their patterns most evenly, so that
    most near ones stay together; one that no flag parts into k people and k people stays whole.
    """
    pending = [np.arange(len(flags))]
    while pending:
        block = pending.pop()
        parts = _halves(block, flags, people, k) if len(block) > MOST_TOGETHER else None
        if parts is None:
            yield block
        else:
            pending.extend(parts)


def _halves(block: Ints, flags: Bools, people: Ints, k: int) -> tuple[Ints, Ints] | None:
    """Return the patterns without and with a flag, k people each; None if no flag does it."""
    here = flags[block]
    having = here.sum(axis=0)
    weight = (here * people[block, None]).sum(axis=0)
    fits = (weight >= k) & (people[block].sum() - weight >= k)
    if not fits.any():
        return None
    evenness = np.where(fits, np.minimum(having, len(block) - having), -1)
    has = here[:, int(np.argmax(evenness))]
    return block[~has], block[has]
