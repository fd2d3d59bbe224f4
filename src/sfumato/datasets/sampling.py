"""Vectorised, repeatable draws in batches: what every synthetic table is made with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import ParameterError
from sfumato.randomness import repeatable

# Small enough that the work arrays of a batch stay in the processor's cache.
BATCH_ROWS = 1 << 18

Codes = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Batch:
    """The random numbers of one run of consecutive rows of a synthetic table.

    Every purpose has a stream of its own. So a cell depends on the seed and on its row alone: a
    shorter table is the beginning of a longer one, and a new column leaves the others as they were.
    """

    table: str
    seed: int
    number: int
    rows: int

    @property
    def first(self) -> int:
        """The number of the batch's first row in the whole table."""
        return self.number * BATCH_ROWS

    def uniform(self, purpose: str) -> Floats:
        """Return one number in [0, 1) for every row."""
        return self._generator(purpose).random(self.rows)

    def normal(self, purpose: str) -> NDArray[np.float32]:
        """Return one standard normal number for every row."""
        return self._generator(purpose).standard_normal(self.rows, dtype=np.float32)

    def chance(self, purpose: str, probability: float | Floats) -> Flags:
        """Return for every row whether an event of the given probability happens."""
        happens: Flags = self.uniform(purpose) < probability
        return happens

    def _generator(self, purpose: str) -> np.random.Generator:
        return repeatable(self.seed, crc32(f"{self.table}.{purpose}".encode()), self.number)


def batches(
    make: Callable[[Batch], pa.RecordBatch], table: str, rows: int, seed: int
) -> Iterator[pa.RecordBatch]:
    """Return an iterator over the record batches of a table of `rows` rows, made on demand."""
    if rows < 1:
        raise ParameterError(f"a synthetic table needs at least 1 row, not {rows}")
    if seed < 0:
        raise ParameterError("the seed of a synthetic table is a whole number from 0 upwards")
    return (
        make(Batch(table, seed, number, min(BATCH_ROWS, rows - first)))
        for number, first in enumerate(range(0, rows, BATCH_ROWS))
    )


class Distribution:
    """A discrete distribution over 0 .. values - 1 for every stratum, in Walker's alias form.

    The last axis of `weights` runs over the values, the axes before it over the strata. A draw
    costs two look-ups whatever the number of values, and a weight of 0 is never drawn.

    >>> coin = Distribution([[1, 0], [0, 3]])           # stratum 0: always 0; stratum 1: always 1
    >>> coin.draw(np.array([0.2, 0.9]), np.array([1, 0])).tolist()
    [1, 0]
    """

    __slots__ = ("_alias", "_cut", "strata", "values")

    def __init__(self, weights: ArrayLike) -> None:
        shares = np.array(weights, dtype=np.float64)
        self.strata: tuple[int, ...] = shares.shape[:-1]
        self.values: int = shares.shape[-1]
        shares = shares.reshape(-1, self.values)
        shares *= self.values / shares.sum(axis=1, keepdims=True)
        cut, alias = _alias_table(shares)
        self._cut = cut.ravel()
        self._alias = alias.astype(np.int16).ravel()

    def draw(self, uniform: Floats, *strata: Codes) -> NDArray[np.int16]:
        """Return one value per number in [0, 1), each from the distribution of its stratum."""
        scaled = uniform * self.values
        value = scaled.astype(np.int16)
        scaled -= value
        slot = value.astype(np.int64)
        if self.strata:
            slot += np.ravel_multi_index(strata, self.strata) * self.values
        drawn: NDArray[np.int16] = np.where(scaled < self._cut[slot], value, self._alias[slot])
        return drawn


def _alias_table(shares: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return (cut, alias) per stratum and value: the poorest slot is filled up by the richest."""
    strata, values = shares.shape
    each = np.arange(strata)
    cut = np.ones((strata, values))
    alias = np.tile(np.arange(values), (strata, 1))
    # What every open slot still holds, twice: a closed slot must be neither poorest nor richest.
    low, high = shares.copy(), shares.copy()
    for _ in range(values - 1):
        poor = low.argmin(axis=1)
        share = low[each, poor]
        low[each, poor], high[each, poor] = np.inf, -np.inf
        rich = high.argmax(axis=1)
        cut[each, poor] = share
        alias[each, poor] = rich
        low[each, rich] -= 1.0 - share
        high[each, rich] -= 1.0 - share
    return cut, alias


def categories(
    codes: Codes, values: pa.Array, *, missing: Flags | None = None, ordered: bool = False
) -> pa.DictionaryArray:
    """Return a dictionary-coded column, a byte or two a row; `missing` rows are null."""
    width = np.int8 if len(values) <= np.iinfo(np.int8).max else np.int16
    indices = pa.array(codes.astype(width), mask=missing)
    return pa.DictionaryArray.from_arrays(indices, values, ordered=ordered)


def spread(count: int, start: float = 0.5) -> Floats:
    """Return `count` numbers in [0, 1) that fill it evenly, in a scattered but fixed order.

    For fixed traits (the wealth of a quarter, say) that should look arbitrary and never change.
    """
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    scattered: Floats = (start + golden * np.arange(count)) % 1.0
    return scattered
