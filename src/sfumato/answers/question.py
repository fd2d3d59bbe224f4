"""One predicate put to the rows of a release: who satisfies it surely, perhaps, and how likely."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.answers.parts import Part, Tree, both, either, fold, parts_of
from sfumato.answers.records import Records, Runs
from sfumato.answers.run_kernels import is_open_outside, judge_runs
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import PERHAPS, SURELY, Reals, Status, Verdict, judge

Given: TypeAlias = tuple[Part, bool] | None
# How much the chance changes with some parts, and whether any of them is there; else the chance.
_Change: TypeAlias = tuple[Any, bool]
_NO_CHANGE: _Change = (1.0, False)


class Question:
    """The verdict on each part of a predicate, and what follows for runs of rows.

    `rows` are those of a release, of which only `runs` that may satisfy the predicate are looked
    at; or a number, all of them being looked at one by one. With `given`, rows are looked at as if
    that part were true (or false) for all of them.
    """

    def __init__(self, tree: Tree, slots: Mapping[str, Slots], rows: int | Records) -> None:
        self._tree = tree
        self._parts: dict[str, list[Part]] = {}
        self.verdicts: dict[Part, Verdict] = {}
        for part in parts_of(tree):
            self._parts.setdefault(part.attribute, []).append(part)
            self.verdicts[part] = judge(slots[part.attribute], part.predicate)
        self.runs = Runs.of_rows(rows) if isinstance(rows, int) else rows.runs(tree, self.verdicts)
        self._statuses: dict[Given, Status] = {}
        self._chances: dict[Given, Reals] = {}
        self._status: dict[Part, Status] = {}
        self._chance: dict[Part, Reals] = {}
        for part, verdict in self.verdicts.items():
            count = len(self.runs.first)
            status, chance = np.empty(count, np.uint8), np.empty(count)
            of_row = verdict.slots.of_row
            judge_runs(self.runs.first, of_row, verdict.status, verdict.share, status, chance)
            self._status[part], self._chance[part] = status, chance

    def only_parts(self) -> list[Part]:
        """Return the parts that say all that the predicate says of their attribute."""
        return [parts[0] for parts in self._parts.values() if len(parts) == 1]

    def status(self, given: Given = None) -> Status:
        """Return of each run whether its rows satisfy the predicate."""
        if given not in self._statuses:
            known: dict[Part, Any] = dict(self._status)
            if given is not None:
                known[given[0]] = SURELY * given[1]
            found = fold(self._tree, known.__getitem__, np.minimum, np.maximum, SURELY)
            self._statuses[given] = self._whole(found)
        return self._statuses[given]

    def chance(self, given: Given = None) -> Reals:
        """Return how likely each run's rows satisfy it, attributes being independent."""
        if given not in self._chances:
            known: dict[Part, Any] = dict(self._chance)
            if given is not None:
                known[given[0]] = float(given[1])
            found = fold(self._tree, known.__getitem__, both, either, 1.0)
            self._chances[given] = self._whole(found)
        return self._chances[given]

    def change(self, parts: Collection[Part]) -> Reals:
        """Return how the chance of each run's rows changes with that of some parts, all at once.

        Each must be all that the predicate says of its attribute. Without parts: the chance.
        """
        if not parts:
            return self.chance()
        known: dict[Part, _Change] = {part: (own, False) for part, own in self._chance.items()}
        known |= dict.fromkeys(parts, (1.0, True))
        found = fold(self._tree, known.__getitem__, _change_of_both, _change_of_either, _NO_CHANGE)
        return self._whole(found[0])

    def is_required(self, part: Part) -> bool:
        """Return whether the predicate is this part, and perhaps others that must hold as well."""
        if isinstance(self._tree, Part):
            return self._tree == part
        return self._tree.every and part in self._tree.parts

    def is_open_outside(self) -> bool:
        """Return whether a cell in no bucket leaves open if its row satisfies the predicate."""
        for part, verdict in self.verdicts.items():
            slots = verdict.slots
            if (verdict.status[: slots.first_bucket] == PERHAPS).any() and is_open_outside(
                self.runs.first, slots.of_row, slots.first_bucket, self._status[part], self.status()
            ):
                return True
        return False

    def _whole(self, found: Any) -> npt.NDArray[Any]:
        if np.ndim(found):
            return np.asarray(found)
        return np.full(len(self.runs.first), found)


def _change_of_both(one: _Change, other: _Change) -> _Change:
    return one[0] * other[0], one[1] or other[1]


def _change_of_either(one: _Change, other: _Change) -> _Change:
    """Return that of a + b - ab, in which each part stands once."""
    (a, a_changes), (b, b_changes) = one, other
    if a_changes:
        return (-a * b if b_changes else a * (1.0 - b)), True
    return ((1.0 - a) * b, True) if b_changes else (either(a, b), False)
