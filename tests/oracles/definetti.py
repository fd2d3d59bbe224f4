"""The deFinetti attack, literally: people, buckets and dictionaries, one number at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

Cells = tuple[Hashable, ...]
Chances = dict[Hashable, float]
Key = tuple[int, int, Hashable]


@dataclass
class Bucket:
    """People, whose cells every block shows in an order of its own, and their values."""

    blocks: list[list[Cells]]
    values: list[Hashable]


@dataclass
class Learned:
    """How much likelier than at all a cell of a block is with a value."""

    ratio: Mapping[tuple[Key, Hashable], float]

    def likelihood(self, block: int, cells: Cells, value: Hashable) -> float:
        keys = [(block, place, cell) for place, cell in enumerate(cells)]
        return prod(self.ratio.get((key, value), 1.0) for key in keys)

    def matched(self, bucket: Bucket, block: int, rounds: int = 4) -> list[Chances]:
        """Return what each of the people has: one value each, and values as often as they are."""
        rows, held = bucket.blocks[block], Counter(bucket.values)
        factor: Chances = {v: count / len(bucket.values) for v, count in held.items()}

        def chances(row: Cells) -> Chances:
            own = {v: factor[v] * self.likelihood(block, row, v) for v in held}
            return {v: chance / sum(own.values()) for v, chance in own.items()}

        for _ in range(rounds):
            given = [chances(row) for row in rows]
            factor = {v: factor[v] * held[v] / sum(each[v] for each in given) for v in held}
        return [chances(row) for row in rows]


def learn(buckets: Sequence[Bucket], iterations: int = 10) -> Learned:
    """Return what expectation and maximisation lead to, from everything being equally likely."""
    learned = Learned({})
    for _ in range(iterations):
        tally: dict[tuple[Key, Hashable], float] = {}
        for bucket in buckets:
            for block, rows in enumerate(bucket.blocks):
                for row, chances in zip(rows, learned.matched(bucket, block), strict=True):
                    for place, cell in enumerate(row):
                        for value, chance in chances.items():
                            at = (block, place, cell), value
                            tally[at] = tally.get(at, 0.0) + chance
        learned = Learned(_ratios(tally))
    return learned


def _ratios(tally: Mapping[tuple[Key, Hashable], float]) -> dict[tuple[Key, Hashable], float]:
    values = {value for _, value in tally}
    found = {}
    for attribute in {key[:2] for key, _ in tally}:
        cells = {key for key, _ in tally if key[:2] == attribute}
        people = {cell: sum(tally.get((cell, v), 0.0) for v in values) for cell in cells}
        everybody = sum(people.values())
        for value in values:
            having = sum(tally.get((cell, value), 0.0) for cell in cells)
            for cell in cells:
                share = people[cell] / everybody
                with_it = tally.get((cell, value), 0.0) / share
                found[cell, value] = (with_it + len(cells)) / (having + len(cells))
    return found


def in_groups(
    learned: Learned, groups: Sequence[Bucket], covers: Callable[[int, Cells], bool]
) -> Chances:
    """Return what a person has, who fits the cells that `covers` says of each block, where groups
    are the buckets."""
    found: Chances = {}
    for group in groups:
        size = len(group.values)
        fitting = [
            [place for place, row in enumerate(rows) if covers(block, row)]
            for block, rows in enumerate(group.blocks)
        ]
        weight = size * prod(len(places) / size for places in fitting)
        if not weight:
            continue
        shares = {v: count / size for v, count in Counter(group.values).items()}
        mixed = dict(shares)
        for block, places in enumerate(fitting):
            given = learned.matched(group, block)
            for v, share in shares.items():
                told = sum(given[place][v] for place in places) / len(places)
                mixed[v] *= told / share
        for v, chance in mixed.items():
            found[v] = found.get(v, 0.0) + weight * chance / sum(mixed.values())
    return {v: chance / sum(found.values()) for v, chance in found.items()}


def in_rows(
    learned: Learned, buckets: Sequence[Bucket], covers: Callable[[int, Cells], bool]
) -> Chances:
    """Return the same where any row of any bucket that fits may be the person's."""
    found: Chances = {}
    for bucket in buckets:
        given = learned.matched(bucket, 0)
        for row, chances in zip(bucket.blocks[0], given, strict=True):
            if covers(0, row):
                for v, chance in chances.items():
                    found[v] = found.get(v, 0.0) + chance
    return {v: chance / sum(found.values()) for v, chance in found.items()}


def right(chances: Chances, own: Hashable) -> float:
    """Return the chance that the likeliest value is the own one; equally likely ones share it."""
    best = max(chances.values())
    top = [v for v, chance in chances.items() if chance > best * (1 - 1e-9)]
    return (own in top) / len(top)
