"""Randomised sets and the way back, literally: dense matrices, loops, and fractions.

An attribute is (d, p, eta): values are 0 to d - 1. A record is a tuple of values; published, a
tuple of sets. Cells are all combinations of values, in order.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from random import Random

Attribute = tuple[int, Fraction, int]
Published = tuple[frozenset[int], ...]


def randomised(value: int, attribute: Attribute, rng: Random) -> frozenset[int]:
    """Return a set as section V-B draws it."""
    d, p, eta = attribute
    if rng.random() < p:
        rest = [other for other in range(d) if other != value]
        return frozenset([value, *rng.sample(rest, eta - 1)])
    return frozenset(rng.sample(range(d), eta))


def chances(value: int, attribute: Attribute) -> dict[frozenset[int], Fraction]:
    """Return every set with the probability that it is drawn for a value."""
    d, p, eta = attribute
    every = [frozenset(each) for each in combinations(range(d), eta)]
    with_it = [each for each in every if value in each]
    return {
        each: (p / len(with_it) if value in each else 0) + (1 - p) / len(every) for each in every
    }


def cells(attributes: list[Attribute]) -> list[tuple[int, ...]]:
    return list(product(*(range(d) for d, _, _ in attributes)))


def contained(records: list[Published], attributes: list[Attribute]) -> list[int]:
    """Return w (equation 17)."""
    return [
        sum(all(v in own for v, own in zip(cell, record, strict=True)) for record in records)
        for cell in cells(attributes)
    ]


def delta(attributes: list[Attribute]) -> list[list[Fraction]]:
    """Return δ (equation 19), the probabilities taken from `chances` and not from a formula."""
    single = []
    for attribute in attributes:
        drawn = [chances(value, attribute) for value in range(attribute[0])]
        single.append(
            [
                [
                    sum((c for each, c in by_set.items() if other in each), Fraction(0))
                    for other in range(attribute[0])
                ]
                for by_set in drawn
            ]
        )
    every = cells(attributes)
    matrix = []
    for alpha in every:
        row = []
        for beta in every:
            chance = Fraction(1)
            for table, own, other in zip(single, alpha, beta, strict=True):
                chance *= table[own][other]
            row.append(chance)
        matrix.append(row)
    return matrix


def solve(matrix: list[list[Fraction]], right: list[int]) -> list[Fraction]:
    """Return the solution of a system of linear equations, by elimination."""
    size = len(matrix)
    rows = [[*row, Fraction(b)] for row, b in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = next(r for r in range(column, size) if rows[r][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [x / rows[column][column] for x in rows[column]]
        for other in range(size):
            factor = rows[other][column]
            if other != column and factor:
                rows[other] = [
                    x - factor * y for x, y in zip(rows[other], rows[column], strict=True)
                ]
    return [row[-1] for row in rows]


def inverse(records: list[Published], attributes: list[Attribute]) -> list[Fraction]:
    """Return the table whose expected w is the one that was counted."""
    # δ is symmetric; what is expected of β is the sum over α of δ times n
    return solve(delta(attributes), contained(records, attributes))


def variances(records: list[tuple[int, ...]], attributes: list[Attribute]) -> list[Fraction]:
    """Return the variance of every cell of `inverse`, over all sets that could have been drawn."""
    total = [Fraction(0)] * len(cells(attributes))
    for record in records:
        drawn = [chances(v, a) for v, a in zip(record, attributes, strict=True)]
        first, second = [Fraction(0)] * len(total), [Fraction(0)] * len(total)
        for sets in product(*drawn):
            chance = Fraction(1)
            for each, by_set in zip(sets, drawn, strict=True):
                chance *= by_set[each]
            if chance:
                for cell, value in enumerate(inverse([sets], attributes)):
                    first[cell] += chance * value
                    second[cell] += chance * value * value
        for cell in range(len(total)):
            total[cell] += second[cell] - first[cell] ** 2
    return total


def bayes(
    records: list[Published], attributes: list[Attribute], tolerance: float, most_steps: int
) -> list[float]:
    """Return what equations 26 and 27 lead to; a step that moves little enough is the last."""
    counted = contained(records, attributes)
    matrix = [[float(x) for x in row] for row in delta(attributes)]
    every = range(len(counted))
    table = [float(w) for w in counted]
    for _ in range(most_steps):
        expected = [sum(matrix[gamma][beta] * table[gamma] for gamma in every) for beta in every]
        new = [
            sum(
                counted[beta] * matrix[alpha][beta] * table[alpha] / expected[beta]
                for beta in every
                if expected[beta] > 0
            )
            for alpha in every
        ]
        moved = sum(abs(x - y) for x, y in zip(new, table, strict=True))
        table = new
        if moved <= tolerance * sum(counted):
            break
    size = 1
    for _, _, eta in attributes:
        size *= eta
    return [x / size for x in table]


def log_likelihood(
    records: list[Published], attributes: list[Attribute], table: list[float]
) -> float:
    """Return how likely the counted sets are if the table is the true one, up to a constant."""
    counted = contained(records, attributes)
    matrix = [[float(x) for x in row] for row in delta(attributes)]
    every = range(len(counted))
    total = 0.0
    for beta in every:
        if counted[beta]:
            expected = sum(matrix[gamma][beta] * table[gamma] for gamma in every)
            total += counted[beta] * math.log(expected)
    return total


def value_adding(records: list[Published], attributes: list[Attribute]) -> list[Fraction]:
    """Return equation 18."""
    own, inside = Fraction(1), 1
    for d, p, eta in attributes:
        own *= p + (1 - p) * Fraction(eta, d)
        inside *= eta
    counted = contained(records, attributes)
    outside = len(counted) - inside
    return [
        w * own / inside + ((len(records) - w) * (1 - own) / outside if outside else 0)
        for w in counted
    ]
