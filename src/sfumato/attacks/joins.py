"""What was torn apart and still lies side by side: order that agrees between tables or blocks.

In an anatomised release the rows of a group say nothing of each other across tables; in a sliced
one rows join blocks at random, and in a local one a row has any value of its bucket. If a person's
row has the person's own value beside it more often than the group or bucket has it, it was not so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import numpy.typing as npt

from sfumato.attacks.leak import leak
from sfumato.attacks.order import Tries, best_of
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.own_rows import Column, OwnRows, attributes_of
from sfumato.attacks.reach import MISSING
from sfumato.attacks.view import KNOWN
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.table.groups import counting_order, starts_of

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def join_leaks(own: OwnRows) -> list[Outcome]:
    """Return whether what stands beside a person's row is the person's own more than by chance."""
    find = _LAYOUTS.get(own.release.manifest.layout)
    tries = [] if find is None else find(own)
    if not tries:
        return []
    count = 1 + max((int(way.place[-1]) for way in tries if len(way.place)), default=-1)
    how = (
        "The value at the same place in the group, of another table or block of columns or in the "
        "row's bucket, is taken for the person's own, in the columns (and the direction) where "
        "that does best in training; chance is a value drawn from the group or bucket. The people "
        "of one are counted as one try, with their mean: their values change places together."
    )
    told = best_of(tries, count, own.rng)
    return [leak("order within groups", how, told, own.original.num_rows)]


def _between_tables(own: OwnRows) -> list[Tries]:
    """Return tries for each two tables: the i-th of a group beside the i-th, or the last but i."""
    tables = {
        table: [name for name in names if own.has(name)]
        for table, names in attributes_of(own.release).items()
    }
    slots = {table: _slots(own, table) for table in tables}
    tries: list[Tries] = []
    for one, names in tables.items():
        if not names or own.release.manifest.attribute(names[0]).role not in KNOWN:
            continue
        rows = own.rows(one, names)
        for other, others in tables.items():
            if other == one:
                continue
            for name in others:
                tries += _beside(own, rows, slots[one], slots[other], other, name)
    return tries


def _slots(own: OwnRows, table: str) -> tuple[Ints, Ints, Ints]:
    """Return the rows of a table in the order of groups, where each row stands there, and where
    each group begins.

    Rows count once, however many people they stand for: only then is each as likely in any place.
    """
    groups = own.groups(table)
    count = int(groups.max()) + 1
    order = counting_order(groups.astype(np.int32), count)
    place = np.empty(len(groups), np.int64)
    place[order] = np.arange(len(groups))
    return order, place, starts_of(groups, count)


def _beside(
    own: OwnRows,
    rows: Ints,
    one: tuple[Ints, Ints, Ints],
    other: tuple[Ints, Ints, Ints],
    table: str,
    name: str,
) -> list[Tries]:
    """Return tries for one attribute of the other table, in both directions."""
    has = rows >= 0
    group, slot = own.group[has], one[1][rows[has]]
    within = slot - one[2][group]
    at, _, starts = other
    size = starts[group + 1] - starts[group]
    fits = within < size
    column = own.column(table, name)
    wanted = column.people[own.person[has]]
    value = _values(column)
    chance = _share(own.groups(table), value, group, wanted)
    tries: list[Tries] = []
    for back in (False, True):
        place = starts[group] + np.where(back, size - 1 - within, within)
        partner = at[np.where(fits, place, 0)]
        hit = (value[partner] == wanted).astype(np.float64)
        tries.append(_by_unit(group[fits], hit[fits], chance[fits]))
    return tries


def _between_blocks(own: OwnRows) -> list[Tries]:
    """Return tries for each two blocks of a sliced release.

    Blocks with generalised cells are left out: cells that would show an impossible pair are, so
    that the others are known to be possible.
    """
    blocks = cast(list[list[str]], own.release.manifest.parameters.get("columns", []))
    tries: list[Tries] = []
    groups = own.groups("records")
    exact = {
        name: own.column("records", name).is_exact
        for block in blocks
        for name in block
        if own.has(name)
    }
    for block in blocks:
        if not all(exact.get(name, False) for name in block):
            continue
        if own.release.manifest.attribute(block[0]).role not in KNOWN:
            continue
        rows = own.rows("records", block)
        for name in (n for other in blocks if other is not block for n in other if exact.get(n)):
            tries.append(_in_row(own, rows, own.column("records", name), groups))
    return tries


def _in_buckets(own: OwnRows) -> list[Tries]:
    """Return tries for each attribute in buckets."""
    names = [name for name in attributes_of(own.release)["records"] if own.has(name)]
    columns = own.release.tables["records"].column_names
    rows = own.rows("records", names)
    tries: list[Tries] = []
    for name in names:
        if name + RESERVED_SUFFIX in columns:
            column = own.column("records", name)
            assert column.buckets is not None
            tries.append(_in_row(own, rows, column, column.buckets))
    return tries


def _in_row(own: OwnRows, rows: Ints, column: Column, unit: Ints) -> Tries:
    """Return whether people's rows have their value, and its share in the unit of the row."""
    has = rows >= 0
    has[has] = unit[rows[has]] >= 0
    row = rows[has]
    wanted, value = column.people[own.person[has]], _values(column)
    inside = unit >= 0
    chance = _share(unit[inside], value[inside], unit[row], wanted)
    return _by_unit(unit[row], (value[row] == wanted).astype(np.float64), chance)


def _values(column: Column) -> Ints:
    """Return the rank of each row's value; of cells that reach further, one of theirs."""
    rank = np.full(column.reach.count, MISSING)
    rank[column.reach.cell] = column.reach.low
    return np.asarray(rank[column.cells])


def _share(unit: Ints, value: Ints, wanted_unit: Ints, wanted: Ints) -> Reals:
    """Return the share that each wanted value has in its unit."""
    asked = np.zeros(max(int(unit.max(initial=0)), int(wanted_unit.max(initial=0))) + 1, np.bool_)
    asked[wanted_unit] = True
    inside = asked[unit]
    unit, value = unit[inside], value[inside]
    if not len(unit):
        return np.zeros(len(wanted))
    low = min(int(value.min(initial=0)), int(wanted.min(initial=0)))
    width = max(int(value.max(initial=0)), int(wanted.max(initial=0))) - low + 1
    keys, counts = np.unique(unit * width + value - low, return_counts=True)
    key = wanted_unit * width + wanted - low
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    found = np.where(keys[place] == key, counts[place], 0)
    sizes = np.bincount(unit, minlength=int(wanted_unit.max(initial=0)) + 1)
    return np.asarray(found / np.maximum(sizes[wanted_unit], 1))


def _by_unit(unit: Ints, hit: Reals, chance: Reals) -> Tries:
    """Return the means of each unit."""
    units, of = np.unique(unit, return_inverse=True)
    tried = np.bincount(of)
    return Tries(units, np.bincount(of, hit) / tried, np.bincount(of, chance) / tried)


_LAYOUTS: dict[str, Callable[[OwnRows], list[Tries]]] = {
    "anatomized": _between_tables,
    "sliced": _between_blocks,
    "local": _in_buckets,
}
