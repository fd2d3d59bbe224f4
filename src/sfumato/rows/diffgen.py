"""DiffGen: which generalised values to publish, chosen under differential privacy.

Every quasi-identifier starts at the root of its domain. A *specialisation* replaces one value
everywhere by its children: the nodes below it in a hierarchy, single values where there is no
hierarchy, or the two sides of a split point for numbers and ordered values. A missing value is a
child of the root. Only `Budget.choose` looks at the rows.

*Source*: Mohammed, Chen, Fung, Yu, "Differentially Private Data Release for Data Mining" (2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.rows.axes import RANGE, axis_kind
from sfumato.rows.budget import Budget
from sfumato.schema.attribute import Kind
from sfumato.schema.hierarchy import Tree
from sfumato.table import Column

Ints = npt.NDArray[np.int64]


class Node(NamedTuple):
    """A generalised value: atoms `first` to `last` of a domain, and missing values if `missing`.

    `label` is the node of the hierarchy, if there is one; without atoms, `last` is below `first`.
    """

    first: int
    last: int
    missing: bool = False
    label: int | None = None

    @property
    def atoms(self) -> int:
        """The number of atoms."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A quasi-identifier over its stated domain, with its rows counted by sensitive value.

    `below[i]` counts the rows with an atom before i, by sensitive value; `missing` the others.
    """

    atoms: int
    has_splits: bool
    tree: Tree | None
    below: Ints = field(repr=False)
    missing: Ints = field(repr=False)

    @classmethod
    def of(cls, column: Column, classes: npt.NDArray[np.int32], class_count: int) -> Axis:
        """Return the axis of a column over its stated domain; `classes` are sensitive codes."""
        keys = column.codes.astype(np.int64) * class_count + classes
        size = (column.cardinality + 1) * class_count
        counts = np.bincount(keys, minlength=size).reshape(-1, class_count)
        below = np.zeros((column.cardinality + 1, class_count), np.int64)
        np.cumsum(counts[:-1], axis=0, out=below[1:])
        return cls(column.cardinality, has_splits(column), column.tree, below, counts[-1])

    @property
    def root(self) -> Node:
        """The whole domain, missing values included."""
        label = None if self.tree is None else len(self.tree.parent) - 1
        return Node(0, self.atoms - 1, True, label)

    def needs_split(self, node: Node) -> bool:
        """Whether the node's children depend on where it is split."""
        return self.has_splits and node.atoms > 1

    def children(self, node: Node, split: int | None = None) -> list[Node]:
        """Return what a node is replaced by, nothing where it is not to be divided.

        `split` is the number of atoms on the lower side, less one.
        """
        if node.atoms + node.missing < 2:
            return []
        missing = [Node(0, -1, True)] if node.missing else []
        if self.tree is not None and node.label is not None:
            return [*self._below(node.label), *missing]
        if self.needs_split(node):
            assert split is not None
            middle = node.first + split
            return [Node(node.first, middle), Node(middle + 1, node.last), *missing]
        return [*(Node(i, i) for i in range(node.first, node.last + 1)), *missing]

    def score(self, children: Sequence[Node]) -> int:
        """Return the rows whose sensitive value is the commonest one in their child: `Max`.

        One row more adds 1 to one count of one child, and so 0 or 1 to the sum of the greatest.
        """
        return sum(
            int((self._counts(child) + (self.missing if child.missing else 0)).max(initial=0))
            for child in children
        )

    def split_scores(self, node: Node) -> Ints:
        """Return the score of every split point of a node, in order."""
        lower = self.below[node.first + 1 : node.last + 1] - self.below[node.first]
        upper = self._counts(node) - lower
        alone = int(self.missing.max(initial=0)) if node.missing else 0
        return np.asarray(lower.max(axis=1) + upper.max(axis=1) + alone)

    def _counts(self, node: Node) -> Ints:
        return np.asarray(self.below[node.last + 1] - self.below[node.first])

    def _below(self, label: int) -> list[Node]:
        """Return the nodes below one of the hierarchy, those of a single child passed over."""
        assert self.tree is not None
        tree = self.tree
        found = [_past_single(tree, child) for child in _labels_below(tree, label)]
        return [Node(int(tree.first[n]), int(tree.last[n]), False, n) for n in found]


