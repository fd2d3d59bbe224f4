"""Generalisation hierarchies: which values a label stands for.

A `Hierarchy` is texts: one row a value, from the value up to the root `*`. A label names one set
of values wherever it appears, so that a published cell can be read without its row. Bound to the
values of a column it becomes a `Tree` over codes, in which every node is a range of codes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import HierarchyError
from sfumato.schema.hierarchy_file import read_rows
from sfumato.schema.intervals import read_interval, read_number
from sfumato.schema.nesting import find_flaw, label_numbers

ROOT = "*"


@dataclass(frozen=True, slots=True)
class HierarchyReport:
    """What is doubtful about a hierarchy: values without an entry, and (leaf, label) pairs where
    the label reads as an interval that does not contain the leaf."""

    missing: tuple[str, ...]
    wrong_intervals: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A hierarchy over the codes of one column.

    Codes run in leaf (depth-first) order, so a node is the code range first..last. Node i below
    len(order) is the leaf of code i; inner nodes follow, children before parents; the last node is
    the root. Inner nodes without a value in the data are left out.

    `order[code]` is the position of the code's value among the texts given to `bind`; `leaves`
    counts the leaves below a node in the full hierarchy, and `domain_size` those of the root; the
    root is its own parent. `levels` is the level at which a node's leaves meet: 0 for leaves, and
    the number of levels above them for the root.
    """

    order: NDArray[np.int64]
    parent: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    leaves: NDArray[np.int32]
    levels: NDArray[np.int32]
    labels: tuple[str, ...]
    domain_size: int

    def __post_init__(self) -> None:
        for array in (
            *(self.order, self.parent, self.first),
            *(self.last, self.leaves, self.levels),
        ):
            array.flags.writeable = False

    def at_level(self, level: int) -> NDArray[np.int32]:
        """Return the node that each code has at a level of the hierarchy.

        >>> rows = [("Peru", "America"), ("Laos", "Asia"), ("Cuba", "America")]
        >>> tree = Hierarchy.from_rows(rows, "country").bind(["Cuba", "Laos", "Peru"])
        >>> [[tree.labels[node] for node in tree.at_level(level)] for level in (1, 2)]
        [['America', 'America', 'Asia'], ['*', '*', '*']]
        """
        nodes = np.arange(len(self.order), dtype=np.int32)
        while True:
            above = self.parent[nodes]
            climbs = (self.levels[above] <= level) & (above != nodes)
            if not climbs.any():
                return nodes
            nodes = np.where(climbs, above, nodes)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A checked hierarchy: `leaves` are value texts, `paths` their labels from level 1 to the root.

    `name` is for messages. `supplied` says that the policy gave the whole of it, so that all of it
    may be published; a hierarchy with leaves from the data is `pruned` first.

    Refuses (HierarchyError): no rows, rows of unequal length, a value twice, a label under two
    parents, a label that names two different sets of values, a top other than `*`.

    >>> countries = Hierarchy.from_rows([("Peru", "America"), ("Laos", "Asia")], "country")
    >>> countries.rows()
    [('Peru', 'America', '*'), ('Laos', 'Asia', '*')]
    """

    name: str
    leaves: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    supplied: bool = True

    def __post_init__(self) -> None:
        rows = self.rows()
        _refuse_flaws(rows, self.name, [f"row {number}" for number in range(1, len(rows) + 1)])

    @classmethod
    def from_rows(
        cls, rows: Sequence[Sequence[str]], name: str, supplied: bool = True
    ) -> Hierarchy:
        """Return the hierarchy of rows `value, level 1, level 2, ...`; a missing root is added.

        A single label on top that is not `*` becomes `*`.
        """
        for number, row in enumerate(rows, start=1):
            if not row:
                raise HierarchyError(
                    f"hierarchy '{name}': row {number} is empty; give a value and its labels"
                )
        rooted = _with_root(rows)
        return cls(
            name, tuple(row[0] for row in rooted), tuple(row[1:] for row in rooted), supplied
        )

    @classmethod
    def read_csv(cls, path: Path) -> Hierarchy:
        """Return the hierarchy in a CSV file of the ARX form.

        No header, UTF-8, a line `value;level 1;...;*` (or with commas) for every value.
        """
        path = Path(path)
        rows, lines = read_rows(path)
        # Checked here first, since only here a flaw can be told by its line in the file.
        _refuse_flaws(_with_root(rows), path.name, [f"line {line}" for line in lines])
        return cls.from_rows(rows, path.name)

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows `value, level 1, ..., *`, as a hierarchy file has them."""
        return [(leaf, *path) for leaf, path in zip(self.leaves, self.paths, strict=True)]

    def report(self, texts: Iterable[str]) -> HierarchyReport:
        """Return which of the texts have no entry, and which intervals do not hold their value.

        >>> ages = Hierarchy.from_rows([("19", "15-19", "*"), ("20", "15-19", "*")], "age")
        >>> ages.report(["19", "21"])
        HierarchyReport(missing=('21',), wrong_intervals=(('20', '15-19'),))
        """
        known = set(self.leaves)
        missing = dict.fromkeys(text for text in texts if text not in known)
        intervals = {label: read_interval(label) for path in self.paths for label in path}
        wrong: dict[tuple[str, str], None] = {}
        for leaf, path in zip(self.leaves, self.paths, strict=True):
            number = read_number(leaf)
            if number is None:
                continue
            for label in path:
                interval = intervals[label]
                if interval is not None and number not in interval:
                    wrong[leaf, label] = None
        return HierarchyReport(tuple(missing), tuple(wrong))

    def bind(self, texts: Sequence[str]) -> Tree:
        """Return the tree over the given distinct values of a column.

        Refuses (HierarchyError) values without an entry.

        >>> rows = [("Peru", "America"), ("Laos", "Asia"), ("Cuba", "America"), ("Iran", "Asia")]
        >>> tree = Hierarchy.from_rows(rows, "country").bind(["Cuba", "Laos", "Peru"])
        >>> tree.order.tolist(), tree.labels
        ([2, 0, 1], ('Peru', 'Cuba', 'Laos', 'America', 'Asia', '*'))
        >>> tree.parent.tolist(), tree.leaves.tolist()
        ([3, 3, 4, 5, 5, 5], [1, 1, 1, 2, 2, 4])
        """
        place = {leaf: row for row, leaf in enumerate(self.leaves)}
        missing = sum(text not in place for text in texts)
        if missing:
            raise HierarchyError(
                f"hierarchy '{self.name}': {missing} of {len(texts)} values have no entry; "
                "list them with `sfumato check` and add a line for each"
            )
        if not texts:
            return self._bare_root()
        numbers, names = label_numbers(self.rows())
        bound = numbers[np.array([place[text] for text in texts], dtype=np.int64)]
        # Labels are numbered as they first appear, so sorting by number from the root down puts
        # the leaves in depth-first order and leaves the order of the file wherever it can.
        order = np.lexsort(bound.T).astype(np.int64)
        nodes, first, last, labels, levels = _number_nodes(bound[order], len(names))
        parent = np.arange(len(labels), dtype=np.int32)
        for below, above in zip(nodes.T[:-1], nodes.T[1:], strict=True):
            parent[below[below != above]] = above[below != above]
        leaves = np.zeros(len(names), dtype=np.int32)
        for level in numbers.T:
            leaves = np.maximum(leaves, np.bincount(level, minlength=len(names)).astype(np.int32))
        return Tree(
            order=order,
            parent=parent,
            first=first,
            last=last,
            leaves=leaves[labels],
            levels=levels,
            labels=tuple(names[label] for label in labels),
            domain_size=len(self.leaves),
        )

    def _bare_root(self) -> Tree:
        # A column without values still has the root, which is what its missing cells become.
        zero, count = np.zeros(1, dtype=np.int32), len(self.leaves)
        none = np.zeros(0, dtype=np.int64)
        every = np.array([count], dtype=np.int32)
        height = np.array([len(self.paths[0])], dtype=np.int32)
        return Tree(none, zero, zero.copy(), zero - 1, every, height, (ROOT,), count)

    def pruned(self, published: Container[str]) -> Hierarchy:
        """Return the part that the published labels (values and inner nodes) need, and no more.

        In each row the lowest published label becomes the value, so that neither a value nor a
        node below a published one tells what was generalised; rows without any vanish.

        >>> rows = [("12345", "123**", "*"), ("12388", "123**", "*"), ("45678", "456**", "*")]
        >>> Hierarchy.from_rows(rows, "zip", supplied=False).pruned({"12388", "456**"}).rows()
        [('12388', '123**', '*'), ('456**', '456**', '*')]
        """
        pruned: dict[tuple[str, ...], None] = {}
        for row in self.rows():
            start = next((j for j, label in enumerate(row) if label in published), None)
            if start is not None:
                pruned[(row[start],) * start + row[start:]] = None
        # a node with a published value below stands on its own feet already
        above = {label for row in pruned for label in row[1:] if label != row[0]}
        kept = [row for row in pruned if row[0] not in above]
        return Hierarchy.from_rows(kept or [(ROOT, ROOT)], self.name, self.supplied)


