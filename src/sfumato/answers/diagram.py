"""A predicate over several tables as a diagram of decisions: one table after the other.

What a row of a table says of the parts of the predicate that concern this table is its *pattern*.
A node of the diagram is a predicate on the tables from one on: each pattern of that table leads to
the predicate that is left to the others. Nodes are numbers, and equal predicates are the same
number. So a conjunction of parts has one node a table, however many tables there are, and whatever
is worked out for a node is worked out once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final, TypeAlias

from sfumato.answers.parts import Part, Tree, given
from sfumato.errors import ParameterError

Node: TypeAlias = int
NO: Final = 0
YES: Final = 1

# More than any question that a person would ask has, and few enough to work out.
_MOST_NODES = 4_096
_MOST_UNIONS = 32


class Diagrams:
    """Predicates on the same tables, each of which has so many different patterns."""

    def __init__(self, patterns: Sequence[int]) -> None:
        self._patterns = tuple(patterns)
        last = len(self._patterns)
        self._nodes: list[tuple[int, tuple[Node, ...]]] = [(last, ()), (last, ())]
        self._known: dict[tuple[int, tuple[Node, ...]], Node] = {}
        self._either: dict[tuple[Node, Node], Node] = {}
        self._neither: dict[Node, Node] = {}

    def of(self, tree: Tree | bool, truths: Sequence[Sequence[Mapping[Part, bool]]]) -> Node:
        """Return the node of a predicate; `truths` says what each pattern of each table tells.

        Refuses (ParameterError) a predicate that ties the tables together in too many ways.
        """
        return self.of_some(tree, [[(truth,) for truth in own] for own in truths])

    def of_some(
        self,
        tree: Tree | bool,
        alternatives: Sequence[Sequence[Sequence[Mapping[Part, bool]]]],
        *,
        always: bool = False,
    ) -> Node:
        """Return the node of "the predicate is true of some alternatives", or of all (`always`).

        A pattern may leave open what it tells: `alternatives` has for each pattern of each table
        all that it may be.

        Refuses (ParameterError) what `of` refuses.
        """
        found: dict[tuple[int, Tree], Node] = {}

        def node(tree: Tree | bool, table: int) -> Node:
            if isinstance(tree, bool):
                return int(tree)
            if (table, tree) not in found:
                _limit(len(found))
                after = []
                for several in alternatives[table]:
                    nodes = [node(given(tree, known), table + 1) for known in several]
                    after.append(self._all(nodes) if always else reduce(self.either, nodes))
                found[table, tree] = self._node(table, tuple(after))
            return found[table, tree]

        return node(tree, 0)

    def _all(self, nodes: Sequence[Node]) -> Node:
        """Return the conjunction."""
        return self.neither(reduce(self.either, map(self.neither, nodes)))

    def after(self, node: Node, table: int) -> tuple[Node, ...]:
        """Return where each pattern of a table leads, the node being about no earlier table."""
        at, nodes = self._nodes[node]
        return nodes if at == table else (node,) * self._patterns[table]

    def table(self, node: Node) -> int:
        """Return the first table that the node is about."""
        return self._nodes[node][0]

    def neither(self, node: Node) -> Node:
        """Return the negation."""
        if node in (NO, YES):
            return YES - node
        if node not in self._neither:
            table, after = self._nodes[node]
            self._neither[node] = self._node(table, tuple(self.neither(each) for each in after))
        return self._neither[node]

    def either(self, one: Node, other: Node) -> Node:
        """Return the disjunction."""
        if YES in (one, other):
            return YES
        if one == other or NO in (one, other):
            return max(one, other)
        pair = (min(one, other), max(one, other))
        if pair not in self._either:
            table = min(self.table(one), self.table(other))
            pairs = zip(self.after(one, table), self.after(other, table), strict=True)
            self._either[pair] = self._node(table, tuple(self.either(*each) for each in pairs))
        return self._either[pair]

    def covers(self, wide: Node, narrow: Node) -> bool:
        """Return whether one predicate is true wherever the other is."""
        return self.either(wide, narrow) == wide

    def unions(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the disjunctions of all selections of the nodes, each once.

        Where there are very many: some of them, that of none and that of all being among them.
        """
        distinct = dict.fromkeys(nodes)
        found = dict.fromkeys((NO, reduce(self.either, distinct, NO)))
        for node in distinct:
            for each in list(found):
                if len(found) < _MOST_UNIONS:
                    found[self.either(each, node)] = None
        return list(found)

    def _node(self, table: int, after: tuple[Node, ...]) -> Node:
        if len(set(after)) == 1:
            return after[0]
        key = (table, after)
        if key not in self._known:
            _limit(len(self._nodes))
            self._known[key] = len(self._nodes)
            self._nodes.append(key)
        return self._known[key]


def _limit(nodes: int) -> None:
    if nodes >= _MOST_NODES:
        raise ParameterError(
            "the predicate ties the tables of this release together in too many ways; "
            "ask in several simpler questions"
        )
