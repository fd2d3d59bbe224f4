"""What the published cells of an attribute may hold: its values, and the ends of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.answers.number_line import NumberLine
from sfumato.answers.reading import open_slots, read_slots
from sfumato.answers.set_axes import read_axis
from sfumato.answers.set_slots import SetDomains
from sfumato.answers.sheet import check_published
from sfumato.answers.slots import Slots
from sfumato.answers.summands import Summands, Worth
from sfumato.answers.transition_axes import behind_cells
from sfumato.answers.verdict import NEVER, Verdict, judge
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates.expression import And, Predicate, negation_normal_form
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.text import to_texts

# Groups that one query may have.
MOST_GROUPS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values that cells may hold, in order; whether one may be missing; whether there are others,
    which the release names nowhere (`is_open`)."""

    known: pa.Array
    may_miss: bool
    is_open: bool

    def __len__(self) -> int:
        return len(self.known) + self.may_miss


class Published:
    """The cells of a release, attribute by attribute, each read once.

    Engines read cells, too, each in its own way. What is asked here is the same for all of them.
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        is_sets = release.manifest.layout == "sets"
        self._domains = SetDomains(release.manifest) if is_sets else None
        self._axes: dict[str, pa.Array] = {}
        self._slots: dict[str, Slots] = {}
        self._summands: dict[int, Summands] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that can be asked for."""
        if self._domains is not None:
            return tuple(self._domains.column_of)
        return tuple(entry.name for entry in self._release.manifest.attributes)

    def may_miss(self, name: str) -> bool:
        """Return whether a cell may be missing."""
        slots = self._read(name)
        return bool((slots.atom[_is_used(slots)[slots.slot]] == slots.missing).any())

    def largest(self, name: str) -> float:
        """Return the largest size of a number that a row may have, as far as numbers are named.

        Refuses (ParameterError) attributes that are not published, or do not have numbers.
        """
        worth, used = self._worth(name, None)
        ends = np.abs(np.concatenate([worth.low[used], worth.high[used]]))
        return float(ends[np.isfinite(ends)].max(initial=0.0))

    def ends(self, name: str, predicate: Predicate | None) -> tuple[float, float]:
        """Return the least and greatest number that a row may have which satisfies a predicate.

        Without such a number, inf and -inf. What the predicate says of other attributes, or of
        several at once, is not looked at.

        Refuses (ParameterError) attributes that are not published, or do not have numbers.
        """
        worth, used = self._worth(name, _about(name, predicate))
        return float(worth.low[used].min(initial=inf)), float(worth.high[used].max(initial=-inf))

    def values(self, name: str, predicate: Predicate | None) -> Values:
        """Return the values that a row may have which satisfies a predicate, as far as it is about
        this attribute alone.

        Refuses (ParameterError) attributes that are not published, and values that cannot be
        listed: fractions of a range, more than 10,000, or none that is named.
        """
        about = _about(name, predicate)
        slots = self._read(name)
        verdict = judge(slots, about)
        used = _is_used(slots)
        atoms = np.unique(slots.atom[used[slots.slot]])
        atoms = atoms[verdict.atoms[atoms] > NEVER]
        named = slots.values.take(pa.array(atoms[atoms < len(slots.values)]))
        may_miss = bool((atoms == slots.missing).any())
        is_open = bool(((atoms >= len(slots.values)) & (atoms <= slots.unknown)).any())
        known = _in_order(slots, named)
        if slots.line is not None:
            ticks = {int(tick) for tick in slots.line.ticks(named)}
            ticks |= _ticks_of_ranges(slots, slots.line, verdict, used)
            known = slots.line.values(np.array(sorted(ticks), slots.line.ticks(named).dtype))
        if len(known) > MOST_GROUPS:
            raise _too_many(name)
        if is_open and not len(known):
            raise ParameterError(
                f"the values of column '{name}' cannot be listed: the release names none of them; "
                "group by another column"
            )
        return Values(known, may_miss, is_open)

    def _worth(self, name: str, about: Predicate | None) -> tuple[Worth, npt.NDArray[np.bool_]]:
        """Return what slots are worth where a predicate holds, and which of them some row has."""
        slots = self._read(name)
        if id(slots) not in self._summands:  # slots are kept, so that no other has the same
            self._summands[id(slots)] = Summands(slots)
        return self._summands[id(slots)].worth(judge(slots, about), holds=True), _is_used(slots)

    def _read(self, name: str) -> Slots:
        if self._domains is not None:
            # a random set may lack a record's own value, which is one of the domain
            self._domains.check(name)
            column = self._domains.column_of[name]
            if column not in self._axes:
                self._axes[column] = read_axis(self._release, column).values
            return self._domains.read(name, self._axes[column])
        if name not in self._slots:
            check_published(self._release, name)
            entry = self._release.manifest.attribute(name)
            hierarchy = self._release.hierarchies.get(name)
            is_mean = name in microaggregated(self._release.manifest)
            self._slots[name] = (
                open_slots(self._table(name), entry)
                if is_mean
                else read_slots(self._table(name), entry, hierarchy)
            )
        return self._slots[name]

    def _table(self, name: str) -> pa.Table:
        """Return the columns of an attribute: its cells, and their buckets."""
        if is_randomised(self._release.manifest):
            return pa.table({name: behind_cells(self._release, name)})
        for entry in self._release.manifest.tables:
            if name in entry.attributes and not entry.name.startswith("units"):
                table = self._release.tables[entry.name]
                own = (name, name + RESERVED_SUFFIX)
                return table.select([each for each in own if each in table.column_names])
        raise ReleaseDamaged(f"no table holds the attribute '{name}'")


