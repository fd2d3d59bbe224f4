"""Whether the cells of a release can be what the recoding that its manifest records leaves.

A value above `top`, one that is no multiple of `round`, a date that is no first of a month: what
the files can show of a broken step, they are asked for. A range must hold some value that is left.
Cells that need not be anybody's value are not asked: members of random sets, values that were
replaced at random or are means, records with noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import coded, comparable
from sfumato.audit.number_line import read_values
from sfumato.audit.spelling import named_values
from sfumato.errors import ReleaseDamaged, SchemaError
from sfumato.recoding import (
    BinInto,
    BottomCode,
    KeepPrefix,
    MapValues,
    RoundTo,
    ShiftDates,
    Step,
    TopCode,
    TruncateTo,
    days_of_shift,
    recorded_steps,
)
from sfumato.recoding.rounding import multiple
from sfumato.recoding.step import text_of
from sfumato.recoding.texts import KEEP, MASKED
from sfumato.release import AttributeEntry, Manifest, Release
from sfumato.release.dtypes import is_text
from sfumato.release.microaggregated import microaggregated
from sfumato.release.origin import is_noisy
from sfumato.release.transitions import TRANSITIONS
from sfumato.schema.attribute import Role
from sfumato.schema.hierarchy import ROOT
from sfumato.schema.text import to_texts

_CHANGES_VALUES = (BinInto, KeepPrefix, MapValues)
_PROTECTED = (Role.SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)


def check_recoding(release: Release) -> None:
    """Refuse (ReleaseDamaged) steps that are none, and cells that no recoded value can be."""
    manifest = release.manifest
    steps = recorded_steps(manifest.parameters)
    entries = {entry.name: entry for entry in manifest.attributes}
    for name in steps:
        if name not in entries and name not in _parts(manifest):
            raise ReleaseDamaged(f"a recoding is recorded of '{name}', which is not published")
    try:
        days_of_shift(steps)
    except SchemaError:
        raise ReleaseDamaged("the recorded shifts of dates state different days") from None
    for name, own in steps.items():
        if name in entries and _is_own(manifest, entries[name]):
            left = _Left.of(own, entries[name], is_mean=name in microaggregated(manifest))
            for table in manifest.tables:
                if name in table.attributes:
                    left.check(release, table.name)


def _parts(manifest: Manifest) -> set[str]:
    """Return the attributes that were randomised as one with others."""
    stated = manifest.parameters.get("joint", {})
    joints = stated.values() if isinstance(stated, Mapping) else ()
    return {str(part) for parts in joints if isinstance(parts, list) for part in parts}


def _is_own(manifest: Manifest, entry: AttributeEntry) -> bool:
    """Return whether the attribute's cells are values of people, or hold them."""
    if is_noisy(manifest) or pa.types.is_null(entry.dtype):
        return False
    replaced = manifest.parameters.get(TRANSITIONS)
    if isinstance(replaced, Mapping) and entry.name in replaced:
        return False
    return manifest.layout != "sets" or entry.role not in _PROTECTED


