"""Sets of medoids by their definition, all of them tried: only for a few points."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

Matrix = Sequence[Sequence[int]]


def cost(distances: Matrix, medoids: Collection[int]) -> int:
    """Return the sum of all points' distances to the nearest medoid.

    >>> cost([[0, 1, 5], [1, 0, 3], [5, 3, 0]], [0, 2])
    1
    """
    return sum(min(row[medoid] for medoid in medoids) for row in distances)


def least_cost(distances: Matrix, count: int) -> int:
    """Return the cost of the best set of so many medoids."""
    return min(cost(distances, each) for each in combinations(range(len(distances)), count))


def improving_swaps(distances: Matrix, medoids: Collection[int]) -> Iterator[tuple[int, int]]:
    """Return the medoids that could be exchanged for another point at a lower cost, with it."""
    for medoid in medoids:
        for point in set(range(len(distances))).difference(medoids):
            if cost(distances, {*medoids, point} - {medoid}) < cost(distances, medoids):
                yield medoid, point


def literal_pam(distances: Matrix, count: int) -> list[int]:
    """Return the medoids that BUILD and SWAP find, every choice tried anew; ties to the lowest."""
    points = range(len(distances))
    chosen: list[int] = []
    for _ in range(count):
        left = [point for point in points if point not in chosen]
        chosen.append(min(left, key=lambda point: (cost(distances, [*chosen, point]), point)))
    while swaps := list(improving_swaps(distances, chosen)):
        sets = [(cost(distances, {*chosen, new} - {old}), old, new) for old, new in swaps]
        _, old, new = min(sets)
        chosen = [*(medoid for medoid in chosen if medoid != old), new]
    return sorted(chosen)
