"""Full-domain recoding by trying everything: every combination of levels, row by row.

A recoding gives each attribute one level of its hierarchy. Rows whose cells agree are a group;
groups of fewer than k people are withheld, then those that break another model, and again those
that break it by what is left. Its loss is the mean NCP of all cells, weighted by attribute, a
withheld row's cells being 1 each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Row = Mapping[str, Any]
# attribute -> value -> its label at each level, from the value itself to `*`
Ladders = Mapping[str, Mapping[str, Sequence[str]]]
# how many people a group has
People = Callable[[Sequence[Row]], int]
# whether a group of rows holds, among all rows that are published
Holds = Callable[[Sequence[Row], Sequence[Row]], bool]


def always(group: Sequence[Row], everybody: Sequence[Row]) -> bool:
    """Return that a group holds: nothing but its size is asked for."""
    return True


def cell(row: Row, name: str, level: int, ladders: Ladders) -> str | None:
    """Return the cell of a row; a missing value is one of its own below `*`."""
    height = len(next(iter(ladders[name].values()))) - 1
    if row[name] is None:
        return "*" if level == height else None
    return ladders[name][row[name]][level]


def penalty(label: str | None, name: str, level: int, ladders: Ladders) -> Fraction:
    """Return the NCP of a cell."""
    if label is None or level == 0:
        return Fraction(0)
    if label == "*":
        return Fraction(1)
    below = sum(path[level] == label for path in ladders[name].values())
    return Fraction(below if below > 1 else 0, len(ladders[name]))


def published(
    rows: Sequence[Row],
    levels: Mapping[str, int],
    ladders: Ladders,
    k: int,
    holds: Holds = always,
    people: People = len,
) -> list[Row]:
    """Return the rows that are not withheld."""
    groups: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        key = tuple(cell(row, name, levels[name], ladders) for name in ladders)
        groups.setdefault(key, []).append(row)
    left = [group for group in groups.values() if people(group) >= k]
    while True:
        kept = [row for group in left for row in group]
        holding = [group for group in left if holds(group, kept)]
        if len(holding) == len(left):
            return kept
        left = holding


def loss(
    rows: Sequence[Row],
    kept: Sequence[Row],
    levels: Mapping[str, int],
    ladders: Ladders,
    weights: Mapping[str, int],
) -> Fraction:
    """Return the loss of a recoding that publishes these rows."""
    total = Fraction(len(rows) - len(kept)) * sum(weights.values())
    for row in kept:
        for name in ladders:
            label = cell(row, name, levels[name], ladders)
            total += weights[name] * penalty(label, name, levels[name], ladders)
    return total / (len(rows) * sum(weights.values()))


def best(
    rows: Sequence[Row],
    ladders: Ladders,
    k: int,
    limit: int,
    weights: Mapping[str, int],
    *,
    highest: Mapping[str, int] | None = None,
    holds: Holds = always,
    people: People = len,
) -> Fraction | None:
    """Return the least loss of all recodings that withhold at most `limit` rows, None if none do.

    `highest` are the levels that must not be exceeded.
    """
    heights = {name: len(next(iter(paths.values()))) - 1 for name, paths in ladders.items()}
    tops = {name: min(heights[name], (highest or heights)[name]) for name in ladders}
    losses = []
    for chosen in product(*(range(tops[name] + 1) for name in ladders)):
        levels = dict(zip(ladders, chosen, strict=True))
        kept = published(rows, levels, ladders, k, holds, people)
        if len(rows) - len(kept) <= limit:
            losses.append(loss(rows, kept, levels, ladders, weights))
    return min(losses, default=None)
