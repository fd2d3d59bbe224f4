"""Columns some cells of which must not be seen: by a publisher, or by a partitioner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.schema.hierarchy import ROOT, Hierarchy, Tree
from sfumato.schema.text import to_texts
from sfumato.table import Column

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def masked_column(column: Column, hidden: Bools) -> Column:
    """Return the column with its hidden cells made missing, and the codes of others as they are."""
    return replace(column, codes=np.where(hidden, np.int32(column.null_code), column.codes))


def visible_column(column: Column, hidden: Bools, shown: Ints | None = None) -> Column:
    """Return the column as if it had never held its hidden cells, which are missing.

    `shown` says how many other cells have each code in the table of which this is a part; default:
    in this column.

    Codes are its own: the range or domain that losses are relative to is that of the other cells.
    Otherwise groups that lose least would depend on hidden values: whether a lone one is extreme
    could be read off them, even if it is withheld.
    """
    if shown is None:
        shown = np.bincount(column.codes[~hidden], minlength=column.null_code + 1)
    seen = np.flatnonzero(shown[:-1])
    place = places_among(shown)
    values = column.values.take(pa.array(seen))
    return replace(
        column,
        codes=np.where(hidden, np.int32(len(seen)), place[column.codes]),
        values=values,
        tree=None if column.tree is None else _tree(column, values),
    )


def places_among(shown: Ints) -> npt.NDArray[np.int32]:
    """Return the codes that values have among those shown, a missing value's for all others.

    >>> places_among(np.array([2, 0, 1, 0])).tolist()
    [0, 2, 1, 2]
    """
    seen = np.flatnonzero(shown[:-1])
    place = np.full(len(shown), len(seen), dtype=np.int32)
    place[seen] = np.arange(len(seen), dtype=np.int32)
    return place


def _tree(column: Column, values: pa.Array) -> Tree:
    """Return the tree over some of a column's values; their order stays the order of leaves."""
    hierarchy = column.attribute.hierarchy
    assert isinstance(hierarchy, Hierarchy)
    texts = to_texts(values).to_pylist()
    paths = dict(zip(hierarchy.leaves, hierarchy.paths, strict=True))
    rows = [(text, *paths.pop(text)) for text in texts]
    if hierarchy.supplied:  # the policy's domain, whatever the data hold
        rows += [(leaf, *path) for leaf, path in paths.items()]
    return Hierarchy.from_rows(rows or [(ROOT, ROOT)], hierarchy.name).bind(texts)
