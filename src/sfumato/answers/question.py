"""One predicate put to the rows of a release: who satisfies it surely, perhaps, and how likely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.answers.parts import Part, Tree, both, either, fold, parts_of
from sfumato.answers.records import Records, Runs
from sfumato.answers.run_kernels import judge_runs
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import SURELY, Reals, Status, Verdict, judge

Given: TypeAlias = tuple[Part, bool] | None


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
        known: dict[Part, Any] = dict(self._status)
        if given is not None:
            known[given[0]] = SURELY * given[1]
        return self._whole(fold(self._tree, known.__getitem__, np.minimum, np.maximum, SURELY))

    def chance(self, given: Given = None) -> Reals:
        """Return how likely each run's rows satisfy it, attributes being independent."""
        known: dict[Part, Any] = dict(self._chance)
        if given is not None:
            known[given[0]] = float(given[1])
        return self._whole(fold(self._tree, known.__getitem__, both, either, 1.0))

    def count(self, chosen: npt.NDArray[np.bool_]) -> int:
        """Return how many rows the chosen runs have."""
        return int(self.runs.size[chosen].sum(dtype=np.int64))

    def _whole(self, found: Any) -> npt.NDArray[Any]:
        if np.ndim(found):
            return np.asarray(found)
        return np.full(len(self.runs.first), found)
