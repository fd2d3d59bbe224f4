"""Random changes of published rows: groups, cells, counts, buckets, sets, part files."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from contracts.raw_release import (
    NotApplicable,
    Row,
    count_column,
    entry_of,
    group_column,
    read_manifest,
    read_rows,
    rewrite_manifest,
    table_names,
    write_rows,
)
from oracles.altered import digest_of

Mutation = Callable[[random.Random, Path], None]
MUTATIONS: list[Mutation] = []


def mutation(function: Mutation) -> Mutation:
    """Register a change."""
    MUTATIONS.append(function)
    return function


def some_table(rng: random.Random, folder: Path) -> str:
    return rng.choice(table_names(folder))


def rows_of(folder: Path, table: str, least: int = 1) -> list[Row]:
    rows = read_rows(folder, table)
    if len(rows) < least:
        raise NotApplicable("too few rows")
    return rows


def some_column(rng: random.Random, folder: Path, table: str) -> str:
    names = entry_of(folder, table)["attributes"]
    if not names:
        raise NotApplicable("a table without attributes")
    return rng.choice(names)


def _repair_rows(rng: random.Random, folder: Path, change: int) -> None:
    """Let the manifest say the new number of rows, half of the time."""
    if rng.random() < 0.5:
        rewrite_manifest(folder, lambda m: m.update(rows=max(0, m["rows"] + change)))


# --- groups ---------------------------------------------------------------------------------------


@mutation
def merge_two_groups(rng: random.Random, folder: Path) -> None:
    """In all tables, ids staying dense; half of the time the second takes the first's cells."""
    first = table_names(folder)[0]
    ids = sorted({row[group_column(folder, first)] for row in rows_of(folder, first)})
    if len(ids) < 2:
        raise NotApplicable("one group")
    kept, gone = rng.sample(ids, 2)
    alike = rng.random() < 0.5
    quasi = [a["name"] for a in read_manifest(folder)["attributes"] if "quasi" in a["role"]]
    for table in table_names(folder):
        group, rows = group_column(folder, table), rows_of(folder, table)
        model = next((row for row in rows if row[group] == kept), None)
        for row in rows:
            if row[group] == gone:
                row[group] = kept
                if alike and model is not None:
                    row.update({name: model[name] for name in quasi if name in row})
            elif row[group] == ids[-1] != kept:
                row[group] = gone
        if kept == ids[-1]:
            for row in rows:
                row[group] = gone if row[group] == kept else row[group]
        write_rows(folder, table, rows)


@mutation
def part_a_group(rng: random.Random, folder: Path) -> None:
    """Some rows of a group become one of their own, in one table."""
    table = some_table(rng, folder)
    group, rows = group_column(folder, table), rows_of(folder, table, 2)
    chosen = rng.choice(rows)[group]
    its_rows = [row for row in rows if row[group] == chosen]
    if len(its_rows) < 2:
        raise NotApplicable("a group of one row")
    new = max(row[group] for row in rows) + 1
    for row in rng.sample(its_rows, rng.randint(1, len(its_rows) - 1)):
        row[group] = new
    write_rows(folder, table, rows)


