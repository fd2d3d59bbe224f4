"""One question to tables that are dealt to each other within groups; `odds.py` says how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.answers.deal_kernels import add_plain_sums, add_sums
from sfumato.answers.dealt_errors import (
    Covariances,
    Moments,
    TooMany,
    count_moments,
    sum_moments,
)
from sfumato.answers.diagram import NO, YES, Diagrams, Node
from sfumato.answers.fake_kernels import greatest_of_some
from sfumato.answers.hand import Hand
from sfumato.answers.numbers import Numbers
from sfumato.answers.odds import Chances, Kinds, Limits
from sfumato.answers.parts import Tree, given
from sfumato.answers.verdict import PERHAPS, SURELY

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

# Wishes that need no other table.
_GRANTED, _REFUSED = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class _Wishes:
    """What the kernel `add_sums` needs in one direction."""

    wishes: Ints
    beyond: npt.NDArray[np.bool_]
    room: Codes
    is_idle: npt.NDArray[np.bool_]


class Deal:
    """A predicate, and what the tables that it asks say of it; `sizes` are records by group.

    Sums are those of numbers in the first table.
    """

    def __init__(self, tree: Tree, hands: Sequence[Hand], sizes: Codes) -> None:
        self._tree = given(tree, {})  # nothing but True is left of a predicate without parts
        self._hands = hands
        self._sizes = sizes
        self._diagrams = Diagrams([len(hand.statuses) for hand in hands])
        self._may = self._node(PERHAPS)
        self._sure = self._node(SURELY)
        self._wished: dict[tuple[bool, ...], _Wishes] = {}

    def bounds(self) -> tuple[int, int]:
        """Return how many records satisfy the predicate at least and at most."""
        kinds = self._kinds
        limits = Limits(self._diagrams, kinds)
        fewest = kinds.sizes - limits.most(self._diagrams.neither(self._sure))
        most, groups = limits.most(self._may), kinds.groups.astype(np.int64)
        return int((fewest * groups).sum()), int((most * groups).sum())

    def expected(self) -> float:
        """Return how many records satisfy the predicate on average."""
        if self._is_certain:
            kinds = self._kinds
            chance = self._chances.of(self._sure)
            return float((chance * kinds.sizes * kinds.groups).sum())
        _, chances, node = self._likely
        return float((chances.of(node) * self._sizes).sum())

    def sums(self, numbers: Numbers) -> tuple[float, float, float]:
        """Return the sum of numbers of the records that satisfy it: expected, least, greatest."""
        first, kinds = self._hands[0], self._other_kinds
        factors = np.zeros((len(first.statuses), len(kinds.sizes)))
        if self._is_certain:
            after = self._diagrams.after(self._sure, 0)
            factors = np.array([self._other_chances.of(node) for node in after])
        greatest, least = (self._wishes(numbers.has_sign[::sign]) for sign in (1, -1))
        wishes = np.array([greatest.wishes, least.wishes])
        is_idle = np.array([~factors.any(axis=0), greatest.is_idle, least.is_idle])
        rooms = (greatest.room, least.room)
        found = np.zeros(3)
        rows = (first.sheet.starts, numbers.order, numbers.counts, numbers.values, first.pattern)
        if not numbers.has_sign[0] and max(map(len, rooms)) <= 1:
            none = np.zeros_like(kinds.sizes)
            most, fewest = (each[0] if len(each) else none for each in rooms)
            adding, subtracting = greatest.wishes[1], least.wishes[0]
            is_open = np.array([adding >= 0, subtracting >= 0], np.int64)
            is_sure = np.array([adding == _GRANTED, subtracting == _REFUSED], np.int64)
            room, idle = (most, fewest), is_idle.all(axis=0)
            add_plain_sums(*rows, kinds.of_group, factors, is_open, is_sure, room, idle, found)
        else:
            beyond = (greatest.beyond, least.beyond)
            taken = np.empty(max(map(len, rooms)), np.int64)
            add_sums(*rows, kinds.of_group, factors, is_idle, wishes, beyond, rooms, taken, found)
        value = found[0] if self._is_certain else self._likely_sum(numbers)
        return float(value), float(found[2]), float(found[1])

    def sums_of_some(self, numbers: Numbers, genuine: int) -> tuple[float, float]:
        """Return the least and greatest sum if just so many records are genuine, whichever."""
        first, of_group = self._hands[0], self._other_kinds.of_group
        groups = np.repeat(np.arange(len(self._sizes), dtype=np.int32), np.diff(first.sheet.starts))
        places = np.argsort(-np.abs(numbers.values), kind="stable")
        rows = (groups, numbers.counts, numbers.values, first.pattern[numbers.order])
        fakes = int(self._sizes.sum(dtype=np.int64)) - genuine
        ends = []
        for sign in (-1, 1):
            own = self._wishes(numbers.has_sign[::sign])
            taken = np.repeat(own.room.T[of_group][None], 2, axis=0)
            granted = np.zeros(taken.shape[:2], np.int32)
            scratch = (np.ascontiguousarray(taken), granted)
            wishes = (own.wishes, own.beyond)
            ends.append(
                greatest_of_some(places, *rows, float(sign), fakes, genuine, *wishes, *scratch)
            )
        return 0.0 - ends[0], ends[1]

    def moments(self, numbers: Numbers | None = None, about: float = 0.0) -> Moments | None:
        """Return the moments of the count, or of the sum of (number - about), over all deals.

        None where generalised cells leave parts open, which nobody dealt, and where there are too
        many patterns to go through in pairs.
        """
        if not self._is_certain:
            return None
        try:
            if numbers is None:
                own = Covariances(self._diagrams, self._kinds, self._chances)
                return count_moments(own, self._sure)
            first = self._hands[0]
            rows = (first.sheet.starts, first.pattern)
            others = Covariances(self._diagrams, self._other_kinds, self._other_chances)
            after = self._diagrams.after(self._sure, 0)
            return sum_moments(others, after, numbers, about, rows)
        except TooMany:
            return None

    def _wishes(self, signs: tuple[bool, ...]) -> _Wishes:
        """Return what rows wish for, so that the sum of their numbers is greatest.

        `signs` say whether some subtract from it, and whether some add to it.
        """
        if signs not in self._wished:  # averages ask for the same again and again
            self._wished[signs] = self._find_wishes(*signs)
        return self._wished[signs]

    def _find_wishes(self, subtracts: bool, adds: bool) -> _Wishes:
        diagrams, kinds = self._diagrams, self._other_kinds
        # what subtracts wishes that the predicate is not true for it, what adds that it is; a wish
        # that nobody has is left out, by what comes to nothing
        nodes = [
            [diagrams.neither(n) if subtracts else YES for n in diagrams.after(self._sure, 0)],
            [node if adds else NO for node in diagrams.after(self._may, 0)],
        ]
        fixed = {NO: _REFUSED, YES: _GRANTED}
        open_ = list(dict.fromkeys(n for line in nodes for n in line if n not in fixed))
        number = fixed | {node: i for i, node in enumerate(open_)}
        wishes = np.array([[number[node] for node in line] for line in nodes])
        limits = Limits(diagrams, kinds)
        unions = [union for union in diagrams.unions(open_) if union != NO]
        beyond = [[not diagrams.covers(union, node) for node in open_] for union in unions]
        room = np.array([limits.most(union) for union in unions], np.int32)
        room = room.reshape(len(unions), len(kinds.sizes))
        # nothing is added where no row that adds is granted its wish, and all that subtract are
        is_idle = np.full(len(kinds.sizes), _REFUSED not in wishes[0] and _GRANTED not in wishes[1])
        if (wishes[0] >= 0).any():
            is_idle &= room.min(axis=0) >= kinds.sizes
        if (wishes[1] >= 0).any():
            is_idle &= room.max(axis=0) == 0
        shape = (len(unions), len(open_))
        return _Wishes(wishes, np.array(beyond, np.bool_).reshape(shape), room, is_idle)

    def _likely_sum(self, numbers: Numbers) -> float:
        diagrams, chances, node = self._likely
        weights = np.empty(len(numbers.order))
        weights[numbers.order] = numbers.values * numbers.counts
        amounts = self._hands[0].likely(weights)[1]
        return sum(
            float((chances.of(after) * amount).sum())
            for after, amount in zip(diagrams.after(node, 0), amounts, strict=True)
        )

    def _node(self, least: np.uint8) -> Node:
        truths = [hand.truths(least) for hand in self._hands]
        return self._diagrams.of_some(self._tree, truths, always=bool(least == SURELY))

    @cached_property
    def _likely(self) -> tuple[Diagrams, Chances, Node]:
        """The predicate where rows leave parts open: its chance by group."""
        found = [hand.likely(hand.sheet.counts) for hand in self._hands]
        diagrams = Diagrams([len(truths) for truths, _ in found])
        shares = [lines / self._sizes for _, lines in found]
        node = diagrams.of(self._tree, [truths for truths, _ in found])
        return diagrams, Chances(diagrams, shares, len(self._sizes)), node

    @property
    def _is_certain(self) -> bool:
        """Whether nothing that a row of a table leaves open matters."""
        return self._may == self._sure

    @cached_property
    def _kinds(self) -> Kinds:
        return Kinds.of([hand.counts for hand in self._hands], self._sizes)

    @cached_property
    def _chances(self) -> Chances:
        return Chances.of_counts(self._diagrams, self._kinds)

    @cached_property
    def _other_chances(self) -> Chances:
        return Chances.of_counts(self._diagrams, self._other_kinds)

    @cached_property
    def _other_kinds(self) -> Kinds:
        """Groups that are alike in all tables but the first."""
        nothing = np.zeros((1, len(self._sizes)), np.int32)
        return Kinds.of([nothing, *(hand.counts for hand in self._hands[1:])], self._sizes)
