"""Cells of an earlier release for the groups of a new table, wider where they must be."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.generalize import GeneralizedColumn, generalize
from sfumato.publish.suppress import differing
from sfumato.release import cells
from sfumato.release.cells import Cell, Exact, Node, Range, Star, ValueSet
from sfumato.schema.attribute import Attribute
from sfumato.schema.hierarchy import ROOT, Hierarchy
from sfumato.schema.schema import Schema
from sfumato.schema.text import from_texts
from sfumato.table import Column, Groups, encode

Codes = npt.NDArray[np.int32]


def same_cells(
    values: pa.ChunkedArray,
    attribute: Attribute,
    groups: Groups,
    earlier: Sequence[Cell | None],
    hierarchy: Hierarchy | None,
    *,
    rng: np.random.Generator,
    or_star: bool = False,
) -> tuple[Column, GeneralizedColumn]:
    """Return a coded quasi-identifier, and for every group the cell that it had earlier.

    `earlier` has a cell a group, None for a missing one; `hierarchy` is what its labels are of.
    Where a row of the group has a value that the cell does not cover, it is widened: to the lowest
    common node, to the range or to the set of both, and with `or_star`, of methods whose cells are
    exact or withheld, to `*`.
    """
    if or_star:
        attribute = replace(attribute, hierarchy=None)
    column = encode(pa.table({attribute.name: values}), Schema((attribute,))).columns[0]
    if column.tree is not None:
        return column, _lifted(generalize(column, groups, rng=rng), earlier, hierarchy)
    texts, owners = _corners(earlier)
    both = pa.chunked_array(
        [*values.cast(column.values.type).chunks, from_texts(texts, column.values.type)]
    )
    wide = encode(pa.table({attribute.name: both}), Schema((attribute,))).columns[0]
    within = Groups(np.concatenate([groups.ids, owners]), groups.count)
    found = generalize(wide, within, rng=rng)
    stars = np.array([isinstance(cell, Star) for cell in earlier], np.bool_)
    if or_star:
        stars |= differing(wide, within)
    if stars.any():
        shown = wide.codes[~stars[within.ids]]
        found = replace(
            found,
            texts=[*found.texts, cells.STAR],
            cell_of_group=np.where(stars, len(found.texts), found.cell_of_group).astype(np.int32),
            # what stands under `*` alone is told by no cell, and so by no domain
            named=np.intersect1d(found.named, shown).astype(np.int32),
            is_exact=False,
        )
    return replace(wide, codes=wide.codes[: len(groups.ids)].copy()), found


def _corners(earlier: Sequence[Cell | None]) -> tuple[pa.Array, Codes]:
    """Return the values that span the earlier cells, and whose group's each is."""
    texts: list[str | None] = []
    owners: list[int] = []
    for group, cell in enumerate(earlier):
        own: list[str | None] = []
        match cell:
            case None:
                own = [None]
            case Exact(text):
                own = [text]
            case Range(low, high, with_null):
                own = [low, high, *([None] if with_null else [])]
            case ValueSet(members, with_null):
                own = [*members, *([None] if with_null else [])]
        texts += own
        owners += [group] * len(own)
    return pa.array(texts, pa.string()), np.array(owners, np.int32)


def _lifted(
    found: GeneralizedColumn, earlier: Sequence[Cell | None], hierarchy: Hierarchy | None
) -> GeneralizedColumn:
    """Return the column with every node lifted until the earlier cell lies below it, too."""
    tree = found.column.tree
    assert tree is not None
    root = len(tree.parent) - 1
    above = _ancestors(hierarchy)
    nodes = found.cell_of_group.copy()
    for group, cell in enumerate(earlier):
        node = int(nodes[group])
        if cell is None:
            nodes[group] = root if node >= 0 else node
            continue
        common = _over(cell, above)
        if node < 0:
            nodes[group] = root
            continue
        while node != root and tree.labels[node] not in common:
            node = int(tree.parent[node])
        nodes[group] = node
    used = np.unique(nodes[nodes >= 0])
    leaves = used[used < found.column.cardinality]
    texts = list(found.texts)
    for node in used.tolist():
        label = tree.labels[node]
        is_leaf = node < found.column.cardinality
        texts[node] = cells.quote(label) if is_leaf else cells.node_cell(label)
    return replace(
        found,
        texts=texts,
        cell_of_group=nodes,
        named=leaves.astype(np.int32),
        is_exact=len(leaves) == len(used),
        labels=frozenset(tree.labels[node] for node in used.tolist()),
    )


def _ancestors(hierarchy: Hierarchy | None) -> dict[str, frozenset[str]]:
    """Return for every label of a hierarchy itself and those above it."""
    found: dict[str, frozenset[str]] = {}
    for row in [] if hierarchy is None else hierarchy.rows():
        for level, label in enumerate(row):
            found.setdefault(label, frozenset(row[level:]))
    return found


def _over(cell: Cell, above: dict[str, frozenset[str]]) -> Container[str]:
    match cell:
        case Exact(text) | Node(text):
            return above.get(text, frozenset((text, ROOT)))
    return (ROOT,)
