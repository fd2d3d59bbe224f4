"""How strongly attributes of a table go together, numbers with many values by ten intervals."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.measures.association import phi_squared
from sfumato.schema.attribute import Kind
from sfumato.table import Column
from sfumato.table.kinds import Kinds
from sfumato.table.whole import Ints, Whole

INTERVALS = 10


def associations(
    columns: Sequence[Column],
    target: Column,
    whole: Whole | None = None,
    alike: Ints | None = None,
) -> list[float]:
    """Return the mean-square contingency of each column with the target, as `association` has it.

    Where columns are those of a part of a table, the `whole` tells.
    """
    strength = association([*columns, target], whole, alike)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(lambda column: strength(column, target), columns))


def association(
    columns: Sequence[Column], whole: Whole | None = None, alike: Ints | None = None
) -> Callable[[Column, Column], float]:
    """Return what tells the mean-square contingency of any two of the columns.

    A missing value is a value of its own; a numeric attribute with more than ten values is cut
    into ten intervals of equal width first. Each row counts once, or as often as `alike` says.
    """
    if whole is None:
        kinds = Kinds.of(columns) if alike is None else None
        shown, alike = (columns, alike) if kinds is None else (kinds.columns, kinds.counts)
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            codes = dict(zip(map(id, columns), threads.map(coarse_codes, shown), strict=True))
        return lambda one, other: phi_squared(codes[id(one)], codes[id(other)], alike)
    counts = whole

    def in_whole(one: Column, other: Column) -> float:
        joint = counts.joint(one.name, other.name)
        lines = (_of_lines(one, joint.codes[0]), _of_lines(other, joint.codes[1]))
        return phi_squared(*lines, joint.counts)

    return in_whole


def _of_lines(column: Column, codes: Ints) -> npt.NDArray[np.int32]:
    return coarse_codes(replace(column, codes=codes.astype(np.int32)))


def coarse_codes(column: Column) -> npt.NDArray[np.int32]:
    """Return the codes, or for a number with many values those of ten equally wide intervals."""
    if column.kind is not Kind.NUMERIC or column.cardinality <= INTERVALS:
        return column.codes
    points = column.points
    low, high = float(points.min()), float(points.max())
    # whole numbers too large for a float may fall together
    share = (points - low) / (high - low) if high > low else np.zeros_like(points)
    interval = np.minimum((share * INTERVALS).astype(np.int32), INTERVALS - 1)
    return np.append(interval, np.int32(INTERVALS))[column.codes]
