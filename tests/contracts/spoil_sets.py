"""Ways to spoil a saved release of random sets; see `spoil.py` for the others.

Each is kept from spoiling anything else: sets that are not meant stay as they were. Members are
texts without any mark of the cell grammar, in the attribute that is spoilt.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from .raw_release import (
    NotApplicable,
    attributes_of,
    claims_of,
    read_manifest,
    read_rows,
    rewrite_manifest,
    rewrite_table,
    write_rows,
)
from .spoil import BROKEN, DAMAGED, SPOILS, Spoil

SET_SPOILS: list[Spoil] = [spoil for spoil in SPOILS if "sets" in spoil.layouts]
GENERIC = len(SET_SPOILS)
MARKS = set('{}[],|"&')


def _spoil(code: int) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def register(function: Callable[[Path], None]) -> Callable[[Path], None]:
        SET_SPOILS.append(Spoil(function.__name__, function, ("sets",), code))
        return function

    return register


# --- members --------------------------------------------------------------------------------------


def _plain(folder: Path) -> dict[str, Any]:
    """Return an attribute of plain texts whose sets hold several values and leave some out."""
    manifest = read_manifest(folder)
    for each in manifest["attributes"]:
        how = manifest["parameters"]["sets"].get(each["name"])
        texts = [text for text in each.get("domain") or () if text is not None]
        is_plain = each["type"] == "string" and MARKS.isdisjoint("".join(texts))
        if how is not None and is_plain and 2 <= how["eta"] < len(each["domain"]):
            return each
    raise NotApplicable("no sets of several plain texts")


def _members(cell: Any) -> list[Any]:
    """Return the members of a set: a list in Parquet, a text in CSV."""
    if not isinstance(cell, str):
        return list(cell)
    return [None if text == "null" else text for text in cell[1:-1].split(" | ")]


def _cell(members: list[Any], like: Any) -> Any:
    if not isinstance(like, str):
        return members
    return "{" + " | ".join("null" if each is None else each for each in members) + "}"


def _change_set(folder: Path, change: Callable[[list[Any], list[Any]], list[Any] | None]) -> None:
    """Change the first set for which `change`, given its members and the domain, has another."""
    entry = _plain(folder)
    rows = read_rows(folder, "records")
    for row in rows:
        changed = change(_members(row[entry["name"]]), entry["domain"])
        if changed is not None:
            row[entry["name"]] = _cell(changed, row[entry["name"]])
            write_rows(folder, "records", rows)
            return
    raise NotApplicable("no set that can be changed so")


@_spoil(DAMAGED)
def have_a_value_twice_in_a_set(folder: Path) -> None:
    _change_set(folder, lambda members, domain: [members[0], *members[:-1]])


@_spoil(DAMAGED)
def take_a_value_out_of_a_set(folder: Path) -> None:
    _change_set(folder, lambda members, domain: members[1:])


@_spoil(DAMAGED)
def put_one_more_value_into_a_set(folder: Path) -> None:
    """A value of the domain, in its place."""

    def more(members: list[Any], domain: list[Any]) -> list[Any]:
        other = next(value for value in domain if value not in members)
        return sorted([*members, other], key=domain.index)

    _change_set(folder, more)


@_spoil(DAMAGED)
def turn_a_set_around(folder: Path) -> None:
    """The order of members could tell which of them is the own one."""
    _change_set(folder, lambda members, domain: members[::-1])


@_spoil(DAMAGED)
def put_a_foreign_value_into_a_set(folder: Path) -> None:
    _change_set(folder, lambda members, domain: [*members[:-1], "no such value"])


@_spoil(DAMAGED)
def leave_a_set_out(folder: Path) -> None:
    name = _plain(folder)["name"]
    rows = read_rows(folder, "records")
    rows[-1][name] = None
    write_rows(folder, "records", rows)


@_spoil(DAMAGED)
def empty_a_set(folder: Path) -> None:
    _change_set(folder, lambda members, domain: [])


@_spoil(DAMAGED)
def publish_single_values_for_sets(folder: Path) -> None:
    """As if everybody's own value were the first of the set."""
    name = _plain(folder)["name"]
    rows = read_rows(folder, "records")
    values = pa.array([_members(row[name])[0] for row in rows], pa.string())

    def change(old: pa.Table) -> pa.Table:
        return old.set_column(old.column_names.index(name), name, values)

    rewrite_table(folder, "records", change)


