"""What a tiny release of sets says, by trying every value that a record may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

from answers.consistent import Row, holds

from sfumato.predicates import Predicate

Sets = tuple[Any, ...]


def probabilities(size: int, p: Fraction, eta: int) -> tuple[Fraction, Fraction]:
    """Return how likely a set holds the own value, and any certain other one."""
    own = p + (1 - p) * Fraction(eta, size)
    return own, (eta - own) / (size - 1) if size > 1 else Fraction(0)


def drawn_sets(
    values: Sequence[Any], own: Any, p: Fraction, eta: int
) -> Iterator[tuple[Sets, Fraction]]:
    """Return all sets that a value may become, and how likely each is."""
    every = comb(len(values), eta)
    with_own = comb(len(values) - 1, eta - 1)
    for chosen in combinations(values, eta):
        chance = (1 - p) / every
        if own in chosen:
            chance += p / with_own
        yield chosen, chance


class Question:
    """A predicate (and a number to add) put to records whose sets are of these domains."""

    def __init__(
        self,
        domains: Mapping[str, Sequence[Any]],
        made: Mapping[str, tuple[Fraction, int]],
        predicate: Predicate | None,
        summed: str | None,
    ) -> None:
        self.domains, self.made = domains, made
        self.names = list(domains)
        self.predicate, self.summed = predicate, summed

    def adds(self, values: Sequence[Any], about: int = 0) -> int:
        """Return what a record with these values adds to the answer."""
        row: Row = dict(zip(self.names, values, strict=True))
        if self.predicate is not None and not holds(self.predicate, row):
            return 0
        if self.summed is None:
            return 1
        return 0 if row[self.summed] is None else row[self.summed] - about

    def estimate(self, sets: Sequence[Sets], power: int = 1, about: int = 0) -> Fraction:
        """Return the unbiased estimate of what a record adds, cell by cell of the cross table."""
        total = Fraction(0)
        for cell in product(*self.domains.values()):
            weight = Fraction(self.adds(cell, about) ** power)
            for name, value, chosen in zip(self.names, cell, sets, strict=True):
                own, other = probabilities(len(self.domains[name]), *self.made[name])
                weight *= ((value in chosen) - other) / (own - other)
            total += weight
        return total

    def variance(self, records: Sequence[Sequence[Sets]], about: int = 0) -> Fraction:
        """Return the estimated variance of the sum of estimates."""
        return sum(
            (
                self.estimate(sets, about=about) ** 2 - self.estimate(sets, power=2, about=about)
                for sets in records
            ),
            Fraction(0),
        )

    def bounds(self, records: Sequence[Sequence[Sets]]) -> tuple[int, int]:
        """Return the least and greatest answer over all originals."""
        low = high = 0
        for sets in records:
            choices = [
                chosen if self.made[name][0] == 1 else self.domains[name]
                for name, chosen in zip(self.names, sets, strict=True)
            ]
            found = [self.adds(values) for values in product(*choices)]
            low, high = low + min(found), high + max(found)
        return low, high
