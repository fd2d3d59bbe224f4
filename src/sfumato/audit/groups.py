"""Published tables by group: ids in order, counts that add up, groups that line up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.audit.coded import Coded
from sfumato.audit.keys import add_multiples, numbered, packs
from sfumato.errors import ReleaseDamaged
from sfumato.measures.compiled import loop
from sfumato.models import Histogram
from sfumato.release import Manifest
from sfumato.release.dtypes import is_text
from sfumato.release.microaggregated import microaggregated
from sfumato.schema.chunks import one_array
from sfumato.schema.distinct import count_codes

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class GroupedTable:
    """A published table whose rows belong to groups 0 … len(sizes) - 1, each row `counts` times.

    Groups and counts are as wide as they were published: to widen them takes longer than most of
    what is asked of them.
    """

    name: str
    groups: Numbers
    counts: Numbers
    sizes: Ints
    columns: Mapping[str, Coded]


def grouped(name: str, table: pa.Table, columns: Mapping[str, Coded]) -> GroupedTable:
    """Return the table by group.

    Refuses (ReleaseDamaged) group ids that do not run from 1 without a gap, and counts below 1.
    """
    groups = np.subtract(_numbers(table, "group"), 1)
    # without counts, or where all are 1, a single number stands for all of them
    counts: Numbers = ones(len(groups))
    counted = False
    if "count" in table.column_names:
        stated = _numbers(table, "count")
        if len(stated) and stated.min() < 1:
            raise ReleaseDamaged(f"table '{name}' has a count below 1")
        if counted := bool(stated.max(initial=1) > 1):
            counts = stated
    # Compared first: a wild id must not make room for that many groups.
    dense = not len(groups) or (groups.min() == 0 and groups.max() < len(groups))
    sizes = count_codes(groups, int(groups.max(initial=-1)) + 1) if dense else np.zeros(1, np.int64)
    if not sizes.all():
        raise ReleaseDamaged(f"table '{name}': group ids do not run from 1 without a gap")
    if counted:
        several = np.flatnonzero(counts > 1)  # often few
        more = counts[several].astype(np.int64)
        more -= 1
        np.add.at(sizes, groups[several].astype(np.intp), more)
    return GroupedTable(name, groups, counts, sizes, columns)


def of_sizes(table: GroupedTable) -> GroupedTable:
    """Return what is left of a table where its rows need not be looked at any more."""
    none = np.zeros(0, np.int64)
    return GroupedTable(table.name, none, none, table.sizes, {})


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
    keys, width = _cells(table, table.columns)
    add_multiples(keys, table.groups, width)
    # sorting numbers takes a fraction of the time and memory of hashing rows
    keys.sort()
    _refuse_repeated(table, bool((keys[1:] == keys[:-1]).any()))


def check_counted(table: GroupedTable, histogram: Histogram) -> None:
    """Refuse (ReleaseDamaged) a value that a group lists twice; its values have been counted."""
    _refuse_repeated(table, len(histogram.codes) < len(table.groups))


def _refuse_repeated(table: GroupedTable, is_repeated: bool) -> None:
    if is_repeated:
        raise ReleaseDamaged(f"table '{table.name}' lists a combination twice in a group")


def check_alike(table: GroupedTable, names: Iterable[str]) -> None:
    """Refuse (ReleaseDamaged) groups whose rows differ in one of the attributes."""
    names = list(names)
    columns = [table.columns[name] for name in names]
    for part in packs(columns):
        keys, _ = numbered(columns[part], len(table.groups))
        if not _differ(table.groups, keys, np.full(len(table.sizes), -1)):
            continue
        for name in names[part]:
            strays = _strays(table, table.columns[name].codes)
            if len(strays):
                raise ReleaseDamaged(
                    f"in {len(strays)} of {len(table.sizes)} groups the rows differ in '{name}'"
                )


@loop
def _differ(groups: Numbers, keys: Ints, held: Ints) -> bool:
    """Return whether rows of any group differ in their keys; `held` has -1 for each group."""
    for i in range(len(groups)):
        if held[groups[i]] < 0:
            held[groups[i]] = keys[i]
        elif held[groups[i]] != keys[i]:
            return True
    return False


def _strays(table: GroupedTable, codes: Numbers) -> Numbers:
    """Return the groups whose rows do not all have the same code."""
    some = np.empty(len(table.sizes), dtype=codes.dtype)
    some[table.groups] = codes
    strays: Numbers = np.unique(table.groups[some[table.groups] != codes])
    return strays


def check_means(manifest: Manifest, table: GroupedTable) -> None:
    """Refuse (ReleaseDamaged) attributes that are said to hold means of groups, and do not."""
    for name in microaggregated(manifest):
        cells = table.columns[name].cells
        if is_text(cells.type) and len(cells):
            raise ReleaseDamaged(f"attribute '{name}' is said to hold means, and has other cells")


def smallest_crowds(table: GroupedTable, names: Sequence[str]) -> Ints:
    """Return for each group the least number of its records that share their cells in `names`."""
    keys, width = _cells(table, names)
    found = Histogram.count(table.groups, keys, table.counts, len(table.sizes), width - 1)
    return np.asarray(np.minimum.reduceat(found.counts, found.offsets[:-1]))


def ends_alike(table: GroupedTable) -> tuple[Ints, Ints]:
    """Return for each group how many share its commonest combination of cells, and its rarest."""
    most, fewest = np.ones_like(table.sizes), np.ones_like(table.sizes)
    if table.counts.strides[0]:  # else all are 1
        np.copyto(fewest, table.sizes)
        _find_ends(table.groups, table.counts, most, fewest)
    return most, fewest


@loop
def _find_ends(groups: Numbers, counts: Numbers, most: Ints, fewest: Ints) -> None:
    """Raise the most, and lower the fewest, of each group to the counts of its rows."""
    for i in range(len(groups)):
        group, count = groups[i], counts[i]
        most[group] = max(most[group], count)
        fewest[group] = min(fewest[group], count)


def _cells(table: GroupedTable, names: Iterable[str]) -> tuple[Ints, int]:
    """Return a number a row, equal where the cells are, and one that is above all of them."""
    columns = [table.columns[name] for name in names]
    return numbered(columns, len(table.groups), len(table.sizes))


def ones(rows: int) -> Ints:
    """Return the count 1 for so many rows, in the room of one."""
    return np.broadcast_to(np.int64(1), rows)


def _numbers(table: pa.Table, name: str) -> Numbers:
    return np.asarray(one_array(table[name]).to_numpy(zero_copy_only=False))
