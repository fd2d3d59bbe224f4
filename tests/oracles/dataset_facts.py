"""What the tests of synthetic tables measure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def codes(column: pa.ChunkedArray, bins: int | None = None) -> np.ndarray:
    """Dense codes of a column; numbers are cut into `bins` of equal counts."""
    if bins is not None:
        values = column.to_numpy(zero_copy_only=False).astype(float)
        edges = np.nanquantile(values, np.linspace(0, 1, bins + 1)[1:-1])
        return np.searchsorted(edges, values, side="right")
    return column.combine_chunks().dictionary_encode().indices.to_numpy()


def phi_squared(first: np.ndarray, second: np.ndarray) -> float:
    """Mean-square contingency: 0 independent, 1 one determines the other."""
    counts = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(counts, (first, second), 1)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    total = counts.sum()
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / total
    return float(((counts - expected) ** 2 / expected).sum() / total / (min(counts.shape) - 1))


def share(mask: pa.ChunkedArray) -> float:
    return pc.mean(pc.cast(pc.fill_null(mask, False), pa.int8())).as_py()


def rows_where(table: pa.Table, **values: str) -> pa.Table:
    for name, value in values.items():
        table = table.filter(pc.equal(table[name], value))
    return table


def median(column: pa.ChunkedArray) -> float:
    return float(np.nanmedian(column.to_numpy(zero_copy_only=False).astype(float)))
