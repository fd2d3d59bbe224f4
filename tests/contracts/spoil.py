"""Ways to spoil a saved release, each of which an audit must notice.

Every function takes the folder of a good release and spoils it in one way. `SPOILS` lists them
with the layouts they apply to and the exit code that an audit must then give: 2 where the folder is
damaged or contradicts itself, 1 where a claim is broken or nothing can be confirmed. A function
raises `NotApplicable`, the folder untouched, where a release lacks what it would spoil.

Unless the damage is to the file itself, checksums are put right again: the audit has to look.
"""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from .raw_release import (
    NotApplicable,
    attributes_of,
    claims_of,
    count_column,
    entry_of,
    group_column,
    group_sizes,
    read_manifest,
    read_rows,
    read_table,
    repair_checksum,
    rewrite_manifest,
    rewrite_table,
    rows_by_group,
    table_file,
    table_names,
    table_of,
    values_by_group,
    write_rows,
)

ALL = ("generalized", "anatomized", "sliced", "local", "sets")
GROUPED = ("generalized", "anatomized", "sliced", "local")
BOTH = ("generalized", "anatomized")
OF_VALUES = (*BOTH, "sliced")
RECORDS = ("generalized", "local")
THREE = (*BOTH, "local")
ANATOMIZED = ("anatomized",)
DAMAGED, BROKEN = 2, 1
DIVERSITY = ("l-diversity", "l-unique-groups")


@dataclass(frozen=True)
class Spoil:
    """One way to spoil a release, and what the audit must then answer."""

    name: str
    apply: Callable[[Path], None]
    layouts: tuple[str, ...]
    code: int


SPOILS: list[Spoil] = []


def _spoil(layouts: tuple[str, ...], code: int) -> Callable[[Callable[[Path], None]], Any]:
    def register(function: Callable[[Path], None]) -> Callable[[Path], None]:
        SPOILS.append(Spoil(function.__name__, function, layouts, code))
        return function

    return register


# --- files ----------------------------------------------------------------------------------------


@_spoil(ALL, DAMAGED)
def delete_a_table(folder: Path) -> None:
    table_file(folder, table_names(folder)[-1]).unlink()


