"""Pairs of values that never go together, and what they ask of a release, read literally.

A pair is (quasi-identifier, its value, sensitive attribute, its value). Rows are dictionaries of
plain values, None being a missing one, which goes with everything unless a rule names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .cells import Cell, Exact, Star, covers
from .consistency import perfect_matching
from .models import exact
from .points import point_of_value
from .release import Published, Row, groups

Original = Mapping[str, Any]
Pair = tuple[str, Any, str, Any]


@dataclass(frozen=True)
class Rule:
    """Values of `known` that exclude values of `hidden`."""

    known: str
    of_known: Callable[[Any], bool]
    hidden: str
    of_hidden: Callable[[Any], bool]


def incompatible_pairs(
    rows: Sequence[Original],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    rules: Sequence[Rule] = (),
    expected: float | None = 5.0,
) -> set[Pair]:
    """Return the pairs of values of the table that rules exclude, or that its rows never show.

    >>> rows = [{"sex": "m", "ill": "flu"}] * 2 + [{"sex": "f", "ill": "gout"}] * 2
    >>> sorted(incompatible_pairs(rows, ["sex"], ["ill"], expected=1))
    [('sex', 'f', 'ill', 'flu'), ('sex', 'm', 'ill', 'gout')]
    """
    found = set()
    for known in quasi:
        for hidden in sensitive:
            having, holding = (Counter(row[name] for row in rows) for name in (known, hidden))
            together = {(row[known], row[hidden]) for row in rows}
            for a in having:
                for s in holding:
                    if s is None:
                        continue
                    excluded = any(
                        rule.known == known
                        and rule.hidden == hidden
                        and rule.of_known(a)
                        and rule.of_hidden(s)
                        for rule in rules
                    )
                    by_chance = Fraction(having[a] * holding[s], len(rows))
                    if (
                        expected is not None
                        and a is not None
                        and (a, s) not in together
                        and by_chance >= exact(expected)
                    ):
                        excluded = True
                    if excluded:
                        found.add((known, a, hidden, s))
    return found


def is_possible(person: Original, quasi: Sequence[str], hidden: str, s: Any, pairs: set) -> bool:
    """Whether no quasi-identifier of a person is incompatible with a sensitive value."""
    return all((known, person[known], hidden, s) not in pairs for known in quasi)


def left_for(
    person: Original, values: Sequence[Any], quasi: Sequence[str], hidden: str, pairs: set
) -> list[Any]:
    """Return the values, missing ones aside, that are left when a person's impossible ones go."""
    return [s for s in values if s is not None and is_possible(person, quasi, hidden, s, pairs)]


def holds_for_everybody(
    people: Sequence[Original],
    values: Sequence[Any],
    quasi: Sequence[str],
    hidden: str,
    pairs: set,
    ell: int,
    variant: str = "frequency",
) -> bool:
    """Whether the values of a class are diverse for each of its people, and as they are."""
    whole = [s for s in values if s is not None]
    every = [whole, *(left_for(person, values, quasi, hidden, pairs) for person in people)]
    if variant == "distinct":
        return ell == 1 or all(len(set(left)) >= ell for left in every)
    return all(n * ell <= len(left) for left in every for n in Counter(left).values())


def implausible_records(
    release: Published, classes: Mapping[int, Sequence[Original]], pairs: set, k: int
) -> list[str]:
    """Return what is wrong with the quasi-identifier cells beside incompatible sensitive values.

    `classes` are the rows behind each published group, fakes among them. A cell with such a value
    must not tell one that is incompatible: it is withheld, or covers the values of k rows of its
    class and one that is compatible.
    """
    found = []
    for group, records in groups(release).items():
        for record in records:
            for known in release.with_role("quasi-identifier"):
                found += _wrong(release, record, known, classes[group], pairs, k)
    return found


def _wrong(
    release: Published, record: Row, known: str, rows: Sequence[Original], pairs: set, k: int
) -> list[str]:
    cell: Cell = record[known]
    if isinstance(cell, Star):
        return []
    beside = {
        (a, hidden)
        for name, a, hidden, s in pairs
        if name == known and record[hidden] == Exact(point_of_value(s))
    }
    impossible = {point_of_value(a) for a, _ in beside}
    if isinstance(cell, Exact):
        return [f"{known}: an impossible pair"] if cell.point in impossible else []
    behind = [point_of_value(row[known]) for row in rows]
    behind = [point for point in behind if covers(cell, point, release.readings[known])]
    if len(behind) < k:
        return [f"{known}: a cell that covers {len(behind)} rows"]
    if all(point in impossible for point in behind):
        return [f"{known}: a cell that covers nothing plausible"]
    return []


def generalised_needlessly(release: Published, pairs: set) -> list[str]:
    """Return the cells that are generalised although their records join no incompatible pair."""
    found = []
    for record in release.tables["records"]:
        for known in release.with_role("quasi-identifier"):
            cell = record[known]
            named = {
                hidden: {s for name, _, other, s in pairs if (name, other) == (known, hidden)}
                for hidden in release.with_role("sensitive")
            }
            if not isinstance(cell, Exact) and not any(
                record[hidden] == Exact(point_of_value(s))
                for hidden, several in named.items()
                for s in several
            ):
                found.append(known)
    return found


def is_dealt_from(release: Published, classes: Mapping[int, Sequence[Original]]) -> bool:
    """Whether each block of each group is its class's rows, one to one, in whatever order.

    `classes` are the rows behind each published group, fakes among them.
    """
    published = groups(release)
    if published.keys() != classes.keys():
        return False
    for group, records in published.items():
        if len(records) != len(classes[group]):
            return False
        for block in release.manifest["parameters"]["columns"]:
            choices = [
                [
                    i
                    for i, record in enumerate(records)
                    if all(
                        covers(record[name], point_of_value(row[name]), release.readings[name])
                        for name in block
                    )
                ]
                for row in classes[group]
            ]
            if perfect_matching(choices) is None:
                return False
    return True


def are_twins(real: Sequence[Original], fakes: Sequence[Original], quasi: Sequence[str]) -> bool:
    """Whether each fake of a class has the quasi-identifiers of one of its people."""
    people = {tuple(row[name] for name in quasi) for row in real}
    return all(tuple(fake[name] for name in quasi) in people for fake in fakes)
