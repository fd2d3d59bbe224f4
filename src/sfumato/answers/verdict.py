"""What a predicate on one attribute says of each slot: surely, perhaps or never, how likely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.answers.number_line import NumberLine, Ticks
from sfumato.answers.pieces import holds_at, piece_starts
from sfumato.answers.slot_kernels import judge_slots, weigh_slots
from sfumato.answers.slots import Slots
from sfumato.answers.unnamed import unnamed_values
from sfumato.predicates.evaluate import mask_of_values
from sfumato.predicates.expression import (
    And,
    Between,
    Comparison,
    IsMissing,
    Leaf,
    Not,
    OneOf,
    Or,
    Predicate,
)

Status = npt.NDArray[np.uint8]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Kleene's logic: AND is the least of these, OR the greatest.
NEVER: Final = np.uint8(0)
PERHAPS: Final = np.uint8(1)
SURELY: Final = np.uint8(2)

# Verdicts on one attribute: each may be as large as its buckets are many.
_MOST_KEPT = 4
_WIDEST = 1e300


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The number line cut where the predicate may change: on each piece it is true or false.

    `low` and `high` are the ends (ticks) of piece p within range r, `weight` how many values (or
    what length) lie there; a piece that does not touch a range has low > high there, and weight 0.
    """

    low: Ticks
    high: Ticks
    weight: Reals
    holds: Bools

    @property
    def touched(self) -> Bools:
        """Which pieces touch which ranges."""
        return np.asarray(self.low <= self.high, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """Of every slot: whether the predicate is true there, and for what share of its values.

    `atoms` has the same for every atom, `hits` the values of each bucket that satisfy it.
    """

    slots: Slots
    status: Status
    share: Reals
    weight: Reals
    atoms: Status
    pieces: Pieces
    hits: npt.NDArray[np.int64]


def judge(slots: Slots, predicate: Predicate | None) -> Verdict:
    """Return the verdict on each slot; `predicate` must be in negation normal form (None: true).

    A cell's values are taken as equally likely: the members of a set, the values below a node, the
    whole numbers, dates or times in a range, the points of a range of floats. A withheld cell may
    be any value of the stated domain, or missing; the latter is not counted as likely.

    The last few verdicts are kept with the slots, for questions that are asked group by group.

    Refuses (ParameterError) literals that do not compare with the attribute.
    """
    key = str(predicate)  # to Python TRUE equals 1, and a predicate with one that with the other
    known: Verdict | None = slots.kept.get(key)
    if known is None:
        known = _judge(slots, predicate)
        if len(slots.kept) >= _MOST_KEPT:
            slots.kept.pop(next(iter(slots.kept)))
        slots.kept[key] = known
    return known


def _judge(slots: Slots, predicate: Predicate | None) -> Verdict:
    atoms = atom_status(slots, predicate)
    atoms[slots.unknown] = _status_of_unnamed(slots, predicate, atoms[slots.unknown])
    entries, weight = slots.entries, slots.weights
    sure, open_ = np.zeros(slots.count, np.int64), np.zeros(slots.count, np.int64)
    true = np.zeros(slots.count)
    weigh_slots(slots.slot, slots.atom, slots.weight, atoms, sure, open_, true)
    hits = true[slots.first_bucket :].astype(np.int64)
    pieces = _cut(slots, predicate)
    at = slots.ranges.slot
    if len(at):
        touched = pieces.touched
        entries, weight = entries.copy(), weight.copy()
        entries[at] += touched.sum(axis=1)
        held = (touched & pieces.holds).sum(axis=1)
        sure[at] += held
        open_[at] += held
        weight[at] += pieces.weight.sum(axis=1)
        true[at] += pieces.weight[:, pieces.holds].sum(axis=1)
    status, share = np.empty(slots.count, np.uint8), np.empty(slots.count)
    judge_slots(entries, sure, open_, weight, true, status, share)
    _let_blank_slots_follow(slots, weight, status, share)
    return Verdict(slots, status, share, weight, atoms, pieces, hits)


def _let_blank_slots_follow(slots: Slots, weight: Reals, status: Status, share: Reals) -> None:
    """Let cells that tell nothing, not even a domain, satisfy a predicate as often as others do."""
    blank = (weight == 0) & (status == PERHAPS)
    if not blank.any():
        return
    rows = np.bincount(slots.of_row, minlength=slots.count) * (weight > 0)
    if rows.any():
        share[blank] = (share * rows).sum() / rows.sum()


def atom_status(slots: Slots, predicate: Predicate | None) -> Status:
    """Return what is known of every atom; the predicate is in negation normal form."""
    match predicate:
        case None:
            return np.full(slots.atoms, SURELY)
        case And(parts):
            return reduce(np.minimum, (atom_status(slots, part) for part in parts))
        case Or(parts):
            return reduce(np.maximum, (atom_status(slots, part) for part in parts))
        case Not(part):
            status = SURELY - atom_status(slots, part)
            if not isinstance(part, IsMissing):
                status[slots.missing] = NEVER  # the negation of what is unknown is unknown
            return status
    held = mask_of_values(predicate, slots.values, slots.entry.kind, slots.order)
    named = np.where(held, SURELY, NEVER)
    nowhere = _unnamed_status(predicate, held)
    gaps = _gap_status(slots, predicate, nowhere)
    missing = SURELY if isinstance(predicate, IsMissing) else NEVER
    return np.concatenate([named, gaps, [nowhere, missing]]).astype(np.uint8)


def _status_of_unnamed(slots: Slots, predicate: Predicate | None, status: np.uint8) -> np.uint8:
    """Return what is known of values that are named nowhere, leaves being about one value."""
    if status != PERHAPS or not slots.has_unknown:
        return status
    values = unnamed_values(slots, (predicate,))
    if values is None or not len(values):
        return status
    held = holds_at(predicate, values, slots)
    return SURELY if held.all() else PERHAPS if held.any() else NEVER


def _unnamed_status(leaf: Leaf, held: Bools) -> np.uint8:
    """Return what is known of a value that is named nowhere: it differs from all that are.

    `held` says which named values satisfy the leaf, and so which literals are named.
    """
    match leaf:
        case IsMissing():
            return NEVER
        case Comparison(_, "=", _) if held.any():
            return NEVER
        case Comparison(_, "!=", _) if not held.all():
            return SURELY
        case OneOf(_, literals) if np.count_nonzero(held) == len(set(literals)):
            return NEVER
    return PERHAPS


def _gap_status(slots: Slots, leaf: Leaf, nowhere: np.uint8) -> Status:
    """Return what is known of values between neighbours in the list of an ordinal attribute."""
    if slots.gaps == 0:
        return np.zeros(0, np.uint8)
    match leaf:
        case Comparison(column, "<" | "<=", value):
            return _before_gap(slots, Comparison(column, "<", value))
        case Comparison(column, ">" | ">=", value):
            return _before_gap(slots, Comparison(column, ">=", value))
        case Between(column, low, high):
            above = _before_gap(slots, Comparison(column, ">=", low))
            return np.minimum(above, _before_gap(slots, Comparison(column, "<", high)))
    return np.full(slots.gaps, nowhere)


def _before_gap(slots: Slots, leaf: Leaf) -> Status:
    """Return whether the leaf holds for the listed value before each gap."""
    before = slots.values[: slots.gaps]
    held = mask_of_values(leaf, before, slots.entry.kind, slots.order)
    return np.where(held, SURELY, NEVER)


def _cut(slots: Slots, predicate: Predicate | None) -> Pieces:
    """Return the pieces of all ranges."""
    ranges, line = slots.ranges, slots.line
    if len(ranges.slot) == 0 or line is None:
        none = np.zeros((0, 1))
        return Pieces(none, none, none, np.zeros(1, np.bool_))
    low, high = int(ranges.low.min()), int(ranges.high.max())
    starts = piece_starts(slots, line, (predicate,), low, high)
    first = np.array(starts, ranges.low.dtype)
    last = np.append(first[1:] - 1, [high]).astype(first.dtype)
    holds = holds_at(predicate, line.values(first), slots)
    lows = np.maximum(ranges.low[:, None], first)
    highs = np.minimum(ranges.high[:, None], last)
    return Pieces(lows, highs, _measure(line, lows, highs), holds)


def _measure(line: NumberLine, low: Ticks, high: Ticks) -> Reals:
    """Return how many values lie from one tick to the other, or (for floats) what length."""
    if line.is_grid:
        size = high.astype(np.float64) - low.astype(np.float64) + 1.0
    else:
        # of which a share is taken, so that the widest must not be beyond floats
        size = np.minimum(line.positions(high) - line.positions(low), _WIDEST)
    return np.where(low <= high, size, 0.0)
