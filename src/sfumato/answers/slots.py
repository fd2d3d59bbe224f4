"""What the cells of one published attribute can mean.

Rows that are told the same about their value share a *slot*: a generalised cell, or a bucket. What
a slot may hold is a list of *atoms*: the values that it names; a missing value; for an ordinal
attribute the gaps between listed values, since a range may cover one that is listed nowhere; and
`unknown` for any other value that is named nowhere. Weights say how many there are of each (in a
bucket), or that all are equally likely (in a cell); gaps and unknown values have none. Ranges of
numbers are kept as ranges, since they may hold more values than can be listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.number_line import NumberLine, Ticks
from sfumato.release import AttributeEntry

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Rows: TypeAlias = slice | Ints


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """The slots that hold a range of numbers, and its ends."""

    slot: Ints
    low: Ticks
    high: Ticks


@dataclass(frozen=True, eq=False)
class Slots:
    """One attribute: the slot of every row, and what each slot may hold.

    Entry j says that slot `slot[j]` may hold `atom[j]` with `weight[j]`. Atoms are numbered: the
    named `values`, of which the first `listed` are those of an ordinal attribute in their order;
    then `gaps` between these; then unknown, then missing. Slots from `first_bucket` on are buckets.
    `order` are an ordinal attribute's values from low to high.
    """

    entry: AttributeEntry
    values: pa.Array
    order: pa.Array | None
    listed: int
    count: int
    first_bucket: int
    of_row: Codes
    slot: Codes
    atom: Codes
    weight: Codes
    ranges: Ranges
    line: NumberLine | None

    @property
    def gaps(self) -> int:
        """How many gaps there are between listed values."""
        return max(self.listed - 1, 0)

    @property
    def unknown(self) -> int:
        """The atom that stands for any value that is named nowhere."""
        return len(self.values) + self.gaps

    @property
    def missing(self) -> int:
        """The atom of a missing value."""
        return self.unknown + 1

    @property
    def atoms(self) -> int:
        """The number of atoms."""
        return self.missing + 1

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return self.count - self.first_bucket

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What was found out about the slots, by the predicates that were asked."""
        return {}

    @cached_property
    def named(self) -> frozenset[Any]:
        """The named values."""
        return frozenset(self.values.to_pylist())

    @cached_property
    def has_unknown(self) -> bool:
        """Whether some slot may hold a value that is named nowhere."""
        return bool((self.atom == self.unknown).any())

    @cached_property
    def is_exact(self) -> bool:
        """Whether every slot holds one value, or is missing for sure."""
        alone = self.count == len(self.slot) and not len(self.ranges.slot)
        return alone and not self.has_unknown

    @cached_property
    def inside(self) -> Rows:
        """The rows whose cell is in a bucket."""
        return _rows(self.of_row >= self.first_bucket)

    @cached_property
    def outside(self) -> Rows:
        """The rows whose cell is in no bucket."""
        return _rows(self.of_row < self.first_bucket)

    @cached_property
    def has_outside(self) -> bool:
        """Whether some cells are in no bucket."""
        return bool((self.of_row < self.first_bucket).any())

    @cached_property
    def bucket(self) -> Codes:
        """The buckets of the rows that are in one."""
        return self.of_row[self.inside] - self.first_bucket

    @cached_property
    def entries(self) -> Ints:
        """The number of entries of each slot."""
        return np.bincount(self.slot, minlength=self.count)

    @cached_property
    def weights(self) -> npt.NDArray[np.float64]:
        """The summed weight of each slot's entries."""
        return self.total(self.weight)

    @cached_property
    def bucket_sizes(self) -> Ints:
        """The number of rows in each bucket."""
        return np.bincount(self.bucket, minlength=self.buckets)

    def total(self, amounts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the sum of an amount an entry, by slot."""
        return np.bincount(self.slot, amounts, minlength=self.count).astype(np.float64)


def _rows(chosen: npt.NDArray[np.bool_]) -> Rows:
    """Return the chosen rows: all of them as a slice, which picks without a copy."""
    return slice(None) if chosen.all() else np.flatnonzero(chosen)
