"""A published folder, read with nothing but json, pyarrow and the format's own text."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from .cells import Cell, CellError, Exact, Reading, ValueSet, parse_cell
from .points import NoPoint, Point, point_of_text, point_of_value

FORMAT = "sfumato-release/1"
LAYOUTS = ("generalized", "anatomized", "sliced", "local", "sets")
KINDS = ("numeric", "ordinal", "categorical")
ROLES = (
    "quasi-identifier",
    "sensitive",
    "semi-sensitive",
    "sensitive-quasi-identifier",
    "insensitive",
)

BUCKETED = ("sensitive", "semi-sensitive")  # roles whose cells are in buckets, in `local` releases


class ReleaseError(Exception):
    """A folder that is not a whole and untouched release."""


Row = dict[str, Any]  # attribute -> Cell; group and count -> int; pseudonym -> its text


@dataclass(frozen=True)
class Published:
    """A release as it was read: rows of parsed cells by table."""

    manifest: Mapping[str, Any]
    tables: Mapping[str, Sequence[Row]]
    readings: Mapping[str, Reading]
    hierarchies: Mapping[str, Sequence[Sequence[str]]]

    @property
    def attributes(self) -> dict[str, Mapping[str, Any]]:
        """The manifest's attributes by name."""
        return {each["name"]: each for each in self.manifest["attributes"]}

    def with_role(self, role: str) -> list[str]:
        """Return the names of the published attributes with that role."""
        return [name for name, each in self.attributes.items() if each["role"] == role]

    def table_of(self, attribute: str) -> Mapping[str, Any]:
        """Return the manifest's entry of the table that publishes the attribute."""
        for entry in self.manifest["tables"]:
            if attribute in entry["attributes"]:
                return entry
        raise ReleaseError("an attribute that no table publishes")


# --- reading --------------------------------------------------------------------------------------


def read_release(
    folder: Path, *, hierarchies: Mapping[str, Sequence[Sequence[str]]] | None = None
) -> Published:
    """Return the parsed release, or raise ReleaseError.

    Published hierarchies may lack leaves; `hierarchies` are the full ones by attribute, for checks
    against an original table.
    """
    manifest = _manifest(folder)
    guarded = manifest.get("parameters", {}).get("formula_guard") is not False
    files = {each["name"]: hierarchy_file(each["name"]) for each in manifest["attributes"]}
    found = {name: _hierarchy(folder / file, guarded) for name, file in files.items()}
    trees = {name: rows for name, rows in found.items() if rows} | dict(hierarchies or {})
    readings = {
        each["name"]: Reading.of(
            each["type"],
            each["kind"],
            order=_order(each),
            hierarchy=trees.get(each["name"], ()),
        )
        for each in manifest["attributes"]
    }
    expected = {"manifest.json", *files.values()}
    tables = {}
    for entry in manifest["tables"]:
        file = folder / entry["file"]
        if Path(entry["file"]).name != entry["file"]:
            raise ReleaseError("a table outside the folder")
        parts = sorted(file.iterdir()) if file.is_dir() else [file]
        expected |= {part.relative_to(folder).as_posix() for part in parts}
        try:
            buckets = _bucket_columns(manifest, entry)
            tables[entry["name"]] = _rows(entry, parts, readings, buckets, guarded)
        except (OSError, ValueError, KeyError, CellError, NoPoint, pa.ArrowException) as error:
            raise ReleaseError(f"table {entry['name']}: {type(error).__name__}: {error}") from error
    present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}
    if present - expected:
        raise ReleaseError("a file that the manifest does not know")
    return Published(manifest, tables, readings, trees)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise ReleaseError("an unknown format")
        if manifest["layout"] not in LAYOUTS:
            raise ReleaseError("an unknown layout")
        for key in ("method", "software", "created"):
            if not isinstance(manifest[key], str):
                raise ReleaseError(f"{key} is not a text")
        for key in ("rows", "suppressed"):
            if isinstance(manifest[key], bool) or not isinstance(manifest[key], int):
                raise ReleaseError(f"{key} is not a whole number")
            if manifest[key] < 0:
                raise ReleaseError(f"{key} is negative")
        for each in manifest["attributes"]:
            if each["role"] not in ROLES or each["kind"] not in KINDS:
                raise ReleaseError("an attribute with an unknown or forbidden role or kind")
            if not isinstance(each["name"], str) or not isinstance(each["type"], str):
                raise ReleaseError("an attribute without name or type")
        for entry in manifest["tables"]:
            alone = manifest["layout"] == "sets" or "transitions" in manifest.get("parameters", {})
            keys = ("name", "file", "sha256", *(() if alone else ("group",)))
            if not all(isinstance(entry[key], str) for key in keys):
                raise ReleaseError("a table entry without its keys")
        for claim in manifest["guarantees"]:
            if not isinstance(claim["model"], str):
                raise ReleaseError("a claim without a model")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReleaseError(f"manifest: {error!r}") from error
    return manifest


