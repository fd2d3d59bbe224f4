"""A published column by its distinct cells: whatever is checked or counted, rows are integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.schema.chunks import codes_of, one_array
from sfumato.schema.distinct import distinct
from sfumato.schema.kinds import comparable_type

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Every row's position among the distinct `cells`; `len(cells)` where the cell is missing."""

    codes: Codes
    cells: pa.Array

    @property
    def null_code(self) -> int:
        """The code of a missing cell."""
        return len(self.cells)

    @property
    def width(self) -> int:
        """A number above every code, that of a masked cell included."""
        return len(self.cells) + 2


def coded(column: pa.ChunkedArray) -> Coded:
    """Return the column by its distinct cells; 0.0 and -0.0 are one value, not two.

    >>> found = coded(pa.chunked_array([["b", None, "a", "b"]]))
    >>> found.codes.tolist(), found.cells.to_pylist()
    ([0, 2, 1, 0], ['b', 'a'])
    """
    array = one_array(column)
    if pa.types.is_null(array.type):
        return Coded(np.zeros(len(array), dtype=np.int32), pa.nulls(0))
    if pa.types.is_integer(array.type):
        found = distinct(column, "")  # much quicker than by hashing
        return Coded(found.codes, found.values)
    if not pa.types.is_dictionary(array.type):
        array = comparable(array)
        if pa.types.is_floating(array.type):
            array = pc.add(array, pa.scalar(0.0, array.type))
        array = array.dictionary_encode()
    codes = codes_of(array.indices, len(array.dictionary))
    return Coded(np.asarray(codes, dtype=np.int32), array.dictionary)


def comparable(values: pa.Array) -> pa.Array:
    """Return the values in a type that Arrow can hash, sort and take the ends of."""
    if pa.types.is_duration(values.type):
        return values.cast(pa.int64())
    return values.cast(comparable_type(values.type))
