"""Why the paper's interval is as wide as it is: its width without rounding, and what cells hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.parts import parts_of, take_apart
from sfumato.answers.question import Question
from sfumato.answers.reading import read_slots
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import judge
from sfumato.predicates import Predicate, negation_normal_form
from sfumato.release import Release

Reals = npt.NDArray[np.float64]


def slots_of(release: Release, name: str) -> Slots:
    """Return the slots of one attribute."""
    entry = release.manifest.attribute(name)
    return read_slots(release.tables["records"], entry, release.hierarchies.get(name))


class UnroundedSums:
    """The interval of section 4.2 with the expected number of rows as it is.

    A fraction of a row takes that fraction of the next number. What is left of the width comes
    from the range of each bucket alone.
    """

    def __init__(self, release: Release, summed: str) -> None:
        self._slots = {e.name: slots_of(release, e.name) for e in release.manifest.attributes}
        own = self._slots[summed]
        values = release.tables["records"][summed].to_numpy().astype(np.float64)
        order = np.lexsort((values, own.bucket))
        self._bucket = own.bucket
        self._upto = np.append(0.0, np.cumsum(values[order]))
        self._end = np.cumsum(np.bincount(own.bucket))
        self._start = np.append(0, self._end[:-1])

    def interval(self, predicate: Predicate) -> tuple[float, float]:
        """Return the sums of the expected number of smallest and of greatest values."""
        tree = take_apart(negation_normal_form(predicate))
        used = {part.attribute: self._slots[part.attribute] for part in parts_of(tree)}
        chance = Question(tree, used, len(self._bucket)).chance()
        hits = np.bincount(self._bucket, chance)
        low = self._sum_upto(self._start + hits) - self._sum_upto(self._start)
        high = self._sum_upto(self._end) - self._sum_upto(self._end - hits)
        return float(low.sum()), float(high.sum())

    def _sum_upto(self, places: npt.NDArray[Any]) -> Reals:
        whole = np.minimum(places.astype(np.int64), len(self._upto) - 2)
        rest = places - whole
        return np.asarray(self._upto[whole] * (1 - rest) + self._upto[whole + 1] * rest)


def values_left_open(release: Release, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how many different values a cell may have on average, generalised or in a bucket."""
    found: dict[str, dict[str, float]] = {"cells": {}, "buckets": {}}
    for name in names:
        slots = slots_of(release, name)
        sizes = judge(slots, None).weight
        sizes[slots.first_bucket :] = slots.entries[slots.first_bucket :]
        of_row = sizes[slots.of_row]
        found["cells"][name] = float(of_row[slots.outside].mean())
        found["buckets"][name] = float(of_row[slots.inside].mean())
    return found
