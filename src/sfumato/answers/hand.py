"""What the rows of one table say of a predicate's parts on it, counted by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.deal_kernels import Bytes, Codes, add_weights, count_pattern, look_up
from sfumato.answers.parts import Part, Tree, both, either, fold, parts_of, take_apart
from sfumato.answers.sheet import Sheet
from sfumato.answers.verdict import PERHAPS, SURELY, Reals, Verdict, judge
from sfumato.answers.ways import Find, Way, open_regions, ways
from sfumato.errors import ParameterError

Truth = dict[Part, bool]

# Each is a line of counts for every group; three times as many can be numbered by a byte.
_MOST_PATTERNS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Hand:
    """The pattern of every row: for each part, whether it is surely, perhaps or never true.

    `statuses[k]` has what pattern k says of each part, in each way that there may be (`ways.py`);
    `counts[k]` is how many records of each group have it. `chances` has for each way how likely it
    is, and then each part, for every row; None where all is certain.
    """

    sheet: Sheet
    parts: tuple[Part, ...]
    pattern: Bytes
    statuses: list[tuple[tuple[int, ...], ...]]
    counts: Codes
    chances: list[tuple[Any, list[Any]]] | None

    def truths(self, least: np.uint8) -> list[list[Truth]]:
        """Return which parts each pattern makes true, a status from `least` on being enough.

        There is one alternative for each way that there may be.
        """
        return [
            [
                {part: bool(own >= least) for part, own in zip(self.parts, statuses, strict=True)}
                for statuses in alternatives
            ]
            for alternatives in self.statuses
        ]

    def likely(self, weights: npt.NDArray[Any]) -> tuple[list[Truth], Reals]:
        """Return which parts may be true together, and how much weight is expected there by group.

        Parts that a row leaves open are independent of each other in each way that there is.
        """
        if self.chances is None:
            lines = np.zeros((len(self.statuses), self.sheet.groups))
            for number, line in enumerate(lines):
                add_weights(self.sheet.starts, np.where(self.pattern == number, weights, 0.0), line)
            return [truth for truth, *_ in self.truths(SURELY)], lines
        if 2 ** len(self.parts) > _MOST_PATTERNS:
            raise _too_many()
        truths = [
            dict(zip(self.parts, true, strict=True))
            for true in product((False, True), repeat=len(self.parts))
        ]
        lines = np.empty((len(truths), self.sheet.groups))
        for line, truth in zip(lines, truths, strict=True):
            total = np.zeros(self.sheet.rows)
            for way, chances in self.chances:
                chance = weights * way
                for is_true, own in zip(truth.values(), chances, strict=True):
                    chance = chance * (own if is_true else 1.0 - own)
                total += chance
            add_weights(self.sheet.starts, total, line)
        return truths, lines


def hold(sheet: Sheet, parts: Sequence[Part]) -> Hand:
    """Return the hand of a table for some parts of a predicate, all of them on its attributes.

    Refuses (ParameterError) literals that do not compare with their attribute, and more parts than
    can be kept apart.
    """
    trees = [take_apart(part.predicate) for part in parts]
    names = {own.attribute for tree in trees for own in parts_of(tree)}
    several = open_regions(trees, {name: sheet.read(name) for name in names})
    if several:
        return _hold_ways(sheet, parts, ways(trees, several, *_finders(sheet)))
    found = [_judge(sheet, tree) for tree in trees]
    digits = [
        (status >> 1, (0, 2)) if chance is None else (status, (0, 1, 2)) for status, chance in found
    ]
    pattern, statuses = _patterns(sheet, digits)
    chances = None
    if any(chance is not None for _, chance in found):
        own = [status / 2.0 if chance is None else chance for status, chance in found]
        chances = [(1.0, own)]
    counts = _counts(sheet, pattern, len(statuses))
    return Hand(sheet, tuple(parts), pattern, [(each,) for each in statuses], counts, chances)


def _hold_ways(sheet: Sheet, parts: Sequence[Part], several: Sequence[Way]) -> Hand:
    """Return the hand of a table whose parts may be true in several ways."""
    digits: list[tuple[Any, tuple[int, ...]]] = []
    for way in several:
        digits.append((np.asarray(way.there, np.uint8), (0, 1)))
        digits += [(np.where(way.there, status, 0), (0, 1, 2)) for status in way.statuses]
    rows = np.zeros(sheet.rows, np.uint8)
    digits = [(rows + own.astype(np.uint8), values) for own, values in digits]
    pattern, found = _patterns(sheet, digits)
    wide = len(parts) + 1
    statuses = []
    for each in found:
        lines = [each[start : start + wide] for start in range(0, len(each), wide)]
        statuses.append(tuple(dict.fromkeys(line[1:] for line in lines if line[0])))
    chances = [(way.weight(), list(way.chances)) for way in several]
    return Hand(
        sheet, tuple(parts), pattern, statuses, _counts(sheet, pattern, len(statuses)), chances
    )


def _patterns(
    sheet: Sheet, several: Sequence[tuple[Any, tuple[int, ...]]]
) -> tuple[Bytes, list[tuple[int, ...]]]:
    """Return the pattern of every row, and the values that each stands for.

    There are digits of every row, each standing for one of some values.
    """
    statuses: list[tuple[int, ...]] = [()]
    pattern: Bytes = np.zeros(sheet.rows, np.uint8)
    for digits, values in several:
        is_first = len(statuses) == 1
        pattern = digits if is_first else pattern * np.uint8(len(values)) + digits
        statuses = [(*each, value) for each in statuses for value in values]
        if not is_first:
            pattern, statuses = _in_use(pattern, statuses)
    return pattern, statuses


def _counts(sheet: Sheet, pattern: Bytes, patterns: int) -> Codes:
    """Return how many records of each group have each pattern."""
    counts = np.empty((patterns, sheet.groups), np.int32)
    counts[0] = sheet.sizes
    scratch = np.empty(sheet.rows + 1, np.int32)
    for number, line in enumerate(counts[1:], start=1):
        count_pattern(sheet.starts, sheet.counts, pattern, number, scratch, line)
        counts[0] -= line
    return counts


def _in_use(pattern: Bytes, statuses: list[tuple[int, ...]]) -> tuple[Bytes, list[tuple[int, ...]]]:
    """Return the patterns that occur, numbered anew."""
    used = np.flatnonzero(np.bincount(pattern, minlength=len(statuses)))
    if len(used) > _MOST_PATTERNS:
        raise _too_many()
    number = np.zeros(len(statuses), np.uint8)
    number[used] = np.arange(len(used))
    return number[pattern], [statuses[i] for i in used.tolist()]


def _judge(sheet: Sheet, tree: Tree) -> tuple[Any, Any]:
    """Return of every row whether it satisfies a predicate and, where some may, how likely."""
    status_of, chance_of = _finders(sheet)
    status = fold(tree, status_of, np.minimum, np.maximum, SURELY)
    is_open = any((_verdict(sheet, part).status == PERHAPS).any() for part in parts_of(tree))
    if not is_open or not (status == PERHAPS).any():
        return status, None
    return status, fold(tree, chance_of, both, either, 1.0)


def _finders(sheet: Sheet) -> tuple[Find, Find]:
    """Return what finds the status of a part for every row, and how likely it is."""

    def looked_up(part: Part, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        out = np.empty(sheet.rows, found.dtype)
        look_up(sheet.codes(part.place), found, out)
        return out

    def status_of(part: Part) -> Any:
        return looked_up(part, _verdict(sheet, part).status)

    def chance_of(part: Part) -> Any:
        return looked_up(part, _verdict(sheet, part).share)

    return status_of, chance_of


def _verdict(sheet: Sheet, part: Part) -> Verdict:
    return judge(sheet.read(part.place), part.predicate)


def _too_many() -> ParameterError:
    return ParameterError(
        "the predicate has too many parts that concern one table of this release together with "
        "others; ask in several simpler questions"
    )
