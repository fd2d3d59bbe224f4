"""Rows that share the buckets of several attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.answers.slots import Slots

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """The rows that share buckets with others, those that share all of them together.

    Class c has the rows `rows[starts[c]:starts[c + 1]]`, and in `buckets` the bucket that they
    have of each attribute.
    """

    rows: Codes
    starts: Codes
    buckets: tuple[Codes, ...]


class Meetings:
    """Who meets whom in buckets, for tables of so many rows: found once for some attributes."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._found: dict[tuple[str, ...], Meeting] = {}

    def of(self, several: Sequence[Slots]) -> Meeting:
        """Return which rows share the buckets of all these attributes."""
        names = tuple(slots.entry.name for slots in several)
        if names not in self._found:
            self._found[names] = self._find(several)
        return self._found[names]

    def _find(self, several: Sequence[Slots]) -> Meeting:
        *before, last = several
        rows: npt.NDArray[Any]
        if before:
            met = self.of(before)
            rows = met.rows
            classes = np.repeat(np.arange(len(met.starts) - 1), np.diff(met.starts))
        else:
            rows = np.arange(self.rows)
            classes = np.zeros(self.rows, np.int64)
        bucket = last.of_row[rows] - last.first_bucket
        inside = bucket >= 0
        rows, bucket, classes = rows[inside], bucket[inside], classes[inside]
        keys = classes * max(last.buckets, 1) + bucket
        order = np.argsort(keys, kind="stable")
        rows, keys = rows[order], keys[order]
        is_first = np.ones(len(keys), np.bool_)
        is_first[1:] = keys[1:] != keys[:-1]
        sizes = np.diff(np.append(np.flatnonzero(is_first), len(keys)))
        several_there = np.repeat(sizes > 1, sizes)
        rows, sizes = rows[several_there].astype(np.int32), sizes[sizes > 1]
        starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
        firsts = rows[starts[:-1]]
        buckets = tuple(slots.of_row[firsts] - slots.first_bucket for slots in several)
        return Meeting(rows, starts, buckets)
