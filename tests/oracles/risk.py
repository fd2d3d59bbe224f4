"""Risk by its definitions: every pair of records, every subset of columns, sums term by term.

A record is (person, values). Slow, literal, and without any of the package's code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Record = tuple[Any, tuple[Any, ...]]


def distinct_records(people: Sequence[Any], rows: Sequence[tuple[Any, ...]]) -> list[Record]:
    """Return one record for every person and combination of values."""
    return list(dict.fromkeys(zip(people, rows, strict=True)))


def class_sizes(records: Sequence[Record]) -> list[int]:
    """Return for every record how many people have its values."""
    return [len({p for p, other in records if other == row}) for _, row in records]


def is_alone(records: Sequence[Record], which: int, columns: Sequence[int]) -> bool:
    """Return whether nobody else agrees with a record on the columns."""
    person, row = records[which]
    return all(
        other == person or any(values[c] != row[c] for c in columns) for other, values in records
    )


def minimal_uniques(records: Sequence[Record], max_size: int) -> list[list[tuple[int, ...]]]:
    """Return for every record the sets on which it is alone and on no proper part it is."""
    width = len(records[0][1])
    found = []
    for which in range(len(records)):
        sets = [
            chosen
            for size in range(1, max_size + 1)
            for chosen in combinations(range(width), size)
            if is_alone(records, which, chosen)
        ]
        found.append([s for s in sets if not any(set(o) < set(s) for o in sets)])
    return found


def suda_scores(minimal: Sequence[Sequence[tuple[int, ...]]], width: int, limit: int) -> list[int]:
    """Return every record's score: the sum over its sets of (A - s)(A - s - 1)...(A - m)."""
    last = min(limit, width - 1)
    return [
        sum(math.prod(width - i for i in range(len(s), last + 1)) for s in sets) for sets in minimal
    ]


def pitman_log_likelihood(theta: float, alpha: float, sizes: Sequence[int]) -> float:
    """Return the logarithm of Pitman's partition probability, but for a constant."""
    n, u = sum(sizes), len(sizes)
    return (
        math.fsum(math.log(theta + i * alpha) for i in range(1, u))
        - math.fsum(math.log(theta + i) for i in range(1, n))
        + math.fsum(math.log(i - alpha) for size in sizes for i in range(1, size))
    )


def pitman_chances(
    theta: Fraction, alpha: Fraction, sizes: tuple[int, ...], more: int
) -> dict[tuple[int, ...], Fraction]:
    """Return the chance of every outcome when so many records join classes one by one."""
    states = {sizes: Fraction(1)}
    for _ in range(more):
        following: Counter[tuple[int, ...]] = Counter()
        for state, chance in states.items():
            total = sum(state)
            for place, size in enumerate(state):
                grown = (*state[:place], size + 1, *state[place + 1 :])
                following[grown] += chance * (size - alpha) / (theta + total)
            founding = (theta + len(state) * alpha) / (theta + total) if total else Fraction(1)
            following[(*state, 1)] += chance * founding
        states = dict(following)
    return states


def zayatz_uniques(sizes: Sequence[int], population: int) -> Fraction:
    """Return Zayatz' estimate in exact numbers."""
    n = sum(sizes)
    counts = Counter(sizes)

    def one_drawn(size: int) -> Fraction:
        ways = size * math.comb(population - size, n - 1)
        return Fraction(ways, math.comb(population, n))

    share = counts[1] * one_drawn(1) / sum(c * one_drawn(s) for s, c in counts.items())
    return counts[1] * share * Fraction(population, n)


def slid_expectations(
    classes: float, shape: float, probability: float, fraction: float, terms: int = 20_000
) -> tuple[float, float, float]:
    """Return the expected classes of one and two in a sample, and the population's records."""
    ones, twos, total = [], [], []
    chance = probability**shape
    for size in range(1, terms):
        ones.append(chance * size * fraction * (1 - fraction) ** (size - 1))
        pairs = size * (size - 1) / 2
        twos.append(chance * pairs * fraction**2 * (1 - fraction) ** max(size - 2, 0))
        total.append(chance * size)
        chance *= (shape + size - 1) / size * (1 - probability)
    return classes * math.fsum(ones), classes * math.fsum(twos), classes * math.fsum(total)


def negative_binomial(size: int, p: float, terms: int = 200_000) -> tuple[float, list[float]]:
    """Return the mean of 1/F given f, and the chances of F = f, f + 1, ..., term by term."""
    chance, chances = p**size, []
    for h in range(size, size + terms):
        chances.append(chance)
        chance *= (1 - p) * h / (h - size + 1)
    return math.fsum(c / (size + i) for i, c in enumerate(chances)), chances


def household_risks(risks: Mapping[Any, Sequence[float]]) -> dict[Any, float]:
    """Return 1 - product of (1 - r) of every household."""
    return {name: 1 - math.prod(1 - r for r in members) for name, members in risks.items()}


def unique_households(households: Sequence[Any], rows: Sequence[Any]) -> int:
    """Return how many households have a multiset of rows of their own."""
    members: dict[Any, Counter[Any]] = {}
    for name, row in zip(households, rows, strict=True):
        members.setdefault(name, Counter())[row] += 1
    kinds = Counter(frozenset(each.items()) for each in members.values())
    return sum(kinds[frozenset(each.items())] == 1 for each in members.values())
