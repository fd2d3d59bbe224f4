"""An original table over the domains of a release of sets: ranges for numbers, joint attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.answers.joint_parts import Joint, joints, parts_of_values
from sfumato.answers.reconstruction import default_method, of_sets
from sfumato.answers.set_axes import read_axis, records_of_sets
from sfumato.errors import ParameterError
from sfumato.release import AttributeEntry, Release
from sfumato.release.cells import Exact, Range, parse
from sfumato.schema.attribute import Attribute, Kind
from sfumato.schema.kinds import is_number
from sfumato.schema.schema import Schema
from sfumato.schema.text import from_texts, to_texts
from sfumato.table import Column, Table

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

_MANY = 1_000_000  # rows


def recoded(original: Table, release: Release) -> Table:
    """Return the original with the attributes and values that a release of sets has.

    A number becomes the range that it lies in (an edge is in the lower one), and attributes that
    were randomised as one become one. Attributes without a listed domain stay as they are.

    Refuses (ParameterError) values that the release's domain does not have.
    """
    manifest = release.manifest
    joint = {each.name: each for each in joints(manifest)}
    columns = tuple(
        _joined(original, entry, joint[entry.name])
        if entry.name in joint
        else _recoded(original[entry.name], entry)
        for entry in manifest.attributes
    )
    return Table(Schema(tuple(c.attribute for c in columns)), columns, original.rows)


class Reconstructed:
    """A recoded original, and what `reconstruct` makes of the release; see `margins.Sides`."""

    def __init__(self, original: Table, release: Release, rng: np.random.Generator) -> None:
        self._original = original
        self._method = default_method(release.manifest)
        self._rows = records_of_sets(release).num_rows
        self._rng = rng
        # pairs ask for every attribute again and again; those of a large table take much room
        kept = None if self._rows <= _MANY else 2
        self._axis = lru_cache(kept)(partial(read_axis, release))
        self._codes = lru_cache(kept)(self._coded)

    def counts(self, names: Sequence[str]) -> tuple[Reals, Reals]:
        """Return both cross tables over the values of the release's domain."""
        found = of_sets(self._axis, self._rows, tuple(names), self._method, self._rng)
        cells = np.zeros(self._original.rows, np.int64)
        for name, size in zip(names, found.counts.shape, strict=True):
            cells *= size
            cells += self._codes(name)
        counts = np.bincount(cells, minlength=found.counts.size)
        return counts.astype(np.float64).reshape(found.counts.shape), found.counts

    def _coded(self, name: str) -> Codes:
        """Return the place of every value of the original in the release's domain."""
        column = self._original[name]
        texts = [*to_texts(column.values).to_pylist(), None]
        place = {text: number for number, text in enumerate(self.labels(name))}
        codes = np.array([place.get(text, -1) for text in texts], np.int32)[column.codes]
        if (codes < 0).any():
            raise ParameterError("the original has values that the release's domain does not have")
        return codes

    def correlation(self, names: Sequence[str]) -> tuple[float, float] | None:
        """Return None: values are ranges and sets, not numbers."""
        return None

    def labels(self, name: str) -> tuple[str | None, ...]:
        """Return the values of the release's domain."""
        return tuple(to_texts(self._axis(name).values).to_pylist())


def _recoded(column: Column, entry: AttributeEntry) -> Column:
    if not isinstance(entry.domain, tuple):
        return replace(column, attribute=replace(column.attribute, hierarchy=None), tree=None)
    return _column(entry, _codes(column, entry.listed))


def _joined(original: Table, entry: AttributeEntry, joint: Joint) -> Column:
    combinations = parts_of_values(entry, joint)
    keys, known = np.zeros(original.rows, np.int64), np.zeros(len(combinations), np.int64)
    for number, name in enumerate(joint.parts):
        labels = list(dict.fromkeys(each[number] for each in combinations))
        texts = [text for text in labels if text is not None]
        places = {text: place for place, text in enumerate(texts)} | {None: len(texts)}
        known = known * (len(texts) + 1) + [places[each[number]] for each in combinations]
        keys = keys * (len(texts) + 1) + _codes(original[name], texts)
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known, keys, sorter=order), len(known) - 1)
    codes = order[place]
    if (known[codes] != keys).any():
        raise _outside(entry.name)
    return _column(entry, codes.astype(np.int32))


def _codes(column: Column, labels: Sequence[str]) -> Codes:
    """Return each row's place among the labels of values or ranges; after them, where missing."""
    cells = [parse(label) for label in labels] if is_number(column.values.type) else []
    if any(isinstance(cell, Range) for cell in cells):
        of_value = _ranges(column, cells)
    else:
        found = pc.index_in(to_texts(column.values), value_set=pa.array(labels, pa.string()))
        of_value = found.fill_null(-1).to_numpy(zero_copy_only=False)
    codes = np.append(of_value, len(labels)).astype(np.int32)[column.codes]
    if (codes < 0).any():
        raise _outside(column.name)
    return np.asarray(codes)


def _ranges(column: Column, cells: Sequence[Any]) -> npt.NDArray[np.int64]:
    ends = [
        [cell.text, cell.text] if isinstance(cell, Exact) else [cell.low, cell.high]
        for cell in cells
    ]
    texts = pa.array([text for pair in ends for text in pair], pa.string())
    own = replace(column.attribute, kind=Kind.NUMERIC)
    points = Column(own, np.zeros(0, np.int32), from_texts(texts, column.values.type), column.dtype)
    lows, highs = points.points[::2], points.points[1::2]
    values = replace(column, attribute=own).points
    place = np.minimum(np.searchsorted(highs, values, side="left"), len(highs) - 1)
    inside = (lows[place] <= values) & (values <= highs[place])
    return np.where(inside, place, -1)


def _column(entry: AttributeEntry, codes: Codes) -> Column:
    values = from_texts(pa.array(entry.listed, pa.string()), entry.dtype)
    order = tuple(entry.listed) if entry.kind is Kind.ORDINAL else None
    attribute = Attribute(entry.name, entry.role, kind=entry.kind, order=order)
    # of joint attributes a combination with missing parts is a value; of others it comes last
    return Column(attribute, codes, values, entry.dtype)


def _outside(name: str) -> ParameterError:
    return ParameterError(
        f"the original has values of '{name}' that the release's domain does not have: is it the "
        "table that the release was made from?"
    )
