"""Releases of replaced cells, by the letter: what a stated matrix must be, and may have made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .cells import Exact
from .points import NoPoint, point_of_text, point_of_value
from .release import Published


def problems(release: Published) -> list[str]:
    """Return what contradicts itself in a release of replaced cells; plausibility is not asked."""
    manifest, found = release.manifest, []
    stated = manifest["parameters"]["transitions"]
    names = [entry["name"] for entry in manifest["attributes"]]
    (entry,) = manifest["tables"]
    rows = release.tables[entry["name"]]
    if entry.get("group") or entry.get("count"):
        found.append("groups or counts")
    if len(rows) != manifest["rows"]:
        found.append("another number of records")
    if not stated or not set(stated) <= set(names):
        found.append("no matrices, or of what is not published")
    for name, attribute in release.attributes.items():
        cells = {row[name] for row in rows}
        if not all(isinstance(cell, Exact) for cell in cells):
            found.append(f"{name}: cells that are not exact")
        elif name in stated:
            found += [f"{name}: {problem}" for problem in _wrong(stated[name], attribute, cells)]
        elif attribute["role"] == "quasi-identifier":
            found.append(f"{name}: a quasi-identifier that was not replaced")
    return found


def _wrong(stated: Mapping[str, Any], attribute: Mapping[str, Any], cells: set[Any]) -> list[str]:
    values, matrix = stated["values"], stated["matrix"]
    if len(matrix) != len(values) or any(len(line) != len(values) for line in matrix):
        return ["no square"]
    if any(not 0 <= each <= 1 for line in matrix for each in line):
        return ["no probabilities"]
    if any(abs(sum(map(Fraction, line)) - 1) > Fraction(1, 10**9) for line in matrix):
        return ["lines that do not add up to 1"]
    try:
        listed = {None if v is None else point_of_text(v, attribute["type"]) for v in values}
    except NoPoint:
        return ["values of another type"]
    if len(listed) < len(values):
        return ["a value twice"]
    return [] if {cell.point for cell in cells} <= listed else ["cells that are not listed"]


def transitions_from(original: Sequence[Mapping[str, Any]], release: Published) -> bool:
    """Whether the original may be behind the release, attribute by attribute.

    Exact columns must have the original's values; under a matrix without a 0 anything may become
    anything, so that all values being listed is all that can be asked.
    """
    (rows,) = release.tables.values()
    stated = release.manifest["parameters"]["transitions"]
    for name, attribute in release.attributes.items():
        truth = [_point(row[name]) for row in original]
        if name not in stated:
            if Counter(truth) != Counter(row[name].point for row in rows):
                return False
            continue
        type = attribute["type"]
        values = stated[name]["values"]
        if any(each <= 0 for line in stated[name]["matrix"] for each in line):
            return False
        listed = [None if value is None else point_of_text(value, type) for value in values]
        if not set(truth) <= set(listed):
            return False
    return len(rows) == len(original)


def _point(value: Any) -> Any:
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if value is None or is_nan else point_of_value(value)
