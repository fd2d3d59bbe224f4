"""The working rows of a partitioner, and threads that split them.

A partitioner parts the rows of one matrix in place, so every node of its tree is a contiguous
piece. Nodes are independent: large ones are split one by one, smaller ones are finished by one
thread, and the result does not depend on which thread did what.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import pairwise
from queue import SimpleQueue
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop
from sfumato.rows.exclusions import Exclusions
from sfumato.rows.feasible import Known, Sensitive, new_known
from sfumato.rows.lanes import LANES
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import BLOCK
from sfumato.table.permutation import permutation

Codes = npt.NDArray[np.int32]
Scratch = TypeVar("Scratch")

_SUBTREES_A_THREAD = 16  # below this share of the rows one thread finishes a subtree on its own


@dataclass(frozen=True, slots=True, eq=False)
class WorkingRows:
    """One matrix that holds all a row needs, so that parting rows moves it as a whole.

    Columns: quasi-identifier codes, sensitive codes, the unit and its (unit, value) pairs when
    units repeat, quasi-identifiers that are not cut but tell what is impossible, and last the row's
    number. `layout` says where, and `telling` where all those are that tell what is impossible.
    `begins` marks, in the end, the position where each group begins.
    """

    matrix: Codes
    layout: Sensitive
    unit_count: int
    pair_count: int
    begins: npt.NDArray[np.bool_]
    telling: npt.NDArray[np.int64]
    exclusions: Exclusions | None = None

    @classmethod
    def of(
        cls,
        quasi_identifiers: Sequence[Column],
        table: Table,
        order: npt.NDArray[np.int64] | None = None,
        exclusions: Exclusions | None = None,
        sensitive: Sequence[Column] | None = None,
    ) -> WorkingRows:
        """Return the working rows of a table, in the given order.

        With `sensitive`, those alone of the sensitive columns.
        """
        sensitive = table.sensitive if sensitive is None else sensitive
        codes = [column.codes for column in (*quasi_identifiers, *sensitive)]
        first = len(quasi_identifiers)
        unit, unit_count, pair_count = -1, 0, 0
        if table.units is not None:
            unit, unit_count = len(codes), table.unit_count
            codes.append(table.units)
            for column in sensitive:
                keys = table.units.astype(np.int64) * (column.null_code + 1) + column.codes
                _, pair = np.unique(keys, return_inverse=True)
                codes.append(pair.astype(np.int32))
                pair_count = max(pair_count, int(pair.max()) + 1)
        telling = []
        if exclusions is not None:
            names = [column.name for column in quasi_identifiers]
            for name in exclusions.names:
                if name in names:
                    telling.append(names.index(name))
                else:
                    telling.append(len(codes))
                    codes.append(table[name].codes)
        width = len(codes) + 1
        cells = np.empty(table.rows * width + LANES, dtype=np.int32)  # the last row read by lanes
        matrix = cells[: table.rows * width].reshape(table.rows, width)

        def fill(start: int) -> None:
            block = slice(start, min(start + BLOCK, table.rows))
            rows = np.arange(block.start, block.stop) if order is None else order[block]
            for j, column_codes in enumerate(codes):
                matrix[block, j] = column_codes[block if order is None else rows]
            matrix[block, -1] = rows

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill, range(0, table.rows, BLOCK)))
        nulls = np.array([column.null_code for column in sensitive], dtype=np.int64)
        complete = [not (c.codes == c.null_code).any() for c in sensitive]
        layout = Sensitive(first, len(sensitive), unit, nulls, np.array(complete, dtype=np.bool_))
        begins = np.zeros(table.rows, dtype=np.bool_)
        told = np.array(telling, dtype=np.int64)
        return cls(matrix, layout, unit_count, pair_count, begins, told, exclusions)

    def known(self) -> Known | None:
        """Return what is known of people, with scratch for one thread; None without exclusions."""
        if self.exclusions is None:
            return None
        return new_known(self.layout, self.telling, self.exclusions.excluded)

    def groups(self) -> Groups:
        """Return the groups that `begins` marks."""
        rows, threads = len(self.matrix), os.cpu_count() or 1
        ids = np.empty(rows, dtype=np.int32)
        parts = list(pairwise(np.linspace(0, rows, threads + 1, dtype=np.int64).tolist()))
        begun = np.cumsum([0, *(np.count_nonzero(self.begins[start:end]) for start, end in parts)])

        def number(part: tuple[int, int], before: int) -> None:
            _number_rows(self.matrix, self.begins, *part, before, ids)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(number, parts, (begun[:-1] - 1).tolist()))
        return Groups(ids, int(begun[-1]))


@loop
def _number_rows(
    work: Codes, begins: npt.NDArray[np.bool_], start: int, end: int, before: int, ids: Codes
) -> None:
    """Give the rows start..end the numbers of their groups, the last one `before` them being so."""
    group = before
    for i in range(start, end):
        group += begins[i]
        ids[work[i, -1]] = group


@dataclass(frozen=True, slots=True, eq=False)
class Splitter(Generic[Scratch]):
    """How a partitioner splits: once (-1: no cut), or as far as it goes, marking `begins`."""

    new_scratch: Callable[[], Scratch]
    split: Callable[[int, int, Scratch], int]
    finish: Callable[[int, int, Scratch], None]


def split_all(
    working: WorkingRows, splitter: Splitter[Scratch], within: Groups | None = None
) -> Groups:
    """Return the groups into which the splitter divides the rows, or each group of `within`."""
    rows = len(working.matrix)
    threads = os.cpu_count() or 1
    large = rows // (_SUBTREES_A_THREAD * threads)
    scratches: SimpleQueue[Scratch] = SimpleQueue()
    for _ in range(threads):
        scratches.put(splitter.new_scratch())

    def advance(start: int, end: int) -> list[tuple[int, int]]:
        scratch = scratches.get()
        try:
            if end - start <= large:
                splitter.finish(start, end, scratch)
                return []
            middle = splitter.split(start, end, scratch)
            if middle >= 0:
                return [(start, middle), (middle, end)]
            working.begins[start] = True
            return []
        finally:
            scratches.put(scratch)

    bounds = [0, rows] if within is None else within.offsets.tolist()
    with ThreadPoolExecutor(threads) as pool:
        pending: set[Future[list[tuple[int, int]]]] = {
            pool.submit(advance, start, end) for start, end in pairwise(bounds)
        }
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                pending |= {pool.submit(advance, *part) for part in future.result()}
    return working.groups()


def row_order(
    rows: int, within: Groups | None, rng: np.random.Generator | None
) -> npt.NDArray[np.int64] | None:
    """Return the rows sorted by the groups of `within`, at random inside them if `rng` is given."""
    if rng is None:
        return None if within is None else within.order
    order = permutation(rng, rows)
    return order if within is None else order[np.argsort(within.ids[order], kind="stable")]