@dataclass(frozen=True, slots=True, eq=False)
class _Left:
    """What the steps of an attribute leave: values from `low` to `high` (arrays of one value), on
    the grid of the last step that has one or among `more`; or texts that `words` leaves."""

    entry: AttributeEntry
    low: pa.Array | None = None
    high: pa.Array | None = None
    grid: RoundTo | TruncateTo | None = None
    more: tuple[pa.Array, ...] = ()
    words: Step | None = None

    @classmethod
    def of(cls, steps: tuple[Step, ...], entry: AttributeEntry, *, is_mean: bool) -> _Left:
        """Return what is left; ReleaseDamaged where the steps do not fit the attribute's type."""
        changes = [at for at, step in enumerate(steps) if isinstance(step, _CHANGES_VALUES)]
        tail = steps[changes[-1] + 1 :] if changes else steps
        try:
            if not tail:
                words = steps[-1]
                if not isinstance(words, MapValues) and not is_text(entry.dtype):
                    raise _damage(entry, words)
                return cls(entry, words=words)
            left = cls(entry)
            for step in tail:
                left = left._after(step)
        except SchemaError:
            raise ReleaseDamaged(
                f"attribute '{entry.name}' is of another type than its recorded recoding is for"
            ) from None
        return cls(entry, left.low, left.high) if is_mean else left

    def _after(self, step: Step) -> _Left:
        """Return what a further step leaves of what is left; all of them keep the order."""
        entry, dtype, name = self.entry, self.entry.dtype, self.entry.name
        match step:
            case TopCode() | BottomCode():
                step.recode(pa.nulls(0, dtype), name)  # called for its refusals
                bound = step.bound(dtype, name)
                if bound is None:
                    return self
                end = pa.array([bound.as_py()], dtype)
                low, high = self._moved(step)
                if step.is_top:
                    high = end if high is None else high
                else:
                    low = end if low is None else low
                return _Left(entry, low, high, self.grid, (*self.more, end))
            case RoundTo() | TruncateTo():
                step.recode(pa.nulls(0, dtype), name)
                low, high = self._moved(step)
                return _Left(entry, low, high, step)
            case ShiftDates():
                step.moved(pa.nulls(0, dtype), np.zeros(0, np.int64), name)
                return _Left(entry)  # of dates anywhere the files show nothing
            case _:
                raise AssertionError("all other steps change values")

    def _moved(self, step: Step) -> tuple[pa.Array | None, pa.Array | None]:
        """Return the ends of what is left after a step that keeps the order."""
        name = self.entry.name
        low, high = self.low, self.high
        return (
            None if low is None else step.recode(low, name),
            None if high is None else step.recode(high, name),
        )

    def check(self, release: Release, table: str) -> None:
        """Refuse (ReleaseDamaged) cells of a table that are not left."""
        name, dtype = self.entry.name, self.entry.dtype
        cells = coded(release.tables[table][name]).cells
        exact, lows, highs = cells, pa.nulls(0, dtype), pa.nulls(0, dtype)
        if is_text(cells.type):
            hierarchy = release.hierarchies.get(name)
            paths = () if hierarchy is None else hierarchy.paths
            named = named_values(cells, frozenset(e for path in paths for e in path) - {ROOT})
            parts = [read_values(each, dtype) for each in (named.exact, named.lows, named.highs)]
            if any(part is None for part in parts):
                raise ReleaseDamaged(f"attribute '{name}' has cells that are not of its type")
            exact, lows, highs = parts
        elif pa.types.is_duration(dtype):
            exact = cells.cast(dtype)
        if self.words is not None:
            texts = pa.concat_arrays([to_texts(each.cast(dtype)) for each in (exact, lows, highs)])
            if not _is_left(texts, self.words):
                raise _damage(self.entry, self.words)
            return
        self._check_ends(exact, exact)
        self._check_ends(lows, highs)
        if self.grid is not None:
            self._check_grid(exact, lows, highs)

    def _check_ends(self, lows: pa.Array, highs: pa.Array) -> None:
        beyond = self.high is not None and _any(pc.greater, lows, self.high)
        if beyond or (self.low is not None and _any(pc.less, highs, self.low)):
            raise ReleaseDamaged(
                f"attribute '{self.entry.name}' has cells beyond its recorded `top` or `bottom`"
            )

    def _check_grid(self, exact: pa.Array, lows: pa.Array, highs: pa.Array) -> None:
        assert self.grid is not None
        fits = pc.equal(comparable(exact), comparable(self.grid.recode(exact, self.entry.name)))
        for value in self.more:
            fits = pc.or_(fits, pc.equal(comparable(exact), comparable(value)[0]))
        if len(lows):
            ranged = self._ranges_with_a_start(lows, highs)
            for value in self.more:
                end = comparable(value)[0]
                above = pc.less_equal(comparable(lows), end)
                inside = pc.and_(above, pc.greater_equal(comparable(highs), end))
                ranged = pc.or_(ranged, inside)
            fits = pa.concat_arrays([fits, ranged])
        if not pc.all(fits, min_count=0).as_py():
            raise _damage(self.entry, self.grid)

    def _ranges_with_a_start(self, lows: pa.Array, highs: pa.Array) -> pa.Array:
        """Return which ranges hold a value of the grid."""
        if isinstance(self.grid, TruncateTo):
            starts = self.grid.recode(highs, self.entry.name)
            return pc.greater_equal(comparable(starts), comparable(lows))
        assert self.grid is not None
        step = Decimal(text_of(self.grid.step))
        found = []
        for low, high in zip(to_texts(lows).to_pylist(), to_texts(highs).to_pylist(), strict=True):
            start, end = Decimal(low), Decimal(high)
            near = multiple(start, step)
            found.append((near if near >= start else near + step) <= end)
        return pa.array(found, pa.bool_())


def _is_left(texts: pa.Array, step: Step) -> bool:
    """Return whether all texts can be what a step makes of values."""
    match step:
        case BinInto():
            known = {*step.labels(whole=True), *step.labels(whole=False)}
            return known.issuperset(texts.to_pylist())
        case KeepPrefix():
            return all(
                not text or (text.endswith(MASKED) and len(text) <= step.length + 1)
                for text in texts.to_pylist()
            )
        case MapValues():
            news = {text_of(new) for new in step.values.values() if new is not None}
            if step.otherwise is KEEP:
                return (step.values.keys() - news).isdisjoint(texts.to_pylist())
            more = set() if step.otherwise is None else {text_of(step.otherwise)}
            return (news | more).issuperset(texts.to_pylist())
    return True


def _any(compare: object, values: pa.Array, end: pa.Array) -> bool:
    if not len(values):
        return False
    assert callable(compare)
    return bool(pc.any(compare(comparable(values), comparable(end)[0])).as_py())


def _damage(entry: AttributeEntry, step: Step) -> ReleaseDamaged:
    return ReleaseDamaged(
        f"attribute '{entry.name}' has cells that its recorded recoding, `{step.key}`, cannot leave"
    )
