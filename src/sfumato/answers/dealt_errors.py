"""How far a count or a sum may lie off its expectation where tables are dealt within groups.

Every deal being equally likely, the patterns of two different records of a group are those of two
different rows of each table: with counts c of n rows, c_k(c_k - 1)/(n(n - 1)) for one pattern
twice and c_k c_m/(n(n - 1)) for two. Tables are dealt apart from each other. So how two records go
together follows table by table, like the chance of one (`odds.py`), over pairs of nodes of the
diagram instead of nodes. With C(a, b) for the covariance of "a is true of one record" and "b is
true of another", a table whose patterns lead from a to a_k and from b to b_k gives

    C(a, b) = (sum over k, m of c_k c_m C(a_k, b_m) - sum over k of c_k C(a_k, b_k))/(n(n - 1))
              - cov(P(a_k), P(b_k))/(n - 1)

where cov is that over the rows of the table. To take covariances, and not chances of both, spares
large numbers that cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from sfumato.answers.deal_kernels import add_moments, fill_covariances
from sfumato.answers.diagram import NO, YES, Diagrams, Node
from sfumato.answers.numbers import Numbers
from sfumato.answers.odds import Chances, Kinds

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]

# Numbers to go through for one question: about half a second.
_MOST_STEPS = 200_000_000


class TooMany(Exception):  # noqa: N818 -- no error: there is then no standard error
    """There are more pairs of nodes than are worth going through."""


@dataclass(frozen=True, slots=True)
class Moments:
    """The expectation and the variance of a sum over records, and the expected sum of squares."""

    mean: float
    variance: float
    squares: float

    def standard_error(self, records: int, fakes: int) -> float:
        """Return the standard error, so many of all records being fake.

        Which ones these are is taken as random: a sample of the others is then what counts, and to
        the variance of its expectation comes that of drawing it.
        """
        variance = self.variance
        if 0 < fakes < records:
            genuine = records - fakes
            of_squared_sum = self.variance + self.mean * self.mean
            spread = (self.squares - of_squared_sum / records) / (records - 1)
            variance *= (genuine / records) ** 2
            variance += genuine * fakes / records * max(spread, 0.0)
        return sqrt(max(variance, 0.0)) if fakes < records else 0.0


class Covariances:
    """How two records of a group go together, by kind of group."""

    def __init__(self, diagrams: Diagrams, kinds: Kinds, chances: Chances) -> None:
        self._diagrams = diagrams
        self.kinds = kinds
        self._chances = chances
        self._sizes = kinds.sizes.astype(np.float64)
        self._others = np.maximum(self._sizes - 1.0, 1.0)  # one record alone has no other
        self._found: dict[tuple[Node, Node], Reals] = {}
        self._steps = 0

    def chance(self, node: Node) -> Reals:
        """Return the chance that the node's predicate is true of a record."""
        return self._chances.of(node)

    def spread(self, node: Node) -> Reals:
        """Return the variance of "the predicate is true of this record"."""
        chance = self.chance(node)
        return chance * (1.0 - chance)

    def between(self, one: Node, other: Node) -> Reals:
        """Return the covariance of one predicate for a record and the other for another record.

        Raises TooMany where that takes too long.
        """
        if not {one, other}.isdisjoint((NO, YES)):
            return np.zeros_like(self._sizes)
        pair = (min(one, other), max(one, other))
        if pair not in self._found:
            found = self._of_conjunction(one) if one == other else None
            self._found[pair] = self._worked_out(*pair) if found is None else found
        return self._found[pair]

    def _of_conjunction(self, node: Node) -> Reals | None:
        """Return the covariance if the predicate asks each table for one thing, and for all.

        A disjunction of such is its negation, which goes together as it does. None for others.
        """
        lines = self._lines(node) or self._lines(self._diagrams.neither(node))
        if lines is None:
            return None
        out = np.empty_like(self._sizes)
        fill_covariances(np.array(lines), self.kinds.sizes, out)
        return out

    def _lines(self, node: Node) -> list[Codes] | None:
        """Return by table how many rows will do, None where it depends on other tables."""
        lines: list[Codes] = []
        while node not in (NO, YES):
            table = self._diagrams.table(node)
            after = self._diagrams.after(node, table)
            left = {each for each in after if each != NO}
            if len(left) > 1:
                return None
            chosen = [k for k, each in enumerate(after) if each != NO]
            counts = self.kinds.counts[table]
            some = len(chosen) > 1
            lines.append(counts[chosen].sum(axis=0, dtype=np.int32) if some else counts[chosen[0]])
            node = left.pop()
        return lines

    def _worked_out(self, one: Node, other: Node) -> Reals:
        table = min(self._diagrams.table(one), self._diagrams.table(other))
        counts = self.kinds.counts[table]
        ones, others = (self._diagrams.after(node, table) for node in (one, other))
        within = -self._sizes * self.chance(one) * self.chance(other)
        for count, a, b in zip(counts, ones, others, strict=True):
            if NO not in (a, b):
                self._step()
                within += count * _product(self.chance(a), self.chance(b), a, b)
        together = -within
        for count, a, b in zip(counts, ones, others, strict=True):
            if {a, b}.isdisjoint((NO, YES)):
                self._step()
                together -= count * self.between(a, b)
        by_node = [_by_node(counts, nodes) for nodes in (ones, others)]
        for a, count in by_node[0].items():
            for b, more in by_node[1].items():
                self._step()
                together += count * more * self.between(a, b)
        together /= self._sizes * self._others
        return together

    def _step(self) -> None:
        self._steps += len(self._sizes)
        if self._steps > _MOST_STEPS:
            raise TooMany


