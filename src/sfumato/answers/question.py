"""One predicate put to the rows of a release: who satisfies it surely, perhaps, and how likely."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.answers.cases import cases, deciding
from sfumato.answers.parts import Part, Tree, both, either, fold, parts_of
from sfumato.answers.records import Records, Runs
from sfumato.answers.run_kernels import is_open_outside, judge_runs
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import NEVER, PERHAPS, SURELY, Reals, Status, Verdict, judge

# What is taken as known of the rows: that some parts are true, or false.
Given: TypeAlias = tuple[tuple[Part, bool], ...]
# How much the chance changes with some parts, and whether any of them is there; else the chance.
_Change: TypeAlias = tuple[Any, bool]
_NO_CHANGE: _Change = (1.0, False)
# Shares of regions that add up to nearly 1 differ from it by rounding alone.
_ROUNDING = 1e-6


class Question:
    """The verdict on each part of a predicate, and what follows for runs of rows.

    `rows` are those of a release, of which only `runs` that may satisfy the predicate are looked
    at; or a number, all of them being looked at one by one. With `given`, rows are looked at as if
    these parts were true (or false) for all of them.

    An attribute that stands in several places has parts of its own: that its value is in each of
    its regions (`cases.py`).
    """

    def __init__(self, tree: Tree, slots: Mapping[str, Slots], rows: int | Records) -> None:
        found = deciding(tree, slots)
        self._required = found.required
        self._tree = found.tree
        self._regions = {
            name: tuple(region.part for region in several)
            for name, several in found.several.items()
        }
        left = () if isinstance(found.tree, bool) else (found.tree,)
        self._cases = list(cases(left, found.several))
        self._alone: dict[str, Part] = {}
        for part in parts_of(found.tree) if not isinstance(found.tree, bool) else ():
            if part.attribute not in self._regions:
                self._alone[part.attribute] = part
        self.verdicts: dict[Part, Verdict] = {
            part: judge(slots[part.attribute], part.predicate)
            for several in (self._alone.values(), *self._regions.values())
            for part in several
        }
        if isinstance(rows, int):
            self.runs = Runs.of_rows(rows)
        else:
            self.runs = rows.runs(self.verdicts, self._status_of)
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
        for several in self._regions.values():
            self._even_out(several)

    def only_parts(self) -> list[Part]:
        """Return the parts that say all that the predicate says of their attribute."""
        halves = [several[0] for several in self._regions.values() if len(several) == 2]
        return [*self._alone.values(), *halves]

    def ways(self, attribute: str) -> list[tuple[Part, bool]]:
        """Return what may be true of an attribute, in one way or another: all that decides.

        Nothing where the attribute decides nothing.
        """
        several = self._regions.get(attribute, ())
        if len(several) > 2:
            return [(part, True) for part in several]
        part = several[0] if several else self._alone.get(attribute)
        return [] if part is None else [(part, True), (part, False)]

    def status(self, given: Given = ()) -> Status:
        """Return of each run whether its rows satisfy the predicate."""
        if given not in self._statuses:
            known: dict[Part, Any] = dict(self._status)
            for part, is_true in self._spelled(given):
                known[part] = SURELY * is_true
            self._statuses[given] = self._status_of(known.__getitem__, len(self.runs.first))
        return self._statuses[given]

    def chance(self, given: Given = ()) -> Reals:
        """Return how likely each run's rows satisfy it, attributes being independent."""
        if given not in self._chances:
            known: dict[Part, Any] = dict(self._chance)
            for part, is_true in self._spelled(given):
                known[part] = float(is_true)
            self._chances[given] = self._chance_of(known.__getitem__)
        return self._chances[given]

    def change(self, parts: Collection[Part]) -> Reals:
        """Return how the chance of each run's rows changes with that of some parts, all at once.

        Each must be all that the predicate says of its attribute. Without parts: the chance.
        """
        if not parts:
            return self.chance()
        if self._regions:
            total = np.zeros(len(self.runs.first))
            for truth in product((False, True), repeat=len(parts)):
                sign = -1.0 if truth.count(False) % 2 else 1.0
                total += sign * self.chance(tuple(zip(parts, truth, strict=True)))
            return total
        known: dict[Part, _Change] = {part: (own, False) for part, own in self._chance.items()}
        known |= dict.fromkeys(parts, (1.0, True))
        assert not isinstance(self._tree, bool)
        found = fold(self._tree, known.__getitem__, _change_of_both, _change_of_either, _NO_CHANGE)
        return _filled(found[0], len(self.runs.first))

    def is_required(self, part: Part) -> bool:
        """Return whether the predicate is this part, and perhaps others that must hold as well."""
        return part in self._required

    def is_open_outside(self) -> bool:
        """Return whether a cell in no bucket leaves open if its row satisfies the predicate."""
        for part, verdict in self.verdicts.items():
            slots = verdict.slots
            if (verdict.status[: slots.first_bucket] == PERHAPS).any() and is_open_outside(
                self.runs.first, slots.of_row, slots.first_bucket, self._status[part], self.status()
            ):
                return True
        return False

    def _spelled(self, given: Given) -> list[tuple[Part, bool]]:
        """Return what is known of all parts: who is in one region is in no other."""
        found = list(given)
        for part, is_true in given:
            several = self._regions.get(part.attribute, ())
            if is_true or len(several) == 2:
                found += [(other, not is_true) for other in several if other != part]
        return found

    def _status_of(self, known: Callable[[Part], Any], count: int) -> Status:
        """Return the status of the whole predicate from that of its parts."""
        low, high = np.full(count, SURELY), np.full(count, NEVER)
        for case in self._cases:
            there: Any = SURELY
            for part in case.where:
                there = np.minimum(there, known(part))
            own: Any = self._tree if not case.left else case.left[0]
            if isinstance(own, bool):
                own = SURELY if own else NEVER
            else:
                own = fold(own, known, np.minimum, np.maximum, SURELY)
            if not case.where:
                return _filled(own, count)
            low = np.minimum(low, np.where(there == NEVER, SURELY, own))
            high = np.maximum(high, np.where(there == NEVER, NEVER, own))
        is_open = (low < SURELY) & (high > NEVER)
        return np.where(is_open, PERHAPS, np.where(high > NEVER, SURELY, NEVER)).astype(np.uint8)

    def _chance_of(self, known: Callable[[Part], Any]) -> Reals:
        total: Any = 0.0
        for case in self._cases:
            own: Any = self._tree if not case.left else case.left[0]
            own = float(own) if isinstance(own, bool) else fold(own, known, both, either, 1.0)
            total = total + reduce(both, map(known, case.where), 1.0) * own
        return _filled(total, len(self.runs.first))

    def _even_out(self, several: Collection[Part]) -> None:
        """Let the chances of regions add up to 1 where a cell does not tell how likely they are."""
        total: Any = sum(self._chance[part] for part in several)
        is_off = np.abs(total - 1.0) > _ROUNDING
        if is_off.any():
            for part in several:
                even = np.divide(
                    self._chance[part], total, where=total > 0, out=np.zeros_like(total)
                )
                self._chance[part] = np.where(is_off, even, self._chance[part])


def _filled(found: Any, count: int) -> npt.NDArray[Any]:
    """Return what is found of each run, which may be one for all."""
    return np.asarray(found) if np.ndim(found) else np.full(count, found)


def _change_of_both(one: _Change, other: _Change) -> _Change:
    return one[0] * other[0], one[1] or other[1]


def _change_of_either(one: _Change, other: _Change) -> _Change:
    """Return that of a + b - ab, in which each part stands once."""
    (a, a_changes), (b, b_changes) = one, other
    if a_changes:
        return (-a * b if b_changes else a * (1.0 - b)), True
    return ((1.0 - a) * b, True) if b_changes else (either(a, b), False)
