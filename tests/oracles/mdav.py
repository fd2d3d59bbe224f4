"""MDAV by its definition, record by record."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, ...]


def _distance(one: Point, other: Point) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _mean(points: Sequence[Point]) -> Point:
    return tuple(sum(column) / len(points) for column in zip(*points, strict=True))


def standardised(points: Sequence[Point]) -> list[Point]:
    """Return the points in standard deviations of each coordinate; 0 where it does not vary."""
    means = _mean(points)
    spreads = [
        (sum((p[a] - m) ** 2 for p in points) / len(points)) ** 0.5 for a, m in enumerate(means)
    ]
    return [
        tuple((x - m) / s if s else 0.0 for x, m, s in zip(p, means, spreads, strict=True))
        for p in points
    ]


def mdav(points: Sequence[Point], k: int) -> list[list[int]]:
    """Return the groups of the published algorithm; ties go to what comes first."""
    left = list(range(len(points)))
    groups = []

    def farthest(centre: Point) -> int:
        return max(left, key=lambda i: _distance(points[i], centre))

    def group_around(i: int) -> list[int]:
        near = sorted(left, key=lambda j: _distance(points[j], points[i]))[:k]
        for j in near:
            left.remove(j)
        return near

    while len(left) >= 3 * k:
        one = farthest(_mean([points[i] for i in left]))
        other = farthest(points[one])
        groups.append(group_around(one))
        groups.append(group_around(other))
    if len(left) >= 2 * k:
        groups.append(group_around(farthest(_mean([points[i] for i in left]))))
    groups.append(left)
    return groups
