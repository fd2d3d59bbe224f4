"""Columns of a release whose cells were replaced at random: values, codes, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.answers.reading import read_slots
from sfumato.answers.sheet import check_published
from sfumato.answers.slots import Slots
from sfumato.answers.transition_kernels import add_level, count_keys
from sfumato.errors import ReleaseDamaged
from sfumato.release import AttributeEntry, Release
from sfumato.release.cells import Exact, parse, quote
from sfumato.release.transitions import Transition, read_transitions
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import comparable_type, is_text
from sfumato.schema.text import from_texts, to_texts

Codes = npt.NDArray[np.unsignedinteger[Any]]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

RECORDS = "records"
# Combinations that are counted by a table of all there could be.
_DENSE = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class TransitionAxis:
    """A published column: every record's code in `values`, a missing one being null there.

    `transition` is how cells were replaced, None where they are exact.
    """

    entry: AttributeEntry
    values: pa.Array
    codes: Codes
    transition: Transition | None

    @property
    def name(self) -> str:
        """The attribute's name."""
        return self.entry.name

    @property
    def size(self) -> int:
        """The number of values, a missing one among them."""
        return len(self.values)

    @property
    def counts(self) -> Ints:
        """How many records show each value."""
        return np.bincount(self.codes, minlength=self.size)

    def back(self, functions: Reals) -> Reals:
        """Return estimates by published value of functions (lines) of the true one, unbiased.

        With P the matrix and f a function of the true value, P⁻¹f has the expectation f.
        """
        if self.transition is None:
            return functions
        return np.asarray(functions @ self.transition.inverse.T)

    def allowed(self, of_values: Bools) -> Bools:
        """Return by published value whether a true value of each set (lines) may be behind it."""
        if self.transition is None:
            return of_values
        return (of_values.astype(np.int64) @ (self.transition.matrix > 0)) > 0

    def read(self) -> Slots:
        """Return what the values say, as cells of other layouts are read: a row a value."""
        return read_slots(pa.table({self.name: published_values(self.values)}), self.entry, None)


def read_transition_axis(
    release: Release, transitions: Mapping[str, Transition], name: str
) -> TransitionAxis:
    """Return the column of an attribute.

    Refuses (ParameterError) attributes that are not published; (ReleaseDamaged) cells that do not
    fit the manifest.
    """
    check_published(release, name)
    if RECORDS not in release.tables:
        raise ReleaseDamaged(f"a release of replaced cells has a table '{RECORDS}'")
    entry, own = release.manifest.attribute(name), transitions.get(name)
    found = distinct(release.tables[RECORDS][name], name)
    texts = _texts(entry, found.values)
    if own is not None:
        listed = pa.array(own.values, pa.string())
    elif isinstance(entry.domain, tuple):
        listed = pa.array(entry.listed, pa.string())
    else:
        plain = found.values.cast(comparable_type(found.values.type))
        listed = texts.take(pc.sort_indices(plain)) if len(texts) else texts
    if own is None and (found.codes == len(texts)).any():
        listed = pa.concat_arrays([listed, pa.nulls(1, pa.string())])
    known = pa.concat_arrays([texts, pa.nulls(1, pa.string())])  # a missing cell has the last code
    place = pc.index_in(known, value_set=listed).fill_null(-1)
    places = place.to_numpy(zero_copy_only=False).astype(np.int32)
    if (places[np.unique(found.codes)] < 0).any():
        raise ReleaseDamaged(f"attribute '{name}' has values that the manifest does not list")
    # narrow numbers are fast to go through
    kinds = (np.uint8, np.uint16, np.uint32)
    narrow = next(kind for kind in kinds if len(listed) <= np.iinfo(kind).max)
    return TransitionAxis(entry, _typed(entry, listed), places.astype(narrow)[found.codes], own)


def behind_cells(release: Release, name: str) -> pa.Array:
    """Return, as cells, all values that may be behind those of a column."""
    transitions = read_transitions(release.manifest)
    axis = read_transition_axis(release, transitions, name)
    used = axis.counts > 0
    if axis.transition is not None:
        used = (axis.transition.matrix[:, used] > 0).any(axis=1)
    return published_values(axis.values.filter(pa.array(used)))


def published_values(values: pa.Array) -> pa.Array:
    """Return values as cells: texts in the spelling of the cell grammar."""
    if not is_text(values.type):
        return values
    return pa.array(
        [None if text is None else quote(text) for text in values.to_pylist()], pa.string()
    )


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Published values of a column by what they say: the level of each, and a value of each level.

    Values of one level are told the same, so that one stands for all.
    """

    of_value: npt.NDArray[np.int32]
    example: Ints

    @classmethod
    def every(cls, axis: TransitionAxis) -> Levels:
        """Return a level for each value."""
        return cls(np.arange(axis.size, dtype=np.int32), np.arange(axis.size))


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The combinations of published values that occur: by axis their codes, and how many records
    have each."""

    codes: tuple[Ints, ...]
    counts: Ints

    @classmethod
    def of(cls, axes: Sequence[TransitionAxis], rows: int, levels: Sequence[Levels]) -> Cells:
        """Return the combinations of some columns, by level; of none, one that all records have."""
        keys: npt.NDArray[Any] = np.zeros(rows, np.int32)
        span = 1
        codes: list[Ints] = []
        for axis, own in zip(axes, levels, strict=True):
            size = len(own.example)
            is_dense = span * size <= _DENSE
            if not is_dense:
                keys = keys.astype(np.int64)
            add_level(axis.codes, own.of_value, size, keys)
            if is_dense:
                codes = [np.repeat(each, size) for each in codes]
                codes.append(np.tile(own.example, span))
                span *= size
                continue
            used, found = np.unique(keys, return_inverse=True)
            keys = found.astype(np.int32)
            codes = [each[used // size] for each in codes]
            codes.append(own.example[used % size])
            span = len(used)
        counts = np.zeros(span, np.int64)
        count_keys(keys, counts)
        occurs = np.flatnonzero(counts)
        return cls(tuple(each[occurs] for each in codes), counts[occurs])


def _texts(entry: AttributeEntry, values: pa.Array) -> pa.Array:
    if not is_text(values.type):
        return to_texts(values).cast(pa.string())
    cells = [parse(text) for text in values.to_pylist()]
    if not all(isinstance(cell, Exact) for cell in cells):
        raise ReleaseDamaged(f"attribute '{entry.name}' has cells that are not exact")
    return pa.array([cell.text for cell in cells if isinstance(cell, Exact)], pa.string())


def _typed(entry: AttributeEntry, texts: pa.Array) -> pa.Array:
    if pa.types.is_null(entry.dtype):
        return pa.nulls(len(texts))
    try:
        return from_texts(texts, entry.dtype)
    except (ValueError, pa.ArrowException):
        raise ReleaseDamaged(
            f"attribute '{entry.name}' has values that are not of its type"
        ) from None