@mutation
def move_a_row_to_another_group(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    group, rows = group_column(folder, table), rows_of(folder, table, 2)
    one, other = rng.sample(rows, 2)
    one[group] = other[group]
    write_rows(folder, table, rows)


@mutation
def swap_the_groups_of_two_rows(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    group, rows = group_column(folder, table), rows_of(folder, table, 2)
    one, other = rng.sample(rows, 2)
    one[group], other[group] = other[group], one[group]
    write_rows(folder, table, rows)


@mutation
def leave_a_gap_in_the_ids(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    group, rows = group_column(folder, table), rows_of(folder, table)
    chosen, other = rng.choice(rows)[group], rng.choice([0, -1, max(r[group] for r in rows) + 2])
    for row in rows:
        row[group] = other if row[group] == chosen else row[group]
    write_rows(folder, table, rows)


# --- rows -----------------------------------------------------------------------------------------


@mutation
def drop_rows(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    rows = rows_of(folder, table, 2)
    count = rng.choice([1, 1, 2, len(rows) // 2])
    for _ in range(count):
        rows.pop(rng.randrange(len(rows)))
    write_rows(folder, table, rows)
    _repair_rows(rng, folder, -count)


@mutation
def duplicate_a_row(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    rows = rows_of(folder, table)
    write_rows(folder, table, [*rows, dict(rng.choice(rows))])
    _repair_rows(rng, folder, 1)


@mutation
def drop_a_whole_group(rng: random.Random, folder: Path) -> None:
    """From all tables, with dense ids and a manifest that fits: often a sound release."""
    first = table_names(folder)[0]
    group, rows = group_column(folder, first), rows_of(folder, first)
    ids = sorted({row[group] for row in rows})
    if len(ids) < 2:
        raise NotApplicable("one group")
    gone, count = rng.choice(ids), entry_of(folder, first).get("count")
    size = sum(row[count] if count else 1 for row in rows if row[group] == gone)
    for table in table_names(folder):
        group = group_column(folder, table)
        kept = [row for row in rows_of(folder, table) if row[group] != gone]
        for row in kept:
            row[group] = gone if row[group] == ids[-1] else row[group]
        write_rows(folder, table, kept)
    rewrite_manifest(folder, lambda m: m.update(rows=m["rows"] - size))


# --- cells ----------------------------------------------------------------------------------------


@mutation
def swap_two_cells(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    name, rows = some_column(rng, folder, table), rows_of(folder, table, 2)
    one, other = rng.sample(rows, 2)
    if one[name] == other[name]:
        raise NotApplicable("equal cells")
    one[name], other[name] = other[name], one[name]
    write_rows(folder, table, rows)


@mutation
def copy_cells(rng: random.Random, folder: Path) -> None:
    """A few rows get another row's cell: groups become alike in it, or differ."""
    table = some_table(rng, folder)
    name, rows = some_column(rng, folder, table), rows_of(folder, table, 2)
    cell = rng.choice(rows)[name]
    for row in rng.sample(rows, min(len(rows), rng.choice([1, 2, 5]))):
        row[name] = cell
    write_rows(folder, table, rows)


@mutation
def copy_a_cell_to_a_whole_group(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    group, rows = group_column(folder, table), rows_of(folder, table, 2)
    name, one = some_column(rng, folder, table), rng.choice(rows)
    cell = rng.choice(rows)[name]
    for row in rows:
        if row[group] == one[group]:
            row[name] = cell
    write_rows(folder, table, rows)


@mutation
def empty_a_cell(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    name, rows = some_column(rng, folder, table), rows_of(folder, table)
    rng.choice(rows)[name] = None
    write_rows(folder, table, rows)


def _spelt_otherwise(rng: random.Random, cell: str) -> str:
    found = re.search(r"\d+", cell)
    if found and rng.random() < 0.6:
        number = int(found[0]) + rng.choice([-40, -1, 1, 40, 1000])
        return f"{cell[: found.start()]}{number}{cell[found.end() :]}"
    return rng.choice(
        [
            *("*", "[20, 29]", "[29, 20]", "[20, 20]", "{Female, Male}", "{Female, Female}"),
            *("Care", "Lungs", "null", "", cell[:-1], f"{cell} ", "[20, 29", "NaN"),
        ]
    )


@mutation
def respell_a_cell(rng: random.Random, folder: Path) -> None:
    """Wherever it occurs, or in one row only."""
    table = some_table(rng, folder)
    name, rows = some_column(rng, folder, table), rows_of(folder, table)
    old, everywhere = rng.choice(rows), rng.random() < 0.7
    if not isinstance(old[name], str):
        raise NotApplicable("no text")
    new, text = _spelt_otherwise(rng, old[name]), old[name]
    for row in rows:
        if row is old or (everywhere and row[name] == text):
            row[name] = new
    write_rows(folder, table, rows)


@mutation
def move_a_number(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    name, rows = some_column(rng, folder, table), rows_of(folder, table)
    row, step = rng.choice(rows), rng.choice([-1000, -1, 1, 0.5, 1000])
    if isinstance(row[name], bool) or not isinstance(row[name], int | float):
        raise NotApplicable("no number")
    row[name] = type(row[name])(row[name] + step)
    write_rows(folder, table, rows)


# --- counts ---------------------------------------------------------------------------------------


@mutation
def alter_a_count(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    count, rows = count_column(folder, table), rows_of(folder, table)
    step = rng.choice([-5, -1, 1, 3])
    rng.choice(rows)[count] += step
    write_rows(folder, table, rows)
    _repair_rows(rng, folder, step)


@mutation
def shift_counts_within_a_group(rng: random.Random, folder: Path) -> None:
    """Sizes stay: one value gets commoner, another rarer."""
    table = some_table(rng, folder)
    count, group = count_column(folder, table), group_column(folder, table)
    rows = rows_of(folder, table, 2)
    one = rng.choice(rows)
    others = [row for row in rows if row[group] == one[group] and row is not one]
    if not others:
        raise NotApplicable("one row")
    other = rng.choice(others)
    step = rng.randint(1, max(1, other[count]))
    one[count] += step
    other[count] -= step
    write_rows(folder, table, [row for row in rows if row[count] != 0])


@mutation
def add_a_counted_row(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    count, rows = count_column(folder, table), rows_of(folder, table)
    group = group_column(folder, table)
    new = {**rng.choice(rows), group: rng.choice(rows)[group], count: rng.choice([1, 2])}
    write_rows(folder, table, [*rows, new])


# --- buckets and sets -----------------------------------------------------------------------------


def _bucket_column(rng: random.Random, rows: list[Row]) -> str:
    names = [name for name in rows[0] if name.endswith(".bucket")]
    if not names:
        raise NotApplicable("no buckets")
    return rng.choice(names)


@mutation
def move_a_cell_to_another_bucket(rng: random.Random, folder: Path) -> None:
    rows = rows_of(folder, "records", 2) if "records" in table_names(folder) else []
    if not rows:
        raise NotApplicable("no records")
    name = _bucket_column(rng, rows)
    one, other = rng.sample(rows, 2)
    one[name] = other[name]
    write_rows(folder, "records", rows)


@mutation
def swap_values_of_two_buckets(rng: random.Random, folder: Path) -> None:
    rows = rows_of(folder, "records", 2) if "records" in table_names(folder) else []
    if not rows:
        raise NotApplicable("no records")
    name = _bucket_column(rng, rows).removesuffix(".bucket")
    for _ in range(rng.choice([1, 1, 3])):
        one, other = rng.sample(rows, 2)
        one[name], other[name] = other[name], one[name]
    write_rows(folder, "records", rows)


@mutation
def renumber_a_bucket(rng: random.Random, folder: Path) -> None:
    """Unite it with another, give it a new number, or take its cells out of any."""
    rows = rows_of(folder, "records", 2) if "records" in table_names(folder) else []
    if not rows:
        raise NotApplicable("no records")
    name = _bucket_column(rng, rows)
    ids = [row[name] for row in rows if row[name] is not None]
    if not ids:
        raise NotApplicable("no bucket")
    old, new = rng.choice(ids), rng.choice([None, 0, max(ids) + 1, max(ids) + 2, rng.choice(ids)])
    for row in rows:
        if row[name] == old:
            row[name] = new
        elif new in ids and new not in (old, max(ids)) and row[name] == max(ids) != old:
            row[name] = old
    write_rows(folder, "records", rows)


@mutation
def change_a_set(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    rows = rows_of(folder, table, 2)
    names = [name for name, cell in rows[0].items() if isinstance(cell, list) and cell]
    if not names:
        raise NotApplicable("no sets")
    name, row = rng.choice(names), rng.choice(rows)
    members = list(row[name])
    domain = [m for each in rows for m in each[name]]
    match rng.randrange(6):
        case 0:
            members.pop(rng.randrange(len(members)))
        case 1:
            members.append(rng.choice(domain))
        case 2:
            members[rng.randrange(len(members))] = rng.choice(domain)
        case 3:
            members.reverse()
        case 4:
            for each in rows:
                each[name] = members
        case _:
            members = []
    row[name] = members
    write_rows(folder, table, rows)


@mutation
def change_a_written_set(rng: random.Random, folder: Path) -> None:
    """The same in CSV, where sets are texts."""
    table = some_table(rng, folder)
    rows = rows_of(folder, table, 2)
    names = [n for n, cell in rows[0].items() if isinstance(cell, str) and cell.startswith("{")]
    if not names:
        raise NotApplicable("no sets")
    name, row = rng.choice(names), rng.choice(rows)
    separator = " | " if " | " in row[name] else ", "
    members = row[name][1:-1].split(separator)
    match rng.randrange(4):
        case 0:
            members.pop()
        case 1:
            members.append(members[0])
        case 2:
            members.reverse()
        case _:
            members[0] = "never seen"
    row[name] = "{" + separator.join(members) + "}"
    write_rows(folder, table, rows)


# --- weights and part files -----------------------------------------------------------------------


@mutation
def change_a_weight(rng: random.Random, folder: Path) -> None:
    table = some_table(rng, folder)
    name = entry_of(folder, table).get("weight")
    if not name:
        raise NotApplicable("no weights")
    rows = rows_of(folder, table)
    one, number = rng.choice(rows), rng.choice([0.0, -1.0, 2.5, 1 / 3, float("inf")])
    whole = rng.random() < 0.5
    for row in rows:
        if row is one or (whole and row["group"] == one["group"]):
            row[name] = number if isinstance(row[name], float) else repr(number)
    write_rows(folder, table, rows)


def _parts(rng: random.Random, folder: Path) -> tuple[int, list[Path]]:
    manifest = read_manifest(folder)
    places = [i for i, e in enumerate(manifest["tables"]) if (folder / e["file"]).is_dir()]
    if not places:
        raise NotApplicable("no parts")
    place = rng.choice(places)
    return place, sorted((folder / manifest["tables"][place]["file"]).iterdir())


@mutation
def change_the_parts(rng: random.Random, folder: Path) -> None:
    """Lose one, repeat one, rename one, swap rows; checksums put right mostly."""
    place, parts = _parts(rng, folder)
    part = rng.choice(parts)
    match rng.randrange(5):
        case 0:
            part.unlink()
        case 1:
            part.with_name("part-2.parquet").write_bytes(part.read_bytes())
        case 2:
            part.rename(part.with_name(rng.choice(["a.parquet", "notes.txt", ".hidden.parquet"])))
        case 3:
            table = pq.ParquetFile(part).read()
            if not table.num_rows:
                raise NotApplicable("an empty part")
            pq.write_table(table.slice(1), part)
        case _:
            table = pq.ParquetFile(part).read()
            pq.write_table(table.drop_columns([table.column_names[-1]]), part)
    if rng.random() < 0.8:
        digest = digest_of(parts[0].parent)
        rewrite_manifest(folder, lambda m: m["tables"][place].update(sha256=digest))


# --- what changes nothing -------------------------------------------------------------------------

HARMLESS: list[Mutation] = []


def harmless(function: Mutation) -> Mutation:
    """Register a change that leaves a release as sound as it was."""
    HARMLESS.append(function)
    return function


@harmless
def shuffle_rows(rng: random.Random, folder: Path) -> None:
    for table in table_names(folder):
        rows = rows_of(folder, table, 0)
        rng.shuffle(rows)
        write_rows(folder, table, rows)


@harmless
def renumber_all_groups(rng: random.Random, folder: Path) -> None:
    first = table_names(folder)[0]
    ids = sorted({row[group_column(folder, first)] for row in rows_of(folder, first)})
    other = dict(zip(ids, rng.sample(ids, len(ids)), strict=True))
    for table in table_names(folder):
        group, rows = group_column(folder, table), rows_of(folder, table)
        for row in rows:
            row[group] = other[row[group]]
        write_rows(folder, table, rows)


@harmless
def shuffle_a_sensitive_attribute_within_groups(rng: random.Random, folder: Path) -> None:
    if table_names(folder) != ["records"]:
        raise NotApplicable("not one table of records")
    group, rows = group_column(folder, "records"), rows_of(folder, "records")
    if any(name.endswith(".bucket") for name in rows[0]):
        raise NotApplicable("values belong to buckets")
    names = [a["name"] for a in read_manifest(folder)["attributes"] if a["role"] == "sensitive"]
    for name in names:
        by_group: dict[int, list[Any]] = {}
        for row in rows:
            by_group.setdefault(row[group], []).append(row[name])
        for cells in by_group.values():
            rng.shuffle(cells)
        for row in rows:
            row[name] = by_group[row[group]].pop()
    write_rows(folder, "records", rows)