def count_moments(covariances: Covariances, node: Node) -> Moments:
    """Return the moments of the number of records that satisfy the node's predicate.

    Raises TooMany where the variance takes too long.
    """
    kinds = covariances.kinds
    records = kinds.sizes.astype(np.float64)
    times = records * kinds.groups
    alone = covariances.spread(node)
    alone += (records - 1.0) * covariances.between(node, node)
    alone *= times
    mean = float((covariances.chance(node) * times).sum())
    return Moments(mean, float(alone.sum()), mean)


def sum_moments(
    covariances: Covariances,
    after: Sequence[Node],
    numbers: Numbers,
    about: float,
    rows: tuple[Codes, Bytes],
) -> Moments:
    """Return the moments of the sum of (number - about) over the records that satisfy a predicate.

    The numbers stand in the first table; `rows` has its groups' starts and its rows' patterns,
    `after` the node that each pattern leads to. The covariances are those of the other tables,
    which are dealt to its rows.

    Raises TooMany where the variance takes too long.
    """
    kinds = covariances.kinds
    nodes = list(dict.fromkeys(each for each in after if each != NO))
    if len(nodes) ** 2 * len(kinds.sizes) > _MOST_STEPS // 8:
        raise TooMany
    shape = (len(kinds.sizes), len(nodes))
    chance, alone = np.zeros(shape), np.zeros(shape)
    together = np.zeros((*shape, len(nodes)))
    for i, one in enumerate(nodes):
        chance[:, i] = covariances.chance(one)
        alone[:, i] = covariances.spread(one) - covariances.between(one, one)
        for j, other in enumerate(nodes):
            together[:, i, j] = covariances.between(one, other)
    place = {each: i for i, each in enumerate(nodes)}
    number = np.array([place.get(each, -1) for each in after])
    found, scratch = np.zeros(3), np.zeros((2, len(nodes)))
    starts, pattern = rows
    ordered = (numbers.order, numbers.counts, numbers.values)
    tables = (chance, alone, together)
    add_moments(starts, *ordered, pattern, number, kinds.of_group, about, *tables, scratch, found)
    mean, variance, squares = found.tolist()
    return Moments(mean, variance, squares)


def _product(one: Reals, other: Reals, a: Node, b: Node) -> Reals:
    """Return the product of the chances of two nodes, of which one may be certain."""
    return other if a == YES else one if b == YES else one * other


def _by_node(counts: Codes, nodes: Sequence[Node]) -> dict[Node, Reals]:
    """Return how many rows lead to each node that leaves something open."""
    found: dict[Node, Reals] = {}
    for count, node in zip(counts, nodes, strict=True):
        if node not in (NO, YES):
            found[node] = found.get(node, 0.0) + count.astype(np.float64)
    return found
