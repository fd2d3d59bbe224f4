"""Which columns and small combinations single people out, and minimal sample uniques.

A minimal sample unique (MSU) of a record is a set of columns on which it is the only one, while on
no smaller part of the set it is. With A columns and sets up to size M, an MSU of size s scores
(A - s)(A - s - 1) ... (A - m), m = min(M, A - 1); a record's SUDA score is the sum over its MSUs,
and a column's contribution the share of all scores that comes from MSUs with the column.

Source: Elliot, Manning and Ford, A computational algorithm for handling the special uniques
problem (2002); Manning, Haglin and Keane, A recursive search algorithm for statistical disclosure
assessment (2008).
Departs from the paper: every combination is counted in a few passes over all records instead of a
recursive search, since the sets are small. Uniqueness grows with the set, so an MSU is a set that
singles a record out while none of those with one column less does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.risk.records import Records
from sfumato.risk.unique_kernels import by_hash, by_table

MOST_COMBINATIONS = 20_000
# A table of owners this large stays quicker than hashing.
_TABLE_SLOTS = 1 << 23

Columns = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """Columns, the records of people whom they single out, and for how many they are an MSU."""

    columns: tuple[str, ...]
    uniques: int
    minimal: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {"columns": list(self.columns), "uniques": self.uniques, "minimal": self.minimal}


@dataclass(frozen=True, slots=True)
class Uniques:
    """What all combinations up to `max_size` columns single out.

    `with_msu` counts the records whose smallest MSU has the size; `having` those with one of it.
    """

    max_size: int
    records: int
    combinations: tuple[Combination, ...]
    having: Mapping[int, int]
    with_msu: Mapping[int, int]
    contributions: Mapping[str, float]
    highest_score: float
    mean_score: float

    def of_size(self, size: int) -> list[Combination]:
        """Return the combinations of a size, those that single out most first."""
        found = [each for each in self.combinations if len(each.columns) == size]
        return sorted(found, key=lambda each: (-each.uniques, -each.minimal, each.columns))

    def to_dict(self, most: int | None = None) -> dict[str, Any]:
        """Return plain values that JSON can hold; at most so many combinations of each size."""
        sizes = range(1, self.max_size + 1)
        return {
            "max_size": self.max_size,
            "combinations_examined": len(self.combinations),
            "combinations": [each.to_dict() for s in sizes for each in self.of_size(s)[:most]],
            "records_with_minimal_unique": {str(s): self.having.get(s, 0) for s in sizes},
            "records_by_smallest": {str(s): self.with_msu.get(s, 0) for s in sizes},
            "suda": {
                "highest": self.highest_score,
                "mean": self.mean_score,
                "contributions": dict(self.contributions),
            },
        }


def uniques_of(records: Records, max_size: int = 3) -> Uniques:
    """Return what every combination of up to `max_size` columns singles out.

    Refuses (ParameterError) a size below 1, and more than 20,000 combinations.
    """
    search = _Search(records, _checked_size(len(records.names), max_size))
    return search.run()


def _checked_size(columns: int, max_size: int) -> int:
    if max_size < 1:
        raise ParameterError("combinations have 1 column or more: --max-size must be at least 1")
    size = min(max_size, columns)
    count = sum(math.comb(columns, each) for each in range(1, size + 1))
    if count > MOST_COMBINATIONS:
        raise ParameterError(
            f"{columns} columns have {count} combinations of up to {size}, and "
            f"{MOST_COMBINATIONS} are the most: lower --max-size, or give fewer columns a role "
            "that is known"
        )
    return size


class _Search:
    """All combinations, a size after the other: a size needs the bits of the one before."""

    def __init__(self, records: Records, max_size: int) -> None:
        self.records = records
        self.max_size = max_size
        self.units = np.empty(0, np.int32) if records.units is None else records.units
        self.alone = np.empty(records.count, np.bool_)
        self.table = np.empty(0, np.int32)
        self.slots = 1 << max(1, (2 * records.count - 1).bit_length())
        self.keys = np.empty(0, np.int64)
        self.owners = np.empty(0, np.int32)
        self.scratch = [np.empty(records.count, np.int32) for _ in range(max_size)]

    def run(self) -> Uniques:
        records, columns = self.records, len(self.records.names)
        scores = np.zeros(records.count)
        contributions = np.zeros(columns)
        found: list[Combination] = []
        before: dict[Columns, npt.NDArray[np.uint8]] = {}
        having, smallest = {}, {}
        seen = np.zeros(0, np.uint8)
        for size in range(1, self.max_size + 1):
            worth = suda_score(size, columns, self.max_size)
            bits: dict[Columns, npt.NDArray[np.uint8]] = {}
            any_of_size = np.zeros((records.count + 7) // 8, np.uint8)
            for chosen in self._alone(size):
                unique = np.packbits(self.alone)
                minimal = unique.copy()
                for part in combinations(chosen, size - 1) if size > 1 else ():
                    minimal &= ~before[part]
                count = int(np.bitwise_count(minimal).sum())
                names = tuple(records.names[each] for each in chosen)
                found.append(Combination(names, int(np.bitwise_count(unique).sum()), count))
                if count:
                    any_of_size |= minimal
                    scores[_rows_of(minimal, records.count)] += worth
                    contributions[list(chosen)] += worth * count
                if size < self.max_size:
                    bits[chosen] = unique
            before = bits
            having[size] = int(np.bitwise_count(any_of_size).sum())
            seen = seen if len(seen) else np.zeros_like(any_of_size)
            smallest[size] = int(np.bitwise_count(any_of_size & ~seen).sum())
            seen |= any_of_size
        total = float(scores.sum())
        return Uniques(
            self.max_size,
            records.count,
            tuple(found),
            having,
            smallest,
            dict(zip(records.names, (contributions / (total or 1.0)).tolist(), strict=True)),
            float(scores.max(initial=0.0)),
            total / max(records.count, 1),
        )

    def _alone(self, size: int) -> Iterator[Columns]:
        """Yield the combinations of a size, each with `self.alone` as it leaves it."""
        everyone = np.zeros(self.records.count, np.int32)
        yield from self._extend((), everyone, 1, size)

    def _extend(
        self, chosen: Columns, groups: npt.NDArray[np.int32], count: int, size: int
    ) -> Iterator[Columns]:
        first = chosen[-1] + 1 if chosen else 0
        left = size - len(chosen)
        finer = self.scratch[len(chosen)]
        for column in range(first, len(self.records.names) - left + 1):
            made = self._split(groups, count, column, finer)
            if left == 1:
                yield (*chosen, column)
            else:
                yield from self._extend((*chosen, column), finer, made, size)

    def _split(
        self,
        groups: npt.NDArray[np.int32],
        count: int,
        column: int,
        finer: npt.NDArray[np.int32],
    ) -> int:
        codes, width = self.records.codes[column], self.records.widths[column]
        span = count * width
        if span <= max(_TABLE_SLOTS, 4 * self.records.count):
            if len(self.table) < span:
                self.table = np.empty(span, np.int32)
            owners = self.table[:span]
            return by_table(groups, codes, width, self.units, owners, self.alone, finer)
        if not len(self.keys):
            self.keys = np.empty(self.slots, np.int64)
            self.owners = np.empty(self.slots, np.int32)
        return by_hash(groups, codes, width, self.units, self.keys, self.owners, self.alone, finer)


def suda_score(size: int, columns: int, max_size: int) -> float:
    """Return what an MSU of a size scores.

    >>> [suda_score(size, 3, 3) for size in (1, 2, 3)]
    [2.0, 1.0, 1.0]
    """
    last = min(max_size, columns - 1)
    return float(math.prod(columns - i for i in range(size, last + 1)))


def _rows_of(bits: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.unpackbits(bits, count=count))


def most_telling(uniques: Uniques, sizes: Sequence[int], most: int) -> list[Combination]:
    """Return the combinations that single out most people, some of each size."""
    return [each for size in sizes for each in uniques.of_size(size)[:most] if each.uniques]
