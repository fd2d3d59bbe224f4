"""All averages that the originals of a tiny release may have, by trying everything."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product

from answers.consistent import Row, holds, originals
from answers.every_deal import blocks_of

from sfumato.predicates import Predicate
from sfumato.release import Release


def every_average(
    release: Release, attribute: str, predicate: Predicate | None, fakes: int = 0
) -> set[Fraction]:
    """Return the means over the rows that satisfy a predicate and have a number, if there are any.

    Any `fakes` of the records do not count.
    """
    found = set()
    for table in tables_behind(
        release, {attribute} | (predicate.attributes if predicate else set())
    ):
        for rows in combinations(table, len(table) - fakes):
            numbers = [
                row[attribute]
                for row in rows
                if row[attribute] is not None and (predicate is None or holds(predicate, row))
            ]
            if numbers:
                found.add(Fraction(sum(numbers), len(numbers)))
    return found


def tables_behind(release: Release, names: set[str]) -> Iterator[list[Row]]:
    """Return all tables of published rows, fakes among them, as far as these attributes go."""
    if release.manifest.layout not in ("anatomized", "sliced"):
        yield from originals(release, sorted(names))
        return
    blocks = [block for block in blocks_of(release) if set(block[1][0]) & names]
    groups = [
        [
            [
                {k: v for part in parts for k, v in part.items()}
                for parts in zip(*dealt, strict=True)
            ]
            for dealt in product([blocks[0][group]], *(permutations(b[group]) for b in blocks[1:]))
        ]
        for group in blocks[0]
    ]
    for chosen in product(*groups):
        yield [row for rows in chosen for row in rows]
