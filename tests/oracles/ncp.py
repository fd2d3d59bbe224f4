"""NCP (normalised certainty penalty) of a generalised release, cell by cell.

0 for an exact cell; (high - low) / range for a range, in values (numeric) or ranks (ordinal);
leaves below / all leaves for a hierarchy node; values / all values for a set; 1 for `*`. A missing
value adds nothing: what is left of the cell without it is what counts. A suppressed record counts
as a row of `*`. Ranges and domains are those of the original table (hierarchies: all their leaves).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .cells import Cell, Exact, Node, Range, Reading, Star, ValueSet, position
from .points import Point, point_of_value
from .release import Published


@dataclass(frozen=True)
class Penalty:
    """The papers' sum, and the mean over all quasi-identifier cells (0 to 1)."""

    sum: Fraction
    mean: Fraction


def cell_penalty(cell: Cell, values: Sequence[Point], reading: Reading) -> Fraction:
    """Return the penalty of one cell, given all non-missing original values of its attribute.

    >>> from .cells import parse_cell
    >>> age = Reading.of("int32", "numeric")
    >>> ages = [Fraction(20), Fraction(40)]
    >>> [str(cell_penalty(parse_cell(text, age), ages, age)) for text in ("25", "[20, 25]", "*")]
    ['0', '1/4', '1']
    """
    match cell:
        case Star():
            return Fraction(1)
        case Exact():
            return Fraction(0)
        case Range(low, high):
            if low == high:
                return Fraction(0)
            span = position(high, reading) - position(low, reading)
            if reading.order:
                return span / (len(reading.order) - 1)
            return span / (max(values) - min(values))
        case Node(label):
            below = sum(label in path for path in reading.paths.values())
            return Fraction(below, len(reading.paths))
        case ValueSet(members):
            known = [member for member in members if member != Exact(None)]
            if len(known) == 1:
                return cell_penalty(known[0], values, reading)
            size = len(reading.paths) or len(set(values))
            return Fraction(len(known), size)
    raise TypeError(cell)


def ncp(
    release: Published,
    original: Sequence[Mapping[str, Any]],
    *,
    suppressed: int | None = None,
) -> Penalty:
    """Return the penalty of all quasi-identifier cells of the `records` of a release."""
    withheld = release.manifest["suppressed"] if suppressed is None else suppressed
    names = release.with_role("quasi-identifier")
    rows = release.tables["records"]
    total = Fraction(withheld * len(names))
    for name in names:
        points = [point_of_value(row[name]) for row in original]
        values = [point for point in points if point is not None]
        for row in rows:
            total += cell_penalty(row[name], values, release.readings[name])
    cells = (len(rows) + withheld) * len(names)
    return Penalty(total, total / cells if cells else Fraction(0))
