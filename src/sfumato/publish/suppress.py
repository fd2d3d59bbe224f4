"""Suppressed cells: exact where the rows of a group agree, and else withheld."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.exact import dictionary_column, exact_column
from sfumato.publish.group_cells import group_spans
from sfumato.release import cells
from sfumato.schema.text import to_texts
from sfumato.table import Column, Groups

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


def differing(column: Column, groups: Groups) -> Bools:
    """Return the groups whose rows do not agree; a missing value is one like any other.

    >>> import sfumato as sf
    >>> table = sf.encode(pa.table({"age": [7, None, 7]}), sf.Schema.of(age="quasi-identifier"))
    >>> differing(table["age"], Groups(np.array([0, 0, 1], np.int32), 2)).tolist()
    [True, False]
    """
    spans = group_spans(groups.ids, groups.count, column.codes, column.null_code)
    return np.asarray((spans.low != spans.high) | (spans.with_null & (spans.low >= 0)))


def suppressed_column(column: Column, codes: Codes, hidden: Bools) -> tuple[pa.Array, Codes]:
    """Return the cells of rows, `*` for hidden ones, and the codes that others show."""
    shown = codes[~hidden]
    named = np.unique(shown[shown < column.null_code]).astype(np.int32)
    if not hidden.any():
        return exact_column(column, codes), named
    texts = [cells.quote(text) for text in to_texts(column.values).to_pylist()]
    places = np.where(codes == column.null_code, -1, codes)
    return dictionary_column(np.where(hidden, len(texts), places), [*texts, cells.STAR]), named