@_spoil(DAMAGED)
def publish_sets_for_exact_values(folder: Path) -> None:
    for each in attributes_of(folder, "quasi-identifier"):
        name = each["name"]

        def change(old: pa.Table, name: str = name) -> pa.Table:
            cells = old[name].combine_chunks()
            if old.schema.field(_plain(folder)["name"]).type == pa.string():
                sets = pa.array([f"{{{cell} | {cell}}}" for cell in cells.to_pylist()])
            else:
                sets = pa.array([[cell] for cell in cells.to_pylist()])
            return old.set_column(old.column_names.index(name), name, sets)

        rewrite_table(folder, "records", change)
        return
    raise NotApplicable("no quasi-identifier")


# --- domains --------------------------------------------------------------------------------------


def _change_domain(folder: Path, name: str, change: Callable[[list[Any]], Any]) -> None:
    def rewrite(manifest: dict[str, Any]) -> None:
        entry = next(each for each in manifest["attributes"] if each["name"] == name)
        entry["domain"] = change(entry["domain"])

    rewrite_manifest(folder, rewrite)


@_spoil(DAMAGED)
def take_a_value_out_of_a_domain(folder: Path) -> None:
    """One that sets hold."""
    name = _plain(folder)["name"]
    held = _members(read_rows(folder, "records")[0][name])[0]
    _change_domain(folder, name, lambda domain: [value for value in domain if value != held])


@_spoil(DAMAGED)
def list_a_value_of_a_domain_twice(folder: Path) -> None:
    """Closeness is easier in a larger domain."""
    _change_domain(folder, _plain(folder)["name"], lambda domain: [*domain, domain[0]])


@_spoil(DAMAGED)
def list_two_values_of_a_domain_the_other_way_round(folder: Path) -> None:
    name = _plain(folder)["name"]
    sets = [_members(row[name]) for row in read_rows(folder, "records")]

    def change(domain: list[Any]) -> list[Any]:
        for place, (one, other) in enumerate(pairwise(domain)):
            if any(one in members and other in members for members in sets):
                return [*domain[:place], other, one, *domain[place + 2 :]]
        raise NotApplicable("no set holds neighbours")

    _change_domain(folder, name, change)


@_spoil(DAMAGED)
def leave_a_domain_out_of_the_manifest(folder: Path) -> None:
    _change_domain(folder, _plain(folder)["name"], lambda domain: None)


# --- how sets were drawn --------------------------------------------------------------------------


def _change_draw(folder: Path, name: str, **keys: Any) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"]["sets"][name].update(keys))


def _draw(folder: Path, name: str) -> dict[str, Any]:
    return read_manifest(folder)["parameters"]["sets"][name]


@_spoil(BROKEN)
def raise_p_above_what_closeness_allows(folder: Path) -> None:
    """By a billionth, which all sets still agree with."""
    for claim in claims_of(folder, "set-closeness"):
        p = _draw(folder, claim["attribute"])["p"]
        if p < 1 and claim["prior"] == "free":
            _change_draw(folder, claim["attribute"], p=round(p + 1e-9, 12))
            return
    raise NotApplicable("no p below 1")


@_spoil(DAMAGED)
def raise_p_above_one(folder: Path) -> None:
    _change_draw(folder, _plain(folder)["name"], p=1.5)


@_spoil(DAMAGED)
def draw_with_no_p(folder: Path) -> None:
    _change_draw(folder, _plain(folder)["name"], p=0)


@_spoil(DAMAGED)
def state_a_larger_eta(folder: Path) -> None:
    name = _plain(folder)["name"]
    _change_draw(folder, name, eta=_draw(folder, name)["eta"] + 1)


@_spoil(DAMAGED)
def state_a_smaller_eta(folder: Path) -> None:
    name = _plain(folder)["name"]
    _change_draw(folder, name, eta=_draw(folder, name)["eta"] - 1)


