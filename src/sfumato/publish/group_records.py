"""Records of the `generalized` layout, one row a person, whose cells another maker works out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe, published_hierarchy
from sfumato.publish.exact import exact_column
from sfumato.publish.weights import add_weights
from sfumato.release import AttributeEntry, TableEntry
from sfumato.schema.attribute import Role
from sfumato.table import Column, Groups, Table
from sfumato.table.permutation import permutation

# From a quasi-identifier to its cells, given each row's group and code, and its entry.
Cells: TypeAlias = Callable[
    [Column, npt.NDArray[np.int32], npt.NDArray[np.int32]], tuple[pa.Array, AttributeEntry]
]


def group_records(
    table: Table, groups: Groups, cells: Cells, *, rng: np.random.Generator
) -> Published:
    """Return the records with the cells of quasi-identifiers that `cells` gives, all else exact.

    Hierarchies of quasi-identifiers are not published: no cell names a node of one.
    """
    public_ids = random_ids(groups.count, rng)
    order = permutation(rng, table.rows)
    ids = groups.ids[order]
    columns: dict[str, pa.Array] = {"group": pa.array(public_ids[ids])}
    attributes, hierarchies = [], {}
    for column in table.columns:
        codes = column.codes[order]
        if column.attribute.role is Role.QUASI_IDENTIFIER:
            columns[column.name], entry = cells(column, ids, codes)
            attributes.append(entry)
            continue
        columns[column.name] = exact_column(column, codes)
        attributes.append(describe(column))
        labels = frozenset() if column.tree is None else frozenset(column.tree.labels)
        hierarchy = published_hierarchy(column, labels)
        if hierarchy is not None:
            hierarchies[column.name] = hierarchy
    weight = add_weights(columns, table, groups, ids)
    names = tuple(column.name for column in table.columns)
    return Published(
        "generalized",
        {"records": pa.table(columns)},
        [TableEntry(name="records", attributes=names, group="group", weight=weight)],
        attributes,
        hierarchies,
    )
