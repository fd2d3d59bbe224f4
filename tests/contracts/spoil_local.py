"""Ways to spoil the buckets of a saved `local` release; see `spoil.py` for the others.

Each is kept from spoiling anything else: ids stay dense, other cells as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .raw_release import (
    NotApplicable,
    Row,
    attributes_of,
    claims_of,
    read_manifest,
    read_rows,
    repair_checksum,
    rewrite_manifest,
    rewrite_table,
    table_file,
    write_rows,
)
from .spoil import BROKEN, DAMAGED, SPOILS, Spoil

LOCAL_SPOILS: list[Spoil] = [spoil for spoil in SPOILS if "local" in spoil.layouts]
GENERIC = len(LOCAL_SPOILS)
Buckets = dict[int, list[Row]]


def _spoil(code: int) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def register(function: Callable[[Path], None]) -> Callable[[Path], None]:
        LOCAL_SPOILS.append(Spoil(function.__name__, function, ("local",), code))
        return function

    return register


def _id(name: str) -> str:
    return f"{name}.bucket"


def _names(folder: Path, *roles: str) -> list[str]:
    return [each["name"] for role in roles for each in attributes_of(folder, role)]


def _protected(folder: Path) -> list[str]:
    return _names(folder, "sensitive", "semi-sensitive")


def _buckets(rows: list[Row], name: str) -> Buckets:
    found: Buckets = {}
    for row in rows:
        if row[_id(name)] is not None:
            found.setdefault(row[_id(name)], []).append(row)
    return found


def _claimed(folder: Path, model: str) -> Iterator[tuple[dict[str, Any], list[Row], Buckets]]:
    """Return the claims of a model with all rows, and with them by bucket."""
    rows = read_rows(folder, "records")
    for claim in claims_of(folder, model):
        buckets = _buckets(rows, claim["attribute"])
        if buckets:
            yield claim, rows, buckets


def _values(rows: list[Row], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


# --- who is in a bucket ---------------------------------------------------------------------------


@_spoil(DAMAGED)
def take_a_sensitive_cell_out_of_its_bucket(folder: Path) -> None:
    for name in _names(folder, "sensitive"):
        rows = read_rows(folder, "records")
        for its_rows in _buckets(rows, name).values():
            if len(its_rows) > 1:
                its_rows[0][_id(name)] = None
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no bucket of two")


@_spoil(DAMAGED)
def take_a_cell_out_of_its_bucket(folder: Path) -> None:
    """The rows of its group then have different flags."""
    for name in _names(folder, "semi-sensitive"):
        rows = read_rows(folder, "records")
        for its_rows in _buckets(rows, name).values():
            row = its_rows[0]
            if len(its_rows) > 1 and sum(r["group"] == row["group"] for r in rows) > 1:
                row[_id(name)] = None
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no bucket and group of two")


@_spoil(DAMAGED)
def put_a_cell_of_a_group_in_a_bucket(folder: Path) -> None:
    """A value of the bucket's own kind, new to it; the other rows of the group are in none."""
    for name in _names(folder, "semi-sensitive"):
        rows = read_rows(folder, "records")
        buckets = _buckets(rows, name)
        outside = [row for row in rows if row[_id(name)] is None]
        for bucket, its_rows in buckets.items():
            others = [
                r for b in buckets.values() for r in b if r[name] not in _values(its_rows, name)
            ]
            if outside and others and others[0][name] is not None:
                outside[0].update({name: others[0][name], _id(name): bucket})
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no bucket that lacks a value, or no cell in none")


@_spoil(DAMAGED)
def put_a_quasi_identifier_in_buckets(folder: Path) -> None:
    for name in _names(folder, "quasi-identifier"):
        rewrite_table(
            folder,
            "records",
            lambda old: old.append_column(_id(name), pa.array([1] * old.num_rows, pa.int64())),  # noqa: B023
        )
        return
    raise NotApplicable("no quasi-identifier")


@_spoil(DAMAGED)
def put_a_generalised_group_in_a_bucket(folder: Path) -> None:
    """All rows of a group, so that they still look alike: but their cells are not exact."""
    for name in _names(folder, "semi-sensitive"):
        rows = read_rows(folder, "records")
        for row in rows:
            cell = row[name]
            if row[_id(name)] is None and isinstance(cell, str) and cell[:1] in ("[", "{"):
                for other in rows:
                    if other["group"] == row["group"]:
                        other[_id(name)] = max(_buckets(rows, name), default=0) or 1
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no generalised cell")


