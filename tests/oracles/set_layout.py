"""The `sets` layout, literally: its cells, what is claimed of them, who is behind them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb
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
IMPOSSIBLE = 1e-20  # a chance that nobody has to reckon with
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
    if not all(isinstance(release.attributes[name].get("domain"), list) for name in sets):
        return ["sets of values that are not listed"]
    stated = _claim_problems(release) + _mass_problems(release) + _joint_problems(release)
    if stated:
        return stated
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
    if not found and manifest["method"] == "rating":
        return [problem for name in sets for problem in _rating_problems(release, name)]
    for name in sets if not found else ():
        if _is_odd(release, name) or _has_odd_pair(release, name):
            found.append(f"{name}: sets that chance does not draw so")
        if "masses" in sets[name] and _are_masses_odd(release, name):
            found.append(f"{name}: sets that are not those of such masses")
    return found


def _rating_problems(release: Published, name: str) -> list[str]:
    """Return what no sets are that records share: drawn with a p, close, repeated and diverse."""
    how, domain = release.manifest["parameters"]["sets"][name], domain_of(release, name)
    found = [] if how["p"] == 1 and "masses" not in how else [f"{name}: shared sets with a p"]
    claims = [c for c in release.manifest["guarantees"] if c.get("attribute") == name]
    for claim in claims:
        if claim["model"] == "set-closeness" and (claim["t"] == 1 or how["eta"] == len(domain)):
            found.append(f"{name}: shared sets that are said to be close")
        if claim["model"] == "set-diversity":
            cells = [row[name] for row in release.tables["records"]]
            counts = [sum(Exact(v) in cell.members for cell in cells) for v in domain]
            if any(count % how["eta"] for count in counts):
                found.append(f"{name}: repeated sets that are said to be diverse")
    return found


def _claim_problems(release: Published) -> list[str]:
    sets = release.manifest["parameters"]["sets"]
    found = []
    for claim in release.manifest["guarantees"]:
        if claim["model"] in CHECKED:
            how = sets.get(claim["attribute"])
            if how is None:
                found.append("a claim about sets that are not there")
            elif claim.get("prior") == "data" and "masses" not in how:
                found.append("a claim about masses that are not stated")
    return found


def _mass_problems(release: Published) -> list[str]:
    found = []
    for name, how in release.manifest["parameters"]["sets"].items():
        if "masses" in how:
            low, high = how["masses"]
            # the mean of the masses of all sets
            mean = Fraction(how["eta"], len(release.attributes[name]["domain"]))
            if not 0 <= Fraction(str(low)) <= mean <= Fraction(str(high)) <= 1:
                found.append(f"{name}: masses that no table has")
    return found


def _joint_problems(release: Published) -> list[str]:
    """Return what is wrong with joint attributes, and with the ranges of any."""
    parameters = release.manifest["parameters"]
    domains = {name: release.attributes[name]["domain"] for name in parameters["sets"]}
    found = []
    for name, parts in parameters.get("joint", {}).items():
        if name not in parameters["sets"] or name != " & ".join(parts):
            found.append(f"{name}: not joined of its parts")
            continue
        values: list[list[str]] = [[] for _ in parts]
        for text in domains[name]:
            pieces = _pieces(text)
            if len(pieces) != len(parts):
                return [*found, f"{name}: a value that is no combination"]
            for seen, piece in zip(values, pieces, strict=True):
                if piece not in seen:
                    seen.append(piece)
        if [" & ".join(each) for each in product(*values)] != domains[name]:
            found.append(f"{name}: not all combinations, or in another order")
        for part, seen in zip(parts, values, strict=True):
            plain = [json.loads(each) if each[0] == '"' else each for each in seen]
            domains[part] = [None if each == "null" else each for each in plain]
    for name, edges in parameters.get("bins", {}).items():
        labels = [label for label in domains.get(name, ()) if label is not None]
        if all(isinstance(edge, int) for edge in edges):
            ends = [*(edge - 1 for edge in edges[1:-1]), edges[-1]]
            wanted = [
                f"[{low}, {high}]" if low < high else str(low)
                for low, high in zip(edges, ends, strict=False)
            ]
        else:
            wanted = labels if len(labels) == len(edges) - 1 else []
        if labels != wanted or not labels:
            found.append(f"{name}: ranges with other edges")
    return found


def _pieces(text: str) -> list[str]:
    """Return the parts of a combination, as they are spelt: ampersands in quotes do not part."""
    pieces, piece, quoted, at = [], "", False, 0
    while at < len(text):
        if not quoted and text.startswith(" & ", at):
            pieces.append(piece)
            piece, at = "", at + 3
            continue
        if text[at] == "\\":
            piece, at = piece + text[at], at + 1
        elif text[at] == '"':
            quoted = not quoted
        piece, at = piece + text[at], at + 1
    return [*pieces, piece]


def _is_odd(release: Published, name: str) -> bool:
    """Whether some value is in more sets, or in fewer, than any table would give by chance."""
    how = release.manifest["parameters"]["sets"][name]
    rows, domain = release.tables["records"], domain_of(release, name)
    p, eta, d = how["p"], how["eta"], len(domain)
    blind = (1 - p) * eta / d
    own, other = p + blind, (p * (eta - 1) / (d - 1) if d > 1 else p) + blind
    sets = [{member.point for member in row[name].members} for row in rows]
    for value in domain:
        held = sum(value in each for each in sets)
        if _tail(len(rows), held, own) < IMPOSSIBLE:
            return True
        if _tail(len(rows), len(rows) - held, 1 - other) < IMPOSSIBLE:
            return True
    return False


def _holding(d: int, eta: int, p: Fraction, wanted: set[int], own: int) -> Fraction:
    """Return the chance that the set of a value holds all the wanted ones."""
    more = len(wanted - {own})  # beside the own one, if that is put in on purpose
    kept = Fraction(comb(d - 1 - more, eta - 1 - more) if more < eta else 0, comb(d - 1, eta - 1))
    size = len(wanted)
    blind = Fraction(comb(d - size, eta - size) if size <= eta else 0, comb(d, eta))
    return p * kept + (1 - p) * blind


def _has_odd_pair(release: Published, name: str) -> bool:
    """Whether two values go together otherwise than any table lets them, by far.

    Sets with both, less a weight for each of the two: as many for every table, on average. More
    than eight deviations off, and eight sets, are too many.
    """
    how = release.manifest["parameters"]["sets"][name]
    domain, rows = domain_of(release, name), len(release.tables["records"])
    p, eta, d = Fraction(str(how["p"])), how["eta"], len(domain)
    if not 2 <= eta < d:
        return False
    own, other = (_holding(d, eta, p, {0}, value) for value in (0, 1))
    either, neither = (_holding(d, eta, p, {0, 1}, value) for value in (0, 2))
    weight = (either - neither) / (own - other)
    mean = neither - 2 * weight * other
    squares = [
        both * (1 - 2 * weight) ** 2 + (single - 2 * both) * weight**2
        for both, single in ((either, own + other), (neither, 2 * other))
    ]
    most = 8 + 8 * float(rows * max(squares)) ** 0.5
    sets = [{member.point for member in row[name].members} for row in release.tables["records"]]
    for one, first in enumerate(domain):
        for second in domain[:one]:
            marks = [
                (first in each and second in each) - weight * ((first in each) + (second in each))
                for each in sets
            ]
            if abs(sum(marks) - rows * mean) > most:
                return True
    return False


def _are_masses_odd(release: Published, name: str) -> bool:
    """Whether some eta values are commoner, or rarer, than the masses allow, by far."""
    how = release.manifest["parameters"]["sets"][name]
    domain, rows = domain_of(release, name), release.tables["records"]
    p, eta, d = Fraction(str(how["p"])), how["eta"], len(domain)
    if eta == d:
        return False
    own, other = (_holding(d, eta, p, {0}, value) for value in (0, 1))
    counts = sorted(sum(Exact(v) in row[name].members for row in rows) for v in domain)
    # shares of the rarest eta and of the commonest, as the counts would have them
    sums = [sum(counts[:eta]), sum(counts[-eta:])]
    low, high = (float((Fraction(n, len(rows) or 1) - eta * other) / (own - other)) for n in sums)
    margin = 6 * eta / float(own - other) / max(len(rows), 1) ** 0.5
    return low < how["masses"][0] - margin or high > how["masses"][1] + margin


def _tail(count: int, least: int, chance: float) -> float:
    """Return how likely at least so many of all come true."""
    return sum(
        comb(count, n) * chance**n * (1 - chance) ** (count - n) for n in range(least, count + 1)
    )


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
