"""What the rows of one table say of a predicate's parts on it, counted by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.deal_kernels import Bytes, Codes, add_weights, count_pattern, look_up
from sfumato.answers.parts import Part, both, either, fold, parts_of, take_apart
from sfumato.answers.sheet import Sheet
from sfumato.answers.verdict import PERHAPS, SURELY, Reals, judge
from sfumato.errors import ParameterError
from sfumato.predicates.expression import Predicate

Truth = dict[Part, bool]

# Each is a line of counts for every group; three times as many can be numbered by a byte.
_MOST_PATTERNS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Hand:
    """The pattern of every row: for each part, whether it is surely, perhaps or never true.

    `statuses[k]` has what pattern k says of each part, `counts[k]` how many records of each group
    have it. `chances` are those of each part for every row, None where all is certain.
    """

    sheet: Sheet
    parts: tuple[Part, ...]
    pattern: Bytes
    statuses: list[tuple[int, ...]]
    counts: Codes
    chances: list[Reals] | None

    def truths(self, least: np.uint8) -> list[Truth]:
        """Return which parts each pattern makes true, a status from `least` on being enough."""
        return [
            {part: bool(status >= least) for part, status in zip(self.parts, statuses, strict=True)}
            for statuses in self.statuses
        ]

    def likely(self, weights: npt.NDArray[Any]) -> tuple[list[Truth], Reals]:
        """Return which parts may be true together, and how much weight is expected there by group.

        Parts that a row leaves open are taken as independent of each other.
        """
        if self.chances is None:
            lines = np.zeros((len(self.statuses), self.sheet.groups))
            for number, line in enumerate(lines):
                add_weights(self.sheet.starts, np.where(self.pattern == number, weights, 0.0), line)
            return self.truths(SURELY), lines
        if 2 ** len(self.parts) > _MOST_PATTERNS:
            raise _too_many()
        truths = [
            dict(zip(self.parts, true, strict=True))
            for true in product((False, True), repeat=len(self.parts))
        ]
        lines = np.empty((len(truths), self.sheet.groups))
        for line, truth in zip(lines, truths, strict=True):
            chance = weights.astype(np.float64)
            for is_true, own in zip(truth.values(), self.chances, strict=True):
                chance *= own if is_true else 1.0 - own
            add_weights(self.sheet.starts, chance, line)
        return truths, lines


def hold(sheet: Sheet, parts: Sequence[Part]) -> Hand:
    """Return the hand of a table for some parts of a predicate, all of them on its attributes.

    Refuses (ParameterError) literals that do not compare with their attribute, and more parts than
    can be kept apart.
    """
    statuses: list[tuple[int, ...]] = [()]
    pattern: Bytes = np.zeros(sheet.rows, np.uint8)
    found = [_judge(sheet, part.predicate) for part in parts]
    for status, chance in found:
        values = (0, 2) if chance is None else (0, 1, 2)
        digits = status >> 1 if chance is None else status
        is_first = len(statuses) == 1
        pattern = digits if is_first else pattern * np.uint8(len(values)) + digits
        statuses = [(*each, value) for each in statuses for value in values]
        if not is_first:
            pattern, statuses = _in_use(pattern, statuses)
    counts = np.empty((len(statuses), sheet.groups), np.int32)
    counts[0] = sheet.sizes
    scratch = np.empty(sheet.rows + 1, np.int32)
    for number, line in enumerate(counts[1:], start=1):
        count_pattern(sheet.starts, sheet.counts, pattern, number, scratch, line)
        counts[0] -= line
    chances = None
    if any(chance is not None for _, chance in found):
        chances = [status / 2.0 if chance is None else chance for status, chance in found]
    return Hand(sheet, tuple(parts), pattern, statuses, counts, chances)


def _in_use(pattern: Bytes, statuses: list[tuple[int, ...]]) -> tuple[Bytes, list[tuple[int, ...]]]:
    """Return the patterns that occur, numbered anew."""
    used = np.flatnonzero(np.bincount(pattern, minlength=len(statuses)))
    if len(used) > _MOST_PATTERNS:
        raise _too_many()
    number = np.zeros(len(statuses), np.uint8)
    number[used] = np.arange(len(used))
    return number[pattern], [statuses[i] for i in used.tolist()]


def _judge(sheet: Sheet, predicate: Predicate) -> tuple[Any, Any]:
    """Return of every row whether it satisfies a predicate and, where some may, how likely."""
    tree = take_apart(predicate)
    verdicts = {part: judge(sheet.read(part.place), part.predicate) for part in parts_of(tree)}

    def looked_up(part: Part, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        out = np.empty(sheet.rows, found.dtype)
        look_up(sheet.codes(part.place), found, out)
        return out

    def chance(part: Part) -> Any:
        return looked_up(part, verdicts[part].share)

    def status_of(part: Part) -> Any:
        return looked_up(part, verdicts[part].status)

    status = fold(tree, status_of, np.minimum, np.maximum, SURELY)
    is_open = any((verdict.status == PERHAPS).any() for verdict in verdicts.values())
    if not is_open or not (status == PERHAPS).any():
        return status, None
    return status, fold(tree, chance, both, either, 1.0)


def _too_many() -> ParameterError:
    return ParameterError(
        "the predicate has too many parts that concern one table of this release together with "
        "others; ask in several simpler questions"
    )
