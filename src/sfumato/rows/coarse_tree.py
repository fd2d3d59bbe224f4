"""A tree of coarse cuts: which part of a table a row is in, told by a few of its codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.table.whole import Joint

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """One cut: rows of `node` whose code of the column `goes_right` go to `right`, else `left`."""

    node: int
    column: str
    goes_right: Bools = field(repr=False)  # by code, a missing value last
    left: int
    right: int


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    """Rows set apart before any cut, by the combination of codes that they have in some columns."""

    columns: tuple[str, ...]
    combinations: Joint = field(repr=False)
    nodes: Ints  # of the combinations


@dataclass(frozen=True, slots=True, eq=False)
class CutTree:
    """Cuts of a table into parts; a part is a node that is not cut, and 0 is the whole table."""

    cuts: tuple[Cut, ...] = ()
    roots: Roots | None = None

    @property
    def tops(self) -> tuple[int, ...]:
        """The nodes that no cut has made, ascending."""
        return (0,) if self.roots is None else tuple(np.unique(self.roots.nodes).tolist())

    @property
    def parts(self) -> tuple[int, ...]:
        """The nodes that are parts, ascending."""
        inner = {cut.node for cut in self.cuts}
        nodes = {*self.tops, *(node for cut in self.cuts for node in (cut.left, cut.right))}
        return tuple(sorted(nodes - inner))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose codes tell the part of a row."""
        apart = () if self.roots is None else self.roots.columns
        return tuple(dict.fromkeys([*apart, *(cut.column for cut in self.cuts)]))

    def part_of(self, codes: Mapping[str, npt.NDArray[np.integer[Any]]], rows: int) -> Codes:
        """Return the part of each of so many rows, given the codes of `columns`."""
        found = np.zeros(rows, np.int32)
        cut_at = {cut.node: cut for cut in self.cuts}
        pending = [(0, np.arange(rows))]
        if self.roots is not None:
            held = [codes[name] for name in self.roots.columns]
            top = self.roots.nodes[self.roots.combinations.lines_of(held, rows)]
            pending = [(node, np.flatnonzero(top == node)) for node in self.tops]
        while pending:
            node, here = pending.pop()
            cut = cut_at.get(node)
            if cut is None:
                found[here] = node
                continue
            goes_right = cut.goes_right[codes[cut.column][here]]
            pending += [(cut.left, here[~goes_right]), (cut.right, here[goes_right])]
        return found

    def joined(self, part: int) -> CutTree:
        """Return the tree in which the cut that made a part is not made, nor any below it.

        A part that no cut made joins another such: the next, or one that is not cut at all.
        """
        for cut in self.cuts:
            if part in (cut.left, cut.right):
                return CutTree(self._cuts_outside(cut.node), self.roots)
        if self.roots is None or len(self.tops) <= 2:
            return CutTree()
        others = [node for node in self.tops if node > part]
        others += [node for node in self.tops if node < part]
        uncut = [node for node in others if node in self.parts]
        other = (uncut or others)[0]
        nodes = np.where(self.roots.nodes == part, other, self.roots.nodes)
        return CutTree(self._cuts_outside(other), replace(self.roots, nodes=nodes))

    def _cuts_outside(self, node: int) -> tuple[Cut, ...]:
        """Return the cuts of other nodes than this and those below it."""
        gone = {node}
        for cut in self.cuts:  # a node is made before it is cut
            if cut.node in gone:
                gone |= {cut.left, cut.right}
        return tuple(cut for cut in self.cuts if cut.node not in gone)
