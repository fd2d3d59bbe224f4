"""How many rows of a staged table have each combination of codes: counted in tasks, added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.exchange import exchange
from sfumato.engines.spark.staged import Staged, arrays_of, mixed, staged_names
from sfumato.rows.coarse_cuts import CutTree
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.table import Table
from sfumato.table.whole import Joint, column_of, counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Ints = npt.NDArray[np.int64]
Names = tuple[str, ...]

# Combinations that are counted in an array with a place for each, whether it occurs or not.
_DENSE = 1 << 20
_DENSE_IN_ALL = 1 << 24
_LARGEST_KEY = 2**62
# Lines that are gathered before those with the same codes are added up.
_MOST_LINES = 1 << 20
_PART = "part"


@dataclass(frozen=True, slots=True, eq=False)
class StagedCounts:
    """The counts of a staged table, as plans of cuts ask for them (`rows/coarse_cuts.py`)."""

    session: SparkSession
    staged: Staged
    frame: Table

    def joints(
        self, tree: CutTree, parts: Sequence[int], asked: Sequence[Names]
    ) -> Sequence[Joint]:
        """Return for each of `asked` the joint counts of (part, column, ...) in these parts."""
        staged, frame, wanted = self.staged, self.frame, [tuple(names) for names in asked]
        used = list(dict.fromkeys([*tree.columns, *(n for names in wanted for n in names)]))
        widths, read = {name: _width(frame, name) for name in used}, staged_names(used)
        kept = np.array(sorted(parts), np.int64)

        def hand_out(task: int) -> Iterator[tuple[int, pa.Table]]:
            counters = _counters(wanted, {**widths, _PART: len(kept)})
            for batch in staged.read(task, read):
                codes: dict[str, npt.NDArray[np.integer[Any]]]
                codes = {**arrays_of(batch, frame, used)}
                part = tree.part_of({name: codes[name] for name in tree.columns}, batch.num_rows)
                place = np.minimum(np.searchsorted(kept, part), len(kept) - 1)
                here = np.flatnonzero(kept[place] == part)
                if len(here) < batch.num_rows:
                    codes = {name: each[here] for name, each in codes.items()}
                    place = place[here]
                codes[_PART] = place
                for counter in counters:
                    counter.add(codes)
            for number in range(len(wanted)):
                yield number, _as_table(counters.pop(0).joint())

        def work_on(_: int, lines: Iterator[pa.Table]) -> Joint:
            return _united(lines)

        found = exchange(self.session, staged.files, hand_out, len(wanted), work_on)
        return [Joint((kept[joint.codes[0]], *joint.codes[1:]), joint.counts) for joint in found]

    def whole(self, asked: Sequence[Names]) -> list[Joint]:
        """Return the joint counts of columns in all rows."""
        if not asked:
            return []
        found = self.joints(CutTree(), [0], asked)
        return [Joint(joint.codes[1:], joint.counts) for joint in found]

    def commonest(self, names: Names) -> int:
        """Return how many rows have the commonest combination of columns."""
        staged, frame, buckets = self.staged, self.frame, min(self.staged.files, 16)

        def hand_out(task: int) -> Iterator[tuple[int, pa.Table]]:
            parts = []
            for batch in staged.read(task, staged_names(names)):
                codes = list(arrays_of(batch, frame, names).values())
                parts.append(_as_table(counted(codes, np.ones(batch.num_rows, np.int64))))
            if not parts:
                return
            table = _as_table(_united(iter(parts)))
            codes = [table[str(place)].to_numpy() for place in range(len(names))]
            bucket = mixed(codes) % np.uint64(buckets)
            for at in np.unique(bucket).tolist():
                yield int(at), table.filter(pa.array(bucket == at))

        def work_on(_: int, lines: Iterator[pa.Table]) -> int:
            return int(_united(lines).counts.max(initial=0))

        return max(exchange(self.session, staged.files, hand_out, buckets, work_on))


class _Counter:
    """Adds up the rows of combinations of columns, each of which has so many codes.

    A combination is one number; where there are too many for that, it is a line of codes.
    """

    def __init__(self, names: Names, widths: Sequence[int], dense: bool) -> None:
        self._names, self._widths = names, widths
        self._sums = np.zeros(prod(widths), np.int64) if dense else None
        self._keys = self._counts = np.zeros(0, np.int64)
        self._lines: Joint | None = None

    def add(self, codes: Mapping[str, npt.NDArray[np.integer[Any]]]) -> None:
        """Count the rows of a batch."""
        own = [codes[name] for name in self._names]
        if prod(self._widths) > _LARGEST_KEY:
            found = counted(own, np.ones(len(own[0]), np.int64))
            both = [found] if self._lines is None else [self._lines, found]
            self._lines = _united(iter([_as_table(each) for each in both]))
            return
        keys = np.zeros(len(own[0]), np.int64)
        for each, width in zip(own, self._widths, strict=True):
            keys *= width
            keys += each
        if self._sums is not None:
            self._sums += np.bincount(keys, minlength=len(self._sums))
            return
        found_keys, counts = np.unique(keys, return_counts=True)
        together = np.concatenate([self._keys, found_keys])
        self._keys, place = np.unique(together, return_inverse=True)
        sums = np.zeros(len(self._keys), np.int64)
        np.add.at(sums, place, np.concatenate([self._counts, counts]))
        self._counts = sums

    def joint(self) -> Joint:
        """Return the counts of all combinations that occur."""
        if prod(self._widths) > _LARGEST_KEY:
            nothing = np.zeros(0, np.int64)
            return self._lines or Joint((nothing,) * len(self._names), nothing)
        keys, counts = self._keys, self._counts
        if self._sums is not None:
            keys = np.flatnonzero(self._sums)
            counts = self._sums[keys]
        codes: list[Ints] = []
        for width in reversed(self._widths):
            keys, code = np.divmod(keys, width)
            codes.append(code)
        return Joint(tuple(reversed(codes)), counts)


def _counters(asked: Sequence[Names], widths: Mapping[str, int]) -> list[_Counter]:
    left, found = _DENSE_IN_ALL, []
    for names in asked:
        own = (_PART, *names)
        sizes = [widths[name] for name in own]
        dense = prod(sizes) <= min(_DENSE, left)
        left -= prod(sizes) if dense else 0
        found.append(_Counter(own, sizes, dense))
    return found


def _width(frame: Table, name: str) -> int:
    """Return how many codes there are under a name (of `table.whole.codes_of`)."""
    is_flag = name.endswith(RESERVED_SUFFIX) and not name.endswith(2 * RESERVED_SUFFIX)
    return 2 if is_flag else column_of(frame, name).null_code + 1


def _as_table(joint: Joint) -> pa.Table:
    names = [*(str(place) for place in range(len(joint.codes))), "rows"]
    return pa.table([*(codes.astype(np.int32) for codes in joint.codes), joint.counts], names=names)


def _united(lines: Iterator[pa.Table]) -> Joint:
    """Return the counts of all tables together, never holding many more lines than there are."""
    held: list[pa.Table] = []
    for table in lines:
        held.append(table)
        if len(held) > 1 and sum(each.num_rows for each in held[1:]) > _MOST_LINES:
            held = [_as_table(_summed(held))]
    return _summed(held) if held else Joint((), np.zeros(0, np.int64))


def _summed(tables: Sequence[pa.Table]) -> Joint:
    table = pa.concat_tables(tables)
    arrays = [table[name].to_numpy() for name in table.column_names]
    return counted(arrays[:-1], arrays[-1])
