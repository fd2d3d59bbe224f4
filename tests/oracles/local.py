"""The `local` layout, read literally: groups that look alike, and buckets of sensitive cells.

A sensitive cell holds a value of its bucket, not of its row: `<attribute>.bucket` numbers the
bucket, null where the cell is a quasi-identifier's or withheld.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from . import models
from .cells import Cell, Exact, covers
from .consistency import Original, perfect_matching
from .points import Point, point_of_value
from .release import Published, groups

CHECKED = {"l-unique-buckets": {"attribute", "l"}, "t-close-buckets": {"attribute", "t"}}


def bucket_of(row: Mapping[str, Any], attribute: str) -> int | None:
    """Return the bucket of a row's cell, None where it is in none."""
    return row.get(f"{attribute}.bucket")


def buckets(release: Published, attribute: str) -> dict[int, list[Cell]]:
    """Return the cells of every bucket of an attribute."""
    found: dict[int, list[Cell]] = {}
    for row in release.tables["records"]:
        bucket = bucket_of(row, attribute)
        if bucket is not None:
            found.setdefault(bucket, []).append(row[attribute])
    return found


def problems(release: Published) -> list[str]:
    """Return what contradicts itself in a local release."""
    found = []
    protected = [*release.with_role("sensitive"), *release.with_role("semi-sensitive")]
    for name in release.attributes:
        ids = buckets(release, name)
        if ids and name not in protected:
            found.append(f"{name}: buckets of an attribute that is not sensitive")
        if sorted(ids) != list(range(1, len(ids) + 1)):
            found.append(f"{name}: bucket ids are not dense from 1")
        if any(not isinstance(cell, Exact) for cells in ids.values() for cell in cells):
            found.append(f"{name}: a cell in a bucket that is not exact")
    for name in release.with_role("sensitive"):
        if any(bucket_of(row, name) is None for row in release.tables["records"]):
            found.append(f"{name}: a sensitive cell without a bucket")
    alike = [*release.with_role("quasi-identifier"), *release.with_role("semi-sensitive")]
    for group, rows in groups(release).items():
        looks = {tuple(_look(row, name) for name in alike) for row in rows}
        if len(looks) != 1:
            found.append(f"group {group}: rows can be told apart")
    return found


def _look(row: Mapping[str, Any], attribute: str) -> Any:
    return "in a bucket" if bucket_of(row, attribute) is not None else row[attribute]


def claim_holds(release: Published, claim: Mapping[str, Any]) -> bool:
    """Whether a claim about buckets holds for each of them."""
    attribute = claim["attribute"]
    found = [
        [cell.point for cell in cells if isinstance(cell, Exact)]
        for cells in buckets(release, attribute).values()
    ]
    if claim["model"] == "l-unique-buckets":
        return all(models.l_unique(values, claim["l"]) for values in found)
    whole = [value for values in found for value in values]
    reading = release.readings[attribute]
    ground = models.ground_distance(
        claim.get("distance", "equal"),
        whole,
        order=reading.order or None,
        hierarchy=[[leaf, *path] for leaf, path in reading.paths.items()] or None,
    )
    return all(models.t_closeness(values, whole, claim["t"], ground) for values in found)


def local_from(original: Original, release: Published) -> bool:
    """Whether the original can be behind the release, one attribute's buckets at a time.

    Each published row needs an original row of its own that its cells outside buckets cover and
    whose other values its buckets hold; and over all buckets of an attribute, no value may occur
    more often than in the original. (Whether one matching serves all buckets is not asked.)
    """
    rows: Sequence[Mapping[str, Any]] = release.tables["records"]
    if len(rows) + release.manifest["suppressed"] != len(original):
        return False
    names = list(release.attributes)
    points = [{name: point_of_value(row[name]) for name in names} for row in original]
    held = {
        name: {bucket: set(cells) for bucket, cells in buckets(release, name).items()}
        for name in names
    }

    def fits(row: Mapping[str, Any], name: str, point: Point | None) -> bool:
        bucket = bucket_of(row, name)
        if bucket is not None:
            return Exact(point) in held[name][bucket]
        return covers(row[name], point, release.readings[name])

    choices = [
        [i for i, own in enumerate(points) if all(fits(row, name, own[name]) for name in names)]
        for row in rows
    ]
    for name in names:
        listed = Counter(cell for cells in buckets(release, name).values() for cell in cells)
        if not listed <= Counter(Exact(own[name]) for own in points):
            return False
    return perfect_matching(choices) is not None
