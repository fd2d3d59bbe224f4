"""What surveys add to a release: weights of records, and numbers of withheld cells."""

from __future__ import annotations

import math

from .cells import Exact, Star
from .release import Published, groups

DIGITS = 9


def problems(release: Published) -> list[str]:
    """Return what contradicts itself in weights and in the numbers of withheld cells."""
    return _weight_problems(release) + _withheld_problems(release) + _mean_problems(release)


def _mean_problems(release: Published) -> list[str]:
    stated = release.manifest["parameters"].get("microaggregated", [])
    quasi = release.with_role("quasi-identifier")
    if any(n not in quasi or release.attributes[n]["kind"] != "numeric" for n in stated):
        return ["means of what has none"]
    rows = release.tables["records"] if stated else []
    if any(not isinstance(row[name], Exact) for row in rows for name in stated):
        return ["means that are no numbers"]
    return []


def _weight_problems(release: Published) -> list[str]:
    entries = [entry for entry in release.manifest["tables"] if entry.get("weight")]
    if not entries:
        return []
    if release.manifest["layout"] != "generalized" or [e["name"] for e in entries] != ["records"]:
        return ["weights where rows are nobody's own"]
    if any(release.manifest["parameters"].get(key) for key in ("sample", "perturb", "fakes")):
        return ["weights of records that are nobody's own"]
    name, found = entries[0]["weight"], []
    for group, rows in groups(release).items():
        weights = {row[name] for row in rows}
        if len(weights) != 1:
            found.append(f"group {group}: records of different weights")
        for weight in weights:
            if not (math.isfinite(weight) and weight > 0):
                found.append(f"group {group}: a weight that is none")
            elif float(f"{weight:.{DIGITS - 1}e}") != weight:
                found.append(f"group {group}: a weight with too many digits")
    return found


def _withheld_problems(release: Published) -> list[str]:
    stated = release.manifest["parameters"].get("suppressed_cells")
    if stated is None:
        return []
    rows = release.tables["records"]
    counted = {name: sum(row[name] == Star() for row in rows) for name in stated["by"]}
    fits = stated["by"] == counted and stated["total"] == sum(counted.values())
    return [] if fits else ["other numbers of withheld cells than those stated"]
