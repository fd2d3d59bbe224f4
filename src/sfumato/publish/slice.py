"""The `sliced` layout: one table of records, each block of attributes permuted on its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.columns.incompatible import Pairs
from sfumato.errors import ParameterError
from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe, published_hierarchy
from sfumato.publish.exact import exact_column
from sfumato.publish.plausible import plausible_cells
from sfumato.release import TableEntry
from sfumato.table import Column, Groups, Table
from sfumato.table.groups import sorted_rows
from sfumato.table.permutation import permutation

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
    rows_of = {
        name: rows
        for block in block_names(table, blocks)
        for rows in (_shuffled_within(groups, rng)[order],)
        for name in block
    }
    hidden = {column.name: column.codes[rows_of[column.name]] for column in table.sensitive}
    cells: dict[str, pa.Array] = {"group": pa.array(public_ids[ids])}
    attributes, hierarchies = [], {}
    for column in table.columns:
        rows = rows_of[column.name]
        pairs = {
            name: matrix
            for (known, name), matrix in (incompatible or {}).items()
            if known == column.name
        }
        if not pairs:
            cells[column.name] = exact_column(column, column.codes, rows)
            attributes.append(describe(column))
            continue
        cells[column.name], shown = plausible_cells(
            column, groups, rows, ids, hidden, pairs, k=k, rng=rng
        )
        attributes.append(describe(column, shown.named))
        hierarchy = None if shown.is_exact else published_hierarchy(column, shown.labels)
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


def _shuffled_within(groups: Groups, rng: np.random.Generator) -> Ints:
    """Return the rows sorted by group, in random order within each group."""
    shuffled = permutation(rng, len(groups.ids))
    return sorted_rows(shuffled, groups.ids, groups.count)