def _bucket_columns(manifest: Mapping[str, Any], entry: Mapping[str, Any]) -> set[str]:
    """Return the columns of bucket ids that a table must have: of all attributes with secrets."""
    if manifest["layout"] != "local" or entry["name"] != "records":
        return set()
    protected = {e["name"] for e in manifest["attributes"] if e["role"] in BUCKETED}
    return {f"{name}.bucket" for name in protected.intersection(entry["attributes"])}


def _order(attribute: Mapping[str, Any]) -> Sequence[str]:
    """Return the values of an ordinal attribute from low to high, as texts."""
    domain = attribute.get("order") or attribute.get("domain")
    if attribute["kind"] != "ordinal" or not isinstance(domain, list):
        return ()
    return [text_of_json(value) for value in domain if value is not None]


def text_of_json(value: Any) -> str:
    """Return the text of a JSON value."""
    return value if isinstance(value, str) else json.dumps(value)


def hierarchy_file(attribute: str) -> str:
    """Return where an attribute's hierarchy lies; a name that no file can have is encoded."""
    encoded = quote(attribute, safe="")
    return f"hierarchies/{'%2E' + encoded[1:] if encoded.startswith('.') else encoded}.csv"


def _hierarchy(file: Path, guarded: bool) -> list[list[str]]:
    if not file.is_file():
        return []
    try:
        lines = split_csv(file.read_bytes().decode("utf-8"), ";")
    except ValueError as error:
        raise ReleaseError("a hierarchy that is no CSV") from error
    rows = [[(unguarded(text) if guarded else text) or "" for text in line] for line in lines]
    if len({len(row) for row in rows}) != 1 or {row[-1] for row in rows} != {"*"}:
        raise ReleaseError("a ragged hierarchy or one without root")
    return rows


def split_csv(text: str, separator: str = ",") -> list[list[str | None]]:
    """Return the fields of a CSV text; an empty field is None unless it is quoted.

    >>> split_csv('a,,""' + chr(10) + '"x,y",1,')
    [['a', None, ''], ['x,y', '1', None]]
    """
    rows: list[list[str | None]] = []
    row: list[str | None] = []
    at = 0
    while at < len(text):
        if text[at] == '"':
            start, field = at + 1, ""
            while True:
                close = text.index('"', start)
                field += text[start:close]
                at = close + 1
                if text[at : at + 1] != '"':
                    break
                field, start = field + '"', at + 1
            row.append(field)
        else:
            start = at
            while at < len(text) and text[at] not in (separator, "\n", "\r"):
                at += 1
            row.append(text[start:at] or None)
        if text[at : at + 1] == separator:
            at += 1
            if at < len(text) and text[at] not in "\r\n":
                continue
            row.append(None)  # a separator at the end of a line: one more empty field
        elif at < len(text) and text[at] not in "\r\n":
            raise ValueError("text after a quoted field")
        at += 2 if text[at : at + 2] == "\r\n" else 1
        rows.append(row)
        row = []
    return rows


def unguarded(text: str | None) -> str | None:
    """Return a CSV cell without the mark that keeps spreadsheets from running it.

    >>> unguarded("'=1+1"), unguarded("''tis"), unguarded("-5")
    ('=1+1', "'tis", '-5')
    """
    if text and text[0] == "'" and text[1:2] in ("=", "+", "-", "@", "\t", "\r", "'"):
        return text[1:]
    return text


