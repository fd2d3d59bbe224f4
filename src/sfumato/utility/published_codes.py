"""Exact published cells in the codes of the original table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.release.cells import Exact, parse
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import is_text
from sfumato.schema.text import to_texts
from sfumato.table import Column


def published_codes(cells: pa.ChunkedArray, column: Column) -> npt.NDArray[np.int32]:
    """Return the code that every cell's value has in the original column.

    Refuses (ParameterError) generalised cells, and values that the original does not have.
    """
    found = distinct(cells, column.name)
    texts = to_texts(found.values)
    if is_text(found.values.type):
        texts = pa.array([_exact(cell, column.name) for cell in texts.to_pylist()], pa.string())
    places = pc.index_in(texts, to_texts(column.values))
    if places.null_count:
        raise ParameterError(
            f"the release has values of '{column.name}' that the original table does not have"
        )
    codes = np.append(places.to_numpy(zero_copy_only=False), column.null_code).astype(np.int32)
    return np.asarray(codes[found.codes])


def _exact(cell: str, name: str) -> str:
    read = parse(cell)
    if not isinstance(read, Exact):
        raise ParameterError(f"'{name}' is generalised in the release, and must be exact here")
    return read.text
