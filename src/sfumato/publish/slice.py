"""The `sliced` layout: one table of records, each block of attributes permuted on its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.columns.incompatible import Pairs
from sfumato.errors import ParameterError
from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe, published_hierarchy
from sfumato.publish.exact import exact_column
from sfumato.publish.generalize import GeneralizedColumn
from sfumato.publish.plausible import plausible_cells
from sfumato.publish.side_by_side import side_by_side
from sfumato.release import TableEntry
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import sorted_rows
from sfumato.table.permutation import permutation

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


def block_names(table: Table, blocks: Sequence[Sequence[Column]]) -> list[list[str]]:
    """Return the names of the attributes in every block: what `parameters.columns` must say.

    First the blocks of quasi-identifiers as they are given, then each sensitive attribute and each
    kept column in a block of its own.

    *Refuses* (ParameterError): blocks that do not hold each quasi-identifier exactly once.
    """
    given = [[column.name for column in block] for block in blocks]
    named = sorted(name for block in given for name in block)
    if not all(given) or named != sorted(column.name for column in table.quasi_identifiers):
        raise ParameterError(
            "blocks of columns must hold each quasi-identifier exactly once, and none be empty"
        )
    return given + [[column.name] for column in (*table.sensitive, *table.kept)]


def sliced_records(
    table: Table,
    groups: Groups,
    blocks: Sequence[Sequence[Column]],
    *,
    rng: np.random.Generator,
    incompatible: Pairs | None = None,
    k: int = 1,
) -> Published:
    """Return the records with each block of attributes permuted within each group.

    `blocks` says which quasi-identifiers stay together; see `block_names`. Cells are exact, but
    those that would join a pair of `incompatible` values are generalised within their group over
    at least k rows; see `plausible_cells`. The table must have one row a person: a sliced release
    has no tables of people.

    *Guarantee*: within a group every way to join the values of different blocks is equally likely,
    and neither the order of the rows nor the numbers of the groups depend on the input's order.
    """
    public_ids = random_ids(groups.count, rng)
    order = permutation(rng, table.rows)
    # row i of the release is place order[i] of the rows sorted by group
    ids = np.repeat(np.arange(groups.count, dtype=np.int32), groups.sizes)[order]
    rows_of = _rows_of_blocks(block_names(table, blocks), groups, order, rng)
    hidden = {column.name: column.codes[rows_of[column.name]] for column in table.sensitive}

    def publish(column: Column) -> tuple[pa.Array, GeneralizedColumn | None]:
        rows = rows_of[column.name]
        pairs = {
            name: matrix
            for (known, name), matrix in (incompatible or {}).items()
            if known == column.name
        }
        if not pairs:
            return exact_column(column, column.codes, rows), None
        return plausible_cells(column, groups, rows, ids, hidden, pairs, k=k, rng=rng)

    found = side_by_side(table.columns, publish)
    cells = {"group": pa.array(public_ids[ids])}
    attributes, hierarchies = [], {}
    for column in table.columns:
        cells[column.name], shown = found[column.name]
        attributes.append(describe(column) if shown is None else describe(column, shown.named))
        if shown is None or shown.is_exact:
            continue
        hierarchy = published_hierarchy(column, shown.labels)
        if hierarchy is not None:
            hierarchies[column.name] = hierarchy
    names = tuple(column.name for column in table.columns)
    return Published(
        "sliced",
        {"records": pa.table({name: cells[name] for name in ("group", *names)})},
        [TableEntry(name="records", attributes=names, group="group")],
        attributes,
        hierarchies,
    )


def _rows_of_blocks(
    blocks: Sequence[Sequence[str]], groups: Groups, order: Ints, rng: np.random.Generator
) -> dict[str, Codes]:
    """Return by attribute the row whose value is at each place of `order`.

    Places are those of the rows sorted by group; each block has its own random order within each.
    """

    def sort(shuffled: Ints) -> Codes:
        # of half the room: there are as many of them as blocks
        return sorted_rows(shuffled, groups.ids, groups.count).astype(np.int32)[order]

    with ThreadPoolExecutor(os.cpu_count()) as threads:  # drawn in turn, sorted side by side
        pending = [threads.submit(sort, permutation(rng, len(order))) for _ in blocks]
        return {
            name: rows.result()
            for block, rows in zip(blocks, pending, strict=True)
            for name in block
        }
