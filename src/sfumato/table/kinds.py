"""Rows of a table of few values by kind: those that agree in all columns, looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from sfumato.schema.distinct import count_codes, looked_up
from sfumato.table.column import Column
from sfumato.table.groups import BLOCK

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The combinations of codes that occur in some columns, in the order of the codes.

    `columns` have a row for each of them, `counts` says how many rows of the table are of that
    kind. `keys` number what may occur, by row of the table, and `occurring` is what does.
    """

    columns: tuple[Column, ...]
    counts: Ints
    keys: Codes
    occurring: Ints

    @classmethod
    def of(cls, columns: Sequence[Column]) -> Kinds | None:
        """Return the kinds of rows; None where more might occur than there are rows.

        >>> import pyarrow as pa
        >>> from sfumato.schema import Schema
        >>> from sfumato.table import encode
        >>> people = pa.table({"sex": ["f", "m", "f", "f", "m"]})
        >>> kinds = Kinds.of(encode(people, Schema.of(sex="quasi-identifier")).columns)
        >>> kinds.counts.tolist(), kinds.of_rows(np.array([7, 8], np.int32)).tolist()
        ([3, 2], [7, 8, 7, 7, 8])
        """
        widths = [column.cardinality + 1 for column in columns]
        span, rows = prod(widths), len(columns[0].codes)
        if span > rows:
            return None
        keys = np.zeros(rows, np.int32)
        for start in range(0, rows, BLOCK):
            part = keys[start : start + BLOCK]
            for column, width in zip(columns, widths, strict=True):
                part *= width
                part += column.codes[start : start + BLOCK]
        many = count_codes(keys, span)
        occurring = np.flatnonzero(many)
        codes = np.unravel_index(occurring, widths)
        held = (
            replace(column, codes=own.astype(np.int32))
            for column, own in zip(columns, codes, strict=True)
        )
        return cls(tuple(held), many[occurring], keys, occurring)

    def of_rows(self, numbers: Codes) -> Codes:
        """Return the number of every row of the table, given those of the kinds."""
        by_key = np.zeros(int(self.occurring[-1]) + 1, np.int32)
        by_key[self.occurring] = numbers
        return looked_up(by_key, self.keys)
