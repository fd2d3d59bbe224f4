"""Blocks of rows that differ in everything, by trying every split: for a handful of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

Row = Sequence[int]


def differ(rows: Sequence[Row]) -> bool:
    """Whether all rows differ pairwise in every attribute."""
    return all(len(set(column)) == len(rows) for column in zip(*rows, strict=True))


def unique_split(rows: Sequence[Row], ell: int) -> list[list[int]] | None:
    """Return floor(n / l) blocks of row numbers whose rows differ, as even as can be, or None."""
    count = len(rows) // ell
    small, larger = divmod(len(rows), count)
    sizes = [small + 1] * larger + [small] * (count - larger)
    return _fill(rows, list(range(len(rows))), sizes)


def _fill(rows: Sequence[Row], left: list[int], sizes: list[int]) -> list[list[int]] | None:
    """Return blocks of these sizes, in any order, of the rows left; the first row is in one."""
    if not left:
        return []
    for size in sorted(set(sizes)):
        rest = list(sizes)
        rest.remove(size)
        for others in combinations(left[1:], size - 1):
            block = [left[0], *others]
            if differ([rows[i] for i in block]):
                found = _fill(rows, [i for i in left if i not in block], rest)
                if found is not None:
                    return [block, *found]
    return None
