"""Whether a release can have come from an original table, by exhaustive matching.

Only small tables: the matcher looks at every pair of a published and an original row.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from .cells import Exact, covers
from .points import Point, point_of_value
from .release import Published

Original = Sequence[Mapping[str, Any]]


def perfect_matching(choices: Sequence[Sequence[int]]) -> dict[int, int] | None:
    """Return a different choice for every chooser, or None where there is none.

    Augmenting paths, breadth first: a chooser without a free choice makes another one move on.

    >>> perfect_matching([[0, 1], [0]])
    {1: 0, 0: 1}
    >>> perfect_matching([[0], [0]]) is None
    True
    """
    taken: dict[int, int] = {}  # choice -> chooser
    for newcomer in range(len(choices)):
        wanted_by: dict[int, int] = {}
        queue = deque([newcomer])
        free = None
        while queue and free is None:
            chooser = queue.popleft()
            for choice in choices[chooser]:
                if choice in wanted_by:
                    continue
                wanted_by[choice] = chooser
                if choice not in taken:
                    free = choice
                    break
                queue.append(taken[choice])
        if free is None:
            return None
        while free is not None:
            chooser = wanted_by[free]
            given_up = next((c for c, owner in taken.items() if owner == chooser), None)
            taken[free] = chooser
            free = given_up
    return {chooser: choice for choice, chooser in taken.items()}


def generalized_from(original: Original, release: Published) -> bool:
    """Whether each published row covers an original row of its own, sensitive values unchanged.

    Every original row must be published, or be one of the suppressed ones that the manifest counts.
    """
    rows = release.tables["records"]
    if len(rows) + release.manifest["suppressed"] != len(original):
        return False
    names = list(release.attributes)
    generalised = release.with_role("quasi-identifier")
    points = [{name: point_of_value(row[name]) for name in names} for row in original]

    def fits(published: Mapping[str, Any], point: Mapping[str, Point | None]) -> bool:
        return all(
            covers(published[name], point[name], release.readings[name])
            if name in generalised
            else published[name] == Exact(point[name])
            for name in names
        )

    choices = [[i for i, point in enumerate(points) if fits(row, point)] for row in rows]
    return perfect_matching(choices) is not None


def _published_counts(
    release: Published, entry: Mapping[str, Any]
) -> Counter[tuple[int, tuple[Point | None, ...]]]:
    """Return how often a table lists each combination of values in each group."""
    listed: Counter[tuple[int, tuple[Point | None, ...]]] = Counter()
    for row in release.tables[entry["name"]]:
        combination = tuple(row[name].point for name in entry["attributes"])
        listed[row[entry["group"]], combination] += row[entry["count"]]
    return listed


def _combination(row: Mapping[str, Any], entry: Mapping[str, Any]) -> tuple[Point | None, ...]:
    return tuple(point_of_value(row[name]) for name in entry["attributes"])


def anatomized_margins_from(original: Original, release: Published) -> bool:
    """Whether every table lists, over all groups, just the original's combinations of values.

    With suppressed rows: no combination more often than in the original.
    """
    if release.manifest["rows"] + release.manifest["suppressed"] != len(original):
        return False
    for entry in release.manifest["tables"]:
        listed: Counter[tuple[Point | None, ...]] = Counter()
        for (_, combination), count in _published_counts(release, entry).items():
            listed[combination] += count
        there = Counter(_combination(row, entry) for row in original)
        if sum(listed.values()) != release.manifest["rows"] or not listed <= there:
            return False
    return True


def anatomized_from(original: Original, release: Published) -> bool:
    """Whether the original rows can be dealt to the groups so that all tables agree.

    Tries groups row by row and takes back what leads nowhere: for a few dozen rows, all published.
    """
    if not anatomized_margins_from(original, release) or release.manifest["suppressed"]:
        return False
    entries = release.manifest["tables"]
    left = [_published_counts(release, entry) for entry in entries]
    ids = sorted({group for group, _ in left[0]})
    rows = sorted((tuple(_combination(row, e) for e in entries) for row in original), key=repr)

    def deal(at: int, lowest: int) -> bool:
        if at == len(rows):
            return True
        for group in ids:
            # Equal rows go to groups in ascending order: other orders are the same dealing.
            if group < lowest or any(
                not counts[group, part] for counts, part in zip(left, rows[at], strict=True)
            ):
                continue
            for counts, part in zip(left, rows[at], strict=True):
                counts[group, part] -= 1
            same = at + 1 < len(rows) and rows[at + 1] == rows[at]
            if deal(at + 1, group if same else 0):
                return True
            for counts, part in zip(left, rows[at], strict=True):
                counts[group, part] += 1
        return False

    return deal(0, 0)
