"""The information loss of means: the share of an attribute's variation that groups have lost.

*Source*: Domingo-Ferrer and Mateo-Sanz, TKDE 2002: SSE/SST, where SSE sums the squared distances of
all values to the means of their groups, and SST those to the mean of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.table import Table

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """SSE/SST of all attributes in units of their standard deviations, and of each attribute.

    The first is the mean of the others; an attribute that does not vary has lost nothing, and is
    left out of it.
    """

    mean: float
    by_attribute: Mapping[str, float]


def information_loss(release: Release, original: Table) -> InformationLoss:
    """Return what the means of a release have lost, beside the original.

    Which row is in which group is not published, and not needed: the mean of a group takes the sum
    of squares n·m² out of that of its values.

    Refuses (ParameterError) a release without means of groups.
    """
    names = [e.name for e in release.manifest.attributes if e.name in _means(release)]
    found, vary = {}, []
    for name in names:
        column = original[name]
        counts = np.bincount(column.codes, minlength=column.null_code + 1)[:-1]
        points, means = column.points, _numbers(release.tables["records"][name], original, name)
        if not len(points) or points[-1] == points[0]:
            found[name] = 0.0
            continue
        centre = float(points @ (counts / counts.sum()))
        # in units of the range, or squares of the largest numbers would overflow
        width = float(points[-1] - points[0])
        whole = float(((points - centre) / width) ** 2 @ counts)
        between = float((((means - centre) / width) ** 2).sum())
        found[name] = min(max(1 - between / whole, 0.0), 1.0)
        vary.append(found[name])
    return InformationLoss(float(np.mean(vary)) if vary else 0.0, found)


def _means(release: Release) -> frozenset[str]:
    names = microaggregated(release.manifest)
    if not names:
        raise ParameterError("SSE/SST is defined for means of groups, and this release has none")
    return names


def _numbers(cells: pa.ChunkedArray, original: Table, name: str) -> Reals:
    """Return the means that are there, on the original's number line."""
    values = pc.drop_null(cells).combine_chunks()
    if pa.types.is_temporal(values.type):
        narrow = pa.types.is_date32(values.type) or pa.types.is_time32(values.type)
        values = values.cast(pa.int32() if narrow else pa.int64())
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    column = original[name]
    with np.errstate(over="ignore"):
        ends = pc.min_max(column.values) if not pa.types.is_temporal(column.values.type) else None
        # without any value there are no ends
        if ends is None or not ends["max"].is_valid:
            return np.asarray(numbers)
        if float(ends["max"].as_py()) - float(ends["min"].as_py()) == np.inf:
            return np.asarray(numbers / 4)  # as `Column.points` has them
    return np.asarray(numbers)
