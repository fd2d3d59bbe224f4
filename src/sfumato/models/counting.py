"""From a coded table and its groups to the statistics that models look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.models.statistics import GroupStatistics, Histogram, Ints, Total
from sfumato.schema.attribute import Kind
from sfumato.table import Column, Groups, Table
from sfumato.table.whole import Whole

Numbers = npt.NDArray[np.integer[Any]]


def group_statistics(
    table: Table, groups: Groups, attributes: Iterable[str], repeats: Numbers | None = None
) -> GroupStatistics:
    """Return the sizes of the groups, in units, and the histograms of the attributes."""
    return GroupStatistics(
        groups.unit_sizes(table.units),
        {name: _histogram(table, groups, table[name]) for name in attributes},
        repeats,
    )


def statistics_as_one(table: Table, attributes: Iterable[str]) -> GroupStatistics:
    """Return the statistics of the whole table as one group."""
    if table.units is None:  # as many entries as values, not rows
        columns = [table[name] for name in attributes]
        return GroupStatistics(
            np.full(1, table.rows), {column.name: _histogram_as_one(column) for column in columns}
        )
    return group_statistics(table, Groups(np.zeros(table.rows, dtype=np.int32), 1), attributes)


def table_totals(table: Table, attributes: Sequence[str]) -> dict[str, Total]:
    """Return the totals of the attributes over the whole table, of which this may be a part."""
    if table.whole is not None:
        return {name: _whole_total(table[name], table.whole) for name in attributes}
    if table.units is None:
        columns = [table[name] for name in attributes]
        return {
            column.name: column_total(column, column.counts.copy(), int(column.counts[:-1].sum()))
            for column in columns
        }
    histograms = statistics_as_one(table, attributes).histograms
    totals = {}
    for name in attributes:
        column, histogram = table[name], histograms[name]
        counts = np.zeros(column.null_code + 1, dtype=np.int64)
        counts[histogram.codes] = histogram.counts
        totals[name] = column_total(column, counts, int(histogram.present[0]))
    return totals


def column_total(column: Column, counts: Ints, present: int) -> Total:
    """Return the totals of a column, of which so many people have each code."""
    return Total(
        counts,
        present,
        ordered=column.kind is not Kind.CATEGORICAL,
        tree=column.tree,
        points=column.points if column.kind is Kind.NUMERIC else None,
    )


def _whole_total(column: Column, whole: Whole) -> Total:
    counts = whole.counts[column.name]
    return column_total(column, counts, int(counts[:-1].sum()))


def _histogram_as_one(column: Column) -> Histogram:
    codes = np.flatnonzero(column.counts)
    whole = np.zeros(len(codes), np.int64)
    return Histogram.count(whole, codes, column.counts[codes], 1, column.null_code)


def _histogram(table: Table, groups: Groups, column: Column) -> Histogram:
    if table.units is None and groups.count == 1:
        return _histogram_as_one(column)
    if table.units is None:
        return Histogram.count(groups.ids, column.codes, None, groups.count, column.null_code)
    ids, codes = groups.ids.astype(np.int64), column.codes.astype(np.int64)
    known = codes != column.null_code
    units = table.units.astype(np.int64)[known]
    width = int(units.max(initial=0)) + 1
    present = np.bincount(np.unique(ids[known] * width + units) // width, minlength=groups.count)
    without = groups.unit_sizes(table.units) - present
    code_width = column.null_code + 1
    # one entry a person and value in a group, however many rows say so
    pairs = np.unique((ids[known] * code_width + codes[known]) * width + units) // width
    # and one for the people without any value
    lacking = np.flatnonzero(without)
    histogram = Histogram.count(
        np.concatenate([pairs // code_width, lacking]),
        np.concatenate([pairs % code_width, np.full(len(lacking), column.null_code)]),
        np.concatenate([np.ones(len(pairs), dtype=np.int64), without[lacking]]),
        groups.count,
        column.null_code,
    )
    return Histogram(histogram.offsets, histogram.codes, histogram.counts, present)
