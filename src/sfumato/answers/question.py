"""One predicate put to all rows of a release: who satisfies it surely, perhaps, and how likely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.parts import Part, Tree, fold, parts_of
from sfumato.answers.slots import Slots
from sfumato.answers.verdict import SURELY, Reals, Status, Verdict, judge


class Question:
    """The verdict on each part of a predicate, and what follows for whole rows.

    With `given`, rows are looked at as if that part were true (or false) for all of them.
    """

    def __init__(self, tree: Tree, slots: Mapping[str, Slots], rows: int) -> None:
        self._tree = tree
        self._rows = rows
        self.verdicts: dict[Part, Verdict] = {}
        self._status: dict[Part, Status] = {}
        self._chance: dict[Part, Reals] = {}
        self._parts: dict[str, list[Part]] = {}
        for part in parts_of(tree):
            self._parts.setdefault(part.attribute, []).append(part)
            own = slots[part.attribute]
            verdict = judge(own, part.predicate)
            self.verdicts[part] = verdict
            self._status[part] = verdict.status.take(own.of_row)
            self._chance[part] = verdict.share.take(own.of_row)

    def only_parts(self) -> list[Part]:
        """Return the parts that say all that the predicate says of their attribute."""
        return [parts[0] for parts in self._parts.values() if len(parts) == 1]

    def status(self, given: tuple[Part, bool] | None = None) -> Status:
        """Return of each row whether it satisfies the predicate."""
        known: dict[Part, Any] = dict(self._status)
        if given is not None:
            known[given[0]] = SURELY * given[1]
        return self._whole(fold(self._tree, known.__getitem__, np.minimum, np.maximum, SURELY))

    def chance(self, given: tuple[Part, bool] | None = None) -> Reals:
        """Return how likely each row satisfies it, attributes being independent of each other."""
        known: dict[Part, Any] = dict(self._chance)
        if given is not None:
            known[given[0]] = float(given[1])
        return self._whole(fold(self._tree, known.__getitem__, _both, _either, 1.0))

    def _whole(self, found: Any) -> npt.NDArray[Any]:
        return np.broadcast_to(np.asarray(found), (self._rows,))


def _both(one: Any, other: Any) -> Any:
    return one * other


def _either(one: Any, other: Any) -> Any:
    return one + other - one * other
