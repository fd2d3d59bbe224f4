"""The `local` layout, read literally: groups that look alike, and buckets of sensitive cells.

A sensitive cell holds a value of its bucket, not of its row: `<attribute>.bucket` numbers the
bucket, null where the cell is a quasi-identifier's or withheld.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from . import models
from .cells import Cell, Exact, Star, covers
from .consistency import Original, perfect_matching
from .points import Point, point_of_value
from .release import BUCKETED, Published, Row, groups

# What is claimed of the values that a group's rows hold; here a row's value is its bucket's.
OF_GROUPS = ("l-diversity", "l-unique-groups", "t-closeness", "alpha-k-anonymity", "beta-likeness")
CHECKED = {
    "l-unique-buckets": {"attribute", "l"},
    "t-close-buckets": {"attribute", "t", "distance"},
}


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


def manifest_problems(manifest: Mapping[str, Any]) -> list[str]:
    """Return what no manifest may say: buckets elsewhere than here, and here groups of values."""
    found = []
    is_local = manifest["layout"] == "local"
    role_of = {each["name"]: each["role"] for each in manifest["attributes"]}
    if "semi-sensitive" in role_of.values() and not is_local:
        found.append("semi-sensitive attributes in a layout without buckets")
    if is_local and any(entry["name"].startswith("units") for entry in manifest["tables"]):
        found.append("tables of people where each row is a person")
    for claim in manifest["guarantees"]:
        if claim["model"] in CHECKED:
            if not is_local or role_of.get(claim.get("attribute")) not in BUCKETED:
                found.append("a claim about buckets that are not there")
        elif is_local and claim["model"] in OF_GROUPS:
            found.append("a claim about the values of groups, which have buckets instead")
    return found


def problems(release: Published) -> list[str]:
    """Return what contradicts itself in a local release."""
    found = []
    for name in (*release.with_role("sensitive"), *release.with_role("semi-sensitive")):
        ids = buckets(release, name)
        if sorted(ids) != list(range(1, len(ids) + 1)):
            found.append(f"{name}: bucket ids are not dense from 1")
        if any(not isinstance(cell, Exact) for cells in ids.values() for cell in cells):
            found.append(f"{name}: a cell in a bucket that is not exact")
    for name in release.with_role("sensitive"):
        if any(bucket_of(row, name) is None for row in release.tables["records"]):
            found.append(f"{name}: a sensitive cell without a bucket")
    said = release.manifest["parameters"].get("withheld_cells", 0)
    # one that is generalised to the root of its hierarchy looks the same
    stars = [
        row
        for name in release.with_role("semi-sensitive")
        for row in release.tables["records"]
        if row[name] == Star() and bucket_of(row, name) is None
    ]
    if type(said) is not int or not 0 <= said <= len(stars):
        found.append("so many cells are not withheld")
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
    known = [[value for value in values if value is not None] for values in found]
    return all(
        len(set(values)) >= 2 and models.t_closeness(values, whole, claim["t"], ground)
        for values in known
    )


def local_from(
    original: Original, release: Published, flags: Mapping[str, Sequence[bool]] | None = None
) -> bool:
    """Whether one matching of original rows with published ones explains all cells and buckets.

    Cells outside buckets must cover the values of their rows, and each bucket hold just the values
    of its rows. With `flags` (by semi-sensitive attribute, a flag for each original row), just the
    flagged cells are in buckets, or withheld. Tries rows one by one and takes back what leads
    nowhere: for a few dozen rows, all published.
    """
    rows = sorted(release.tables["records"], key=lambda row: repr(_place(release, row)))
    if release.manifest["suppressed"] or len(rows) != len(original):
        return False
    names = list(release.attributes)
    points = [{name: point_of_value(row[name]) for name in names} for row in original]
    left = {
        (name, bucket): Counter(cells)
        for name in names
        for bucket, cells in buckets(release, name).items()
    }

    def fits(row: Row, name: str, number: int) -> bool:
        flag = flags[name][number] if flags and name in flags else None
        point = points[number][name]
        bucket = bucket_of(row, name)
        if bucket is not None:
            return flag is not False and left[name, bucket][Exact(point)] > 0
        if flag and row[name] != Star():
            return False
        return covers(row[name], point, release.readings[name])

    choices = [
        [i for i in range(len(points)) if all(fits(row, name, i) for name in names)] for row in rows
    ]
    if perfect_matching(choices) is None:
        return False
    own = [tuple(sorted(point.items(), key=repr)) for point in points]
    if flags:
        own = [(*each, *(flags[name][i] for name in flags)) for i, each in enumerate(own)]
    used: set[int] = set()

    def deal(at: int) -> bool:
        if at == len(rows):
            return True
        # Of equal rows the first that is free: any other is the same matching.
        tried = set()
        for i in choices[at]:
            if i in used or own[i] in tried or not all(fits(rows[at], n, i) for n in names):
                continue
            tried.add(own[i])
            used.add(i)
            _move(left, rows[at], points[i], names, -1)
            if deal(at + 1):
                return True
            used.remove(i)
            _move(left, rows[at], points[i], names, 1)
        return False

    return deal(0)


def _place(release: Published, row: Row) -> tuple[Any, ...]:
    """Return what a row shows apart from the values in its buckets."""
    return row["group"], *((bucket_of(row, n), _look(row, n)) for n in release.attributes)


def _move(
    left: Mapping[tuple[str, int], Counter[Cell]],
    row: Row,
    point: Mapping[str, Point | None],
    names: Sequence[str],
    step: int,
) -> None:
    for name in names:
        bucket = bucket_of(row, name)
        if bucket is not None:
            left[name, bucket][Exact(point[name])] += step
