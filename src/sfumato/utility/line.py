"""The line that published ranges lie on: where their ends stand, and how far it stretches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.release.cells import Range
from sfumato.schema.attribute import Kind
from sfumato.schema.kinds import comparable_type
from sfumato.schema.text import from_texts, to_texts
from sfumato.table import Column


@dataclass(frozen=True, slots=True)
class Line:
    """The places of values by their texts, and the distance between the outermost two."""

    points: Mapping[str, float]
    extent: float

    @classmethod
    def of(cls, column: Column, listed: Sequence[str], ranges: Sequence[Range]) -> Line:
        """Return the line on which the values of a column lie, and the ends of published ranges.

        An end need not be a value of the column: groups that were cut for other data have the ends
        of those. Values without distances stand by their rank in `listed`, the published domain.

        Refuses (ParameterError) ends that are no values of the column's type or have no rank.
        """
        if not ranges:
            return cls({}, 0.0)
        known = to_texts(column.values).to_pylist()
        more = sorted({end for each in ranges for end in (each.low, each.high)}.difference(known))
        try:
            ends = from_texts(pa.array(more, pa.string()), column.values.type)
            column = _with(column, ends, listed) if more else column
        except (ValueError, KeyError, pa.ArrowException):
            raise ParameterError(
                f"the original's column '{column.name}' holds {column.values.type}, and ranges of "
                "the release are of other values: is it the table that the release was made from?"
            ) from None
        texts = to_texts(column.values).to_pylist()
        points = dict(zip(texts, column.points.tolist(), strict=True))
        # in a release of a wider type an end is not written as the column's own would be
        points |= {
            end: points[own] for end, own in zip(more, to_texts(ends).to_pylist(), strict=True)
        }
        return cls(points, float(np.ptp(column.points)))


def _with(column: Column, more: pa.Array, listed: Sequence[str]) -> Column:
    """Return the column with more values, which no row has, each in its place."""
    own = column.values
    values = pa.concat_arrays([own, more])
    if column.kind is Kind.NUMERIC:
        order = pc.array_sort_indices(values.cast(comparable_type(own.type)))
    else:
        texts = to_texts(values).to_pylist()
        order = pa.array(_merged(texts, len(own), column.attribute.order or listed))
    return replace(column, codes=column.codes.copy(), values=values.take(order))


def _merged(texts: Sequence[str], own: int, listed: Sequence[str]) -> list[int]:
    """Return the places of the texts in order: the first `own` stand in theirs already, and each
    other one before the first of them that `listed` has after it."""
    rank = {text: place for place, text in enumerate(listed)}
    found = list(range(own))
    for new in sorted(range(own, len(texts)), key=lambda place: rank[texts[place]]):
        after = (at for at, old in enumerate(found) if rank.get(texts[old], -1) > rank[texts[new]])
        found.insert(next(after, len(found)), new)
    return found
