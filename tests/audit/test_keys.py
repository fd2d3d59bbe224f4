"""Cells of a row are compared as one number: what is found does not depend on how many fit."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

from sfumato.audit.coded import coded
from sfumato.audit.groups import (
    GroupedTable,
    check_alike,
    check_distinct,
    grouped,
    smallest_crowds,
)
from sfumato.errors import ReleaseDamaged
from sfumato.randomness import repeatable

ROWS = 200


@pytest.fixture(params=[(8_000, 7), (10_000, 10**6), (2**63 - 1, 64)])
def room(request, monkeypatch) -> None:
    most, block = request.param  # 40 groups of at most 200 different combinations always fit
    monkeypatch.setattr(import_module("sfumato.audit.keys"), "_MOST", most)
    monkeypatch.setattr(import_module("sfumato.audit.keys"), "_BLOCK", block)


def table_of(**columns: object) -> GroupedTable:
    table = pa.table(columns)
    names = [name for name in table.column_names if name not in ("group", "count")]
    return grouped("t", table, {name: coded(table[name]) for name in names})


def some_table() -> dict[str, np.ndarray]:
    rng = repeatable(11, 1)
    groups = np.concatenate([np.arange(1, 41), rng.integers(1, 41, ROWS - 40)])
    return {
        "group": groups,
        "a": rng.integers(0, 3, ROWS),
        "b": rng.integers(0, 2, ROWS),
        "count": rng.integers(1, 4, ROWS),
    }


def test_crowds(room):
    cells = some_table()
    sums: dict[tuple[int, ...], int] = {}
    for group, a, b, count in zip(*cells.values(), strict=True):
        sums[group, a, b] = sums.get((group, a, b), 0) + count
    expected = [min(n for key, n in sums.items() if key[0] == group) for group in range(1, 41)]
    assert smallest_crowds(table_of(**cells), ["a", "b"]).tolist() == expected


def test_a_combination_that_a_group_lists_twice(room):
    cells = some_table()
    keys = np.stack([cells[name] for name in ("group", "a", "b")], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    once = {name: column[first] for name, column in cells.items()}
    check_distinct(table_of(**once))
    for place in (0, len(first) // 2, len(first) - 1):
        twice = {name: np.append(column, column[place]) for name, column in once.items()}
        with pytest.raises(ReleaseDamaged, match="twice in a group"):
            check_distinct(table_of(**twice))


def test_without_counts_each_row_is_one_record(room):
    cells = some_table()
    del cells["count"]
    table = table_of(**cells)
    assert table.sizes.tolist() == np.bincount(cells["group"])[1:].tolist()
    counted = table_of(**cells, count=np.ones(ROWS, np.int64))
    assert counted.sizes.tolist() == table.sizes.tolist()
    crowds = smallest_crowds(table, ["a"])
    assert crowds.tolist() == smallest_crowds(counted, ["a"]).tolist()


def test_rows_that_differ_in_one_of_many_attributes(room):
    rng = repeatable(11, 2)
    groups = np.repeat(np.arange(1, 41), 5)
    alike = {f"a{i}": rng.integers(0, 9, 41)[groups] for i in range(8)}
    check_alike(table_of(group=groups, **alike), alike)
    for name, column in alike.items():
        other = np.where(np.arange(ROWS) == 77, column + 1, column)
        with pytest.raises(ReleaseDamaged, match=f"in 1 of 40 groups .* '{name}'"):
            check_alike(table_of(group=groups, **alike | {name: other}), alike)


@pytest.mark.parametrize("ids", [[1, 3], [0, 1], [2, 2], [1, 10**9], [-1, 1]])
def test_group_ids_with_gaps(ids):
    with pytest.raises(ReleaseDamaged, match="without a gap"):
        table_of(group=ids, a=[1, 2])