def _about(name: str, predicate: Predicate | None) -> Predicate | None:
    """Return what a predicate says of one attribute and no other, in negation normal form."""
    if predicate is None:
        return None
    normal = negation_normal_form(predicate)
    parts = normal.parts if isinstance(normal, And) else (normal,)
    own = tuple(part for part in parts if part.attributes == {name})
    return And(own) if len(own) > 1 else own[0] if own else None


def _is_used(slots: Slots) -> npt.NDArray[np.bool_]:
    """Return which slots some row has."""
    return np.bincount(slots.of_row, minlength=slots.count) > 0


def _in_order(slots: Slots, values: pa.Array) -> pa.Array:
    if slots.order is None:
        return values.take(pc.sort_indices(values))
    places: Any = pc.index_in(to_texts(values), to_texts(slots.order))
    return values.take(pc.sort_indices(places))  # what has no place comes last


def _ticks_of_ranges(
    slots: Slots, line: NumberLine, verdict: Verdict, used: npt.NDArray[np.bool_]
) -> set[int]:
    """Return all ticks in ranges where the predicate holds."""
    if not len(slots.ranges.slot):
        return set()
    pieces, name = verdict.pieces, slots.entry.name
    chosen = pieces.touched & pieces.holds & used[slots.ranges.slot][:, None]
    ends = set(zip(pieces.low[chosen].tolist(), pieces.high[chosen].tolist(), strict=True))
    step = line.step
    ticks: set[int] = set()
    for low, high in ends:
        if low < high and not line.is_grid:
            raise ParameterError(
                f"the values of column '{name}' cannot be listed: some cells are ranges of "
                "fractions; ask for intervals by BETWEEN after WHERE, once for each"
            )
        if (high - low) // step >= MOST_GROUPS:
            raise _too_many(name)
        ticks.update(range(low, high + 1, step))
        if len(ticks) > MOST_GROUPS:
            raise _too_many(name)
    return ticks


def _too_many(name: str) -> ParameterError:
    return ParameterError(
        f"column '{name}' may have more than {MOST_GROUPS} values, too many to list; narrow it "
        "after WHERE, as in BETWEEN, or group by another column"
    )
