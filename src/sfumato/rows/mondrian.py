"""Mondrian: multidimensional partitioning of rows under any conjunction of monotone models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.models import KAnonymity, Model
from sfumato.models.model import rule_book
from sfumato.rows.axes import axes_of
from sfumato.rows.eligibility import bind_to_table, refuse_infeasible
from sfumato.rows.feasible import Sensitive
from sfumato.rows.mondrian_kernel import Options, Scratch, divide, new_scratch, split
from sfumato.table import Groups, Table

Codes = npt.NDArray[np.int32]

_SUBTREES_A_THREAD = 16  # below this share of the rows one thread finishes a subtree on its own


def mondrian(
    table: Table,
    models: Sequence[Model],
    *,
    rng: np.random.Generator,
    strict: bool = True,
    choose: Literal["loss", "widest"] = "loss",
    cut: Literal["best", "median"] = "best",
    categories: Literal["frequency", "value"] = "frequency",
) -> Groups:
    """Return groups of rows, each satisfying every model, cut as finely as the rules allow.

    A node is cut where the NCP of its two parts is lowest (`choose="loss"`), at any value
    (`cut="best"`) or at the median; or, as first published, on the attribute of the widest
    relative range (`choose="widest"`, always at the median). Categories are ordered by their
    `frequency` in the node or by `value`; under a hierarchy cuts follow its nodes. When no cut
    between values is left, `strict=False` parts rows of equal value at the median.

    *Guarantee*: every group satisfies every model. A strict result does not depend on row order;
    a relaxed one breaks ties by `rng`.
    *Refuses*: models that are not monotone, and tables that do not satisfy them as a whole.
    *Source*: LeFevre, DeWitt, Ramakrishnan, ICDE 2006.
    Departs from the paper: cuts are chosen by loss by default, in frequency order for categories.
    """
    for model in models:
        if not model.monotone:
            raise ParameterError(f"mondrian: {model.name} is not preserved when groups are united")
    refuse_infeasible(table, models)
    bound = bind_to_table(table, models)
    book = rule_book(bound, tuple(column.name for column in table.sensitive))
    only_k = table.units is None and all(isinstance(model, KAnonymity) for model in models)
    options = Options(
        by_loss=choose == "loss",
        best_cut=cut == "best" and choose == "loss",
        by_frequency=categories == "frequency",
        relaxed=not strict,
        minimum=max((model.minimum_rows for model in models), default=1),
        size_only=only_k,
    )
    work, layout, units, pairs = _working_rows(
        table, None if strict else rng.permutation(table.rows)
    )
    axes = axes_of(table.quasi_identifiers)
    begins = np.zeros(table.rows, dtype=np.bool_)
    place, side = np.zeros((2, table.rows), dtype=np.uint8)

    def split_once(start: int, end: int, scratch: Scratch) -> int:
        return int(split(work, start, end, axes, layout, book, options, place, side, scratch))

    def finish(start: int, end: int, scratch: Scratch) -> None:
        divide(work, start, end, axes, layout, book, options, place, side, begins, scratch)

    scratches: SimpleQueue[Scratch] = SimpleQueue()
    threads = os.cpu_count() or 1
    for _ in range(threads):
        scratches.put(new_scratch(axes, layout, units, pairs))
    large = table.rows // (_SUBTREES_A_THREAD * threads)

    def advance(start: int, end: int) -> list[tuple[int, int]]:
        scratch = scratches.get()
        try:
            if end - start > large:
                middle = split_once(start, end, scratch)
                if middle >= 0:
                    return [(start, middle), (middle, end)]
                begins[start] = True
            else:
                finish(start, end, scratch)
            return []
        finally:
            scratches.put(scratch)

    with ThreadPoolExecutor(threads) as pool:
        pending: set[Future[list[tuple[int, int]]]] = {pool.submit(advance, 0, table.rows)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                pending |= {pool.submit(advance, *part) for part in future.result()}

    ids = np.empty(table.rows, dtype=np.int32)
    ids[work[:, -1]] = np.cumsum(begins, dtype=np.int32) - 1
    return Groups(ids, int(begins.sum()))


def _working_rows(
    table: Table, order: npt.NDArray[np.int64] | None
) -> tuple[Codes, Sensitive, int, int]:
    """Return one matrix that holds all a row needs, so that parting rows moves it as a whole.

    Columns: quasi-identifier codes, sensitive codes, the unit and its (unit, value) pairs when
    units repeat, and last the row's number. Also where they are, and how many units and pairs.
    """
    codes = [column.codes for column in (*table.quasi_identifiers, *table.sensitive)]
    first = len(table.quasi_identifiers)
    unit, units, pairs = -1, 0, 0
    if table.units is not None:
        unit = len(codes)
        codes.append(table.units)
        units = int(table.units.max()) + 1
        for column in table.sensitive:
            keys = table.units.astype(np.int64) * (column.null_code + 1) + column.codes
            _, pair = np.unique(keys, return_inverse=True)
            codes.append(pair.astype(np.int32))
            pairs = max(pairs, int(pair.max()) + 1)
    work = np.empty((table.rows, len(codes) + 1), dtype=np.int32)
    for j, column_codes in enumerate(codes):
        work[:, j] = column_codes if order is None else column_codes[order]
    work[:, -1] = np.arange(table.rows) if order is None else order
    nulls = np.array([column.null_code for column in table.sensitive], dtype=np.int64)
    return work, Sensitive(first, len(table.sensitive), unit, nulls), units, pairs
