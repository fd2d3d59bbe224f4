"""Releases in databases: a schema with the tables of the release, and two more.

    <schema>.manifest(json)                               one row: the text of `manifest.json`
    <schema>.hierarchies(attribute, line, level, label)   only where attributes have hierarchies

All of it is written in one transaction: whoever reads sees the old release, or the new one. A
table's entry in the manifest has no file, and its checksum is that of its rows in any order
(`content_digest.py`); that of a hierarchy is of the text of its file without the formula guard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from sfumato.databases.address import Address
from sfumato.databases.session import Holdings, Session, session
from sfumato.errors import HierarchyError, InputError, ReleaseDamaged
from sfumato.release.content_digest import content_digest
from sfumato.release.hierarchy_files import HIERARCHIES, hierarchy_text
from sfumato.release.manifest import Manifest, TableEntry
from sfumato.release.release import Release
from sfumato.release.set_columns import is_list, normal_sets
from sfumato.release.stored_columns import as_stored, refuse_zero_bytes, restored, stored
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.hierarchy import Hierarchy

MANIFEST = "manifest"
_JSON = "json"
_TREE = {"attribute": "text", "line": "integer", "level": "integer", "label": "text"}
# Rows handed over at a time: texts of sets in them stay far below Arrow's limit of 2 GiB.
_ROWS = 1 << 18


def save(release: Release, address: Address, *, force: bool = False) -> None:
    """Write a release as a schema that appears whole or not at all.

    Refuses (InputError) a schema that exists, unless `force` is given and it holds a release and
    nothing else; names and values that the database cannot keep; what the database refuses.
    """
    schema = _schema(address)
    with session(address, writing=True) as here:
        here.hold(schema)
        here.refuse_names([schema])
        found = here.holdings(schema)
        _refuse_occupied(here, address, found, force)
        if found is None:
            here.make_schema(schema)
        written: dict[str, str] = {}
        for name, table in _contents(release).items():
            first = f"sfumato is writing {len(written) + 1}"
            _refuse_unfit(here, name, table)
            _write(here, schema, first, table)
            written[first] = name
        old = sorted(found.tables if found else (), key=lambda name: name != MANIFEST)
        here.replace(schema, old, written)


def load(address: Address) -> Release:
    """Return the release in a schema, checked against its manifest.

    Refuses (ReleaseDamaged) tables that are missing, unexpected or altered; (InputError) a
    database that cannot be reached. It does not judge the claims: that is the audit's work.
    """
    schema = _schema(address)
    with session(address) as here:
        manifest = Manifest.from_json(_manifest_text(here, address).encode())
        hierarchies = _read_hierarchies(here, schema, manifest)
        tables = {entry.name: _read(here, schema, entry, manifest) for entry in manifest.tables}
        held = here.holdings(schema)
    known = {MANIFEST, *tables, *([HIERARCHIES] if hierarchies else [])}
    if held is None or held.others or held.tables != known:
        raise ReleaseDamaged(f"the schema of {address} holds more than the release; move it away")
    release = Release(manifest, tables, hierarchies)
    for entry in manifest.tables:
        if entry.file is not None or entry.sha256 is None:
            raise ReleaseDamaged(f"manifest: table '{entry.name}' has a file or no checksum")
        if content_digest(release.tables[entry.name]) != entry.sha256:
            raise ReleaseDamaged(f"table '{entry.name}' was altered: its checksum differs")
    return release


def manifest_checksum(address: Address) -> str:
    """Return the SHA-256 of the manifest's text; ReleaseDamaged where there is no release."""
    with session(address) as here:
        return hashlib.sha256(_manifest_text(here, address).encode()).hexdigest()


def refuse_occupied(address: Address, force: bool) -> None:
    """Refuse early, before a long run, what writing the release would refuse at its end."""
    schema = _schema(address)
    if address.file is not None and not address.file.exists():
        if not address.file.parent.is_dir():
            raise InputError(f"'{address.file.parent}' is not a folder; create it first")
        return
    with session(address) as here:
        _refuse_occupied(here, address, here.holdings(schema), force)


def _schema(address: Address) -> str:
    if address.engine == "sqlite":
        session(address)  # called for its refusal
    if address.schema is None:
        raise InputError(f"{address}: name the schema of the release as well: {address}/SCHEMA")
    return address.schema


def _refuse_occupied(here: Session, address: Address, found: Holdings | None, force: bool) -> None:
    if found is None:
        return
    if not force:
        raise InputError(f"{address} exists; use --force to replace it")
    if (found.tables or found.others) and not _is_release(here, address, found):
        raise InputError(
            f"{address} is not a release, or holds other things too, and is not replaced; choose "
            "another schema or move them away"
        )


def _is_release(here: Session, address: Address, found: Holdings) -> bool:
    """Return whether a schema holds a release, and no more."""
    if found.others or MANIFEST not in found.tables:
        return False
    try:
        manifest = Manifest.from_json(_text_of_manifest(here, _schema(address)).encode())
    except ReleaseDamaged:
        return False
    known = {MANIFEST, *(entry.name for entry in manifest.tables)}
    if "hierarchies" in manifest.parameters:  # without them, a table of that name is foreign
        known.add(HIERARCHIES)
    return known >= found.tables


# Writing


