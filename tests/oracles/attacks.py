"""What an adversary sees of one person, by going through everything that may be the case.

Blocks of a group are shuffled on their own, so every way to join their rows is as good as any: the
number of records that fit a person is the mean over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

from . import composition, sets
from .cells import Cell, Star, covers
from .points import point_of_value

Person = Mapping[str, Any]


def rows_of_blocks(
    release: Any, shown: composition.Shown
) -> list[dict[int, list[tuple[Cell, ...]]]]:
    """Return the rows of every block by group, as often as they are counted."""
    tables = {name: composition._rows(t, shown.readings) for name, t in release.tables.items()}
    found = []
    for names, _ in shown.blocks:
        table = next(
            name
            for name, rows in tables.items()
            if rows and "group" in rows[0] and set(names) <= set(rows[0])
        )
        groups: dict[int, list[tuple[Cell, ...]]] = {}
        for row in tables[table]:
            hidden = [row.get(f"{name}.bucket") is not None for name in names]
            cells = (Star() if h else row[name] for name, h in zip(names, hidden, strict=True))
            groups.setdefault(row["group"], []).extend([tuple(cells)] * row.get("count", 1))
        found.append(groups)
    return found


def weights(release: Any, shown: composition.Shown, person: Person) -> dict[int, Fraction]:
    """Return by group the mean number of records that fit, over all ways to join the blocks."""
    blocks = rows_of_blocks(release, shown)
    found = {}
    for group in shown.groups:
        fits = [
            [_fits(names, cells, shown, person) for cells in rows[group]]
            for (names, _), rows in zip(shown.blocks, blocks, strict=True)
        ]
        total, ways = 0, 0
        for orders in product(*(permutations(block) for block in fits[1:])):
            ways += 1
            total += sum(all(record) for record in zip(fits[0], *orders, strict=True))
        if total:
            found[group] = Fraction(total, ways)
    return found


def _fits(
    names: Sequence[str], cells: Sequence[Cell], shown: composition.Shown, person: Person
) -> bool:
    return all(
        covers(cell, point_of_value(person[name]), shown.readings[name])
        for name, cell in zip(names, cells, strict=True)
    )


def posterior(
    release: Any, shown: composition.Shown, person: Person, attribute: str
) -> dict[composition.Value, Fraction]:
    """Return how likely a person has each value: a fitting record is drawn, then one of its
    group's values."""
    found: dict[composition.Value, Fraction] = {}
    for group, weight in weights(release, shown, person).items():
        held = shown.values[attribute][group]
        for value, count in held.items():
            share = weight * count / sum(held.values())
            found[value] = found.get(value, Fraction(0)) + share
    total = sum(found.values())
    return {value: share / total for value, share in found.items()}


def after_corruption(values: Sequence[Any], own: Any, known: int) -> Fraction:
    """Return the mean share of the own value after any `known` of the others are taken away."""
    others = list(values)
    others.remove(own)
    known = min(known, len(others))
    shares = []
    for gone in combinations(range(len(others)), known):
        rest = [own, *(value for place, value in enumerate(others) if place not in gone)]
        shares.append(Fraction(rest.count(own), len(rest)))
    return sum(shares, Fraction(0)) / len(shares)


def set_weight(
    record: Mapping[str, Sequence[Any] | Any],
    person: Person,
    domains: Mapping[str, Sequence[Any]],
    chances: Mapping[str, Fraction],
) -> Fraction:
    """Return how likely a person's values make the sets of a record, relative to any sets."""
    found = Fraction(1)
    for name, cell in record.items():
        if name not in domains:
            found *= int(cell == person[name])
            continue
        domain = list(domains[name])
        drawn = frozenset(domain.index(member) for member in cell)
        own = domain.index(person[name])
        ways = len(list(sets.all_sets(len(domain), len(drawn))))
        found *= sets.chance(drawn, own, chances[name], len(domain)) * ways
    return found
