"""The composition attack, person by person and class by class, from published cells alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pyarrow as pa

from .cells import Cell, Exact, Node, Range, Reading, Star, ValueSet, covers, parse_cell
from .points import Point, point_of_value

Person = Mapping[str, Any]
Value = Point | None
Hierarchies = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Shown:
    """What a release shows: by group the combinations of each block, and its sensitive values."""

    blocks: Sequence[tuple[Sequence[str], Mapping[int, set[tuple[Cell, ...]]]]]
    values: Mapping[str, Mapping[int, Mapping[Value, Fraction]]]
    readings: Mapping[str, Reading]

    @property
    def known(self) -> list[str]:
        """The attributes that stand in blocks."""
        return [name for names, _ in self.blocks for name in names]

    @property
    def groups(self) -> list[int]:
        """The groups."""
        return sorted(next(iter(self.values.values())))


def show(release: Any, hierarchies: Hierarchies) -> Shown:
    """Return what a release shows; `hierarchies` are whole ones, by attribute."""
    manifest = release.manifest
    entries = {entry.name: entry for entry in manifest.attributes}
    readings = {
        name: Reading.of(
            entry.type,
            str(entry.kind),
            order=entry.domain if str(entry.kind) == "ordinal" else (),
            hierarchy=hierarchies.get(name, ()),
        )
        for name, entry in entries.items()
    }
    known = [n for n, e in entries.items() if str(e.role) in ("quasi-identifier", "semi-sensitive")]
    if manifest.layout == "anatomized":
        together = [(t.name, t.attributes) for t in manifest.tables if t.name.startswith("qi_")]
    elif manifest.layout == "sliced":
        columns = manifest.parameters["columns"]
        together = [("records", block) for block in columns if set(block) <= set(known)]
    else:
        together = [("records", known)]
    tables = {name: _rows(table, readings) for name, table in release.tables.items()}
    blocks = []
    for table, names in together:
        combinations: dict[int, set[tuple[Cell, ...]]] = {}
        for row in tables[table]:
            hidden = [row.get(f"{name}.bucket") is not None for name in names]
            cells = (Star() if h else row[name] for name, h in zip(names, hidden, strict=True))
            combinations.setdefault(row["group"], set()).add(tuple(cells))
        blocks.append((names, combinations))
    secrets = [name for name, entry in entries.items() if str(entry.role) == "sensitive"]
    return Shown(blocks, {name: _values(release, tables, name) for name in secrets}, readings)


def _rows(table: pa.Table, readings: Mapping[str, Reading]) -> list[dict[str, Any]]:
    rows = table.to_pylist()
    for row in rows:
        for name in row.keys() & readings.keys():
            row[name] = _cell(row[name], readings[name])
    return rows


def _cell(value: Any, reading: Reading) -> Cell:
    if value == "null":
        return Exact(None)
    if value is None or isinstance(value, str):
        return parse_cell(value, reading)
    return Exact(point_of_value(value))


def _values(
    release: Any, tables: Mapping[str, Sequence[Mapping[str, Any]]], name: str
) -> dict[int, dict[Value, Fraction]]:
    table = next(t.name for t in release.manifest.tables if name in t.attributes)
    rows = tables[table]
    found: dict[int, dict[Value, Fraction]] = {}
    for row in rows:
        bucket = row.get(f"{name}.bucket")
        in_bucket = [row] if bucket is None else [r for r in rows if r[f"{name}.bucket"] == bucket]
        own = found.setdefault(row["group"], {})
        for each in in_bucket:
            share = Fraction(row.get("count", 1), len(in_bucket))
            own[each[name].point] = own.get(each[name].point, Fraction(0)) + share
    return found


# --- people ---------------------------------------------------------------------------------------


def may_be_in(shown: Shown, group: int, person: Person) -> bool:
    """Whether somebody may be in a group: every block has a combination that covers them."""
    return all(
        any(
            all(
                covers(cell, point_of_value(person[name]), shown.readings[name])
                for name, cell in zip(names, combination, strict=True)
            )
            for combination in combinations[group]
        )
        for names, combinations in shown.blocks
    )


def candidates(shown: Shown, person: Person, attribute: str) -> dict[Value, Fraction]:
    """Return the sensitive values that somebody may have, with the weight of each."""
    found: dict[Value, Fraction] = {}
    for group in shown.groups:
        if may_be_in(shown, group, person):
            for value, weight in shown.values[attribute][group].items():
                found[value] = found.get(value, Fraction(0)) + weight
    return found


def attack(
    shown: Sequence[Shown],
    people: Sequence[Sequence[Person]],
    attribute: str,
    impossible: Callable[[Person, Value], bool] = lambda person, value: False,
) -> dict[str, Any]:
    """Return the counts of an attack on people, each given by their row in every original."""
    disclosed = nothing_left = changed = covered = alone = 0
    before = [0] * len(shown)
    after: list[int] = []
    chances: list[Fraction] = []
    for rows in people:
        own = [point_of_value(row[attribute]) for row in rows]
        each = [candidates(s, row, attribute) for s, row in zip(shown, rows, strict=True)]
        before = [b + len(c) for b, c in zip(before, each, strict=True)]
        left = {
            value
            for value in set.intersection(*map(set, each))
            if not any(impossible(row, value) for row in rows)
        }
        steady = len(set(own)) == 1
        changed += not steady
        covered += all(value in c for value, c in zip(own, each, strict=True))
        if not left:
            nothing_left += 1
        else:
            after.append(len(left))
        if left == {own[0]} and steady:
            disclosed += 1
            alone += any(len(c) == 1 for c in each)
        weight = {v: prod((c[v] / sum(c.values()) for c in each), start=Fraction(1)) for v in left}
        good = weight.get(own[0], Fraction(0)) if steady else Fraction(0)
        chances.append(good / sum(weight.values()) if left else Fraction(0))
    count = len(people)
    return {
        "examined": count,
        "disclosed": disclosed,
        "alone": alone,
        "nothing_left": nothing_left,
        "changed": changed,
        "before": [Fraction(b, count) if count else 0 for b in before],
        "after": Fraction(sum(after), len(after)) if after else 0,
        "covered": Fraction(covered, count) if count else 1,
        "guess": sum(chances) / count if count else 0,
    }


# --- classes --------------------------------------------------------------------------------------


def named(cell: Cell, reading: Reading) -> set[Value]:
    """Return the values that a cell names, the ends of a range among them."""
    match cell:
        case Exact(point):
            return {point}
        case ValueSet(members):
            return set().union(*(named(member, reading) for member in members))
        case Range(low, high):
            return {low, high}
        case Node(label):
            return {leaf for leaf, path in reading.paths.items() if label in path}
    return set()


def overlap(one: Cell, other: Cell, mine: Reading, theirs: Reading) -> bool:
    """Whether some value fits both cells: one that either names, or (two stars) any at all."""
    if isinstance(one, Star) and isinstance(other, Star):
        return True
    values = named(one, mine) | named(other, theirs)
    return any(covers(one, value, mine) and covers(other, value, theirs) for value in values)


def classes_overlap(one: Shown, mine: int, other: Shown, theirs: int) -> bool:
    """Whether two classes overlap in all attributes that they share, block against block."""
    for (names, combinations), (their_names, their_combinations) in product(
        one.blocks, other.blocks
    ):
        common = [name for name in names if name in their_names]
        if common and not any(
            all(
                overlap(
                    cells[list(names).index(name)],
                    their_cells[list(their_names).index(name)],
                    one.readings[name],
                    other.readings[name],
                )
                for name in common
            )
            for cells in combinations[mine]
            for their_cells in their_combinations[theirs]
        ):
            return False
    return True


def matches(
    one: Shown, other: Shown, people: Sequence[tuple[Person, Person]], attribute: str
) -> tuple[int, int, Fraction, int]:
    """Return the matches of two releases, and how many are true for people in both originals.

    First of classes, then of records; a person is one pair of records.
    """
    total = true = 0
    records, same = Fraction(0), set()
    for mine, theirs in product(one.groups, other.groups):
        if not classes_overlap(one, mine, other, theirs):
            continue
        for value in set(one.values[attribute][mine]) & set(other.values[attribute][theirs]):
            total += 1
            records += one.values[attribute][mine][value] * other.values[attribute][theirs][value]
            meant = [
                number
                for number, (row, again) in enumerate(people)
                if point_of_value(row[attribute]) == point_of_value(again[attribute]) == value
                and may_be_in(one, mine, row)
                and may_be_in(other, theirs, again)
            ]
            true += bool(meant)
            same.update(meant)
    return total, true, records, len(same)


def regions(
    shown: Sequence[Shown],
    attribute: str,
    excluded: Callable[[Shown, int], set[Value]] = lambda shown, group: set(),
) -> dict[str, Any]:
    """Return the counts of regions: a class of each release, any two of which overlap."""
    examined = collapsed = nothing_left = 0
    before, after = [0] * len(shown), []
    for groups in product(*(each.groups for each in shown)):
        pairs = list(zip(shown, groups, strict=True))
        if not all(
            classes_overlap(*pairs[i], *pairs[j]) for j in range(len(pairs)) for i in range(j)
        ):
            continue
        examined += 1
        sets = [set(each.values[attribute][group]) for each, group in pairs]
        left = set.intersection(*sets) - set().union(*(excluded(*pair) for pair in pairs))
        before = [b + len(values) for b, values in zip(before, sets, strict=True)]
        collapsed += len(left) == 1 and all(len(values) > 1 for values in sets)
        if left:
            after.append(len(left))
        else:
            nothing_left += 1
    return {
        "examined": examined,
        "collapsed": collapsed,
        "nothing_left": nothing_left,
        "before": [Fraction(b, examined) if examined else 0 for b in before],
        "after": Fraction(sum(after), len(after)) if after else 0,
    }