def _cut_in_half(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


@_spoil(ALL, DAMAGED)
def truncate_a_table(folder: Path) -> None:
    _cut_in_half(table_file(folder, table_names(folder)[0]))


@_spoil(ALL, DAMAGED)
def truncate_a_table_and_repair_its_checksum(folder: Path) -> None:
    """Half a Parquet file does not read; half a CSV file is ragged or lacks rows."""
    table = table_names(folder)[0]
    _cut_in_half(table_file(folder, table))
    repair_checksum(folder, table)


@_spoil(ALL, DAMAGED)
def empty_a_table_file(folder: Path) -> None:
    table = table_names(folder)[0]
    table_file(folder, table).write_bytes(b"")
    repair_checksum(folder, table)


@_spoil(ALL, DAMAGED)
def flip_a_byte(folder: Path) -> None:
    file = table_file(folder, table_names(folder)[0])
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


@_spoil(ALL, DAMAGED)
def write_another_checksum(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["tables"][0].update(sha256="0" * 64))


@_spoil(ALL, DAMAGED)
def add_a_stray_file(folder: Path) -> None:
    (folder / "notes.csv").write_text("name\n", encoding="utf-8")


@_spoil(ALL, DAMAGED)
def read_a_table_from_outside(folder: Path) -> None:
    file = table_file(folder, table_names(folder)[0])
    outside = folder.parent / f"outside-{file.name}"
    file.rename(outside)
    rewrite_manifest(folder, lambda m: m["tables"][0].update(file=f"../{outside.name}"))


@_spoil(ALL, DAMAGED)
def delete_a_hierarchy(folder: Path) -> None:
    """The labels in the cells then mean nothing."""
    for attribute, _ in _cells_that_are_nodes(folder):
        _hierarchy(folder, attribute).unlink()
        return
    raise NotApplicable("no cell is a node of a published hierarchy")


def _hierarchy(folder: Path, attribute: str) -> Path:
    return folder / "hierarchies" / f"{quote(attribute, safe='')}.csv"


def _quasi_cells(folder: Path) -> list[tuple[str, str]]:
    """Return (attribute, text) of the quasi-identifiers' text cells, each once, in table order."""
    found: dict[tuple[str, str], None] = {}
    for attribute in (each["name"] for each in attributes_of(folder, "quasi-identifier")):
        for cell in read_table(folder, table_of(folder, attribute)).column(attribute).to_pylist():
            if isinstance(cell, str):
                found[attribute, cell] = None
    return list(found)


def _cells_that_are_nodes(folder: Path) -> list[tuple[str, str]]:
    """Return (attribute, text) of the cells that only a published hierarchy explains."""
    found = []
    for attribute, cell in _quasi_cells(folder):
        if not _hierarchy(folder, attribute).is_file() or cell == "*":
            continue
        lines = _hierarchy(folder, attribute).read_text("utf-8").splitlines()
        paths = [line.split(";") for line in lines]
        labels = {label for path in paths for label in path[1:]} - {path[0] for path in paths}
        if cell in labels or cell in {json.dumps(label, ensure_ascii=False) for label in labels}:
            found.append((attribute, cell))
    return found


# --- manifest -------------------------------------------------------------------------------------


@_spoil(ALL, DAMAGED)
def delete_the_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


@_spoil(ALL, DAMAGED)
def cut_the_manifest_short(folder: Path) -> None:
    _cut_in_half(folder / "manifest.json")


@_spoil(ALL, DAMAGED)
def make_the_manifest_a_list(folder: Path) -> None:
    (folder / "manifest.json").write_text("[]", encoding="utf-8")


@_spoil(ALL, DAMAGED)
def claim_an_unknown_format_version(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(format="sfumato-release/999"))


@_spoil(ALL, DAMAGED)
def drop_the_layout(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.pop("layout"))


@_spoil(ALL, DAMAGED)
def name_an_unknown_layout(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(layout="folded"))


@_spoil(BOTH, DAMAGED)
def name_another_layout(folder: Path) -> None:
    other = {"generalized": "anatomized", "anatomized": "generalized"}
    rewrite_manifest(folder, lambda m: m.update(layout=other[m["layout"]]))


@_spoil(ALL, DAMAGED)
def count_one_row_more_in_the_manifest(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(rows=m["rows"] + 1))


@_spoil(ALL, DAMAGED)
def count_the_rows_in_words(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(rows="many"))


@_spoil(ALL, DAMAGED)
def suppress_a_negative_number(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(suppressed=-1))


@_spoil(ALL, DAMAGED)
def forget_an_attribute_in_the_manifest(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["attributes"].pop())


@_spoil(ALL, DAMAGED)
def describe_an_attribute_that_no_table_has(folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["attributes"].append(manifest["attributes"][0] | {"name": "shoe size"})

    rewrite_manifest(folder, change)


@_spoil(ALL, DAMAGED)
def describe_an_attribute_twice(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["attributes"].append(m["attributes"][0]))


@_spoil(ALL, DAMAGED)
def publish_an_identifier(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["attributes"][0].update(role="identifier"))


@_spoil(ALL, DAMAGED)
def give_an_attribute_an_unknown_kind(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["attributes"][0].update(kind="colourful"))


@_spoil(ANATOMIZED, DAMAGED)
def forget_a_table_in_the_manifest(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["tables"].pop())


# --- claims ---------------------------------------------------------------------------------------


def _add_claim(folder: Path, claim: dict[str, Any]) -> None:
    rewrite_manifest(folder, lambda m: m["guarantees"].append(claim))


def _change_claim(folder: Path, claim: dict[str, Any], **keys: float) -> None:
    position = read_manifest(folder)["guarantees"].index(claim)
    rewrite_manifest(folder, lambda m: m["guarantees"][position].update(keys))


@_spoil(ALL, BROKEN)
def remove_all_claims(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(guarantees=[]))


@_spoil(ALL, BROKEN)
def claim_an_unknown_model(folder: Path) -> None:
    _add_claim(folder, {"model": "zeta-privacy", "z": 3})


@_spoil(ALL, BROKEN)
def mark_as_a_test(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(test=True))


@_spoil(GROUPED, BROKEN)
def claim_a_larger_k(folder: Path) -> None:
    """One more than the smallest group has."""
    _add_claim(folder, {"model": "k-anonymity", "k": min(group_sizes(folder).values()) + 1})


@_spoil(OF_VALUES, BROKEN)
def claim_a_larger_l(folder: Path) -> None:
    """One more than the poorest group has values: no variant of l-diversity can hold then."""
    for claim in claims_of(folder, *DIVERSITY):
        richness = [len(seen) for seen in values_by_group(folder, claim["attribute"]).values()]
        # Nothing is claimed of a group without values.
        if any(richness) and claim.get("missing", "excluded") == "excluded":
            _change_claim(folder, claim, l=min(filter(None, richness)) + 1)
            return
    raise NotApplicable("no group has a value that counts")


@_spoil(OF_VALUES, BROKEN)
def claim_a_smaller_t(folder: Path) -> None:
    """Next to nothing, which only groups with exactly the table's distribution can meet."""
    claim = claims_of(folder, "t-closeness")[0]
    groups = [seen for seen in values_by_group(folder, claim["attribute"]).values() if seen]
    whole = sum(groups, Counter())
    shares = [(seen, value) for seen in groups for value in whole]
    if all(seen[v] * whole.total() == whole[v] * seen.total() for seen, v in shares):
        raise NotApplicable("every group is distributed like the table")
    _change_claim(folder, claim, t=1e-6)


@_spoil(ALL, DAMAGED)
def claim_about_an_unpublished_attribute(folder: Path) -> None:
    _add_claim(
        folder, {"model": "t-closeness", "attribute": "shoe size", "t": 1, "distance": "equal"}
    )


@_spoil(ALL, DAMAGED)
def claim_without_a_parameter(folder: Path) -> None:
    _add_claim(folder, {"model": "k-anonymity"})


@_spoil(ALL, DAMAGED)
def claim_an_impossible_parameter(folder: Path) -> None:
    _add_claim(folder, {"model": "k-anonymity", "k": 0})


# --- rows and columns -----------------------------------------------------------------------------


@_spoil(ALL, DAMAGED)
def drop_a_row(folder: Path) -> None:
    table = table_names(folder)[0]
    write_rows(folder, table, read_rows(folder, table)[:-1])


@_spoil(ALL, DAMAGED)
def duplicate_a_row(folder: Path) -> None:
    table = table_names(folder)[0]
    rows = read_rows(folder, table)
    write_rows(folder, table, [*rows, rows[0]])


@_spoil(ALL, DAMAGED)
def rename_a_column(folder: Path) -> None:
    table = table_names(folder)[0]
    column = entry_of(folder, table)["attributes"][0]

    def change(old: pa.Table) -> pa.Table:
        names = [f"{name} renamed" if name == column else name for name in old.column_names]
        return old.rename_columns(names)

    rewrite_table(folder, table, change)


@_spoil(ALL, DAMAGED)
def drop_a_column(folder: Path) -> None:
    table = table_names(folder)[0]
    column = entry_of(folder, table)["attributes"][0]
    rewrite_table(folder, table, lambda old: old.drop_columns([column]))


@_spoil(ALL, DAMAGED)
def add_a_column(folder: Path) -> None:
    """Row numbers in the order of the input would undo everything."""
    rewrite_table(
        folder,
        table_names(folder)[0],
        lambda old: old.append_column("row", pa.array(range(old.num_rows), pa.int64())),
    )


# --- groups ---------------------------------------------------------------------------------------


@_spoil(GROUPED, DAMAGED)
def leave_a_group_id_out(folder: Path) -> None:
    table = table_names(folder)[0]
    rows = read_rows(folder, table)
    rows[0][group_column(folder, table)] = None
    write_rows(folder, table, rows)


@_spoil(GROUPED, DAMAGED)
def leave_a_gap_in_the_group_ids(folder: Path) -> None:
    """In every table alike, so that only the gap is wrong."""
    last = max(group_sizes(folder))
    for table in table_names(folder):
        group, rows = group_column(folder, table), read_rows(folder, table)
        for row in rows:
            row[group] += 5 if row[group] == last else 0
        write_rows(folder, table, rows)


@_spoil(GROUPED, DAMAGED)
def count_groups_from_zero(folder: Path) -> None:
    for table in table_names(folder):
        group, rows = group_column(folder, table), read_rows(folder, table)
        for row in rows:
            row[group] -= 1
        write_rows(folder, table, rows)


@_spoil(THREE, DAMAGED)
def move_a_row_to_another_group(folder: Path) -> None:
    """Its quasi-identifier cells (generalized) or the groups' sizes (anatomized) then differ."""
    table = table_names(folder)[0]
    entry, group = entry_of(folder, table), group_column(folder, table)
    quasi = {each["name"] for each in attributes_of(folder, "quasi-identifier")}
    shared = quasi.intersection(entry["attributes"])
    groups = rows_by_group(folder, table)
    rows = read_rows(folder, table)
    for row in rows:
        if len(groups[row[group]]) == 1:
            continue  # an empty group would also leave a gap in the ids
        for other, its_rows in groups.items():
            apart = any(row[name] != its_rows[0][name] for name in shared)
            if other != row[group] and (apart or entry.get("count")):
                row[group] = other
                write_rows(folder, table, rows)
                return
    raise NotApplicable("no two groups with different cells")


@_spoil((*RECORDS, "sliced"), BROKEN)
def part_a_row_from_its_group(folder: Path) -> None:
    """A group of one, cells and ids in order: only k (or what else is claimed) is broken."""
    if max(claim["k"] for claim in claims_of(folder, "k-anonymity")) < 2:
        raise NotApplicable("no k above 1 is claimed")
    sizes, rows = group_sizes(folder), read_rows(folder, "records")
    group = group_column(folder, "records")
    largest = max(sizes, key=sizes.__getitem__)
    next(row for row in rows if row[group] == largest)[group] = max(sizes) + 1
    write_rows(folder, "records", rows)


@_spoil(ANATOMIZED, BROKEN)
def part_a_record_from_its_group(folder: Path) -> None:
    """One record of a group, in all tables, becomes a group of its own: no diversity there."""
    attribute, groups = _diverse_groups(folder)
    old, new = min(groups), max(group_sizes(folder)) + 1
    for table in table_names(folder):
        group, count = group_column(folder, table), count_column(folder, table)
        rows = read_rows(folder, table)
        # A missing sensitive value would not count, and so break nothing.
        parted = next(r for r in rows if r[group] == old and r.get(attribute, "") is not None)
        parted[count] -= 1
        rows.append(parted | {group: new, count: 1})
        write_rows(folder, table, [row for row in rows if row[count]])


def _diverse_groups(folder: Path) -> tuple[str, dict[int, Counter[Any]]]:
    """Return an attribute claimed to be diverse, and the groups with at least two of its values."""
    for claim in claims_of(folder, *DIVERSITY):
        values = values_by_group(folder, claim["attribute"])
        groups = {group: seen for group, seen in values.items() if len(seen) > 1}
        if claim["l"] >= 2 and groups:
            return claim["attribute"], groups
    raise NotApplicable("no group has to be diverse")


@_spoil(OF_VALUES, BROKEN)
def make_a_group_all_alike(folder: Path) -> None:
    """One sensitive value for a whole group, sizes unchanged: its diversity is gone."""
    attribute, groups = _diverse_groups(folder)
    chosen = min(groups)
    value = min(groups[chosen], key=str)
    table = table_of(folder, attribute)
    group, count = group_column(folder, table), entry_of(folder, table).get("count")
    rows = read_rows(folder, table)
    alike = [row | {attribute: value} for row in rows if row[group] == chosen]
    if count:
        alike = [alike[0] | {count: sum(row[count] for row in alike)}]
    write_rows(folder, table, [row for row in rows if row[group] != chosen] + alike)


# --- cells ----------------------------------------------------------------------------------------


@_spoil(RECORDS, DAMAGED)
def give_one_row_of_a_group_another_cell(folder: Path) -> None:
    """A group's rows no longer share their quasi-identifier cells."""
    groups = rows_by_group(folder, "records")
    group, rows = group_column(folder, "records"), read_rows(folder, "records")
    for attribute in (each["name"] for each in attributes_of(folder, "quasi-identifier")):
        cells = {its_rows[0][attribute] for its_rows in groups.values()}
        for row in rows:
            others = cells - {row[attribute]}
            if others and len(groups[row[group]]) > 1:
                row[attribute] = min(others, key=str)
                write_rows(folder, "records", rows)
                return
    raise NotApplicable("all groups have the same cells")


@_spoil(GROUPED, DAMAGED)
def write_a_sensitive_value_outside_the_domain(folder: Path) -> None:
    for attribute in attributes_of(folder, "sensitive"):
        name = attribute["name"]
        table = table_of(folder, name)
        rows = read_rows(folder, table)
        rows[0][name] = _foreign(attribute, read_table(folder, table).schema.field(name).type)
        write_rows(folder, table, rows)
        return
    raise NotApplicable("no sensitive attribute")


def _foreign(attribute: dict[str, Any], column: pa.DataType) -> Any:
    """Return a value that the attribute's domain does not have, in the column's type."""
    domain = attribute.get("domain")
    if pa.types.is_dictionary(column):
        column = column.value_type
    is_text = pa.types.is_string(column) or pa.types.is_large_string(column)
    if isinstance(domain, list) and is_text:
        return "no such value"
    if not isinstance(domain, dict):
        raise NotApplicable("no foreign value for such a domain")
    if pa.types.is_date(column):
        return datetime.date(9999, 1, 1)
    try:
        beyond = int(float(domain["max"])) + 1
    except ValueError:
        raise NotApplicable("no foreign value for such a domain") from None
    if is_text:
        return str(beyond)
    if pa.types.is_integer(column) or pa.types.is_floating(column):
        return beyond
    raise NotApplicable("no foreign value for such a type")


def _rewrite_cell(folder: Path, attribute: str, old: str, new: str) -> None:
    """Change a cell wherever it occurs, so that the rows of a group still agree."""
    table = table_of(folder, attribute)
    rows = read_rows(folder, table)
    for row in rows:
        if row[attribute] == old:
            row[attribute] = new
    write_rows(folder, table, rows)


@_spoil(ALL, DAMAGED)
def swap_the_ends_of_a_range(folder: Path) -> None:
    nodes = _cells_that_are_nodes(folder)
    for attribute, cell in _quasi_cells(folder):
        ends = re.fullmatch(r"\[([^\[\],]+), ([^\[\],]+)\]", cell)
        if ends and ends[1] != ends[2] and (attribute, cell) not in nodes:
            _rewrite_cell(folder, attribute, cell, f"[{ends[2]}, {ends[1]}]")
            return
    raise NotApplicable("no cell is a range")


@_spoil(ALL, DAMAGED)
def widen_a_range_beyond_the_domain(folder: Path) -> None:
    nodes = _cells_that_are_nodes(folder)
    domains = {each["name"]: each.get("domain") for each in read_manifest(folder)["attributes"]}
    for attribute, cell in _quasi_cells(folder):
        ends = re.fullmatch(r"\[(-?\d+), (-?\d+)\]", cell)
        if ends and isinstance(domains[attribute], dict) and (attribute, cell) not in nodes:
            beyond = int(domains[attribute]["max"]) + 1
            _rewrite_cell(folder, attribute, cell, f"[{ends[1]}, {beyond}]")
            return
    raise NotApplicable("no cell is a range of whole numbers")


@_spoil(ALL, DAMAGED)
def leave_a_bracket_open(folder: Path) -> None:
    for attribute, cell in _quasi_cells(folder):
        if cell.startswith(("[", "{")):
            _rewrite_cell(folder, attribute, cell, cell[:-1])
            return
    raise NotApplicable("no cell is a range or a set")


@_spoil(ALL, DAMAGED)
def name_a_node_that_is_not_there(folder: Path) -> None:
    for attribute, cell in _cells_that_are_nodes(folder):
        _rewrite_cell(folder, attribute, cell, "no such node")
        return
    raise NotApplicable("no cell is a node of a published hierarchy")


# --- counts ---------------------------------------------------------------------------------------


@_spoil(ANATOMIZED, DAMAGED)
def count_one_more_in_one_table(folder: Path) -> None:
    table = table_names(folder)[0]
    rows = read_rows(folder, table)
    rows[0][count_column(folder, table)] += 1
    write_rows(folder, table, rows)


@_spoil(ANATOMIZED, DAMAGED)
def shift_a_count_between_groups(folder: Path) -> None:
    """The sum over all groups stays; two groups no longer line up between the tables."""
    table = table_names(folder)[-1]
    group, count = group_column(folder, table), count_column(folder, table)
    rows = read_rows(folder, table)
    giver = max(rows, key=lambda row: row[count])
    taker = next((row for row in rows if row[group] != giver[group]), None)
    if taker is None:
        raise NotApplicable("a single group")
    giver[count] -= 1
    taker[count] += 1
    write_rows(folder, table, [row for row in rows if row[count]])


@_spoil(ANATOMIZED, DAMAGED)
def count_below_zero(folder: Path) -> None:
    """Sizes still add up, since another row of the group takes what this one gives."""
    table = table_names(folder)[0]
    group, count = group_column(folder, table), count_column(folder, table)
    rows = read_rows(folder, table)
    for row in rows[1:]:
        if row[group] == rows[0][group]:
            row[count] += rows[0][count] + 1
            rows[0][count] = -1
            write_rows(folder, table, rows)
            return
    raise NotApplicable("a group of one row")


@_spoil(ANATOMIZED, DAMAGED)
def list_a_combination_twice(folder: Path) -> None:
    """A count of n as n - 1 and 1: the sums agree, but a combination has one row a group."""
    for table in table_names(folder):
        count, rows = count_column(folder, table), read_rows(folder, table)
        repeated = next((row for row in rows if row[count] > 1), None)
        if repeated:
            repeated[count] -= 1
            write_rows(folder, table, [*rows, repeated | {count: 1}])
            return
    raise NotApplicable("all counts are 1")
