"""All originals that a tiny release of separate tables or blocks may have come from, by trying.

Within a group the rows of every table are joined to those of the others in all ways, and
generalised cells take all their values. Groups do not touch each other, so each is tried alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

from answers.consistent import Row, aggregate, holds, possible_values

from sfumato.predicates import Predicate
from sfumato.release import Release

Block = dict[int, list[Row]]  # the rows of a table or block, by group


@dataclass(frozen=True)
class Outcomes:
    """The least and greatest result over all originals; mean and variance of all that were tried.

    `deviation` is the variance of SUM(number - about) over the rows that have a number.
    """

    low: int
    mean: Fraction
    high: int
    variance: Fraction
    deviation: Fraction


def outcomes(
    release: Release,
    predicate: Predicate | None,
    summed: str | None,
    fakes: int = 0,
    about: int = 0,
) -> Outcomes:
    """Return what an aggregate may be, every deal and every value of a cell counting the same.

    Any `fakes` of the records do not count; for releases of one group.
    """
    names = set(predicate.attributes if predicate else ()) | ({summed} if summed else set())
    every = blocks_of(release)
    asked = [block for block in every if set(block[1][0]) & names] or every[:1]
    entries = {entry.name: entry for entry in release.manifest.attributes}
    low, mean, high, variance, deviation = 0, Fraction(0), 0, Fraction(0), Fraction(0)
    for group in every[0]:
        tried = [
            list(genuine)
            for rows in deals([block[group] for block in asked], names, entries)
            for genuine in combinations(rows, len(rows) - fakes)
        ]
        results = [aggregate(rows, predicate, summed) for rows in tried]
        low, high = low + min(results), high + max(results)
        mean += Fraction(sum(results), len(results))
        variance += spread(results)
        if summed is not None:
            deviation += spread([differences(rows, predicate, summed, about) for rows in tried])
    return Outcomes(low, mean, high, variance, deviation)


def differences(rows: list[Row], predicate: Predicate | None, summed: str, about: int) -> int:
    """Return SUM(number - about) over the rows that satisfy the predicate and have a number."""
    chosen = [row for row in rows if predicate is None or holds(predicate, row)]
    return sum(row[summed] - about for row in chosen if row[summed] is not None)


def spread(results: list[int]) -> Fraction:
    """Return the variance of results that are equally likely."""
    mean = Fraction(sum(results), len(results))
    return sum((each - mean) ** 2 for each in results) / len(results)


def blocks_of(release: Release) -> list[Block]:
    """Return the tables of an anatomised release, or the blocks of a sliced one."""
    if release.manifest.layout == "sliced":
        records = release.tables["records"].to_pylist()
        columns: Any = release.manifest.parameters["columns"]
        found = [[(row, names, 1) for row in records] for names in columns]
    else:
        found = [
            [
                (row, entry.attributes, row["count"])
                for row in release.tables[entry.name].to_pylist()
            ]
            for entry in release.manifest.tables
        ]
    blocks = []
    for rows in found:
        block: Block = {}
        for row, names, count in rows:
            block.setdefault(row["group"], []).extend([{n: row[n] for n in names}] * count)
        blocks.append(block)
    return blocks


def deals(blocks: list[list[Row]], names: set[str], entries: Any) -> Iterator[list[Row]]:
    """Return the rows of a group, whose blocks are dealt to each other in every way."""
    first, *others = blocks
    for dealt in product(*(permutations(block) for block in others)):
        rows = [
            {name: cell for part in parts for name, cell in part.items() if name in names}
            for parts in zip(first, *dealt, strict=True)
        ]
        cells = [
            [(name, value) for value in possible_values(cell, entries[name])]
            for row in rows
            for name, cell in row.items()
        ]
        for choice in product(*cells):
            values = iter(choice)
            yield [{name: next(values)[1] for name in row} for row in rows]