@_spoil(DAMAGED)
def forget_how_sets_were_drawn(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"].pop("sets"))


@_spoil(DAMAGED)
def forget_how_one_attribute_was_drawn(folder: Path) -> None:
    name = _plain(folder)["name"]
    rewrite_manifest(folder, lambda m: m["parameters"]["sets"].pop(name))


@_spoil(DAMAGED)
def state_a_draw_of_an_exact_attribute(folder: Path) -> None:
    for each in attributes_of(folder, "quasi-identifier"):
        draw = {each["name"]: {"p": 1.0, "eta": 1}}
        rewrite_manifest(folder, lambda m, draw=draw: m["parameters"]["sets"].update(draw))
        return
    raise NotApplicable("no quasi-identifier")


@_spoil(DAMAGED)
def give_everybody_the_same_set(folder: Path) -> None:
    """Whatever p is: with several hundred records, chance does not leave all others out."""
    if read_manifest(folder)["method"] == "rating":
        raise NotApplicable("sets that were not drawn by chance")
    name = _plain(folder)["name"]
    rows = read_rows(folder, "records")
    write_rows(folder, "records", [row | {name: rows[0][name]} for row in rows])


@_spoil(DAMAGED)
def give_values_the_same_partners(folder: Path) -> None:
    """Each as often as before or nearly so: what shows is who stands with whom.

    Sets that records share show it too, by a value that is in an odd number of them.
    """
    entry = _plain(folder)
    name, domain = entry["name"], entry["domain"]
    if _draw(folder, name)["eta"] != 2 or len(domain) < 5:
        raise NotApplicable("no sets of two out of five values")
    rows = read_rows(folder, "records")
    part = 2 * len(rows) // 5
    for place, row in enumerate(rows[: 2 * part]):
        row[name] = _cell(domain[:2] if place < part else domain[2:4], row[name])
    if sum(domain[0] in _members(row[name]) for row in rows) % 2 == 0:
        rows[0][name] = rows[part][name]
    write_rows(folder, "records", rows)


@_spoil(DAMAGED)
def publish_the_same_value_in_clear(folder: Path) -> None:
    """A small p would make up for it, if the sets had been drawn with it."""
    name = _plain(folder)["name"]
    rows = read_rows(folder, "records")
    value = _members(rows[0][name])[:1]
    write_rows(folder, "records", [row | {name: _cell(value, row[name])} for row in rows])
    _change_draw(folder, name, p=0.01, eta=1)
    claim = {
        "model": "set-closeness",
        "attribute": name,
        "t": 0.3,
        "distance": "equal",
        "prior": "free",
    }

    def change(manifest: dict[str, Any]) -> None:
        others = [each for each in manifest["guarantees"] if each.get("attribute") != name]
        manifest["guarantees"] = [*others, claim | {"distance": "equal", "prior": "free"}]

    rewrite_manifest(folder, change)


# --- masses ---------------------------------------------------------------------------------------


def _with_masses(folder: Path) -> tuple[str, dict[str, Any]]:
    for claim in claims_of(folder, "set-closeness"):
        draw = _draw(folder, claim["attribute"])
        if claim["prior"] == "data" and draw["p"] < 1:
            return claim["attribute"], draw
    raise NotApplicable("no masses")


@_spoil(DAMAGED)
def narrow_the_masses_to_less_than_any_table_has(folder: Path) -> None:
    name, draw = _with_masses(folder)
    high = draw["masses"][1]
    size = next(len(e["domain"]) for e in read_manifest(folder)["attributes"] if e["name"] == name)
    mean = draw["eta"] / size
    _change_draw(folder, name, masses=[(mean + high) / 2, high])


@_spoil(DAMAGED)
def narrow_the_masses_to_nothing(folder: Path) -> None:
    name, draw = _with_masses(folder)
    _change_draw(folder, name, masses=draw["masses"][::-1])


@_spoil(BROKEN)
def widen_the_masses(folder: Path) -> None:
    """The p was chosen for the table's own."""
    name, _ = _with_masses(folder)
    _change_draw(folder, name, masses=[0, 1])


@_spoil(DAMAGED)
def forget_the_masses(folder: Path) -> None:
    name, _ = _with_masses(folder)
    rewrite_manifest(folder, lambda m: m["parameters"]["sets"][name].pop("masses"))


@_spoil(BROKEN)
def claim_closeness_for_every_prior(folder: Path) -> None:
    name, _ = _with_masses(folder)

    def change(manifest: dict[str, Any]) -> None:
        for claim in manifest["guarantees"]:
            if claim.get("attribute") == name and claim["model"] == "set-closeness":
                claim["prior"] = "free"

    rewrite_manifest(folder, change)


# --- claims ---------------------------------------------------------------------------------------


def _claim(folder: Path, **claim: Any) -> None:
    rewrite_manifest(folder, lambda m: m["guarantees"].append(claim))


@_spoil(BROKEN)
def claim_more_diverse_sets(folder: Path) -> None:
    name = _plain(folder)["name"]
    more = _draw(folder, name)["eta"] + 1
    _claim(folder, model="set-diversity", attribute=name, l=more, variant="frequency")


@_spoil(BROKEN)
def claim_larger_sets(folder: Path) -> None:
    name = _plain(folder)["name"]
    _claim(folder, model="set-anonymity", attribute=name, k=_draw(folder, name)["eta"] + 1)


@_spoil(BROKEN)
def claim_closer_sets(folder: Path) -> None:
    name = _plain(folder)["name"]
    _claim(folder, model="set-closeness", attribute=name, t=1e-6, distance="equal", prior="free")


@_spoil(DAMAGED)
def claim_sets_of_an_exact_attribute(folder: Path) -> None:
    for each in attributes_of(folder, "quasi-identifier"):
        _claim(folder, model="set-anonymity", attribute=each["name"], k=1)
        return
    raise NotApplicable("no quasi-identifier")


# --- ranges and joint attributes ------------------------------------------------------------------


def _binned(folder: Path) -> tuple[str, list[Any]]:
    for name, edges in read_manifest(folder)["parameters"].get("bins", {}).items():
        if len(edges) > 2 and all(isinstance(edge, int) for edge in edges):
            return name, edges
    raise NotApplicable("no ranges of whole numbers")


@_spoil(DAMAGED)
def move_an_edge(folder: Path) -> None:
    name, edges = _binned(folder)
    moved = [edges[0], edges[1] + 1, *edges[2:]]
    rewrite_manifest(folder, lambda m: m["parameters"]["bins"].update({name: moved}))


@_spoil(DAMAGED)
def drop_an_edge(folder: Path) -> None:
    name, edges = _binned(folder)
    rewrite_manifest(folder, lambda m: m["parameters"]["bins"].update({name: edges[:-1]}))


@_spoil(DAMAGED)
def state_edges_of_another_attribute(folder: Path) -> None:
    name, _ = _binned(folder)
    rewrite_manifest(
        folder,
        lambda m: m["parameters"]["bins"].update({"shoe size": m["parameters"]["bins"][name]}),
    )


def _joint(folder: Path) -> tuple[str, list[str]]:
    for name, parts in read_manifest(folder)["parameters"].get("joint", {}).items():
        return name, parts
    raise NotApplicable("no joint attribute")


@_spoil(DAMAGED)
def join_other_attributes(folder: Path) -> None:
    name, parts = _joint(folder)
    rewrite_manifest(folder, lambda m: m["parameters"]["joint"].update({name: parts[::-1]}))


@_spoil(DAMAGED)
def join_what_is_not_published(folder: Path) -> None:
    _joint(folder)
    other = {"pay & rank": ["pay", "rank"]}
    rewrite_manifest(folder, lambda m: m["parameters"]["joint"].update(other))


@_spoil(DAMAGED)
def list_a_combination_that_cannot_be(folder: Path) -> None:
    """One more, which no set holds: closeness is easier in a larger domain."""
    name, _ = _joint(folder)
    _change_domain(folder, name, lambda domain: [*domain, "no & such"])