@_spoil(DAMAGED)
def put_a_withheld_group_in_a_bucket(folder: Path) -> None:
    for name in _names(folder, "semi-sensitive"):
        rows = read_rows(folder, "records")
        stars = [row for row in rows if row[name] == "*" and row[_id(name)] is None]
        if stars:
            for row in stars:
                row[_id(name)] = max(_buckets(rows, name), default=0) + 1
            write_rows(folder, "records", rows)
            return
    raise NotApplicable("no withheld cell")


# --- what is in a bucket --------------------------------------------------------------------------


def _rewrite_a_bucketed_cell(folder: Path, new: Callable[[list[str]], str]) -> None:
    for name in _protected(folder):
        rows = read_rows(folder, "records")
        for its_rows in _buckets(rows, name).values():
            cells = _values(its_rows, name)
            if len(cells) > 1 and all(isinstance(cell, str) for cell in cells):
                its_rows[0][name] = new(sorted(cells))
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no bucket of texts")


@_spoil(DAMAGED)
def withhold_a_cell_in_a_bucket(folder: Path) -> None:
    _rewrite_a_bucketed_cell(folder, lambda cells: "*")


@_spoil(DAMAGED)
def generalise_a_cell_in_a_bucket(folder: Path) -> None:
    _rewrite_a_bucketed_cell(folder, lambda cells: f"{{{cells[0]}, {cells[1]}}}")


@_spoil(DAMAGED)
def write_nonsense_in_a_bucket(folder: Path) -> None:
    _rewrite_a_bucketed_cell(folder, lambda cells: f"{{{cells[0]}")


@_spoil(BROKEN)
def repeat_a_value_in_a_bucket(folder: Path) -> None:
    """A bucket of l + 1 keeps l different values: but one of them twice."""
    for claim, rows, buckets in _claimed(folder, "l-unique-buckets"):
        name = claim["attribute"]
        for its_rows in buckets.values():
            known = [row for row in its_rows if row[name] is not None]
            if len(known) > 1:
                known[0][name] = known[1][name]
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no bucket of two values")


@_spoil(BROKEN)
def swap_two_buckets_so_that_one_repeats_a_value(folder: Path) -> None:
    for claim, rows, buckets in _claimed(folder, "l-unique-buckets"):
        name = claim["attribute"]
        for one, its_rows in buckets.items():
            for row in (row for row in its_rows if row[name] is not None):
                for other, their_rows in buckets.items():
                    twins = [r for r in their_rows if r[name] == row[name]]
                    rest = [r for r in their_rows if r[name] != row[name]]
                    if other != one and twins and rest:
                        row[_id(name)], rest[0][_id(name)] = other, one
                        write_rows(folder, "records", rows)
                        return
    raise NotApplicable("no two buckets with a value in common")


@_spoil(BROKEN)
def make_a_bucket_of_one(folder: Path) -> None:
    for claim, rows, buckets in _claimed(folder, "l-unique-buckets"):
        name = claim["attribute"]
        largest = max(buckets.values(), key=len)
        if claim["l"] > 1 and len(largest) > 1:
            known = [row for row in largest if row[name] is not None]
            known[0][_id(name)] = max(buckets) + 1
            write_rows(folder, "records", rows)
            return
    raise NotApplicable("no l above 1 is claimed")


@_spoil(BROKEN)
def empty_a_bucket_of_values(folder: Path) -> None:
    """What is missing does not count, so a bucket that misses all values protects nobody."""
    for claim, rows, buckets in _claimed(folder, "l-unique-buckets"):
        name = claim["attribute"]
        for row in buckets[1]:
            row[name] = None
        write_rows(folder, "records", rows)
        return
    raise NotApplicable("no buckets")


@_spoil(BROKEN)
def pool_a_value_in_a_bucket(folder: Path) -> None:
    """Values change places between buckets, until one bucket holds a single one."""
    for claim, rows, buckets in _claimed(folder, "t-close-buckets"):
        name = claim["attribute"]
        cells = [row for row in rows if row[_id(name)] is not None and row[name] is not None]
        counts = Counter(row[name] for row in cells)
        for its_rows in sorted(buckets.values(), key=len):
            own = [row for row in its_rows if row[name] is not None]
            for value, count in counts.items():
                far = 1 - count / len(cells) > claim["t"] and claim["distance"] == "equal"
                if not own or count < len(own) or not far:
                    continue
                mine = [id(row) for row in own]
                takers = [row for row in own if row[name] != value]
                givers = [r for r in cells if r[name] == value and id(r) not in mine]
                for taker, giver in zip(takers, givers, strict=False):
                    taker[name], giver[name] = giver[name], taker[name]
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no value is rare enough")


