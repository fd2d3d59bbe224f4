"""Local suppression by its definition: the fewest cells of all partitions, and a plain greedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

Row = tuple[Any, ...]
Partition = list[list[int]]


def cost_of(rows: Sequence[Row], groups: Partition, weights: Sequence[float]) -> float:
    """Return what the cells cost in which the rows of a group differ, each row's cell once."""
    total = 0.0
    for group in groups:
        for a, weight in enumerate(weights):
            if len({rows[i][a] for i in group}) > 1:
                total += weight * len(group)
    return total


def partitions(items: list[int], k: int) -> Iterator[Partition]:
    """Return all ways to part the items into groups of k or more."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [i for i in rest if i not in others]
            if not left or len(left) >= k:
                for more in partitions(left, k):
                    yield [[first, *others], *more]


def optimum(rows: Sequence[Row], k: int, weights: Sequence[float]) -> float:
    """Return the least cost of all partitions into groups of k rows or more."""
    every = partitions(list(range(len(rows))), k)
    return min(cost_of(rows, groups, weights) for groups in every)


def greedy(rows: Sequence[Row], k: int, weights: Sequence[float]) -> float:
    """Return the cost of going through sets of attributes to suppress, the cheapest first.

    Of equally cheap ones that comes first under which most rows at risk would be safe, then the
    smaller number when attribute a counts 2 ** a. Rows that are left over, in their order, each
    join the group where all rows together cost least more.
    """
    attributes = range(len(weights))

    def shown(i: int, hidden: tuple[int, ...]) -> Row:
        return tuple(value for a, value in enumerate(rows[i]) if a not in hidden)

    def classes(some: list[int], hidden: tuple[int, ...]) -> list[list[int]]:
        found: dict[Row, list[int]] = {}
        for i in some:
            found.setdefault(shown(i, hidden), []).append(i)
        return [each for each in found.values() if len(each) >= k]

    free = list(range(len(rows)))
    safe = {i for each in classes(free, ()) for i in each}
    at_risk = [i for i in free if i not in safe]

    def rank(hidden: tuple[int, ...]) -> tuple[float, int, int]:
        helped = sum(len(each) for each in classes(at_risk, hidden))
        return sum(weights[a] for a in hidden), -helped, sum(2**a for a in hidden)

    every = [some for size in range(len(weights) + 1) for some in combinations(attributes, size)]
    groups: Partition = []
    for hidden in sorted(every, key=rank):
        for each in classes(free, hidden):
            groups.append(each)
            free = [i for i in free if i not in each]

    def grown(group: list[int], i: int) -> float:
        return cost_of(rows, [[*group, i]], weights) - cost_of(rows, [group], weights)

    for i in free:
        min(groups, key=lambda group: grown(group, i)).append(i)
    return cost_of(rows, groups, weights)
