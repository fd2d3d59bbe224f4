"""Caps on generalisation as a first cut: cells of rows within which nothing can get too wide.

A `max_level` parts rows by their node at that level, a `max_width` by intervals that are no wider;
missing values stand apart, since with others they would become `*`. Whatever is then cut within
such a coarse cell keeps every cap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import Infeasible
from sfumato.models import KAnonymity, Model
from sfumato.rows.eligibility import refuse_infeasible
from sfumato.rows.full_domain import binding_cap
from sfumato.rows.ladders import refuse_idle_cap
from sfumato.rows.withhold import GroupJudge, Judged
from sfumato.schema.attribute import Kind
from sfumato.table import Column, Groups, Table

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_MOST_STARTS = 16  # places of the first interval that are tried
_ROUNDS = 2  # over attributes with a `max_width`, each fitted to the others' intervals
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86_400


@dataclass(frozen=True, slots=True, eq=False)
class CoarseCells:
    """The rows that are kept, ascending, and the coarse cell of each; who had to go by value."""

    kept: Ints
    cells: Groups
    by_value: bool


def coarse_cells(table: Table, models: Sequence[Model], *, limit: int) -> CoarseCells | None:
    """Return the coarse cells that caps on quasi-identifiers make, None where there is no cap.

    Cells that break a model are withheld, all their records, at most `limit` in all. Where the
    intervals of a `max_width` begin is chosen so that few records lie in cells of fewer than k.

    *Guarantee*: each cell of the rows that are kept satisfies every model, by their own totals.
    *Refuses* (Infeasible): caps that would have more records withheld, with the one that binds.
    """
    capped = [column for column in table.quasi_identifiers if _is_capped(column)]
    if not capped:
        return None
    if limit == 0:  # says more than a cap can, where the table as a whole is to blame
        refuse_infeasible(table, models)
    parts = _parts(table, capped, models)
    whole = _united(table, parts)
    judged = _judged(table, whole, models, limit)
    if judged.rows > limit:
        relief = {
            column.name: _all_broken(table, parts[:a] + parts[a + 1 :], models)
            for a, column in enumerate(capped)
        }
        allowed = f"`suppression` allows {limit} of {table.rows}"
        raise Infeasible(binding_cap(_all_broken(table, parts, models), relief, allowed))
    kept = np.flatnonzero(~judged.withheld[whole.ids])
    left, ids = np.unique(whole.ids[kept], return_inverse=True)
    return CoarseCells(kept, Groups(ids.astype(np.int32), len(left)), judged.by_value)


def _is_capped(column: Column) -> bool:
    """Return whether a cap of the column can bind."""
    refuse_idle_cap(column)
    attribute = column.attribute
    if column.tree is not None:
        return attribute.max_level is not None and attribute.max_level < column.tree.levels[-1]
    return attribute.max_width is not None and column.cardinality > 0


def _parts(table: Table, capped: Sequence[Column], models: Sequence[Model]) -> list[Codes]:
    """Return the coarse part of every row, one array an attribute."""
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
    parts, widths = [], {}
    for a, column in enumerate(capped):
        if column.tree is not None:
            assert column.attribute.max_level is not None
            nodes = column.tree.at_level(column.attribute.max_level)
            parts.append(np.append(nodes, np.int32(-1))[column.codes] + 1)
        else:
            widths[a] = _candidates(column)
            parts.append(widths[a][0][column.codes])
    for _ in range(_ROUNDS if len(widths) > 1 else 1):
        for a, candidates in widths.items():
            tried = [
                [*parts[:a], candidate[capped[a].codes], *parts[a + 1 :]]
                for candidate in candidates
            ]
            parts = min(tried, key=lambda each: _crowded_out(table, each, k))
    return parts


def _crowded_out(table: Table, parts: Sequence[Codes], k: int) -> tuple[int, int]:
    """Return how many rows lie in cells of fewer than k people; then, how many cells there are."""
    cells = _united(table, parts)
    return int(cells.sizes[cells.unit_sizes(table.units) < k].sum()), cells.count


def _united(table: Table, parts: Sequence[Codes]) -> Groups:
    if not parts:
        return Groups(np.zeros(table.rows, np.int32), 1)
    return Groups.of_equal(parts)


def _judged(table: Table, cells: Groups, models: Sequence[Model], most: int) -> Judged:
    judge = GroupJudge(table, cells, models)
    return judge.judge(np.arange(cells.count, dtype=np.int32), cells.count, most)


def _all_broken(table: Table, parts: Sequence[Codes], models: Sequence[Model]) -> int:
    """Return how many records would have to be withheld, however many they are."""
    return _judged(table, _united(table, parts), models, table.rows).rows


# --- intervals of a largest width -----------------------------------------------------------------


def _candidates(column: Column) -> list[Codes]:
    """Return ways to part the values into intervals no wider than the cap, as a part a code.

    The first interval ends at different values within its reach; each further one starts at the
    next value and reaches as far as the cap lets it. Missing values are a part of their own.
    """
    points = column.points
    width = _width(column)
    reach = int(np.searchsorted(points, points[0] + width, side="right"))
    # points[0] + width may be rounded up
    while reach > 1 and points[reach - 1] - points[0] > width:
        reach -= 1
    ends = np.unique(np.linspace(1, reach, min(reach, _MOST_STARTS)).astype(np.int64))[::-1]
    return [_intervals(points, width, int(end)) for end in ends]


def _intervals(points: Reals, width: float, first: int) -> Codes:
    """Return the interval of each value, the first one holding so many; a missing one's is last."""
    starts = [0]
    at = first
    while at < len(points):
        starts.append(at)
        end = int(np.searchsorted(points, points[at] + width, side="right"))
        while points[end - 1] - points[at] > width:
            end -= 1
        at = max(end, at + 1)
    begins = np.zeros(len(points) + 1, np.int32)
    begins[starts] = 1
    begins[-1] = 1
    return np.cumsum(begins, dtype=np.int32) - 1


def _width(column: Column) -> float:
    """Return the `max_width` in the units of the column's points."""
    width = column.attribute.max_width
    assert width is not None
    if column.kind is not Kind.NUMERIC:
        return float(width)
    dtype = column.values.type
    if pa.types.is_date64(dtype):
        return float(width) * _DAY * 1000
    if pa.types.is_timestamp(dtype):
        return float(width) * _DAY * _PER_SECOND[dtype.unit]
    if pa.types.is_time(dtype) or pa.types.is_duration(dtype):
        return float(width) * _PER_SECOND[dtype.unit]
    ends = column.values.cast(pa.float64(), safe=False) if pa.types.is_floating(dtype) else None
    if ends is not None and float(ends[-1].as_py()) - float(ends[0].as_py()) == np.inf:
        return float(width) / 4  # as the points are
    return float(width)