@_spoil(BROKEN)
def pool_a_value_in_a_bucket_that_may_be_far(folder: Path) -> None:
    """No distance is above t = 1: but a bucket of a single value hides nothing."""
    for claim, rows, buckets in _claimed(folder, "t-close-buckets"):
        name = claim["attribute"]
        first = buckets[1]
        known = [row for row in first if row[name] is not None]
        for row in known:
            row[name] = known[0][name]
        write_rows(folder, "records", rows)
        _rewrite_claim(folder, claim, t=1.0)
        return
    raise NotApplicable("no t-close buckets")


# --- ids and columns ------------------------------------------------------------------------------


def _renumber(folder: Path, new: Callable[[int, int], int]) -> None:
    """Give the buckets of an attribute other ids: a function of the old one and the last one."""
    for name in _protected(folder):
        rows = read_rows(folder, "records")
        buckets = _buckets(rows, name)
        for bucket, its_rows in buckets.items():
            for row in its_rows:
                row[_id(name)] = new(bucket, max(buckets))
        if buckets:
            write_rows(folder, "records", rows)
            return
    raise NotApplicable("no buckets")


@_spoil(DAMAGED)
def leave_a_gap_in_the_bucket_ids(folder: Path) -> None:
    _renumber(folder, lambda bucket, last: bucket + 1 if bucket == last else bucket)


@_spoil(DAMAGED)
def number_a_bucket_beyond_all_rows(folder: Path) -> None:
    """Nobody must make room for so many buckets."""
    _renumber(folder, lambda bucket, last: 2_000_000_000 if bucket == last else bucket)


@_spoil(DAMAGED)
def count_buckets_from_zero(folder: Path) -> None:
    _renumber(folder, lambda bucket, last: bucket - 1)


@_spoil(DAMAGED)
def count_buckets_below_zero(folder: Path) -> None:
    _renumber(folder, lambda bucket, last: -bucket)


@_spoil(DAMAGED)
def drop_a_column_of_buckets(folder: Path) -> None:
    name = _protected(folder)[0]
    rewrite_table(folder, "records", lambda old: old.drop_columns([_id(name)]))


@_spoil(DAMAGED)
def drop_the_buckets_of_a_semi_sensitive_attribute(folder: Path) -> None:
    """And make it a plain quasi-identifier: its cells then tell rows of a group apart."""
    for name in _names(folder, "semi-sensitive"):
        rows = read_rows(folder, "records")
        looks = {(row["group"], row[name]) for row in rows}
        if len(looks) == len({row["group"] for row in rows}):
            continue
        rewrite_table(folder, "records", lambda old: old.drop_columns([_id(name)]))  # noqa: B023
        place = [e["name"] for e in read_manifest(folder)["attributes"]].index(name)

        def change(manifest: dict[str, Any], name: str = name, place: int = place) -> None:
            manifest["attributes"][place]["role"] = "quasi-identifier"
            claims = manifest["guarantees"]
            manifest["guarantees"] = [c for c in claims if c.get("attribute") != name]

        rewrite_manifest(folder, change)
        return
    raise NotApplicable("no group with different values in buckets")


@_spoil(DAMAGED)
def write_bucket_ids_as_texts(folder: Path) -> None:
    name = _protected(folder)[0]

    def change(old: pa.Table) -> pa.Table:
        place = old.column_names.index(_id(name))
        texts = [None if each is None else f"number {each}" for each in old[place].to_pylist()]
        return old.set_column(place, _id(name), pa.array(texts, pa.string()))

    rewrite_table(folder, "records", change)


@_spoil(DAMAGED)
def give_rows_of_a_group_different_cells(folder: Path) -> None:
    """Cells of a semi-sensitive attribute that are in no bucket: one row takes another group's."""
    for name in _names(folder, "semi-sensitive"):
        rows = read_rows(folder, "records")
        outside = [row for row in rows if row[_id(name)] is None]
        for row in outside:
            mates = [r for r in outside if r["group"] == row["group"]]
            others = [r for r in outside if r[name] != row[name]]
            if len(mates) > 1 and others:
                row[name] = others[0][name]
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("no two groups with different cells")


@_spoil(DAMAGED)
def add_a_table_of_people(folder: Path) -> None:
    """Which says that all rows of a group are one person's."""
    groups = sorted({row["group"] for row in read_rows(folder, "records")})
    suffix = table_file(folder, "records").suffix
    file = folder / f"units{suffix}"
    if suffix == ".csv":
        file.write_text("group,count\n" + "".join(f"{group},1\n" for group in groups))
    else:
        pq.write_table(pa.table({"group": groups, "count": [1] * len(groups)}), file)
    entry = {"name": "units", "file": file.name, "sha256": "0" * 64, "attributes": []}
    entry |= {"group": "group", "count": "count"}
    rewrite_manifest(folder, lambda manifest: manifest["tables"].append(entry))
    repair_checksum(folder, "units")


