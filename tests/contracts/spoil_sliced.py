"""Ways to spoil the blocks of a saved `sliced` release; see `spoil.py` for the others.

Each is kept from spoiling anything else: ids stay dense, other cells as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .raw_release import (
    NotApplicable,
    Row,
    attributes_of,
    claims_of,
    group_sizes,
    read_manifest,
    read_rows,
    repair_checksum,
    rewrite_manifest,
    rewrite_table,
    table_file,
    values_by_group,
    write_rows,
)
from .spoil import BROKEN, DAMAGED, SPOILS, Spoil

SLICED_SPOILS: list[Spoil] = [spoil for spoil in SPOILS if "sliced" in spoil.layouts]
GENERIC = len(SLICED_SPOILS)
Blocks = list[list[str]]


def _spoil(code: int) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def register(function: Callable[[Path], None]) -> Callable[[Path], None]:
        SLICED_SPOILS.append(Spoil(function.__name__, function, ("sliced",), code))
        return function

    return register


def _names(folder: Path, role: str) -> list[str]:
    found = [each["name"] for each in attributes_of(folder, role)]
    if not found:
        raise NotApplicable(f"no attribute is {role}")
    return found


def _blocks(folder: Path) -> Blocks:
    return read_manifest(folder)["parameters"]["columns"]


def _state(folder: Path, blocks: Any) -> None:
    """Write other blocks into the manifest."""
    rewrite_manifest(folder, lambda manifest: manifest["parameters"].update(columns=blocks))


def _quasi_blocks(folder: Path) -> Blocks:
    """Return the blocks of quasi-identifiers, at least one."""
    quasi = _names(folder, "quasi-identifier")
    return [block for block in _blocks(folder) if block[0] in quasi]


def _shared_block(folder: Path) -> list[str]:
    """Return a block of several attributes."""
    for block in _blocks(folder):
        if len(block) > 1:
            return block
    raise NotApplicable("no block of several attributes")


# --- the list of blocks ---------------------------------------------------------------------------


@_spoil(DAMAGED)
def forget_the_blocks(folder: Path) -> None:
    rewrite_manifest(folder, lambda manifest: manifest["parameters"].pop("columns"))


@_spoil(DAMAGED)
def state_no_block(folder: Path) -> None:
    _state(folder, [])


@_spoil(DAMAGED)
def state_the_blocks_in_one_text(folder: Path) -> None:
    _state(folder, "; ".join(", ".join(block) for block in _blocks(folder)))


@_spoil(DAMAGED)
def state_a_number_of_blocks(folder: Path) -> None:
    _state(folder, len(_blocks(folder)))


@_spoil(DAMAGED)
def list_attributes_instead_of_blocks(folder: Path) -> None:
    _state(folder, [name for block in _blocks(folder) for name in block])


@_spoil(DAMAGED)
def give_the_blocks_names(folder: Path) -> None:
    _state(folder, {f"block {i}": block for i, block in enumerate(_blocks(folder))})


@_spoil(DAMAGED)
def add_an_empty_block(folder: Path) -> None:
    _state(folder, [*_blocks(folder), []])


@_spoil(DAMAGED)
def drop_a_block(folder: Path) -> None:
    _state(folder, _blocks(folder)[1:])


@_spoil(DAMAGED)
def leave_an_attribute_out_of_its_block(folder: Path) -> None:
    shared = _shared_block(folder)
    _state(folder, [b[1:] if b == shared else b for b in _blocks(folder)])


@_spoil(DAMAGED)
def name_an_attribute_in_two_blocks(folder: Path) -> None:
    _state(folder, [*_blocks(folder), _quasi_blocks(folder)[0][:1]])


@_spoil(DAMAGED)
def name_an_attribute_twice_in_a_block(folder: Path) -> None:
    first = _quasi_blocks(folder)[0]
    _state(folder, [[*b, b[0]] if b == first else b for b in _blocks(folder)])


@_spoil(DAMAGED)
def name_an_unpublished_attribute_in_a_block(folder: Path) -> None:
    _state(folder, [*_blocks(folder), ["shoe size"]])


@_spoil(DAMAGED)
def name_an_unpublished_attribute_instead_of_another(folder: Path) -> None:
    first = _quasi_blocks(folder)[0]
    _state(folder, [["shoe size", *b[1:]] if b == first else b for b in _blocks(folder)])


@_spoil(DAMAGED)
def put_a_number_in_a_block(folder: Path) -> None:
    first, *others = _blocks(folder)
    _state(folder, [[*first, 3], *others])


@_spoil(DAMAGED)
def put_a_block_in_a_block(folder: Path) -> None:
    shared = _shared_block(folder)
    nested = [[shared[0], shared[1:]] if b == shared else b for b in _blocks(folder)]
    _state(folder, nested)


# --- who shares a block ---------------------------------------------------------------------------


def _unite(folder: Path, one: str, other: str) -> None:
    """Make one block of the two that hold these attributes."""
    blocks = _blocks(folder)
    (first,) = (block for block in blocks if one in block)
    (second,) = (block for block in blocks if other in block)
    _state(folder, [[*first, *second], *(b for b in blocks if b not in (first, second))])


@_spoil(DAMAGED)
def join_a_sensitive_attribute_with_quasi_identifiers(folder: Path) -> None:
    """Each row would then tell a person's value."""
    _unite(folder, _quasi_blocks(folder)[0][0], _names(folder, "sensitive")[0])


