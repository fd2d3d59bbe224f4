"""Raw access to a saved release, for spoiling it: json and pyarrow, nothing of the product."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq

Row = dict[str, Any]
_MULTILINE = pv.ParseOptions(newlines_in_values=True)


class NotApplicable(Exception):  # noqa: N818 -- a state, not a fault
    """The release has nothing that could be spoilt in this way."""


# --- manifest -------------------------------------------------------------------------------------


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest as plain JSON."""
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def rewrite_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest in place."""
    manifest = read_manifest(folder)
    change(manifest)
    text = json.dumps(manifest, ensure_ascii=False, indent=2)
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def table_names(folder: Path) -> list[str]:
    """Return the names of the published tables."""
    return [entry["name"] for entry in read_manifest(folder)["tables"]]


def entry_of(folder: Path, table: str) -> dict[str, Any]:
    """Return the manifest's entry of a table."""
    return next(e for e in read_manifest(folder)["tables"] if e["name"] == table)


def attributes_of(folder: Path, role: str) -> list[dict[str, Any]]:
    """Return the manifest's attributes with that role."""
    return [each for each in read_manifest(folder)["attributes"] if each["role"] == role]


def claims_of(folder: Path, *models: str) -> list[dict[str, Any]]:
    """Return the guarantees of those models, at least one."""
    found = [c for c in read_manifest(folder)["guarantees"] if c["model"] in models]
    if not found:
        raise NotApplicable("the release does not claim such a model")
    return found


def table_of(folder: Path, attribute: str) -> str:
    """Return the name of the table that publishes an attribute."""
    for entry in read_manifest(folder)["tables"]:
        if attribute in entry["attributes"]:
            return entry["name"]
    raise NotApplicable("no table publishes the attribute")


# --- tables ---------------------------------------------------------------------------------------


def table_file(folder: Path, table: str) -> Path:
    """Return a table's file."""
    file = folder / entry_of(folder, table)["file"]
    if file.is_dir():
        raise NotApplicable("a table in several parts")
    return file


def read_table(folder: Path, table: str) -> pa.Table:
    """Return a table as it lies there: texts in CSV, whatever the types are in Parquet."""
    file = table_file(folder, table)
    if file.suffix == ".parquet":
        return pq.ParquetFile(file).read()
    entry = entry_of(folder, table)
    names = pv.read_csv(file, parse_options=_MULTILINE).column_names
    numbers = {entry.get("group"), entry.get("count")}
    numbers.update(name for name in names if name.endswith(".bucket"))
    options = pv.ConvertOptions(
        column_types={name: pa.int64() if name in numbers else pa.string() for name in names},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return pv.read_csv(file, parse_options=_MULTILINE, convert_options=options)


def rewrite_table(folder: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change a table and put its checksum in the manifest right."""
    file = table_file(folder, table)
    changed = change(read_table(folder, table))
    if file.suffix == ".parquet":
        pq.write_table(changed, file)
    else:
        pv.write_csv(changed, file)
    repair_checksum(folder, table)


def repair_checksum(folder: Path, table: str) -> None:
    """Put the checksum of a table in the manifest right."""
    digest = hashlib.sha256(table_file(folder, table).read_bytes()).hexdigest()
    position = table_names(folder).index(table)
    rewrite_manifest(folder, lambda m: m["tables"][position].update(sha256=digest))


def read_rows(folder: Path, table: str) -> list[Row]:
    """Return the rows of a table."""
    return read_table(folder, table).to_pylist()


def write_rows(folder: Path, table: str, rows: list[Row]) -> None:
    """Replace the rows of a table, columns and types as they are, and repair its checksum."""

    def rebuilt(old: pa.Table) -> pa.Table:
        try:
            return pa.Table.from_pylist(rows, schema=old.schema)
        except pa.ArrowException:
            raise NotApplicable("the column's type has no room for such a value") from None

    rewrite_table(folder, table, rebuilt)


# --- groups ---------------------------------------------------------------------------------------


def group_column(folder: Path, table: str) -> str:
    """Return the name of a table's column of group ids."""
    name = entry_of(folder, table).get("group")
    if not name:
        raise NotApplicable("a table without groups")
    return name


def count_column(folder: Path, table: str) -> str:
    """Return the name of a table's column of counts."""
    name = entry_of(folder, table).get("count")
    if not name:
        raise NotApplicable("a table without counts")
    return name


def rows_by_group(folder: Path, table: str) -> dict[int, list[Row]]:
    """Return the rows of a table by group."""
    group = group_column(folder, table)
    result: dict[int, list[Row]] = {}
    for row in read_rows(folder, table):
        result.setdefault(row[group], []).append(row)
    return result


def group_sizes(folder: Path) -> dict[int, int]:
    """Return the number of records in each group, as the first table tells it."""
    table = table_names(folder)[0]
    count = entry_of(folder, table).get("count")
    groups = rows_by_group(folder, table)
    return {g: sum(r[count] if count else 1 for r in rows) for g, rows in groups.items()}


def values_by_group(folder: Path, attribute: str) -> dict[int, Counter[Any]]:
    """Return how often each non-missing value of an attribute occurs in each group."""
    table = table_of(folder, attribute)
    count = entry_of(folder, table).get("count")
    result: dict[int, Counter[Any]] = {}
    for group, rows in rows_by_group(folder, table).items():
        seen = result.setdefault(group, Counter())
        for row in rows:
            if row[attribute] is not None:
                seen[row[attribute]] += row[count] if count else 1
    return result