def steps(axes: Sequence[Axis], cuts: int) -> int:
    """Return how many noisy choices a run makes at most: each costs the same.

    First a split point for every root that needs one; then for every cut the cut itself and, but
    for the last, the split points of its children. Known before any row is looked at.
    """
    roots = sum(axis.needs_split(axis.root) for axis in axes)
    return roots + (2 * cuts - 1 if roots else cuts)


def specialize(
    axes: Sequence[Axis], budget: Budget, cuts: int, cells: int, epsilon: Fraction
) -> list[list[Node]]:
    """Return for every axis the values that divide its domain after so many specialisations.

    Each noisy choice costs `epsilon`. A specialisation after which the product of the axes' values
    would exceed `cells` is no candidate; where none is left, fewer are made.

    Departs from the paper: the choices are OpenDP's noisy maximum in place of the exponential
    mechanism; split points lie between atoms, a grid of the stated domain, and not anywhere.
    """
    chosen = [[axis.root] for axis in axes]
    splits: dict[tuple[int, Node], int] = {}
    for number, axis in enumerate(axes):
        _split(axis, number, [axis.root], splits, budget, epsilon)
    for cut in range(cuts):
        candidates = _candidates(axes, chosen, splits, cells)
        if not candidates:
            break
        scores = [axes[number].score(children) for number, _, children in candidates]
        (best,) = budget.choose([np.array(scores, np.int64)], epsilon)
        number, node, children = candidates[best]
        place = chosen[number].index(node)
        chosen[number][place : place + 1] = children
        if cut < cuts - 1:
            _split(axes[number], number, children, splits, budget, epsilon)
    return chosen


def _split(
    axis: Axis,
    number: int,
    nodes: Sequence[Node],
    splits: dict[tuple[int, Node], int],
    budget: Budget,
    epsilon: Fraction,
) -> None:
    """Choose the split points of nodes that hold different rows."""
    open_nodes = [node for node in nodes if axis.needs_split(node)]
    if open_nodes:
        places = budget.choose([axis.split_scores(node) for node in open_nodes], epsilon)
        splits.update(zip([(number, node) for node in open_nodes], places, strict=True))


def _candidates(
    axes: Sequence[Axis],
    chosen: Sequence[Sequence[Node]],
    splits: dict[tuple[int, Node], int],
    cells: int,
) -> list[tuple[int, Node, list[Node]]]:
    """Return what can be specialised next: the axis, the value, and its children."""
    whole = math.prod(len(nodes) for nodes in chosen)
    found = []
    for number, (axis, nodes) in enumerate(zip(axes, chosen, strict=True)):
        for node in nodes:
            children = axis.children(node, splits.get((number, node)))
            after = whole // len(nodes) * (len(nodes) - 1 + len(children))
            if len(children) > 1 and after <= cells:
                found.append((number, node, children))
    return found


def leaf_codes(column: Column, nodes: Sequence[Node]) -> npt.NDArray[np.int64]:
    """Return for every row which of the nodes holds its value."""
    place = np.zeros(column.cardinality + 1, np.int64)
    for number, node in enumerate(nodes):
        place[node.first : node.last + 1] = number
        if node.missing:
            place[-1] = number
    return place[column.codes]


def has_splits(column: Column) -> bool:
    """Whether a column is divided by split points: numbers, and values whose order is stated."""
    if axis_kind(column) != RANGE:
        return False
    return column.kind is Kind.NUMERIC or column.attribute.order is not None


def _labels_below(tree: Tree, label: int) -> list[int]:
    return [int(child) for child in np.flatnonzero(tree.parent == label) if child != label]


def _past_single(tree: Tree, label: int) -> int:
    """Return the first node at or below one that does not have a single child."""
    below = _labels_below(tree, label)
    return _past_single(tree, below[0]) if len(below) == 1 else label
