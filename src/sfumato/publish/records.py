"""The `generalized` layout: one table of records, quasi-identifiers generalised by group."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe, published_hierarchy
from sfumato.publish.exact import exact_column
from sfumato.publish.generalize import GeneralizedColumn, generalize
from sfumato.publish.side_by_side import side_by_side
from sfumato.publish.unit_tables import unit_tables
from sfumato.publish.weights import add_weights
from sfumato.release import TableEntry
from sfumato.schema.attribute import Role
from sfumato.table import Column, Groups, Table
from sfumato.table.permutation import permutation


def generalized_records(
    table: Table,
    groups: Groups,
    *,
    rng: np.random.Generator,
    covered: npt.NDArray[np.int64] | None = None,
    known: Mapping[str, GeneralizedColumn] | None = None,
) -> Published:
    """Return the records with quasi-identifiers generalised within each group, all else exact.

    A group's cells cover its own rows, or those that `covered` names: one line a group. Columns
    whose cells are `known` already are published in these.
    """
    within = groups
    if covered is not None:
        ids = np.repeat(np.arange(groups.count, dtype=np.int32), covered.shape[1])
        within = Groups(ids, groups.count)
    public_ids = random_ids(groups.count, rng)
    cells_of = {**(known or {})}
    unknown = [
        column if covered is None else replace(column, codes=column.codes[covered.ravel()])
        for column in table.quasi_identifiers
        if column.name not in cells_of
    ]
    drawn: list[npt.NDArray[Any]] = []

    def draw() -> None:
        order = permutation(rng, table.rows)
        drawn.extend((order, np.take(groups.ids, order)))

    cells_of |= side_by_side(unknown, lambda column: generalize(column, within, rng=rng), draw)
    order, ids = drawn
    cells: dict[str, Callable[[], pa.Array]] = {"group": lambda: pa.array(public_ids[ids])}
    cells |= {name: partial(tokens.take, pa.array(order)) for name, tokens in table.tokens.items()}
    attributes, hierarchies = [], {}
    for column in table.columns:
        if column.attribute.role is Role.QUASI_IDENTIFIER:
            generalized = cells_of[column.name]
            cells[column.name] = partial(generalized.of_rows, ids, column.codes, order)
            attributes.append(describe(column, generalized.named))
            labels = generalized.labels
        else:
            cells[column.name] = partial(_in_order, column, order)
            attributes.append(describe(column))
            labels = frozenset() if column.tree is None else frozenset(column.tree.labels)
        hierarchy = published_hierarchy(column, labels)
        if hierarchy is not None:
            hierarchies[column.name] = hierarchy
    # every cell is fetched from a random place: columns side by side
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        filled = threads.map(lambda fill: fill(), cells.values())
        columns = dict(zip(cells, filled, strict=True))
    weight = add_weights(columns, table, groups, ids)
    names = tuple(column.name for column in table.columns)
    entry = TableEntry(
        name="records",
        attributes=names,
        group="group",
        pseudonyms=tuple(table.tokens) or None,
        weight=weight,
    )
    tables = [
        (entry, pa.table(columns)),
        *unit_tables(table, groups, public_ids, rng=rng),
    ]
    return Published(
        "generalized",
        {entry.name: content for entry, content in tables},
        [entry for entry, _ in tables],
        attributes,
        hierarchies,
    )


def _in_order(column: Column, order: npt.NDArray[np.int64]) -> pa.Array:
    return exact_column(column, column.codes, order)
