"""What random sets tell of the whole: how common values are, and which go together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.answers.set_axes import Axis
from sfumato.answers.set_counts import containing
from sfumato.answers.set_estimators import inverse

Reals = npt.NDArray[np.float64]

# Steps of counting a table: fewer records are counted where sets are large.
_STEPS: Final = 2 * 10**8
# Cells of a table; larger ones are too thin to tell anything.
_CELLS: Final = 4 * 10**6


@dataclass(frozen=True, slots=True, eq=False)
class SetTables:
    """The margins and tables of pairs that are reconstructed from the sets, each of them once."""

    _margins: dict[str, Reals] = field(default_factory=dict)
    _pairs: dict[frozenset[str], tuple[str, Reals] | None] = field(default_factory=dict)

    def margin(self, axis: Axis) -> Reals:
        """Return the estimated share of each value, which is never 0: half a person at least has
        it. Equal ones where the sets tell nothing."""
        if axis.name not in self._margins:
            people = np.ones(axis.size)
            if axis.is_telling:
                counts = np.bincount(axis.members.ravel(), minlength=axis.size)
                people, _ = inverse([axis], counts.astype(np.float64))
            people = np.maximum(people, 0.5)
            self._margins[axis.name] = people / people.sum()
        return self._margins[axis.name]

    def given(self, secret: Axis, known: Axis) -> Reals | None:
        """Return how likely each value of the known attribute is (columns) with each of the secret
        (rows); None where nothing is told of that."""
        key = frozenset((secret.name, known.name))
        if key not in self._pairs:
            found = self._pair(secret, known)
            self._pairs[key] = None if found is None else (secret.name, found)
        pair = self._pairs[key]
        if pair is None:
            return None
        table = pair[1] if pair[0] == secret.name else pair[1].T
        # as if one more person had each value, with all known ones as common as they are
        added = table + self.margin(known)
        return np.asarray(added / added.sum(axis=1, keepdims=True))

    def _pair(self, one: Axis, other: Axis) -> Reals | None:
        """Return the estimated counts of pairs, drawn towards those of independent attributes by
        as much of what they are off as is noise, and none of them negative."""
        if not (one.is_telling and other.is_telling) or one.size * other.size > _CELLS:
            return None
        rows = len(one.members)
        step = -(-rows * one.eta * other.eta // _STEPS)
        axes = [replace(axis, members=axis.members[::step]) for axis in (one, other)]
        found, variance = inverse(axes, containing(axes).astype(np.float64))
        expected = np.outer(self.margin(one), self.margin(other)) * len(axes[0].members)
        # of the sets, and of who happens to be in the data
        noise = np.maximum(variance, 0).sum() + expected.sum()
        off = ((found - expected) ** 2).sum()
        kept = max(0.0, 1 - noise / off) if off > 0 else 0.0
        return np.asarray(np.maximum(expected + kept * (found - expected), 0))
