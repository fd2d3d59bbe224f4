"""Published tables by group: ids in order, counts that add up, groups that line up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sfumato.audit.coded import Coded
from sfumato.errors import ReleaseDamaged
from sfumato.release import Manifest
from sfumato.release.dtypes import is_text
from sfumato.release.microaggregated import microaggregated

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GroupedTable:
    """A published table whose rows belong to groups 0 … len(sizes) - 1, each row `counts` times."""

    name: str
    groups: Ints
    counts: Ints
    sizes: Ints
    columns: Mapping[str, Coded]


def grouped(name: str, table: pa.Table, columns: Mapping[str, Coded]) -> GroupedTable:
    """Return the table by group.

    Refuses (ReleaseDamaged) group ids that do not run from 1 without a gap, and counts below 1.
    """
    ids = _numbers(table, "group")
    counted = "count" in table.column_names
    counts = _numbers(table, "count") if counted else np.ones(len(ids), dtype=np.int64)
    if len(counts) and counts.min() < 1:
        raise ReleaseDamaged(f"table '{name}' has a count below 1")
    # Compared first: a wild id must not make room for that many groups.
    dense = not len(ids) or (ids.min() == 1 and ids.max() <= len(ids))
    if not dense or not np.bincount(ids)[1:].all():
        raise ReleaseDamaged(f"table '{name}': group ids do not run from 1 without a gap")
    sizes = np.bincount(ids - 1, weights=counts).astype(np.int64)
    return GroupedTable(name, ids - 1, counts, sizes, columns)


def check_sizes(tables: Sequence[GroupedTable], rows: int) -> None:
    """Refuse (ReleaseDamaged) tables whose groups differ, or do not add up to the records."""
    first = tables[0]
    for table in tables:
        total = int(table.sizes.sum())
        if total != rows:
            raise ReleaseDamaged(
                f"table '{table.name}' holds {total} records, and the manifest says {rows}"
            )
        if not np.array_equal(table.sizes, first.sizes):
            raise ReleaseDamaged(
                f"tables '{first.name}' and '{table.name}' do not have the same groups"
            )


def check_distinct(table: GroupedTable) -> None:
    """Refuse (ReleaseDamaged) a combination of cells that a group lists twice."""
    keys = {str(i): column.codes for i, column in enumerate(table.columns.values())}
    rows = pl.DataFrame({"group": table.groups, **keys})
    if rows.n_unique() < rows.height:
        raise ReleaseDamaged(f"table '{table.name}' lists a combination twice in a group")


def check_alike(table: GroupedTable, names: Iterable[str]) -> None:
    """Refuse (ReleaseDamaged) groups whose rows differ in one of the attributes."""
    for name in names:
        codes = table.columns[name].codes
        some = np.empty(len(table.sizes), dtype=np.int64)
        some[table.groups] = codes
        strays = np.unique(table.groups[some[table.groups] != codes])
        if len(strays):
            raise ReleaseDamaged(
                f"in {len(strays)} of {len(table.sizes)} groups the rows differ in '{name}'"
            )


def check_means(manifest: Manifest, table: GroupedTable) -> None:
    """Refuse (ReleaseDamaged) attributes that are said to hold means of groups, and do not."""
    for name in microaggregated(manifest):
        cells = table.columns[name].cells
        if is_text(cells.type) and len(cells):
            raise ReleaseDamaged(f"attribute '{name}' is said to hold means, and has other cells")


def smallest_crowds(table: GroupedTable, names: Sequence[str]) -> Ints:
    """Return for each group the least number of its records that share their cells in `names`."""
    keys = {str(i): table.columns[name].codes for i, name in enumerate(names)}
    rows = pl.DataFrame({"group": table.groups, **keys, "records": table.counts})
    sums = rows.group_by("group", *keys).agg(pl.col("records").sum())
    crowds = table.sizes.copy()
    np.minimum.at(crowds, sums["group"].to_numpy(), sums["records"].to_numpy())
    return crowds


def _numbers(table: pa.Table, name: str) -> Ints:
    column = table[name].combine_chunks()
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
