"""All originals that a tiny local release may have come from, by trying everything.

Cells are read here once more, for numbers and plain words only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any

from sfumato.predicates import (
    And,
    Between,
    Comparison,
    IsMissing,
    Not,
    OneOf,
    Or,
    Predicate,
    Prefix,
)
from sfumato.release import Bounds, Release

Row = dict[str, Any]
# A value that no release below names: a withheld cell may hold it.
UNHEARD_OF = "z"


def originals(release: Release, names: Sequence[str]) -> Iterator[list[Row]]:
    """Return all tables, as far as these attributes go."""
    records = release.tables["records"].to_pylist()
    choices = [list(_columns(release, records, name)) for name in names]
    for columns in product(*choices):
        yield [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _columns(release: Release, records: list[Row], name: str) -> Iterator[tuple[Any, ...]]:
    """Return all columns of an attribute: one value of each cell, each bucket dealt anew."""
    buckets: dict[int, list[int]] = {}
    cells: list[list[Any]] = []
    for number, row in enumerate(records):
        bucket = row.get(f"{name}.bucket")
        if bucket is None:
            cells.append(possible_values(row[name], release.manifest.attribute(name)))
        else:
            cells.append([None])
            buckets.setdefault(bucket, []).append(number)
    deals = [
        [
            (rows, dealt)
            for dealt in set(
                permutations(
                    exact_value(records[row][name], release.manifest.attribute(name))
                    for row in rows
                )
            )
        ]
        for rows in buckets.values()
    ]
    for column in product(*cells):
        for deal in product(*deals):
            whole = list(column)
            for rows, dealt in deal:
                for row, value in zip(rows, dealt, strict=True):
                    whole[row] = value
            yield tuple(whole)


def exact_value(cell: Any, entry: Any) -> Any:
    if cell is None or isinstance(cell, int):
        return cell
    return int(cell) if entry.type.startswith("int") else cell


def possible_values(cell: Any, entry: Any) -> list[Any]:
    if cell == "*":
        if isinstance(entry.domain, Bounds):
            return [*range(entry.domain.min, entry.domain.max + 1), None]
        return [*(exact_value(text, entry) for text in entry.domain), UNHEARD_OF, None]
    if not isinstance(cell, str):
        return [cell]
    if found := re.fullmatch(r"\{(.*)\}", cell):
        # commas between ends of a range do not part members
        members = re.findall(r"\[[^]]*\]|[^, ]+", found[1])
        return [value for member in members for value in possible_values(member, entry)]
    if found := re.fullmatch(r"\[(-?\d+), (-?\d+)\]", cell):
        return list(range(int(found[1]), int(found[2]) + 1))
    return [None] if cell == "null" else [exact_value(cell, entry)]


def holds(predicate: Predicate, row: Row) -> bool | None:
    """Return whether the row satisfies the predicate; None where that is unknown."""
    match predicate:
        case And(parts) | Or(parts):
            found = [holds(part, row) for part in parts]
            decisive = isinstance(predicate, Or)
            if decisive in found:
                return decisive
            return None if None in found else not decisive
        case Not(part):
            found = holds(part, row)
            return None if found is None else not found
        case IsMissing(attribute):
            return row[attribute] is None
    value = row[predicate.attribute]
    if value is None:
        return None
    match predicate:
        case Comparison(_, operator, literal):
            return {
                "=": value == literal,
                "!=": value != literal,
                "<": value < literal,
                "<=": value <= literal,
                ">": value > literal,
                ">=": value >= literal,
            }[operator]
        case OneOf(_, literals):
            return value in literals
        case Between(_, low, high):
            return low <= value <= high
        case Prefix(_, prefix):
            return value.startswith(prefix)
    raise TypeError(predicate)


def aggregate(rows: list[Row], predicate: Predicate | None, summed: str | None) -> int:
    """Return the count of the rows that satisfy the predicate, or the sum of an attribute there."""
    chosen = [row for row in rows if predicate is None or holds(predicate, row)]
    return len(chosen) if summed is None else sum(row[summed] or 0 for row in chosen)


def bounds(release: Release, predicate: Predicate | None, summed: str | None) -> tuple[int, int]:
    """Return the least and greatest result over all originals."""
    names = sorted(predicate.attributes if predicate else ()) or ["age"]
    if summed is not None and summed not in names:
        names.append(summed)
    results = {aggregate(rows, predicate, summed) for rows in originals(release, names)}
    return min(results), max(results)