def _rows(
    entry: Mapping[str, Any],
    parts: Sequence[Path],
    readings: Mapping[str, Reading],
    buckets: set[str],
    guarded: bool,
) -> list[Row]:
    if len(parts) == 1 and parts[0].name == entry["file"]:
        digest = hashlib.sha256(parts[0].read_bytes()).hexdigest()
        if digest != entry["sha256"]:
            raise ReleaseError("a checksum that does not fit")
    rows = []
    for part in parts:
        is_csv = part.suffix == ".csv"
        names, columns = _csv_columns(part, guarded) if is_csv else _parquet_columns(part)
        if not is_csv:
            _refuse_other_types(part, readings)
        whole = {entry[key] for key in ("group", "count") if entry.get(key)}
        tokens = set(entry.get("pseudonyms", ()))
        weight = entry.get("weight")
        wanted = whole | set(entry["attributes"]) | buckets | tokens | ({weight} - {None})
        if len(set(names)) != len(names) or set(names) != wanted:
            raise ReleaseError("columns that are not those of the manifest")
        for values in zip(*columns, strict=True):
            row: Row = {}
            for name, value in zip(names, values, strict=True):
                if name in whole:
                    row[name] = _whole(value)
                elif name in buckets:
                    row[name] = None if value is None else _whole(value)
                elif name in tokens:
                    row[name] = value
                elif name == weight:
                    row[name] = float(value)
                else:
                    row[name] = _cell(value, readings[name])
            rows.append(row)
    return rows


class _Text(str):
    """A cell that follows the grammar, as against a typed value."""


def _csv_columns(file: Path, guarded: bool) -> tuple[list[str], list[Sequence[Any]]]:
    # Bytes, not text mode, which would change line ends inside quoted fields.
    lines = split_csv(file.read_bytes().decode("utf-8"))
    if guarded:
        lines = [[unguarded(field) for field in line] for line in lines]
    if not lines:
        raise ReleaseError("a table without a header")
    names = [name or "" for name in lines[0]]
    if {len(line) for line in lines} != {len(names)}:
        raise ReleaseError("a ragged table")
    cells = [[None if text is None else _Text(text) for text in line] for line in lines[1:]]
    return names, [[line[i] for line in cells] for i in range(len(names))]


def _parquet_columns(file: Path) -> tuple[list[str], list[Sequence[Any]]]:
    table = pq.ParquetFile(file).read()
    columns: list[Sequence[Any]] = []
    for column in table.columns:
        inner = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        member = inner.value_type if pa.types.is_list(inner) else inner
        finer = pa.types.is_time64(member)  # than Python's times
        texts = pa.string() if member is inner else pa.list_(pa.string())
        values = (column.cast(texts) if finer else column).to_pylist()
        if member is inner and (finer or _is_text(inner)):
            values = [None if value is None else _Text(value) for value in values]
        columns.append(values)
    return table.column_names, columns


def _refuse_other_types(file: Path, readings: Mapping[str, Reading]) -> None:
    """Refuse numbers and truth values that are stored as of another type than the manifest's."""
    for field in pq.ParquetFile(file).schema_arrow:
        inner = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        plain = pa.types.is_primitive(inner) and not pa.types.is_temporal(inner)
        if field.name in readings and plain and str(inner) != readings[field.name].type:
            raise ReleaseError("a column of another type")


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(kind) for test in tests)


def _whole(value: Any) -> int:
    if value is None or isinstance(value, bool | float):
        raise ReleaseError("a group or count that is not a whole number")
    return int(value)


def _cell(value: Any, reading: Reading) -> Cell:
    if value is None or isinstance(value, _Text):
        return parse_cell(value, reading)
    if isinstance(value, list):
        members = [
            point_of_text(each, reading.type) if isinstance(each, str) else point_of_value(each)
            for each in value
        ]  # a missing member is the point None
        return ValueSet(tuple(Exact(point) for point in members))
    return Exact(point_of_value(value))


# --- groups ---------------------------------------------------------------------------------------


def groups(release: Published, table: str = "records") -> dict[int, list[Row]]:
    """Return the rows of a table by group."""
    entry = next(each for each in release.manifest["tables"] if each["name"] == table)
    result: dict[int, list[Row]] = {}
    for row in release.tables[table]:
        result.setdefault(row[entry["group"]], []).append(row)
    return result


def group_sizes(release: Published, table: str) -> dict[int, int]:
    """Return the number of records in each group, as one table tells it."""
    entry = next(each for each in release.manifest["tables"] if each["name"] == table)
    sizes: Counter[int] = Counter()
    for row in release.tables[table]:
        sizes[row[entry["group"]]] += row[entry["count"]] if entry.get("count") else 1
    return dict(sizes)


def group_values(release: Published, attribute: str) -> dict[int, list[Point | None]]:
    """Return each group's values of an attribute that is published exactly, counts spelt out."""
    entry = release.table_of(attribute)
    result: dict[int, list[Point | None]] = {}
    for row in release.tables[entry["name"]]:
        cell = row[attribute]
        if not isinstance(cell, Exact):
            raise ReleaseError("a sensitive cell that is not exact")
        times = row[entry["count"]] if entry.get("count") else 1
        result.setdefault(row[entry["group"]], []).extend([cell.point] * times)
    return result
