"""The `sets` layout, literally: its cells, what is claimed of them, who is behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .cells import Exact, ValueSet
from .consistency import perfect_matching
from .points import Point, point_of_text, point_of_value
from .release import Published

CHECKED = {
    "set-diversity": {"attribute", "l", "variant"},
    "set-closeness": {"attribute", "t", "distance", "prior"},
    "set-anonymity": {"attribute", "k"},
}
PROTECTED = ("sensitive-quasi-identifier", "sensitive")
Original = Sequence[Mapping[str, Any]]


def domain_of(release: Published, name: str) -> list[Point | None]:
    """Return the values that sets of an attribute are made of, in order."""
    entry = release.attributes[name]
    listed = entry["domain"]
    return [None if text is None else point_of_text(text, entry["type"]) for text in listed]


def problems(release: Published) -> list[str]:
    """Return what contradicts itself."""
    manifest = release.manifest
    sets = manifest["parameters"].get("sets")
    protected = [name for role in PROTECTED for name in release.with_role(role)]
    if not isinstance(sets, dict) or set(sets) != set(protected):
        return ["sets of other attributes than the protected ones"]
    rows = release.tables["records"]
    found = [] if len(rows) == manifest["rows"] else ["another number of records"]
    for name, how in sets.items():
        domain = domain_of(release, name)
        if len(set(domain)) < len(domain) or not 1 <= how["eta"] <= len(domain):
            found.append(f"{name}: an impossible domain")
        if not 0 < how["p"] <= 1:
            found.append(f"{name}: an impossible p")
        for row in rows:
            cell = row[name]
            if not isinstance(cell, ValueSet):
                found.append(f"{name}: a cell that is no set")
                continue
            points = [member.point for member in cell.members if isinstance(member, Exact)]
            places = [domain.index(point) if point in domain else -1 for point in points]
            if len(points) != len(cell.members) or len(points) != how["eta"]:
                found.append(f"{name}: a set of another size")
            if -1 in places or sorted(set(places)) != places:
                found.append(f"{name}: a set out of the domain, or out of order")
    for name in release.attributes:
        if name not in sets and any(not isinstance(row[name], Exact) for row in rows):
            found.append(f"{name}: a cell that is not exact")
    return found


def claim_holds(release: Published, claim: Mapping[str, Any]) -> bool:
    """Whether sets that were drawn as stated keep what is claimed of them."""
    how = release.manifest["parameters"]["sets"][claim["attribute"]]
    eta, d = how["eta"], len(release.attributes[claim["attribute"]]["domain"])
    if claim["model"] == "set-diversity":
        return bool(eta >= claim["l"])
    if claim["model"] == "set-anonymity":
        return bool(eta >= claim["k"])
    p, t = Fraction(str(how["p"])), Fraction(str(claim["t"]))
    low, high = how["masses"] if claim["prior"] == "data" else (0, 1)
    # the distance at every mass in fine steps, and at the worst one of all
    masses = [Fraction(i, 1000) for i in range(1001)] + [(1 - t) / 2]
    own = p + (1 - p) * Fraction(eta, d)
    other = (1 - p) * Fraction(eta, d)
    for mass in masses:
        if Fraction(str(low)) <= mass <= Fraction(str(high)):
            total = mass * own + (1 - mass) * other
            if total and mass * (own / total - 1) > t and eta < d:
                return False
    return True


def sets_from(
    original: Original, release: Published, ranges: Mapping[str, Sequence[tuple[Any, Any]]]
) -> bool:
    """Whether every original row can be behind a record of its own.

    Where p is 1 the own value is in the set, or the range that holds it: `ranges` has the ends of
    an attribute's ranges, one a value of its domain.
    """
    sets = release.manifest["parameters"]["sets"]

    def holds(name: str, cell: Any, value: Any) -> bool:
        point = point_of_value(value)
        if name not in sets:
            return bool(cell == Exact(point))
        if sets[name]["p"] < 1:
            return True
        members = {member.point for member in cell.members}
        if name not in ranges or point is None:
            return point in members
        places = [place for place, each in enumerate(domain_of(release, name)) if each in members]
        ends = [
            tuple(map(point_of_value, ranges[name][p])) for p in places if p < len(ranges[name])
        ]
        return any(low <= point <= high for low, high in ends)

    rows = release.tables["records"]
    if len(rows) != len(original):
        return False
    choices = [
        [
            i
            for i, row in enumerate(original)
            if all(holds(n, r[n], row[n]) for n in release.attributes)
        ]
        for r in rows
    ]
    return perfect_matching(choices) is not None
