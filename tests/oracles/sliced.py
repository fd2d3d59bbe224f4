"""The `sliced` layout, read literally: blocks of attributes, each permuted within its groups.

`parameters.columns` lists the blocks. Which values of different blocks stand in one row says
nothing; a block's own cells belong together, and its group's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .cells import Exact, covers
from .consistency import Original, perfect_matching
from .points import Point, point_of_value
from .release import Published, Row, groups

Blocks = Sequence[Sequence[str]]


def manifest_problems(manifest: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the blocks that the manifest states."""
    if manifest["layout"] != "sliced":
        return []
    found = []
    if [entry["name"] for entry in manifest["tables"]] != ["records"]:
        found.append("a sliced release has one table, and none of people")
    if any(entry.get("count") for entry in manifest["tables"]):
        found.append("a sliced release has no counts")
    blocks = manifest["parameters"].get("columns")
    if not isinstance(blocks, list) or not all(isinstance(block, list) for block in blocks):
        return [*found, "no list of blocks"]
    if any(not isinstance(name, str) for block in blocks for name in block):
        return [*found, "a block of something else than names"]
    if not all(blocks):
        found.append("an empty block")
    role_of = {each["name"]: each["role"] for each in manifest["attributes"]}
    if Counter(name for block in blocks for name in block) != Counter(role_of.keys()):
        found.append("blocks that do not name each attribute once")
    for block in blocks:
        if len(block) > 1 and {role_of.get(name) for name in block} != {"quasi-identifier"}:
            found.append("an attribute that must be alone in its block")
    for claim in manifest["guarantees"]:
        if role_of.get(claim.get("attribute"), "sensitive") != "sensitive":
            found.append("a claim about values that are not sensitive")
    return found


def problems(release: Published) -> list[str]:
    """Return the cells of a sliced release that had to be exact."""
    return [
        f"{name}: a cell that is not exact"
        for role in ("sensitive", "insensitive")
        for name in release.with_role(role)
        if any(not isinstance(row[name], Exact) for row in release.tables["records"])
    ]


def smallest_crowd(release: Published) -> int:
    """Return how few records of one group share all cells of one block of quasi-identifiers."""
    quasi = release.with_role("quasi-identifier")
    crowds = []
    for rows in groups(release).values():
        crowds.append(len(rows))
        for block in release.manifest["parameters"]["columns"]:
            if block[0] in quasi:
                crowds += Counter(tuple(row[name] for name in block) for row in rows).values()
    return min(crowds)


def sliced_from(original: Original, release: Published) -> bool:
    """Whether the original rows can be dealt to the groups so that every block fits on its own.

    In each group, each block's published cells must cover that block of the rows dealt to it, one
    to one. Records that no row is dealt to are the fakes, as many as the manifest says. Tries
    groups row by row and takes back what leads nowhere: for a few dozen rows, all published.
    """
    blocks: Blocks = release.manifest["parameters"]["columns"]
    fakes = release.manifest["parameters"].get("fakes", 0)
    if release.manifest["suppressed"] or release.manifest["rows"] != len(original) + fakes:
        return False
    points = sorted(
        (
            tuple(tuple(point_of_value(row[name]) for name in block) for block in blocks)
            for row in original
        ),
        key=repr,
    )
    everywhere = release.tables["records"]
    for at, block in enumerate(blocks):
        if (
            perfect_matching([_fitting(release, block, everywhere, row[at]) for row in points])
            is None
        ):
            return False
    published = groups(release)
    fitting = {
        group: [
            {part: _fitting(release, block, rows, part) for part in {row[at] for row in points}}
            for at, block in enumerate(blocks)
        ]
        for group, rows in published.items()
    }
    dealt: dict[int, list[int]] = {group: [] for group in published}

    def fits(group: int) -> bool:
        return len(dealt[group]) <= len(published[group]) and all(
            perfect_matching([fitting[group][at][points[i][at]] for i in dealt[group]]) is not None
            for at in range(len(blocks))
        )

    def deal(number: int, lowest: int) -> bool:
        if number == len(points):
            return True
        for group in sorted(published):
            if group < lowest:  # equal rows go to groups in ascending order
                continue
            dealt[group].append(number)
            same = number + 1 < len(points) and points[number + 1] == points[number]
            if fits(group) and deal(number + 1, group if same else 0):
                return True
            dealt[group].pop()
        return False

    return deal(0, 0)


def _fitting(
    release: Published, block: Sequence[str], rows: Sequence[Row], part: tuple[Point | None, ...]
) -> list[int]:
    """Return the rows whose cells of a block cover these values."""
    return [
        i
        for i, row in enumerate(rows)
        if all(
            covers(row[name], point, release.readings[name])
            for name, point in zip(block, part, strict=True)
        )
    ]
