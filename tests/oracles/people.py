"""Tables of people: what a release states where people have several rows.

`units` counts the people of each group; `units_1`, ... count, one sensitive attribute each, those
who have a value, a missing value standing for the people without any. Which rows are whose is not
published, so these counts can be contradicted by the other tables but not confirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .cells import Exact
from .points import Point
from .release import Published, group_sizes, group_values

Entry = Mapping[str, Any]


def split_tables(manifest: Mapping[str, Any]) -> tuple[list[Entry], list[Entry]]:
    """Return the entries of the tables of cells, and those of the tables of people."""
    people = [e for e in manifest["tables"] if e["name"].split("_")[0] == "units"]
    return [entry for entry in manifest["tables"] if entry not in people], people


def manifest_problems(manifest: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the entries of the tables of people, where there are any."""
    _, people = split_tables(manifest)
    if not people:
        return []
    sensitive = [each["name"] for each in manifest["attributes"] if each["role"] == "sensitive"]
    names = [entry["name"] for entry in people]
    if names != ["units", *(f"units_{i + 1}" for i in range(len(sensitive)))]:
        return ["the tables of people are not units, units_1, ... for each sensitive attribute"]
    listed = [name for entry in people[1:] for name in entry["attributes"]]
    if people[0]["attributes"] or sorted(listed) != sorted(sensitive):
        return ["the tables of people do not list each sensitive attribute once"]
    if any(len(e["attributes"]) > 1 for e in people) or not all(e.get("count") for e in people):
        return ["a table of people with several attributes or without counts"]
    return []


def content_problems(release: Published) -> list[str]:
    """Return where the stated people contradict the rows of their groups."""
    cells, people = split_tables(release.manifest)
    if not people:
        return []
    rows = group_sizes(release, cells[0]["name"])
    units = Counter(row["group"] for row in release.tables["units"])
    stated = group_sizes(release, "units")
    if units != Counter(rows.keys()) or any(not 1 <= stated[g] <= rows[g] for g in rows):
        return ["units does not state a possible number of people for every group"]
    found = []
    for entry in people[1:]:
        (attribute,) = entry["attributes"]
        having = people_by_value(release, entry)
        published = {g: Counter(values) for g, values in group_values(release, attribute).items()}
        keys = [(row["group"], row[attribute]) for row in release.tables[entry["name"]]]
        if len(set(keys)) < len(keys) or set(having) != set(rows):
            found.append(f"{entry['name']}: a value twice, or other groups")
            continue
        for group, counts in having.items():
            known = {value: n for value, n in counts.items() if value is not None}
            present = stated[group] - counts[None]
            possible = (
                all(1 <= n <= published[group][value] for value, n in counts.items())
                and known.keys() == published[group].keys() - {None}
                and max(known.values(), default=0) <= present <= sum(known.values())
            )
            if not possible:
                found.append(f"{entry['name']}: counts that no group of such rows can have")
    return found


def people_by_value(release: Published, entry: Entry) -> dict[int, Counter[Point | None]]:
    """Return how many people of each group are stated to have each value."""
    (attribute,) = entry["attributes"]
    having: dict[int, Counter[Point | None]] = {}
    for row in release.tables[entry["name"]]:
        cell = row[attribute]
        counts = having.setdefault(row["group"], Counter())
        counts[cell.point if isinstance(cell, Exact) else cell] += row["count"]
    return having


def rows_of_people(release: Published, attribute: str) -> dict[int, list[dict[str, Any]]] | None:
    """Return rows by group, with their `person`, that have just the stated counts; None without.

    Values are dealt round the people who have any, so that nobody gets one twice.
    """
    for entry in split_tables(release.manifest)[1][1:]:
        if list(entry["attributes"]) == [attribute]:
            sizes = group_sizes(release, "units")
            having = people_by_value(release, entry)
            return {g: _dealt(counts, sizes[g], g, attribute) for g, counts in having.items()}
    return None


def _dealt(
    counts: Counter[Point | None], size: int, group: int, attribute: str
) -> list[dict[str, Any]]:
    present = size - counts[None]
    values: Sequence[Point] = [v for v, n in counts.items() if v is not None for _ in range(n)]
    rows = [{attribute: v, "person": (group, i % present)} for i, v in enumerate(values)]
    return rows + [{attribute: None, "person": (group, i)} for i in range(present, size)]
