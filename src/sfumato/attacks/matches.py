"""The privacy risk of two releases: how many of their matches are of one person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.attacks.bits import Bits, set_places, unpack
from sfumato.attacks.stage import Secret, Side
from sfumato.attacks.view import spread

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_PAIRS = 1 << 22  # of classes that people may be in, at a time


def count_matches(
    sides: Sequence[Side],
    secret: Secret,
    places: tuple[int, int],
    rows: Sequence[Ints],
    classes: Sequence[Ints],
) -> tuple[int, int, float, int]:
    """Return how many matches of classes two releases have and how many are true, and of records.

    Two classes match in a value if they overlap and both have it; the match is true if someone who
    is in both originals (at `rows`) may be in both classes and has the value in both. Two records
    match if their classes do in their value; so many pairs of records are the same person's as
    there are such people. Only some `classes` of each release are looked at.
    """
    one, other = (sides[place] for place in places)
    candidates = [secret.sides[place] for place in places]
    counts = [len(each) for each in classes]
    overlap = unpack(one.overlaps(other, *classes), counts[1])
    weights = [
        each.of_classes(own, secret.count) for each, own in zip(candidates, classes, strict=True)
    ]
    total, pairs = 0, 0.0
    for s in np.flatnonzero(weights[0].any(axis=0) & weights[1].any(axis=0)).tolist():
        holders = [np.flatnonzero(each[:, s]) for each in weights]
        matching = overlap[np.ix_(*holders)]
        total += int(np.count_nonzero(matching))
        mine, theirs = (each[own, s] for each, own in zip(weights, holders, strict=True))
        pairs += float(mine @ matching @ theirs)
    truth = [each.truth[own] for each, own in zip(candidates, rows, strict=True)]
    steady = np.flatnonzero(truth[0] == truth[1])
    value = truth[0][steady]
    met = [
        _classes_with(side.groups_of(own[steady], chosen), weight, value)
        for side, own, chosen, weight in zip((one, other), rows, classes, weights, strict=True)
    ]
    true, same = _met(met, value, overlap, secret.count)
    return total, true, pairs, same


def _classes_with(groups: Bits, weights: Reals, value: Ints) -> tuple[Ints, Ints]:
    """Return people and classes that they may be in and that have their value, by person."""
    person, place = set_places(groups)
    kept = weights[place, value[person]] > 0
    return person[kept], place[kept]


def _met(
    places: Sequence[tuple[Ints, Ints]], value: Ints, overlap: Bools, values: int
) -> tuple[int, int]:
    """Return how many matches of classes people make, and how many people make one."""
    (mine, own), (theirs, other) = places
    first, last = np.searchsorted(theirs, mine, "left"), np.searchsorted(theirs, mine, "right")
    people = np.zeros(len(value), np.bool_)
    found = np.zeros(0, np.int64)
    ends = np.cumsum(last - first)
    at = 0
    while at < len(mine):
        done = ends[at - 1] if at else 0
        stop = max(int(np.searchsorted(ends, done + _PAIRS, "right")), at + 1)
        of, place = spread(first[at:stop], last[at:stop])
        of += at
        matching = overlap[own[of], other[place]]
        who, one, two = mine[of][matching], own[of][matching], other[place][matching]
        people[who] = True
        keys = (one * overlap.shape[1] + two) * values + value[who]
        found = np.unique(np.concatenate([found, keys]))
        at = stop
    return len(found), int(np.count_nonzero(people))