@_spoil(DAMAGED)
def join_a_kept_column_with_quasi_identifiers(folder: Path) -> None:
    _unite(folder, _quasi_blocks(folder)[0][0], _names(folder, "insensitive")[0])


@_spoil(DAMAGED)
def join_a_kept_column_with_a_sensitive_attribute(folder: Path) -> None:
    _unite(folder, _names(folder, "insensitive")[0], _names(folder, "sensitive")[0])


def _change_role(folder: Path, name: str, role: str) -> None:
    place = [each["name"] for each in read_manifest(folder)["attributes"]].index(name)
    rewrite_manifest(folder, lambda manifest: manifest["attributes"][place].update(role=role))


@_spoil(DAMAGED)
def call_one_of_a_block_sensitive(folder: Path) -> None:
    _change_role(folder, _shared_block(folder)[-1], "sensitive")


@_spoil(DAMAGED)
def call_one_of_a_block_insensitive(folder: Path) -> None:
    _change_role(folder, _shared_block(folder)[0], "insensitive")


@_spoil(DAMAGED)
def call_a_quasi_identifier_semi_sensitive(folder: Path) -> None:
    _change_role(folder, _quasi_blocks(folder)[0][0], "semi-sensitive")


@_spoil(DAMAGED)
def call_a_sensitive_attribute_insensitive(folder: Path) -> None:
    """Nothing can be claimed of it then."""
    claimed = [claim["attribute"] for claim in claims_of(folder, "l-diversity")]
    _change_role(folder, claimed[0], "insensitive")


# --- cells ----------------------------------------------------------------------------------------


def _rewrite_a_cell(folder: Path, name: str, new: Callable[[list[str]], str]) -> None:
    """Write something else into one cell of a text attribute with at least two values."""
    rows = read_rows(folder, "records")
    cells = sorted({row[name] for row in rows if isinstance(row[name], str)})
    if len(cells) < 2:
        raise NotApplicable("no two texts")
    rows[0][name] = new(cells)
    write_rows(folder, "records", rows)


@_spoil(DAMAGED)
def withhold_a_sensitive_cell(folder: Path) -> None:
    _rewrite_a_cell(folder, _names(folder, "sensitive")[0], lambda cells: "*")


@_spoil(DAMAGED)
def generalise_a_sensitive_cell(folder: Path) -> None:
    _rewrite_a_cell(
        folder, _names(folder, "sensitive")[0], lambda cells: f"{{{cells[0]}, {cells[1]}}}"
    )


@_spoil(DAMAGED)
def generalise_a_kept_cell(folder: Path) -> None:
    _rewrite_a_cell(
        folder, _names(folder, "insensitive")[0], lambda cells: f"{{{cells[0]}, {cells[1]}}}"
    )


def _spoil_a_quasi_cell(folder: Path, new: Callable[[list[str]], str]) -> None:
    domains = {each["name"]: each for each in attributes_of(folder, "quasi-identifier")}
    for name in _names(folder, "quasi-identifier"):
        if domains[name]["kind"] == "categorical" and domains[name]["type"] == "string":
            _rewrite_a_cell(folder, name, new)
            return
    raise NotApplicable("no quasi-identifier of texts")


@_spoil(DAMAGED)
def leave_a_set_open(folder: Path) -> None:
    _spoil_a_quasi_cell(folder, lambda cells: f"{{{cells[0]}, {cells[1]}")


@_spoil(DAMAGED)
def write_a_quasi_identifier_outside_the_domain(folder: Path) -> None:
    _spoil_a_quasi_cell(folder, lambda cells: "no such value")


@_spoil(DAMAGED)
def write_a_range_where_there_is_no_order(folder: Path) -> None:
    _spoil_a_quasi_cell(folder, lambda cells: f"[{cells[0]}, {cells[1]}]")


# --- groups ---------------------------------------------------------------------------------------


@_spoil(DAMAGED)
def number_a_group_beyond_all_rows(folder: Path) -> None:
    """Nobody must make room for so many groups."""
    rows = read_rows(folder, "records")
    last = max(row["group"] for row in rows)
    for row in rows:
        row["group"] = 2_000_000_000 if row["group"] == last else row["group"]
    write_rows(folder, "records", rows)


