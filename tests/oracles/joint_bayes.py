"""The joint-Bayes adversary on random sets, literally: every record, every value, in turn.

An attribute is (d, p, eta), values are 0 to d - 1. A record is a tuple of sets, a person a tuple
of values. Exact attributes are sets of one value with p = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

from .reconstruction import Attribute, Published, contained, delta, solve
from .sets import chance

Person = tuple[int, ...]


def estimated(records: Sequence[Published], attributes: Sequence[Attribute]) -> list[Fraction]:
    """Return the unbiased estimate of a cross table."""
    table = delta(list(attributes))
    turned = [list(column) for column in zip(*table, strict=True)]
    return solve(turned, contained(list(records), list(attributes)))


def shares(records: Sequence[Published], attributes: Sequence[Attribute]) -> list[list[float]]:
    """Return how common the values of each attribute are; half a person has each at least."""
    found = []
    for place, attribute in enumerate(attributes):
        counts = estimated([(record[place],) for record in records], [attribute])
        people = [max(float(count), 0.5) for count in counts]
        found.append([each / sum(people) for each in people])
    return found


def tables(
    records: Sequence[Published], attributes: Sequence[Attribute], margins: list[list[float]]
) -> dict[tuple[int, int], list[list[float]]]:
    """Return for every two attributes how likely the values of the second are with the first's."""
    found = {}
    for one, other in product(range(len(attributes)), repeat=2):
        if one == other:
            continue
        pair = [attributes[one], attributes[other]]
        sets = [(record[one], record[other]) for record in records]
        counts = [float(count) for count in estimated(sets, pair)]
        expected = [a * b * len(records) for a in margins[one] for b in margins[other]]
        # what the records add to a cell, squared, less the cell: the variance of the sets
        noise = float(len(records))
        for cell, count in zip(product(range(pair[0][0]), range(pair[1][0])), counts, strict=True):
            squares = sum(_added(each, cell, pair) ** 2 for each in sets)
            noise += max(float(squares) - count, 0.0)
        off = sum((c - e) ** 2 for c, e in zip(counts, expected, strict=True))
        kept = max(0.0, 1 - noise / off) if off else 0.0
        drawn = [max(e + kept * (c - e), 0.0) for c, e in zip(counts, expected, strict=True)]
        width = pair[1][0]
        rows = [drawn[at : at + width] for at in range(0, len(drawn), width)]
        rows = [[c + m for c, m in zip(row, margins[other], strict=True)] for row in rows]
        found[one, other] = [[c / sum(row) for c in row] for row in rows]
    return found


def _added(sets: Published, cell: tuple[int, ...], attributes: Sequence[Attribute]) -> Fraction:
    added = Fraction(1)
    for own, value, (d, p, eta) in zip(sets, cell, attributes, strict=True):
        x = p + (1 - p) * Fraction(eta, d)
        y = p * Fraction(eta - 1, d - 1) + (1 - p) * Fraction(eta, d)
        added *= ((value in own) - y) / (x - y)
    return added


def by_tables(
    person: Person,
    secret: int,
    known: Sequence[int],
    margins: list[list[float]],
    given: dict[tuple[int, int], list[list[float]]],
) -> list[float]:
    """Return how likely each value of a secret is, given the known values, by naive Bayes."""
    found = [
        share * prod(given[secret, a][v][person[a]] for a in known if a != secret)
        for v, share in enumerate(margins[secret])
    ]
    return [each / sum(found) for each in found]


def by_records(
    person: Person,
    secret: int,
    known: Sequence[int],
    attributes: Sequence[Attribute],
    records: Sequence[Published],
    prior: list[float],
    margins: list[list[float]],
) -> list[float]:
    """Return the same, given the release: any record may be the person's, and all others are of
    people whose values are independent of each other, as common as they are."""
    told = [a for a in known if a != secret] + [secret]

    def of_stranger(record: Published, a: int) -> float:
        d, p, _ = attributes[a]
        return sum(m * float(chance(record[a], v, p, d)) for v, m in enumerate(margins[a]))

    def of_person(record: Published, value: int) -> float:
        own = [*(person[a] for a in told[:-1]), value]
        pairs = zip(told, own, strict=True)
        return float(
            prod(chance(record[a], v, attributes[a][1], attributes[a][0]) for a, v in pairs)
        )

    strangers = [prod(of_stranger(record, a) for a in told) for record in records]
    found = []
    for value, before in enumerate(prior):
        total = 0.0
        for mine, record in enumerate(records):
            others = prod(each for at, each in enumerate(strangers) if at != mine)
            total += of_person(record, value) * others / len(records)
        found.append(before * total)
    return [each / sum(found) for each in found]
