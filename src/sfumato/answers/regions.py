"""What an attribute's values say of all places of a predicate where it stands, taken together.

A cell that may hold several values has but one of them, in whatever places a predicate reads it:
of `age = 21` and `age = 22` one at most is true of a cell `[20, 23]`. So the parts of a predicate
that are about one attribute are not open each on its own. A *region* are the values that make the
same parts true; every value is in one region, and given the region nothing about the attribute is
open any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from sfumato.answers.parts import Part
from sfumato.answers.pieces import holds_at, piece_starts
from sfumato.answers.slots import Slots
from sfumato.answers.unnamed import unnamed_values
from sfumato.answers.verdict import PERHAPS, SURELY, Status, atom_status
from sfumato.errors import ParameterError
from sfumato.predicates.expression import (
    And,
    IsMissing,
    Not,
    Or,
    Predicate,
    negation_normal_form,
)

Vector = tuple[bool, ...]  # of several parts, which are true

# Regions of one attribute.
_MOST_REGIONS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Some values of an attribute: the part says that a value is one of them, `truth` which parts
    of the predicate are then true."""

    part: Part
    truth: Mapping[Part, bool]


def regions(slots: Slots, parts: Sequence[Part]) -> list[Region]:
    """Return the regions in which some cell of the attribute may lie.

    Refuses (ParameterError) what `judge` refuses, and more regions than can be kept apart.
    """
    every = sorted(_vectors(slots, [part.predicate for part in parts]), reverse=True)
    return [region(parts, [vector], every) for vector in every]


def region(parts: Sequence[Part], chosen: Sequence[Vector], every: Sequence[Vector]) -> Region:
    """Return some regions, of all that there are, as one; the first says what is true of it."""
    truth = dict(zip(parts, chosen[0], strict=True))
    for place, part in enumerate(parts):  # in the predicate's own words, where it has them
        if set(chosen) == {vector for vector in every if vector[place]}:
            return Region(part, truth)
    alternatives = [_all_of(parts, vector) for vector in chosen]
    whole = alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives))
    return Region(Part(parts[0].place, whole), truth)


def _all_of(parts: Sequence[Part], vector: Vector) -> Predicate:
    """Return that these parts are true, and the others not."""
    several = [
        part.predicate if is_true else not_true(part.predicate)
        for part, is_true in zip(parts, vector, strict=True)
    ]
    return several[0] if len(several) == 1 else And(tuple(several))


def not_true(predicate: Predicate) -> Predicate:
    """Return that a predicate in negation normal form is false or unknown.

    >>> from sfumato.predicates import parse
    >>> str(not_true(parse("age < 30 or age is null")))
    '(age >= 30 OR age IS NULL) AND age IS NOT NULL'
    """
    match predicate:
        case And(parts):
            return Or(tuple(not_true(part) for part in parts))
        case Or(parts):
            return And(tuple(not_true(part) for part in parts))
        case IsMissing():
            return Not(predicate)
        case Not(IsMissing() as part):
            return part
        case Not(part):
            return Or((part, IsMissing(part.attribute)))  # type: ignore[union-attr]
    return Or((negation_normal_form(Not(predicate)), IsMissing(predicate.attribute)))


def _vectors(slots: Slots, predicates: Sequence[Predicate]) -> set[Vector]:
    """Return what values that some cell may hold say of all predicates at once."""
    found: set[Vector] = set()
    atoms = np.unique(slots.atom)
    statuses = np.array([atom_status(slots, predicate) for predicate in predicates])
    columns: Status = np.unique(statuses[:, atoms[atoms != slots.unknown]], axis=1)
    for column in columns.T.tolist():
        _add(found, column)
    if (atoms == slots.unknown).any():
        of_unknown = unnamed_values(slots, predicates)
        if of_unknown is None:
            _add(found, statuses[:, slots.unknown].tolist())
        else:
            _add_values(found, slots, predicates, of_unknown)
    ranges, line = slots.ranges, slots.line
    if len(ranges.slot) and line is not None:
        low, high = int(ranges.low.min()), int(ranges.high.max())
        first = np.array(piece_starts(slots, line, predicates, low, high), ranges.low.dtype)
        last = np.append(first[1:] - 1, [high]).astype(first.dtype)
        touches = (ranges.low[:, None] <= last) & (ranges.high[:, None] >= first)
        _add_values(found, slots, predicates, line.values(first[touches.any(axis=0)]))
    if len(found) > _MOST_REGIONS:
        raise too_many(slots.entry.name)
    return found


def _add(found: set[Vector], statuses: Iterable[int]) -> None:
    """Add what an atom says; of what it leaves open, anything may be."""
    options = [
        (False, True) if status == PERHAPS else (status == SURELY,) for status in map(int, statuses)
    ]
    for vector in product(*options):
        found.add(tuple(map(bool, vector)))
        if len(found) > 2 * _MOST_REGIONS:  # the caller refuses them
            return


def _add_values(
    found: set[Vector], slots: Slots, predicates: Sequence[Predicate], values: pa.Array
) -> None:
    if len(values):
        held = [holds_at(predicate, values, slots) for predicate in predicates]
        found.update(zip(*(each.tolist() for each in held), strict=True))


def too_many(name: str) -> ParameterError:
    """Return what to say where a predicate asks too much at once."""
    return ParameterError(
        f"the predicate has too many parts that concern '{name}' together with others; ask in "
        "several simpler questions"
    )