def _contents(release: Release) -> dict[str, pa.Table]:
    """Return all tables of the schema; the manifest comes last, with checksums of the others."""
    parameters: dict[str, Any] = {
        key: value
        for key, value in release.manifest.parameters.items()
        if key not in ("formula_guard", "hierarchies")
    }
    tables = dict(release.tables)
    if {MANIFEST, HIERARCHIES} & tables.keys():
        raise InputError(f"a table of the release is called {MANIFEST} or {HIERARCHIES}")
    entries = tuple(
        entry.model_copy(update={"file": None, "sha256": content_digest(tables[entry.name])})
        for entry in release.manifest.tables
    )
    if release.hierarchies:
        tables[HIERARCHIES] = _tree_table(release.hierarchies)
        parameters["hierarchies"] = _checksums(release.hierarchies)
    update = {"tables": entries, "parameters": parameters}
    text = release.manifest.model_copy(update=update).to_json().decode()
    return {**tables, MANIFEST: pa.table({_JSON: [text]})}


def _tree_table(hierarchies: Mapping[str, Hierarchy]) -> pa.Table:
    cells = [
        (name, line, level, label)
        for name, hierarchy in hierarchies.items()
        for line, row in enumerate(hierarchy.rows(), start=1)
        for level, label in enumerate(row)
    ]
    columns = [list(column) for column in zip(*cells, strict=True)]
    types = (pa.string(), pa.int32(), pa.int32(), pa.string())
    arrays = [pa.array(column, dtype) for column, dtype in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(_TREE))


def _checksums(hierarchies: Mapping[str, Hierarchy]) -> dict[str, str]:
    return {
        name: hashlib.sha256(hierarchy_text(hierarchies[name].rows()).encode()).hexdigest()
        for name in sorted(hierarchies)
    }


def _refuse_unfit(here: Session, name: str, table: pa.Table) -> None:
    here.refuse_names([name])
    here.refuse_names(table.column_names)
    if not here.keeps_zero_bytes:
        for column in table.column_names:
            refuse_zero_bytes(table[column], column)


def _write(here: Session, schema: str, name: str, table: pa.Table) -> None:
    forms = {column: stored(table[column]) for column in table.column_names}
    arrow = pa.schema([(column, form.arrow) for column, form in forms.items()])

    def pieces() -> Iterator[pa.RecordBatch]:
        for batch in table.to_batches(max_chunksize=_ROWS):
            arrays = [
                as_stored(column, form)
                for column, form in zip(batch.columns, forms.values(), strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=arrow)

    sql = {column: form.sql for column, form in forms.items()}
    here.write(schema, name, sql, pieces(), arrow)


# Reading


def _manifest_text(here: Session, address: Address) -> str:
    schema = _schema(address)
    missing = f"{address} is not a release: it has no table {MANIFEST}"
    try:
        here.hold_still(schema, MANIFEST)
    except InputError as error:
        raise ReleaseDamaged(f"the table {MANIFEST} of a release cannot be read: {error}") from None
    held = here.holdings(schema)
    if held is None or MANIFEST not in held.tables:
        raise ReleaseDamaged(missing)
    return _text_of_manifest(here, schema)


def _text_of_manifest(here: Session, schema: str) -> str:
    table = pa.concat_tables(here.rows(schema, MANIFEST))
    if table.column_names != [_JSON] or table.num_rows != 1:
        raise ReleaseDamaged(f"the table {MANIFEST} is not that of a release")
    text = table[_JSON][0].as_py()
    if not isinstance(text, str):
        raise ReleaseDamaged(f"the table {MANIFEST} is not that of a release")
    return text


def _read(here: Session, schema: str, entry: TableEntry, manifest: Manifest) -> pa.Table:
    """Return a table in the types of a release; sets are coded piece by piece."""
    pieces = []
    try:
        for piece in here.rows(schema, entry.name):
            columns = []
            for name in piece.column_names:
                column = restored(piece[name], _dtype(name, entry, manifest))
                if is_list(column.type) and manifest.layout == "sets":
                    column = normal_sets(column, manifest.attribute(name))
                columns.append(column)
            pieces.append(pa.Table.from_arrays(columns, names=piece.column_names))
        return pa.concat_tables(pieces)
    except InputError:
        raise ReleaseDamaged(f"table '{entry.name}' is missing or cannot be read") from None
    except (pa.ArrowException, ValueError):  # the message may hold a cell
        raise ReleaseDamaged(
            f"table '{entry.name}' does not hold values of the types that the manifest states"
        ) from None


def _dtype(name: str, entry: TableEntry, manifest: Manifest) -> pa.DataType:
    if name in entry.attributes:
        return manifest.attribute(name).dtype
    if name in (entry.group, entry.count) or name.endswith(RESERVED_SUFFIX):
        return pa.int32()
    return pa.float64() if name == entry.weight else pa.string()


def _read_hierarchies(here: Session, schema: str, manifest: Manifest) -> dict[str, Hierarchy]:
    stated = manifest.parameters.get("hierarchies")
    if stated is None:
        return {}
    try:
        table = pa.concat_tables(here.rows(schema, HIERARCHIES)).select(list(_TREE))
        rows = table.sort_by([("attribute", "ascending"), ("line", "ascending")]).to_pylist()
        found: dict[str, dict[int, dict[int, str]]] = {}
        for row in rows:
            found.setdefault(row["attribute"], {}).setdefault(row["line"], {})[row["level"]] = row[
                "label"
            ]
        hierarchies = {
            name: Hierarchy.from_rows(
                [[lines[line][level] for level in range(len(lines[line]))] for line in lines], name
            )
            for name, lines in found.items()
        }
    except (InputError, HierarchyError, LookupError, TypeError, pa.ArrowException):
        raise ReleaseDamaged(f"the table {HIERARCHIES} is missing or malformed") from None
    if stated != _checksums(hierarchies):
        raise ReleaseDamaged("the hierarchies are not those that the manifest lists")
    return hierarchies
