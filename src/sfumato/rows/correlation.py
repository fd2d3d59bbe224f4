"""The correlation-ordered partition: rows alike in what tells most of their sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numba
import numpy as np
import numpy.typing as npt

from sfumato.columns.association import associations
from sfumato.errors import ParameterError
from sfumato.models import LDiversity
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.rows.eligible_runs import (
    Counter,
    Pile,
    Values,
    join_runs,
    new_counter,
    new_pile,
    values_of,
)
from sfumato.rows.sorting import sort_first
from sfumato.table import Column, Groups, Table
from sfumato.table.whole import Whole

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def correlation_order(
    columns: Sequence[Column], sensitive: Sequence[Column], whole: Whole | None = None
) -> list[Column]:
    """Return the columns from the most to the least associated with a sensitive attribute.

    With several sensitive attributes, the strongest of a column's associations counts. Where
    columns are those of a part of a table, the `whole` tells.
    """
    strongest = np.max([associations(columns, target, whole) for target in sensitive], axis=0)
    order = np.argsort(-np.asarray(strongest), kind="stable")
    return [columns[i] for i in order]


def correlation_partition(
    table: Table,
    sensitive: Sequence[str],
    l: int,  # noqa: E741
    *,
    rng: np.random.Generator,
    merged: Literal["split", "final"] = "split",
) -> Groups:
    """Return l-eligible groups of rows that agree in what is most associated with the values.

    All rows are sorted by the quasi-identifier that is most associated with the sensitive
    attribute, and cut wherever it changes; a part that is not l-eligible joins a random neighbour
    until it is. Each part is then sorted and cut by the next attribute, and so on. Groups are
    numbered in the order of the sort: those of neighbouring numbers are alike.

    `merged` says what becomes of joined parts: they are cut further (`split`), or not (`final`, to
    the letter of the paper, which leaves a table in one piece when its first attribute cannot cut
    it).

    *Guarantee*: frequency l-diversity of every named attribute in every group.
    *Refuses*: an attribute whose commonest value has more than 1/l of the rows that have one.
    *Source*: Zhu, Tian, Du, Xie, "Anonymization on Refining Partition", Algorithm 1.
    Departs from the paper: joined parts are cut further by default; several sensitive attributes;
    missing values count for nothing.
    """
    if not table.quasi_identifiers:
        raise ParameterError("the correlation partition needs at least one quasi-identifier")
    refuse_infeasible(table, [LDiversity(name, l) for name in sensitive])
    targets = [table[name] for name in sensitive]
    columns = correlation_order(table.quasi_identifiers, targets, table.whole)
    order = np.arange(table.rows)  # sorted block by block, as each is cut
    codes = np.stack([column.codes for column in columns])
    widths = np.array([column.cardinality + 1 for column in columns])
    values = values_of(targets, order)
    counters, pile = (new_counter(values), new_counter(values)), new_pile(values, table.rows)
    begins = _partition(codes, widths, values, l, merged == "split", rng, order, counters, pile)
    ids = np.empty(table.rows, np.int32)
    ids[order] = np.cumsum(begins) - 1
    return Groups(ids, int(begins.sum()))


@numba.njit(cache=True, nogil=True)
def _partition(
    codes: Codes,
    widths: Ints,
    values: Values,
    l: int,  # noqa: E741
    cut_merged: bool,
    rng: np.random.Generator,
    order: Ints,
    counters: tuple[Counter, Counter],
    pile: Pile,
) -> npt.NDArray[np.bool_]:
    """Sort the rows, and return at which places of that order a group begins."""
    attributes, rows = codes.shape
    begins = np.zeros(rows, np.bool_)
    starts = np.empty(rows, np.int64)
    scratch = np.empty(rows, np.int64)
    sorted_values = Values(np.empty_like(values.of_row), values.attribute)
    pending = [(0, rows, 0)]
    while len(pending) > 0:
        start, end, attribute = pending.pop()
        _sort(order, start, end, codes[attribute], widths[attribute], scratch)
        runs = 0
        for place in range(start, end):
            row = order[place]
            for a in range(len(values.of_row)):
                sorted_values.of_row[a, place] = values.of_row[a, row]
            if place == start or codes[attribute, row] != codes[attribute, order[place - 1]]:
                starts[runs] = place
                runs += 1
        done = join_runs(sorted_values, starts[:runs], end, l, rng, counters, pile)
        for i in range(done):
            stop = pile.start[i + 1] if i + 1 < done else end
            is_final = pile.parts[i] > 1 and not cut_merged
            if is_final or attribute + 1 == attributes:
                begins[pile.start[i]] = True
            else:
                pending.append((pile.start[i], stop, attribute + 1))
    return begins


@numba.njit(cache=True, nogil=True)
def _sort(order: Ints, start: int, end: int, codes: Codes, width: int, scratch: Ints) -> None:
    """Sort some places of the order by code, rows of a code as they stand."""
    if end - start < width:  # few rows, many codes
        for place in range(start, end):
            scratch[place] = codes[order[place]] * np.int64(len(order)) + place
        keys = scratch[start:end]
        sort_first(keys, end - start)
        for place in range(start, end):
            scratch[place] = order[scratch[place] % len(order)]
        order[start:end] = scratch[start:end]
        return
    place_of = np.zeros(width + 1, np.int64)
    for place in range(start, end):
        place_of[codes[order[place]] + 1] += 1
    for code in range(width):
        place_of[code + 1] += place_of[code]
    for place in range(start, end):
        code = codes[order[place]]
        scratch[start + place_of[code]] = order[place]
        place_of[code] += 1
    order[start:end] = scratch[start:end]