def _number_nodes(
    bound: NDArray[np.int64], label_count: int
) -> tuple[
    NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]
]:
    """Return the nodes above each code by level; each node's first and last code, label and level.

    `bound` holds a row of label numbers for each code, in leaf order.
    """
    codes = len(bound)
    node_of = np.full(label_count, -1, dtype=np.int32)
    firsts, lasts, labels, levels = [], [], [], []
    count = 0
    for height, level in enumerate(bound.T):
        # Nesting and leaf order make the codes below a label one run.
        starts = np.flatnonzero(np.append(True, level[1:] != level[:-1])[:codes])
        ends = np.append(starts[1:], codes)[: len(starts)] - 1
        new = node_of[level[starts]] < 0  # a label that the level below has too is the same node
        firsts.append(starts[new])
        lasts.append(ends[new])
        labels.append(level[starts[new]])
        levels.append(np.full(len(labels[-1]), height))
        node_of[labels[-1]] = np.arange(count, count + len(labels[-1]))
        count += len(labels[-1])
    return (
        node_of[bound],
        np.concatenate(firsts).astype(np.int32),
        np.concatenate(lasts).astype(np.int32),
        np.concatenate(labels),
        np.concatenate(levels).astype(np.int32),
    )


def _with_root(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the rows with `*` as their last label; ragged rows stay as they are, to be refused."""
    if len({len(row) for row in rows}) != 1:
        return [tuple(row) for row in rows]
    tops = {row[-1] for row in rows}
    if len(tops) == 1 and len(rows[0]) > 1:
        top = tops.pop()
        return [(row[0], *(ROOT if label == top else label for label in row[1:])) for row in rows]
    return [(*row, ROOT) for row in rows]


def _refuse_flaws(rows: Sequence[tuple[str, ...]], name: str, places: Sequence[str]) -> None:
    flaw = find_flaw(rows, ROOT)
    if flaw is not None:
        where = [places[row] for row in flaw.rows]
        raise HierarchyError(f"hierarchy '{name}': {flaw.problem.format(*where)}")