@_spoil(DAMAGED)
def call_it_generalized(folder: Path) -> None:
    rewrite_manifest(folder, lambda manifest: manifest.update(layout="generalized"))


def _change_role(folder: Path, name: str, role: str) -> None:
    place = [each["name"] for each in read_manifest(folder)["attributes"]].index(name)
    rewrite_manifest(folder, lambda manifest: manifest["attributes"][place].update(role=role))


@_spoil(DAMAGED)
def call_a_semi_sensitive_attribute_sensitive(folder: Path) -> None:
    """Its cells that are in no bucket are then secrets told to everybody."""
    rows = read_rows(folder, "records")
    for name in _names(folder, "semi-sensitive"):
        if any(row[_id(name)] is None for row in rows):
            _change_role(folder, name, "sensitive")
            return
    raise NotApplicable("all cells are in buckets")


@_spoil(DAMAGED)
def call_a_sensitive_attribute_insensitive(folder: Path) -> None:
    """A kept column has no buckets: and nothing could be claimed of it."""
    (name, *_) = _names(folder, "sensitive")
    _change_role(folder, name, "insensitive")


def _say_withheld(folder: Path, number: object) -> None:
    rewrite_manifest(folder, lambda manifest: manifest["parameters"].update(withheld_cells=number))


@_spoil(DAMAGED)
def say_that_more_cells_are_withheld(folder: Path) -> None:
    rows = read_rows(folder, "records")
    names = _names(folder, "semi-sensitive")
    stars = [row for name in names for row in rows if (row[name], row[_id(name)]) == ("*", None)]
    _say_withheld(folder, len(stars) + 1)


@_spoil(DAMAGED)
def say_that_fewer_than_no_cells_are_withheld(folder: Path) -> None:
    _say_withheld(folder, -1)


@_spoil(DAMAGED)
def say_in_words_how_many_cells_are_withheld(folder: Path) -> None:
    _say_withheld(folder, "some")


# --- claims ---------------------------------------------------------------------------------------


def _rewrite_claim(folder: Path, claim: dict[str, Any], **keys: float) -> None:
    place = read_manifest(folder)["guarantees"].index(claim)
    rewrite_manifest(folder, lambda manifest: manifest["guarantees"][place].update(keys))


@_spoil(BROKEN)
def claim_a_larger_l_of_buckets(folder: Path) -> None:
    """One more than the smallest bucket has values."""
    for claim, _, buckets in _claimed(folder, "l-unique-buckets"):
        name = claim["attribute"]
        smallest = min(len(_values(its_rows, name)) for its_rows in buckets.values())
        _rewrite_claim(folder, claim, l=smallest + 1)
        return
    raise NotApplicable("no buckets")


@_spoil(BROKEN)
def claim_a_smaller_t_of_buckets(folder: Path) -> None:
    """Next to nothing, which only buckets with exactly the whole distribution can meet."""
    for claim, rows, buckets in _claimed(folder, "t-close-buckets"):
        name = claim["attribute"]
        whole = Counter(_values([r for r in rows if r[_id(name)] is not None], name))
        for its_rows in buckets.values():
            own = Counter(_values(its_rows, name))
            if any(own[v] * whole.total() != whole[v] * own.total() for v in whole):
                _rewrite_claim(folder, claim, t=1e-6)
                return
    raise NotApplicable("every bucket is distributed like the whole")


def _add_claim(folder: Path, claim: dict[str, Any]) -> None:
    rewrite_manifest(folder, lambda manifest: manifest["guarantees"].append(claim))


@_spoil(DAMAGED)
def claim_buckets_of_a_quasi_identifier(folder: Path) -> None:
    (name, *_) = _names(folder, "quasi-identifier")
    _add_claim(folder, {"model": "l-unique-buckets", "attribute": name, "l": 1})


@_spoil(DAMAGED)
def claim_diverse_groups_of_bucketed_values(folder: Path) -> None:
    """Values stand in other people's rows, so what a group's rows hold says nothing of it."""
    (name, *_) = _names(folder, "sensitive")
    claim = {"model": "l-diversity", "attribute": name, "variant": "distinct", "l": 1}
    _add_claim(folder, claim | {"missing": "excluded"})


@_spoil(DAMAGED)
def claim_buckets_without_l(folder: Path) -> None:
    (name, *_) = _names(folder, "sensitive")
    _add_claim(folder, {"model": "l-unique-buckets", "attribute": name})
