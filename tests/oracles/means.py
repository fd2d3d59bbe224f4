"""Microaggregated releases by their definition: every cell is the mean of its group's values."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from oracles.cells import Exact
from oracles.points import point_of_value
from oracles.release import Published

Row = dict[str, Any]
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_FEW = 12  # rows that can be dealt to groups in every way


def means_from(original: Sequence[Row], release: Published) -> bool:
    """Whether the original's rows can be dealt to the groups so that every cell is their mean.

    Of more than a few rows, only what holds for all groups together is looked at: sums, missing
    cells, and all that was left as it is.
    """
    rows = release.tables["records"]
    names = list(release.attributes)
    means = release.manifest["parameters"]["microaggregated"]
    if len(rows) != len(original) or set(means) != set(release.with_role("quasi-identifier")):
        return False
    exact = [name for name in names if name not in means]
    own = [{name: point_of_value(row[name]) for name in names} for row in original]
    told = [{name: _point(row[name]) for name in names} | {"group": row["group"]} for row in rows]
    left = [Counter(tuple(row[name] for name in exact) for row in some) for some in (own, told)]
    if left[0] != left[1] or not _are_means(own, told, means, release):
        return False
    if len(rows) > _FEW:
        return True
    groups: dict[int, list[Row]] = {}
    for row in told:
        groups.setdefault(row["group"], []).append(row)

    def deals(free: list[int], waiting: list[list[Row]]) -> bool:
        if not waiting:
            return True
        first = waiting[0]
        wanted = Counter(tuple(row[name] for name in exact) for row in first)
        for some in combinations(free, len(first)):
            mine = [own[i] for i in some]
            if Counter(tuple(row[name] for name in exact) for row in mine) != wanted:
                continue
            rest = [i for i in free if i not in some]
            if _are_means(mine, first, means, release) and deals(rest, waiting[1:]):
                return True
        return False

    return deals(list(range(len(own))), list(groups.values()))


def _are_means(
    own: Sequence[Row], told: Sequence[Row], means: Sequence[str], release: Published
) -> bool:
    """Whether as many cells are missing, and the others add up to the same."""
    for name in means:
        one, other = (list(_known(rows, name)) for rows in (own, told))
        if len(one) != len(other):
            return False
        slack = _step(release.attributes[name]["type"]) * len(one)
        slack += sum(map(abs, one)) * Fraction(1, 10**12)
        if abs(sum(one) - sum(other)) > slack:
            return False
        if one and not min(one) - slack <= min(other) <= max(other) <= max(one) + slack:
            return False
    return True


def _known(rows: Sequence[Row], name: str) -> Iterator[Any]:
    return (row[name] for row in rows if row[name] is not None)


def _step(dtype: str) -> Fraction:
    """Return the unit that dates and times are rounded to; of numbers, the least that they have."""
    if dtype in ("double", "float64"):
        return Fraction(math.ulp(0.0))
    unit = re.search(r"\[(s|ms|us|ns)", dtype)
    return Fraction(1, _UNITS[unit.group(1)]) if unit and "date" not in dtype else Fraction(1)


def _point(cell: Any) -> Any:
    return cell.point if isinstance(cell, Exact) else cell
