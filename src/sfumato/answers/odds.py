"""Tables whose rows are dealt to each other anew within every group: what may come of it.

A group has n records, and every table n rows for them (a row with a count being several). Each
table is dealt to the records on its own. How many records then satisfy a predicate?

*Expected*, every deal being equally likely: n times the chance of one record, and for one record
the tables are independent.

*At most*: take one table, whose patterns leave predicates N(k) to the other tables. For any
predicate u on the others, the satisfied records are those where u is true, or else their pattern
leaves something that u does not cover. So they are at most

    (most records that can satisfy u) + (rows of patterns whose N(k) is not covered by u)

and the unions of some N(k) give the best bounds of this kind. For two tables the least of them is
reached: this is the theorem of König for the flow from patterns to patterns. So it is for any
number of tables as long as the predicate asks each of them in one place only. Otherwise it is a
bound, if not the least. *At least* is what is left of n by the most that satisfy the negation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.answers.deal_kernels import find_kinds
from sfumato.answers.diagram import NO, YES, Diagrams, Node

Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]

# Groups are told apart by a table of all kinds there could be, if it has few more entries.
_SPARSE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Groups that have the same counts are of one kind: these are worked out once.

    `counts[t][k]` are the rows of table t with pattern k, by kind; `sizes` the records.
    """

    counts: list[Codes]
    sizes: Codes
    of_group: Codes
    groups: Codes

    @classmethod
    def of(cls, counts: Sequence[Codes], sizes: Codes) -> Kinds:
        """Return the kinds of groups of these counts and sizes."""
        columns = [sizes, *(line for lines in counts for line in lines[:-1])]
        limit = _SPARSE * len(sizes)
        keys, span = np.zeros(len(sizes), np.int32), 1
        for column in columns:
            width = int(column.max(initial=0)) + 1
            span *= width
            if span > limit:  # too many to be worth it: each group is a kind of its own
                every = np.arange(len(sizes), dtype=np.int32)
                return cls(list(counts), sizes, every, np.ones_like(every))
            keys *= np.int32(width)
            keys += column
        of_group, example, groups = (np.empty(len(sizes), np.int32) for _ in range(3))
        number = np.full(span, -1, np.int32)
        kinds = find_kinds(keys, number, of_group, example, groups)
        chosen = example[:kinds]
        lines = [each[:, chosen] for each in counts]
        return cls(lines, sizes[chosen], of_group, groups[:kinds])


class Limits:
    """How many records of each kind of group satisfy a predicate at most."""

    def __init__(self, diagrams: Diagrams, kinds: Kinds) -> None:
        self._diagrams = diagrams
        self._kinds = kinds
        self._most: dict[Node, Codes] = {
            NO: np.zeros_like(kinds.sizes),
            YES: kinds.sizes,
        }

    def most(self, node: Node) -> Codes:
        """Return the greatest number of records for which the node's predicate may be true."""
        if node not in self._most:
            table = self._diagrams.table(node)
            after = self._diagrams.after(node, table)
            counts = self._kinds.counts[table]
            best = self._kinds.sizes
            for union in self._diagrams.unions(after):
                rest = [k for k, n in enumerate(after) if not self._diagrams.covers(union, n)]
                best = np.minimum(best, self.most(union) + counts[rest].sum(axis=0, dtype=np.int32))
            self._most[node] = best
        return self._most[node]


class Chances:
    """The chance of a record to satisfy a predicate, by kind of group (or by group)."""

    def __init__(self, diagrams: Diagrams, shares: Sequence[Reals], kinds: int) -> None:
        self._diagrams = diagrams
        self._shares = shares
        self._found: dict[Node, Reals] = {NO: np.zeros(kinds), YES: np.ones(kinds)}

    @classmethod
    def of_counts(cls, diagrams: Diagrams, kinds: Kinds) -> Chances:
        """Return the chances that follow from counts, which leave nothing open."""
        shares = [lines / kinds.sizes for lines in kinds.counts]
        return cls(diagrams, shares, len(kinds.sizes))

    def of(self, node: Node) -> Reals:
        """Return the chance that the node's predicate is true."""
        if node not in self._found:
            table = self._diagrams.table(node)
            total = np.zeros_like(self._found[YES])
            for share, after in zip(
                self._shares[table], self._diagrams.after(node, table), strict=True
            ):
                if after != NO:
                    total += share * self.of(after)
            self._found[node] = total
        return self._found[node]
