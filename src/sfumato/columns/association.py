"""How strongly attributes of a table go together, numbers with many values by ten intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.measures.association import phi_squared
from sfumato.schema.attribute import Kind
from sfumato.table import Column

INTERVALS = 10


def associations(columns: Sequence[Column], target: Column) -> list[float]:
    """Return the mean-square contingency of each column with the target.

    A missing value is a value of its own; a numeric attribute with more than ten values is cut
    into ten intervals of equal width first.
    """
    codes = coarse_codes(target)
    return [phi_squared(coarse_codes(column), codes) for column in columns]


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
