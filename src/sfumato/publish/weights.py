"""The weights that a release has: for every record the mean of its group's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.release.weights import rounded
from sfumato.table import Groups, Table

# Smaller floats have fewer digits.
_LEAST = float(np.finfo(np.float64).tiny)


def add_weights(
    columns: dict[str, pa.Array], table: Table, groups: Groups, ids: npt.NDArray[np.int32]
) -> str | None:
    """Add the column of weights, if there are any, and return its name; rows are of groups `ids`.

    Refuses (ParameterError) weights so large or small that their means lack digits.
    """
    name = table.schema.weight
    if table.weights is None or name is None:
        return None
    totals = np.bincount(groups.ids, table.weights, minlength=groups.count)
    means = totals / groups.sizes
    if not (np.isfinite(totals.sum()) and (means >= _LEAST).all()):
        raise ParameterError(f"the weights of column '{name}' are too large or too small to add up")
    columns[name] = pa.array(rounded(means)[ids])
    return name
