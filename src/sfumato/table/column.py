"""A coded column: integers that stand for the sorted distinct values of one attribute."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.schema.attribute import Attribute, Kind
from sfumato.schema.distinct import count_codes
from sfumato.schema.hierarchy import Tree


@dataclass(frozen=True, eq=False)
class Column:
    """An immutable coded column.

    `codes[i]` is the position of row i's value in `values`, or `null_code` where it is missing.
    `values` are the distinct non-missing values in code order: ascending for numeric kinds, in
    the stated order for ordinal ones, in leaf order under a hierarchy (so that a hierarchy node
    is a range of codes), and ascending otherwise. `dtype` is the type that decoding restores.
    `attribute.kind` is never None here. `misses` says whether a value is missing in the table of
    which this column is a part; None where the codes tell.
    """

    attribute: Attribute
    codes: npt.NDArray[np.int32] = field(repr=False)
    values: pa.Array = field(repr=False)
    dtype: pa.DataType
    tree: Tree | None = field(default=None, repr=False)
    misses: bool | None = None

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False

    @property
    def name(self) -> str:
        """The attribute's name."""
        return self.attribute.name

    @property
    def kind(self) -> Kind:
        """The attribute's kind, resolved."""
        assert self.attribute.kind is not None
        return self.attribute.kind

    @property
    def cardinality(self) -> int:
        """The number of distinct non-missing values."""
        return len(self.values)

    @property
    def null_code(self) -> int:
        """The code of a missing value: one past the last value."""
        return len(self.values)

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing, here or in the rest of the table."""
        if self.misses is not None:
            return self.misses
        return bool((self.codes == self.null_code).any())

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of rows with each value and, last, without one."""
        counts = count_codes(self.codes, self.cardinality + 1)
        counts.flags.writeable = False
        return counts

    @cached_property
    def points(self) -> npt.NDArray[np.float64]:
        """The values' positions on the number line: themselves if numeric, else their ranks.

        Where the largest float is less than their range, they stand in a quarter of their size.
        """
        if self.kind is not Kind.NUMERIC:
            return np.arange(self.cardinality, dtype=np.float64)
        values = self.values
        if pa.types.is_temporal(values.type):
            wide = pa.types.is_date32(values.type) or pa.types.is_time32(values.type)
            values = values.cast(pa.int32()).cast(pa.int64()) if wide else values.cast(pa.int64())
        points = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        if len(points) and float(points[-1]) - float(points[0]) == np.inf:
            return points / 4  # or no range would have a finite width
        return points
