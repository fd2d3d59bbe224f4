"""The privacy risk of two releases: how many of their matches are of one person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.attacks.bits import Bits, unpack
from sfumato.attacks.stage import Secret, Side

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_PEOPLE = 2_048  # that are multiplied at a time


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
    truth = [each.truth[own] for each, own in zip(candidates, rows, strict=True)]
    value = np.where(truth[0] == truth[1], truth[0], -1)
    order = np.argsort(value, kind="stable")
    ends = np.searchsorted(value[order], np.arange(secret.count + 1))
    groups = [
        side.groups_of(own[order], chosen)
        for side, own, chosen in zip((one, other), rows, classes, strict=True)
    ]
    total = true = same = 0
    pairs = 0.0
    for s in np.flatnonzero(weights[0].any(axis=0) & weights[1].any(axis=0)).tolist():
        holders = [np.flatnonzero(each[:, s]) for each in weights]
        matching = overlap[np.ix_(*holders)]
        total += int(np.count_nonzero(matching))
        mine, theirs = (each[own, s] for each, own in zip(weights, holders, strict=True))
        pairs += float(mine @ matching @ theirs)
        if ends[s] < ends[s + 1] and matching.any():
            people = slice(ends[s], ends[s + 1])
            met, persons = _met([each[people] for each in groups], counts, holders, matching)
            true += int(np.count_nonzero(met & matching))
            same += persons
    return total, true, pairs, same


def _met(
    groups: Sequence[Bits], counts: Sequence[int], holders: Sequence[Ints], matching: Bools
) -> tuple[Bools, int]:
    """Return which classes of the one and the other some person may both be in.

    And how many people may be in two that match.
    """
    met, persons = np.zeros((len(holders[0]), len(holders[1])), np.bool_), 0
    matched = matching.astype(np.float32)
    for at in range(0, len(groups[0]), _PEOPLE):
        part = slice(at, at + _PEOPLE)
        may = [
            unpack(bits[part], count)[:, own]
            for bits, count, own in zip(groups, counts, holders, strict=True)
        ]
        both = may[0].any(axis=1) & may[1].any(axis=1)
        one, other = (each[both].astype(np.float32) for each in may)
        met |= one.T @ other > 0
        persons += int(np.count_nonzero(((one @ matched) * other).sum(axis=1)))
    return met, persons
