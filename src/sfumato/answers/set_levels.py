"""What the sets of one column say of a predicate: records are told apart by few numbers alone.

Values that a question does not tell apart are of one *class*: in a question on one attribute those
that satisfy it, and those that do not. All that a set says is how many of its members are of each
class; this is its *level*. A combination of levels, one of each column that is asked, is a *cell*:
the records of a cell are told the same, so that it is enough to count them.

A record's own value is in its set with probability x and any other with probability y. So for any
function u of a value v, with U the sum of u over the domain,

    g = (sum of u over the set - y U)/(x - y)

has the expectation u(v). That of a product over columns is the product, since columns are
randomised apart from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.deal_kernels import look_up
from sfumato.answers.parts import Part
from sfumato.answers.set_answer_kernels import add_levels, count_keys, scale_keys
from sfumato.answers.verdict import NEVER, PERHAPS, SURELY, Reals
from sfumato.answers.ways import Way
from sfumato.errors import ParameterError

Codes = npt.NDArray[np.unsignedinteger[Any]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Patterns of one column, like those of a table (`hand.py`).
_MOST_PATTERNS = 64
_MOST_LEVELS = 2**31
# Cells that are counted by a table of all that there could be.
_MOST_CELLS = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class SetColumn:
    """A published column: every record's set, as codes of the domain's `values`.

    `members` has a line for each member of a set, which goes through all records.
    A set holds a record's own value with probability `own`, and any other with `other`, which is
    less by `telling`. Sets that were not drawn at random (`is_random`) tell that alone, if at all.
    """

    name: str
    values: pa.Array
    members: Codes
    own: float
    other: float
    telling: float
    is_random: bool

    @property
    def eta(self) -> int:
        """The number of values in a set."""
        return len(self.members)

    @property
    def is_sure(self) -> bool:
        """Whether every set holds its record's own value."""
        return self.own >= 1.0

    def factors(self, totals: Reals) -> tuple[float, Reals]:
        """Return a factor of what the members of a set add up to, and what comes to it.

        `totals` are sums of functions over the domain. What comes out estimates the functions at
        the record's own value: without bias, or by their mean over the set if that was not random.

        Refuses (ParameterError) sets that do not depend on the value.
        """
        if not self.is_random:
            return 1.0 / self.eta, np.zeros_like(totals)
        if not self.telling > 0:
            raise ParameterError(
                f"the sets of '{self.name}' do not depend on the value, so they answer nothing; "
                "leave the attribute out"
            )
        return 1.0 / self.telling, -self.other * totals / self.telling


@dataclass(frozen=True, eq=False)
class Levels:
    """The values of a column by what they say of some parts of a predicate.

    `class_of` has the class of each value, `patterns` which parts may be true together. `allowed`
    says which patterns (lines) the values of each class may have, `likely` how likely they do.
    """

    column: SetColumn
    parts: tuple[Part, ...]
    class_of: Ints
    patterns: list[tuple[bool, ...]]
    allowed: Bools
    likely: Reals

    @classmethod
    def of(cls, column: SetColumn, parts: Sequence[Part], several: Sequence[Way]) -> Levels:
        """Return the levels, from all ways in which parts are true of each value of the domain.

        Refuses (ParameterError) so many parts that classes cannot be counted.
        """
        size = len(column.values)
        if not len(parts):
            none, whole = np.zeros(size, np.int64), np.ones((1, 1))
            return cls(column, (), none, [()], whole.astype(np.bool_), whole)
        if len(parts) > 16:
            raise _too_many(column.name)
        patterns = _patterns(column, several)
        told = [patterns_of(way, patterns, size) for way in several]
        allowed = np.any([own for own, _ in told], axis=0)
        likely = np.sum(
            [own * way.weight() for way, (_, own) in zip(several, told, strict=True)], axis=0
        )
        both = np.concatenate([allowed.astype(np.float64), likely])
        _, first, class_of = np.unique(both, axis=1, return_index=True, return_inverse=True)
        if (column.eta + 1) ** (len(first) - 1) > _MOST_LEVELS:
            raise _too_many(column.name)
        return cls(
            column,
            tuple(parts),
            class_of.reshape(-1),
            patterns,
            allowed[:, first],
            likely[:, first],
        )

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.allowed.shape[1])

    @property
    def count(self) -> int:
        """The number of levels that there could be."""
        return int((self.column.eta + 1) ** (self.classes - 1))

    @property
    def weights(self) -> Ints:
        """By value what a member of a set adds to its level."""
        by_class = np.append(0, (self.column.eta + 1) ** np.arange(self.classes - 1))
        return by_class.astype(np.int64)[self.class_of]

    @cached_property
    def sizes(self) -> Ints:
        """How many values there are of each class."""
        return np.bincount(self.class_of, minlength=self.classes)

    @property
    def truths(self) -> list[dict[Part, bool]]:
        """Which parts each pattern makes true."""
        return [dict(zip(self.parts, pattern, strict=True)) for pattern in self.patterns]

    def members(self, levels: Ints) -> Ints:
        """Return by class how many members the sets of each level have."""
        base, rest = self.column.eta + 1, levels
        found = np.empty((self.classes, len(levels)), np.int64)
        for line in found[1:]:
            line[:] = rest % base
            rest = rest // base
        found[0] = self.column.eta - found[1:].sum(axis=0)
        return found

    def estimates(self, by_class: Reals, levels: Ints) -> Reals:
        """Return estimates of functions (lines) at a record's own value, for each level."""
        if self.classes == 1:  # nothing that the set could tell
            return np.repeat(by_class, len(levels), axis=1)
        factor, shift = self.column.factors(by_class @ self.sizes)
        found: Reals = factor * (by_class @ self.members(levels)) + shift[:, None]
        return found

    def possible(self, levels: Ints) -> Bools:
        """Return by pattern whether the own value of records of each level may have it."""
        there = np.ones((self.classes, len(levels)), np.int64)
        if self.column.is_sure:
            there = (self.members(levels) > 0).astype(np.int64)
        return (self.allowed.astype(np.int64) @ there) > 0


