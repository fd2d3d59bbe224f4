"""What an audit must answer, re-derived from a release as `release.py` reads it.

`problems` lists what is inconsistent, `claim_holds` judges one guarantee, and `verdict` is the
exit code that an audit of the folder must have: 0 all holds, 1 a claim is broken or nothing can be
confirmed, 2 the folder is damaged or contradicts itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from . import (
    association,
    local,
    making,
    models,
    people,
    set_layout,
    sliced,
    surveys,
    transitions,
)
from .cells import Cell, CellError, Exact, Range, Reading, ValueSet, position
from .points import NoPoint, Point, point_of_text
from .release import (
    Published,
    ReleaseError,
    group_sizes,
    group_values,
    groups,
    read_release,
    text_of_json,
)

CHECKED = {
    "k-anonymity": {"k"},
    "l-diversity": {"attribute", "variant", "l"},
    "l-unique-groups": {"attribute", "l"},
    "t-closeness": {"attribute", "t", "distance"},
    "alpha-k-anonymity": {"attribute", "alpha", "k"},
    "beta-likeness": {"attribute", "beta", "variant"},
    "linkable": {"attribute", "d", "alpha"},
    **local.CHECKED,
    **association.CHECKED,
    **set_layout.CHECKED,
}
OPTIONAL = {"model", "c", "missing", "distance"}
WORDS = {
    "l-diversity": {"variant": ("frequency", "distinct", "entropy", "recursive")},
    "set-diversity": {"variant": ("frequency", "entropy")},
    "beta-likeness": {"variant": ("basic", "enhanced")},
    "t-closeness": {"distance": ("equal", "ordered", "hierarchical")},
    "t-close-buckets": {"distance": ("equal", "ordered", "hierarchical")},
}
ENDS = ("min", "max")
LINE = Reading.of("double", "numeric")
SETS = ("sensitive", "sensitive-quasi-identifier")
DECLARED = ("delta-presence", "differential-privacy")


def problems(release: Published) -> list[str]:
    """Return what contradicts itself in a release whose files could be read."""
    if release.manifest["layout"] == "sets":
        found = _manifest_problems(release) or set_layout.problems(release)
        return found or _domain_problems(release)
    if "transitions" in release.manifest["parameters"]:
        found = _manifest_problems(release) or transitions.problems(release)
        return found or _domain_problems(release)
    # The contents only mean something once manifest and tables fit each other.
    return _manifest_problems(release) or _content_problems(release)


def _manifest_problems(release: Published) -> list[str]:
    found = []
    manifest = release.manifest
    names = [each["name"] for each in manifest["attributes"]]
    cells, _ = people.split_tables(manifest)
    published = [name for entry in cells for name in entry["attributes"]]
    if len(set(names)) != len(names) or sorted(published) != sorted(names):
        found.append("the tables do not publish each attribute once")
    if any(Path(entry["file"]).stem != entry["name"] for entry in manifest["tables"]):
        found.append("a table in a file of another name")
    tables = [entry["name"] for entry in cells]
    if manifest["layout"] != "anatomized" and tables != ["records"]:
        found.append("the layout has one table, records")
    if manifest["layout"] == "anatomized" and not all(e.get("count") for e in manifest["tables"]):
        found.append("a table without counts")
    role_of = {each["name"]: each["role"] for each in manifest["attributes"]}
    if manifest["layout"] != "sets" and "sensitive-quasi-identifier" in role_of.values():
        found.append("an attribute that is both, in a layout without sets")
    for claim in manifest["guarantees"]:
        if "attribute" in claim and claim["attribute"] not in names:
            found.append("a claim about an attribute that is not published")
        of_values = manifest["layout"] in ("generalized", "anatomized") and "attribute" in claim
        if of_values and claim["model"] in CHECKED and role_of.get(claim["attribute"]) != SETS[0]:
            found.append("a claim about values that are not sensitive")
        if not _well_stated(claim):
            found.append("a claim without its parameters, or with impossible ones")
    fakes = manifest["parameters"].get("fakes", 0)
    if isinstance(fakes, bool) or not isinstance(fakes, int) or not 0 <= fakes <= manifest["rows"]:
        found.append("a number of fakes that is none")
    elif fakes and manifest["layout"] != "sliced":
        found.append("fakes where there is no place for them")
    found += _stated_domain_problems(release) + _hierarchy_problems(release)
    found += people.manifest_problems(manifest) + local.manifest_problems(manifest)
    found += association.manifest_problems(manifest)
    return found + sliced.manifest_problems(manifest) + making.problems(manifest)


def _content_problems(release: Published) -> list[str]:
    found = _anatomy_problems(release) if release.manifest["layout"] == "anatomized" else []
    tables = [entry["name"] for entry in people.split_tables(release.manifest)[0]]
    per_table = {name: group_sizes(release, name) for name in tables}
    for name, sizes in per_table.items():
        if sorted(sizes) != list(range(1, len(sizes) + 1)):
            found.append(f"{name}: group ids are not dense from 1")
        if sum(sizes.values()) != release.manifest["rows"]:
            found.append(f"{name}: rows do not add up to the manifest's")
        if sizes != per_table[tables[0]]:
            found.append(f"{name}: group sizes differ from those of {tables[0]}")
    if release.manifest["layout"] == "generalized":
        shared = release.with_role("quasi-identifier")
        for group, rows in groups(release).items():
            if len({tuple(row[name] for name in shared) for row in rows}) != 1:
                found.append(f"group {group}: rows do not share the quasi-identifier cells")
    if release.manifest["layout"] in ("generalized", "anatomized"):
        for name in (*release.with_role("sensitive"), *release.with_role("insensitive")):
            rows = release.tables[release.table_of(name)["name"]]
            if any(not isinstance(row[name], Exact) for row in rows):
                found.append(f"{name}: a cell that is not exact")
    if release.manifest["layout"] == "local":
        found += local.problems(release)
    if release.manifest["layout"] == "sliced":
        found += sliced.problems(release)
    found += surveys.problems(release)
    return found + _domain_problems(release) + people.content_problems(release)


def _well_stated(claim: Mapping[str, Any]) -> bool:
    """Whether a claim of a model that we know has its parameters, each of a possible size."""
    known = CHECKED.get(claim["model"])
    if known is not None and not known <= set(claim) <= known | OPTIONAL:
        return False
    numbers = [claim[key] for key in ("k", "l", "c", "d", "t", "alpha", "beta") if key in claim]
    if any(isinstance(n, bool) or not isinstance(n, int | float) or n < 0 for n in numbers):
        return False
    words = WORDS.get(claim["model"], {})
    if any(claim.get(key, own[0]) not in own for key, own in words.items()):
        return False
    if not isinstance(claim.get("k", 1), int):
        return False
    if claim["model"] == "set-closeness" and not 0 < claim["t"] <= 1:
        return False
    return all(claim.get(key, 1) >= 1 for key in ("k", "l", "d"))


def _anatomy_problems(release: Published) -> list[str]:
    found = []
    sensitive = set(release.with_role("sensitive"))
    for entry in people.split_tables(release.manifest)[0]:
        named = entry["name"].split("_")[0]
        if named == "sensitive" and len(entry["attributes"]) != 1:
            found.append("a sensitive table with several attributes")
        if (named == "sensitive") != (not sensitive.isdisjoint(entry["attributes"])):
            found.append("a sensitive attribute outside a sensitive table")
        role = {"qi": "quasi-identifier", "kept": "insensitive"}.get(named)
        if role and not set(entry["attributes"]) <= set(release.with_role(role)):
            found.append("an attribute in a table of another role")
        rows = release.tables[entry["name"]]
        if any(row[entry["count"]] < 1 for row in rows):
            found.append("a count below one")
        keys = [(row[entry["group"]], *(row[name] for name in entry["attributes"])) for row in rows]
        if len(set(keys)) != len(keys):
            found.append("a combination that a group lists twice")
    return found


def _stated_domain_problems(release: Published) -> list[str]:
    """Return domains that no attribute of their type has, whatever the cells are."""
    found = []
    for name, attribute in release.attributes.items():
        domain, is_numeric = attribute.get("domain"), attribute["kind"] == "numeric"
        if is_numeric and "string" in attribute["type"]:
            found.append(f"{name}: numbers that are texts")
        if isinstance(domain, dict):
            low, high = (_end(text_of_json(domain[end]), attribute["type"]) for end in ENDS)
            if not is_numeric or position(low, LINE) > position(high, LINE):
                found.append(f"{name}: ends of what has none, or in disorder")
        elif isinstance(domain, list):
            points = [None if t is None else point_of_text(t, attribute["type"]) for t in domain]
            in_a_set = release.manifest["layout"] == "sets" and attribute["role"] in SETS
            if (is_numeric and not in_a_set) or len(set(points)) < len(points):
                found.append(f"{name}: a list of what has ends, or with a value twice")
    return found


def _hierarchy_problems(release: Published) -> list[str]:
    """Return files that are no trees, each line a path from a leaf of its own to the root."""
    found = []
    for name, lines in release.hierarchies.items():
        parents: dict[tuple[int, str], set[str]] = {}
        for line in lines:
            for level, (child, parent) in enumerate(pairwise(line)):
                parents.setdefault((level, child), set()).add(parent)
        if len({len(line) for line in lines}) != 1 or any(line[-1] != "*" for line in lines):
            found.append(f"{name}: paths that do not end at the root, or of different lengths")
        elif any(len(each) > 1 for each in parents.values()):
            found.append(f"{name}: a node with two parents")
        elif len({line[0] for line in lines}) < len(lines):
            found.append(f"{name}: a leaf twice")
    return found


def _domain_problems(release: Published) -> list[str]:
    found = set()
    for entry in release.manifest["tables"]:
        for name in entry["attributes"]:
            attribute = release.attributes[name]
            cells = {row[name] for row in release.tables[entry["name"]]}
            try:
                inside = all(_inside(cell, attribute, release.readings[name]) for cell in cells)
            except (CellError, NoPoint):
                inside = False
            if not inside:
                found.add(f"{name}: a value outside the domain")
    return sorted(found)


def _inside(cell: Cell, attribute: Mapping[str, Any], reading: Reading) -> bool:
    """Whether the exact values and the ends of ranges in a cell lie in the stated domain."""
    match cell:
        case Exact(None):
            return True
        case Exact(point):
            points = [point]
        case Range(low, high):
            points = [low, high]
        case ValueSet(members):
            return all(_inside(member, attribute, reading) for member in members)
        case _:
            return True
    domain = attribute.get("domain")
    if reading.paths and (isinstance(cell, Range) or points[0] not in reading.paths):
        return False  # under a hierarchy a cell that is no leaf is a node
    if isinstance(cell, Exact) and points[0] in reading.labels:
        return True  # a node that stands for the leaves below it, which are not told
    if isinstance(domain, dict):
        ends = [_end(text_of_json(domain[end]), reading.type) for end in ("min", "max")]
        return all(
            position(ends[0], reading) <= position(point, reading) <= position(ends[1], reading)
            for point in points
        )
    if isinstance(domain, list) and isinstance(cell, Exact):
        listed = [text_of_json(value) for value in domain if value is not None]
        return points[0] in {point_of_text(text, reading.type) for text in listed}
    return True


def _end(text: str, type: str) -> Point:
    """Return an end of a domain, which a narrow float may have no room for."""
    try:
        return point_of_text(text, type)
    except NoPoint:
        if type in ("float", "halffloat"):
            return point_of_text(text, "double")
        if "int" not in type:
            raise
    try:
        return Fraction(text)  # whole numbers may lie between ends that are not
    except ValueError:
        raise NoPoint("an end that is no number") from None


def claim_holds(release: Published, claim: Mapping[str, Any]) -> bool:
    """Whether a guarantee that files can show holds for every group of the release."""
    if claim["model"] in set_layout.CHECKED:
        return set_layout.claim_holds(release, claim)
    if claim["model"] in local.CHECKED:
        return local.claim_holds(release, claim)
    if claim["model"] in association.CHECKED:
        return association.claim_holds(release, claim)
    attribute = claim.get("attribute")
    if attribute is None and release.manifest["layout"] == "sliced":
        return not release.tables["records"] or sliced.smallest_crowd(release) >= claim["k"]
    if attribute is None:
        cells, units = people.split_tables(release.manifest)
        sizes = group_sizes(release, units[0]["name"] if units else cells[0]["name"])
        return all(n >= claim["k"] for n in sizes.values())
    groups_of_rows = people.rows_of_people(release, attribute)
    unit = "person" if groups_of_rows else None
    if groups_of_rows is None:
        values = group_values(release, attribute)
        groups_of_rows = {g: [{attribute: v} for v in group] for g, group in values.items()}
    reading = release.readings[attribute]
    hierarchy = [[leaf, *path] for leaf, path in reading.paths.items()]
    table = [row for rows in groups_of_rows.values() for row in rows]
    return all(
        models.holds(
            claim,
            rows,
            table,
            unit=unit,
            order=reading.order or None,
            hierarchy=hierarchy or None,
        )
        for rows in groups_of_rows.values()
    )


def verdict(folder: Path) -> int:
    """Return the exit code that an audit of the folder must have."""
    try:
        release = read_release(folder)
        if problems(release):
            return 2
        claims = release.manifest["guarantees"]
        checked = [claim for claim in claims if claim["model"] in CHECKED]
        unknown = [c for c in claims if c["model"] not in CHECKED and c["model"] not in DECLARED]
        strange = release.manifest["method"] not in making.METHODS
        if not checked or unknown or strange or release.manifest.get("test"):
            return 1
        return 0 if all(claim_holds(release, claim) for claim in checked) else 1
    except (ReleaseError, CellError, NoPoint):
        return 2