@_spoil(DAMAGED)
def count_groups_below_zero(folder: Path) -> None:
    rows = read_rows(folder, "records")
    write_rows(folder, "records", [row | {"group": -row["group"]} for row in rows])


@_spoil(BROKEN)
def pool_a_value_in_a_group(folder: Path) -> None:
    """Values change places between groups, until one group holds a single one."""
    for claim in claims_of(folder, "l-diversity"):
        name = claim["attribute"]
        rows = [row for row in read_rows(folder, "records") if row[name] is not None]
        for group, counts in values_by_group(folder, name).items():
            value, total = Counter(row[name] for row in rows).most_common(1)[0]
            if claim["l"] < 2 or len(counts) < 2 or total < counts.total():
                continue
            _swap_in(folder, name, value, group)
            return
    raise NotApplicable("no value is common enough to fill a group")


def _swap_in(folder: Path, name: str, value: Any, group: int) -> None:
    rows = read_rows(folder, "records")
    known = [row for row in rows if row[name] is not None]
    takers = [row for row in known if row["group"] == group and row[name] != value]
    givers = [row for row in known if row["group"] != group and row[name] == value]
    for taker, giver in zip(takers, givers, strict=False):
        taker[name], giver[name] = giver[name], taker[name]
    write_rows(folder, "records", rows)


# --- crowds ---------------------------------------------------------------------------------------


def _crowds(folder: Path, rows: list[Row]) -> list[int]:
    """Return how many rows of a group share the cells of a block, for all that occur."""
    return [
        count
        for block in _quasi_blocks(folder)
        for count in Counter((row["group"], *(row[n] for n in block)) for row in rows).values()
    ]


@_spoil(BROKEN)
def claim_the_size_of_a_group_as_k(folder: Path) -> None:
    """Every group is as large, but those who share the cells of a block are fewer."""
    smallest = min(group_sizes(folder).values())
    if min(_crowds(folder, read_rows(folder, "records"))) >= smallest:
        raise NotApplicable("rows of a group share all cells")
    claim = {"model": "k-anonymity", "k": smallest}
    rewrite_manifest(folder, lambda manifest: manifest["guarantees"].append(claim))


@_spoil(BROKEN)
def part_a_row_from_its_crowd(folder: Path) -> None:
    """One row takes the cells of its group's other rows: who is left is alone."""
    k = max(claim["k"] for claim in claims_of(folder, "k-anonymity"))
    for block in _quasi_blocks(folder):
        rows = read_rows(folder, "records")
        for row in rows:
            others = [
                other
                for other in rows
                if other["group"] == row["group"] and any(other[n] != row[n] for n in block)
            ]
            if others:
                row.update({name: others[0][name] for name in block})
            if min(_crowds(folder, rows)) < k:
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("all rows of a group are alike")


# --- other tables, layouts and claims -------------------------------------------------------------


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
def count_the_records(folder: Path) -> None:
    """A row of this layout is one person's."""
    rewrite_table(
        folder,
        "records",
        lambda old: old.append_column("count", pa.array([1] * old.num_rows, pa.int32())),
    )
    rewrite_manifest(folder, lambda manifest: manifest["tables"][0].update(count="count"))


@_spoil(DAMAGED)
def put_a_sensitive_attribute_in_buckets(folder: Path) -> None:
    column = f"{_names(folder, 'sensitive')[0]}.bucket"
    rewrite_table(
        folder,
        "records",
        lambda old: old.append_column(column, pa.array([1] * old.num_rows, pa.int32())),
    )


@_spoil(DAMAGED)
def call_it_generalized(folder: Path) -> None:
    rewrite_manifest(folder, lambda manifest: manifest.update(layout="generalized"))


@_spoil(DAMAGED)
def call_it_anatomized(folder: Path) -> None:
    rewrite_manifest(folder, lambda manifest: manifest.update(layout="anatomized"))


@_spoil(DAMAGED)
def call_it_local(folder: Path) -> None:
    rewrite_manifest(folder, lambda manifest: manifest.update(layout="local"))


@_spoil(DAMAGED)
def claim_buckets(folder: Path) -> None:
    claim = {"model": "l-unique-buckets", "attribute": _names(folder, "sensitive")[0], "l": 1}
    rewrite_manifest(folder, lambda manifest: manifest["guarantees"].append(claim))


@_spoil(DAMAGED)
def claim_diverse_quasi_identifiers(folder: Path) -> None:
    claim = {"model": "l-diversity", "attribute": _quasi_blocks(folder)[0][0], "l": 1}
    claim |= {"variant": "distinct", "missing": "excluded"}
    rewrite_manifest(folder, lambda manifest: manifest["guarantees"].append(claim))