class Cells:
    """All records by their levels on several columns.

    `counts` are the records of each cell that has any, `levels` by column its level.
    """

    def __init__(self, rows: int, several: Sequence[Levels]) -> None:
        self._keys: npt.NDArray[Any] = np.zeros(rows, np.int32)
        self.levels: list[Ints] = []
        self._span = 1
        for own in several:
            self._add(own)
        counts = np.zeros(self._span, np.int64)
        count_keys(self._keys, counts)
        self._used = np.flatnonzero(counts)
        self.counts = counts[self._used]
        self.levels = [each[self._used] for each in self.levels]

    @cached_property
    def of_row(self) -> npt.NDArray[np.int32]:
        """The cell of each record."""
        place = np.zeros(self._span, np.int32)
        place[self._used] = np.arange(len(self._used))
        cells = np.empty(len(self._keys), np.int32)
        look_up(self._keys, place, cells)
        return cells

    def _add(self, own: Levels) -> None:
        if own.classes == 1:  # every set has the same level
            self.levels.append(np.zeros(self._span, np.int64))
            return
        is_small = self._span * own.count <= _MOST_CELLS
        if not is_small:
            self._keys = self._keys.astype(np.int64)
        weights = own.weights.astype(self._keys.dtype)
        scale_keys(self._keys, own.count)
        for line in own.column.members:
            add_levels(line, weights, self._keys)
        if is_small:
            self.levels = [np.repeat(each, own.count) for each in self.levels]
            self.levels.append(np.tile(np.arange(own.count), self._span))
            self._span *= own.count
            return
        used, keys = np.unique(self._keys, return_inverse=True)
        self._keys = keys.astype(np.int32)
        self.levels = [each[used // own.count] for each in self.levels]
        self.levels.append(used % own.count)
        self._span = len(used)


def patterns_of(way: Way, patterns: Sequence[tuple[bool, ...]], size: int) -> tuple[Bools, Reals]:
    """Return which patterns (lines) each value may have in one way, and how likely it then has."""
    allowed = np.ones((len(patterns), size), np.bool_) & way.there
    likely = np.ones((len(patterns), size))
    for number, pattern in enumerate(patterns):
        for status, chance, is_true in zip(way.statuses, way.chances, pattern, strict=True):
            allowed[number] &= status > NEVER if is_true else status < SURELY
            likely[number] *= chance if is_true else 1.0 - chance
    return allowed, likely


def _patterns(column: SetColumn, several: Sequence[Way]) -> list[tuple[bool, ...]]:
    """Return which parts may be true together."""
    choices = {int(NEVER): (False,), int(PERHAPS): (False, True), int(SURELY): (True,)}
    found: dict[tuple[bool, ...], None] = {}
    for way in several:
        there = np.flatnonzero(np.broadcast_to(way.there, len(column.values)))
        lines = [np.broadcast_to(status, len(column.values))[there] for status in way.statuses]
        for own in np.unique(np.array(lines), axis=1).T.tolist():
            found |= dict.fromkeys(product(*(choices[status] for status in own)))
            if len(found) > _MOST_PATTERNS:
                raise _too_many(column.name)
    return list(found)


def _too_many(name: str) -> ParameterError:
    return ParameterError(
        f"the predicate has too many parts that concern '{name}' together with others; ask in "
        "several simpler questions"
    )
