"""Generalised cells: what the rows of a group have in common on each quasi-identifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.publish.exact import dictionary_column, exact_column
from sfumato.publish.group_cells import (
    GroupSpans,
    group_bits,
    group_sets,
    group_spans,
    sets_equal,
)
from sfumato.release import cells
from sfumato.rows.axes import RANGE, TREE, axes_of, axis_kind, common_ancestor
from sfumato.schema.text import to_texts
from sfumato.table import Column, Groups

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_MOST_BITS = 63  # codes that fit into one number, a bit each


@dataclass(frozen=True, slots=True, eq=False)
class GeneralizedColumn:
    """The cells of one attribute, by group.

    `cell_of_group` indexes `texts`, -1 being a missing exact cell. `named` are the codes whose
    values can be read off some cell (exact, an end of a range, a member of a set), `labels` the
    hierarchy labels (values included) that occur; `is_exact` says that no cell is generalised.
    """

    column: Column
    texts: list[str]
    cell_of_group: Codes
    named: Codes
    is_exact: bool
    labels: frozenset[str] = frozenset()

    def of_rows(self, ids: Codes, codes: Codes, order: Ints) -> pa.Array:
        """Return the published cells of all rows in an order: their groups are `ids`.

        `codes` are the rows' as they stand in the table.
        """
        if self.is_exact:
            return exact_column(self.column, codes, order)
        return dictionary_column(self.cell_of_group, self.texts, ids)


def generalize(column: Column, groups: Groups, *, rng: np.random.Generator) -> GeneralizedColumn:
    """Return the least general cell for every group.

    Numeric and ordinal values give closed ranges, categories the set of those that occur, and
    under a hierarchy the lowest common ancestor, with which a missing value shares only the root.
    `rng` keys the comparison of sets; it does not change the cells.
    """
    kind = axis_kind(column)
    if kind == RANGE:
        return _ranges(
            column, group_spans(groups.ids, groups.count, column.codes, column.null_code)
        )
    if kind == TREE:
        return _nodes(column, group_spans(groups.ids, groups.count, column.codes, column.null_code))
    return _sets(column, groups, rng)


def recode(column: Column, groups: Groups, level: int) -> GeneralizedColumn:
    """Return the cell that a level of the hierarchy gives, although a lower one may cover a group.

    All rows of a group have the same cell there. Without a hierarchy any level above 0 is `*`, and
    on top of one everything is, missing values too; below, they are a value of their own.
    """
    codes = column.codes[groups.order[groups.offsets[:-1]]]
    tree = column.tree
    root = None if tree is None else len(tree.parent) - 1
    is_star = level > 0 and (tree is None or level >= tree.levels[-1])
    if is_star:
        labels = frozenset() if tree is None else frozenset(tree.labels[root:])
        cells_of_groups = np.zeros(groups.count, np.int32)
        named = np.zeros(0, np.int32)
        return GeneralizedColumn(column, [cells.STAR], cells_of_groups, named, False, labels)
    if tree is None:
        named = np.unique(codes[codes < column.null_code])
        return GeneralizedColumn(column, [], codes, named, is_exact=True)
    nodes = np.append(tree.at_level(level), np.int32(-1))[codes]
    return _labelled(column, nodes)


def _ranges(column: Column, spans: GroupSpans) -> GeneralizedColumn:
    width = column.cardinality + 1
    keys = ((spans.low.astype(np.int64) + 1) * width + spans.high + 1) * 2 + spans.with_null
    _, first, cell_of_group = np.unique(keys, return_index=True, return_inverse=True)
    low, high, with_null = spans.low[first], spans.high[first], spans.with_null[first]
    named = np.unique(np.concatenate([low[low >= 0], high[high >= 0]]))
    spelled = dict(
        zip(named.tolist(), to_texts(column.values.take(pa.array(named))).to_pylist(), strict=True)
    )
    texts = [
        "" if a < 0 else cells.range_cell(spelled[a], spelled[b], missing)
        for a, b, missing in zip(low.tolist(), high.tolist(), with_null.tolist(), strict=True)
    ]
    return GeneralizedColumn(
        column,
        texts,
        _without_missing(cell_of_group, low < 0),
        named.astype(np.int32),
        is_exact=bool(np.all((low == high) & ~(with_null & (low >= 0)))),
    )


def _nodes(column: Column, spans: GroupSpans) -> GeneralizedColumn:
    tree = column.tree
    assert tree is not None
    root = len(tree.parent) - 1
    axes = axes_of((column,))
    keys = spans.low.astype(np.int64) * (column.cardinality + 1) + spans.high
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    over_span = np.array(
        [
            -1 if low < 0 else common_ancestor(axes, 0, low, high)
            for low, high in zip(spans.low[first].tolist(), spans.high[first].tolist(), strict=True)
        ],
        dtype=np.int32,
    )
    nodes = over_span[inverse]
    nodes[spans.with_null & (spans.low >= 0)] = root
    return _labelled(column, nodes)


def _labelled(column: Column, nodes: Codes) -> GeneralizedColumn:
    """Return the cells of groups with these nodes of the hierarchy, -1 where all is missing."""
    tree = column.tree
    assert tree is not None
    used = np.unique(nodes[nodes >= 0])
    leaves = used[used < column.cardinality]
    texts = [""] * len(tree.parent)
    for node in used.tolist():  # a loop over hierarchy nodes
        label = tree.labels[node]
        texts[node] = cells.quote(label) if node < column.cardinality else cells.node_cell(label)
    return GeneralizedColumn(
        column,
        texts,
        nodes,
        leaves.astype(np.int32),
        is_exact=len(leaves) == len(used),
        labels=frozenset(tree.labels[node] for node in used.tolist()),
    )


def _sets(column: Column, groups: Groups, rng: np.random.Generator) -> GeneralizedColumn:
    # drawn in any case: what is drawn later does not depend on how sets are told apart
    keys = rng.integers(0, 2**64, column.null_code + 1, dtype=np.uint64)
    if column.null_code < _MOST_BITS:
        sets, cell_of_group = _sets_of_few(column, groups)
    else:
        sets, cell_of_group = _sets_of_many(column, groups, keys, rng)
    spelled = to_texts(column.values).to_pylist()
    texts: list[str] = []
    alone_missing = np.zeros(len(sets), dtype=np.bool_)
    named: set[int] = set()
    for j, codes in enumerate(sets):  # a loop over different cells, not rows
        with_null = codes[-1] == column.null_code
        known = codes[:-1] if with_null else codes
        alone_missing[j] = not known
        named.update(known)
        texts.append(cells.set_cell([spelled[c] for c in known], with_null) if known else "")
    return GeneralizedColumn(
        column,
        texts,
        _without_missing(cell_of_group, alone_missing),
        np.array(sorted(named), np.int32),
        is_exact=all(len(codes) == 1 for codes in sets),
    )


def _sets_of_few(column: Column, groups: Groups) -> tuple[list[list[int]], Ints]:
    """Return the different sets of codes, and which of them each group has: codes are bits."""
    held = group_bits(groups.ids, groups.count, column.codes)
    distinct, set_of_group = np.unique(held, return_inverse=True)
    places = range(column.null_code + 1)
    sets = [[code for code in places if bits >> code & 1] for bits in distinct.tolist()]
    return sets, set_of_group


def _sets_of_many(
    column: Column, groups: Groups, keys: npt.NDArray[np.uint64], rng: np.random.Generator
) -> tuple[list[list[int]], Ints]:
    """Return the different sets of codes, and which of them each group has: by random `keys`."""
    while True:
        members, offsets, hashes = group_sets(
            groups.order, groups.offsets, column.codes, column.null_code + 1, keys
        )
        _, first, set_of_group = np.unique(hashes, return_index=True, return_inverse=True)
        if sets_equal(members, offsets, first[set_of_group]):
            break
        # two different sets share a hash: one chance in 2**64, try other keys
        keys = rng.integers(0, 2**64, column.null_code + 1, dtype=np.uint64)
    return [members[offsets[g] : offsets[g + 1]].tolist() for g in first.tolist()], set_of_group


def _without_missing(
    cell_of_group: npt.NDArray[np.int64], is_missing: npt.NDArray[np.bool_]
) -> Codes:
    """Return the cells of groups with -1 where the cell is a missing exact one."""
    return np.where(is_missing[cell_of_group], -1, cell_of_group).astype(np.int32)
