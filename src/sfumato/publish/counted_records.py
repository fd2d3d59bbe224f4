"""The `generalized` layout of counts: as many records of each kind as a count says.

Unlike `generalized_records`, nothing here sees the rows of a table: cells come from the nodes of
stated domains, and how often they are published from the counts alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.assemble import Published, random_ids
from sfumato.publish.describe import describe, published_hierarchy
from sfumato.publish.exact import dictionary_column, exact_column
from sfumato.release import TableEntry, cells
from sfumato.rows.diffgen import Node, has_splits
from sfumato.schema.text import to_texts
from sfumato.table import Column
from sfumato.table.permutation import permutation
from sfumato.table.stated import StatedColumn

Ints = npt.NDArray[np.int64]


def counted_records(
    quasi: Sequence[tuple[StatedColumn, Sequence[Node]]],
    sensitive: Column,
    names: Sequence[str],
    counts: Ints,
    *,
    rng: np.random.Generator,
) -> Published:
    """Return the records of all cells of a table of counts; none of a count below 1.

    `counts` has an axis of nodes for each quasi-identifier and last one of the sensitive values,
    the missing one at its end. Records that share their nodes are a group. `names` is the order of
    the columns.
    """
    kinds = np.flatnonzero(counts.ravel() > 0)
    leaf_of_kind = kinds // counts.shape[-1]
    leaves, group_of_kind = np.unique(leaf_of_kind, return_inverse=True)
    public_ids = random_ids(len(leaves), rng)
    drawn = np.repeat(np.arange(len(kinds)), counts.ravel()[kinds])
    drawn = drawn[permutation(rng, len(drawn))]
    places = np.unravel_index(leaf_of_kind, counts.shape[:-1])
    columns: dict[str, pa.Array] = {"group": pa.array(public_ids[group_of_kind[drawn]])}
    entries, hierarchies = {}, {}
    for (stated, nodes), place in zip(quasi, places, strict=True):
        column = stated.column
        columns[column.name] = _cells(stated, nodes, place[drawn])
        entries[column.name] = describe(column)
    codes = (kinds % counts.shape[-1]).astype(np.int32)[drawn]
    columns[sensitive.name] = exact_column(sensitive, codes)
    entries[sensitive.name] = describe(sensitive)
    for column in (*(stated.column for stated, _ in quasi), sensitive):
        hierarchy = published_hierarchy(column, ())  # supplied by the policy, so published whole
        if hierarchy is not None:
            hierarchies[column.name] = hierarchy
    return Published(
        "generalized",
        {"records": pa.table({name: columns[name] for name in ("group", *names)})},
        [TableEntry(name="records", attributes=tuple(names), group="group")],
        [entries[name] for name in names],
        hierarchies,
    )


def _cells(stated: StatedColumn, nodes: Sequence[Node], places: Ints) -> pa.Array:
    """Return the cells of records whose values lie in these nodes: typed, if all are exact."""
    column = stated.column
    used = np.unique(places).tolist()
    if stated.is_exact and all(nodes[i].atoms + nodes[i].missing == 1 for i in used):
        first = np.array([n.first if n.atoms else column.null_code for n in nodes], np.int32)
        return exact_column(column, first[places])
    texts = {i: _text(stated, nodes[i]) for i in used if nodes[i].atoms}
    code_of = np.full(len(nodes), -1, np.int32)
    code_of[list(texts)] = np.arange(len(texts), dtype=np.int32)
    return dictionary_column(code_of[places], list(texts.values()))


def _text(stated: StatedColumn, node: Node) -> str:
    """Return the cell of a node that holds a value."""
    column = stated.column
    if column.tree is not None and node.label is not None:
        label = column.tree.labels[node.label]
        return cells.quote(label) if node.label < column.cardinality else cells.node_cell(label)
    low = to_texts(column.values[node.first : node.first + 1])[0].as_py()
    high = to_texts(stated.highs[node.last : node.last + 1])[0].as_py()
    if node.atoms == 1 or has_splits(column):
        return cells.range_cell(low, high, node.missing)
    return cells.STAR  # values without an order have no name but that of the whole domain
