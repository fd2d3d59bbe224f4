"""Releases on disk: `save` and `load`, in the format of version 1.

    RELEASE/manifest.json
    RELEASE/<table>.parquet | <table>.csv     or <table>.parquet/ with the parts of a large table
    RELEASE/hierarchies/<attribute>.csv       see `hierarchy_files.py`

Two facts about the files stand in the manifest's `parameters`, written by `save` and used by
`load`: `formula_guard: false` if the guard was off (otherwise the key is absent, and every CSV
field is guarded, those of hierarchies included), and `hierarchies`, the SHA-256 of each hierarchy
file by attribute: the format has checksums of tables only, and a judge relies on both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import InputError, ParameterError, ReleaseDamaged
from sfumato.release import csv_cells
from sfumato.release.atomic import close_to_others, replacing
from sfumato.release.contents import checksum, parts, plain_entries
from sfumato.release.hierarchy_files import HIERARCHIES, read_hierarchies, write_hierarchies
from sfumato.release.manifest import MANIFEST, MAX_BYTES, Manifest, TableEntry
from sfumato.release.parquet_file import write_parquet
from sfumato.release.release import FileFormat, Release
from sfumato.release.set_cells import sets_from_texts, with_set_texts
from sfumato.release.set_columns import is_list, normal_sets
from sfumato.release.tables import NUMBER, normal_form
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.unfolding import refuse_unfolding


def save(
    release: Release,
    path: str | os.PathLike[str],
    *,
    format: FileFormat = "parquet",
    force: bool = False,
    formula_guard: bool = True,
) -> None:
    """Write a release as a folder that appears whole or not at all.

    Refuses (InputError) a folder that exists, unless `force` is given and it is a release.
    Equal releases give equal bytes.
    """
    with saving(release, path, format=format, force=force, formula_guard=formula_guard):
        pass


@contextmanager
def saving(
    release: Release,
    path: str | os.PathLike[str],
    *,
    format: FileFormat = "parquet",
    force: bool = False,
    formula_guard: bool = True,
) -> Iterator[None]:
    """Write a release as `save` does, its tables while the block runs, the rest when it ends well.

    Whoever judges the release need not wait for the disk. Until the block has ended there is no
    manifest, so what a killed run leaves is no release, and others cannot read its tables, which
    nobody stands by; if the block fails, nothing is left.
    """
    if format not in ("parquet", "csv"):
        raise ParameterError("the format of a release is parquet or csv")
    target = Path(path)
    failure: BaseException | None = None  # of the block, which has its own reasons
    try:
        with (
            replacing(target, force=force, is_ours=is_release) as folder,
            ThreadPoolExecutor(os.cpu_count()) as encoders,
            ThreadPoolExecutor(os.cpu_count()) as threads,
        ):
            mode = None
            with suppress(OSError):  # a file system without modes
                mode = close_to_others(folder)
            written = {
                entry.name: threads.submit(
                    _write_table,
                    release.tables[entry.name],
                    folder / f"{entry.name}.{format}",
                    formula_guard,
                    encoders,
                )
                for entry in release.manifest.tables
            }
            try:
                yield
            except BaseException as error:
                failure = error
                encoders.shutdown(wait=False, cancel_futures=True)
                threads.shutdown(cancel_futures=True)
                raise
            checksums = {name: table.result() for name, table in written.items()}
            how = format, formula_guard, checksums
            write_manifest(release.manifest, release.hierarchies, folder, *how)
            if mode is not None:
                folder.chmod(mode)
    except OSError as error:
        if error is failure:
            raise
        reason = error.strerror or "the file system refused"
        raise InputError(f"cannot write the release to '{target}': {reason}") from error


def load(path: str | os.PathLike[str]) -> Release:
    """Return the release in a folder, checked against its manifest.

    Refuses (ReleaseDamaged) files that are missing, unexpected, altered or unreadable. It does not
    judge the claims: that is the audit's work.
    """
    folder = Path(path)
    try:
        manifest = _read_manifest(folder)
        _check_files(folder, manifest)
        guarded = manifest.parameters.get("formula_guard") is not False
        hierarchies = read_hierarchies(folder, manifest, guarded)
        tables = {t.name: _read_table(folder, t, manifest, guarded) for t in manifest.tables}
    except OSError as error:
        reason = error.strerror or "a file cannot be read"
        raise ReleaseDamaged(f"the release in '{folder}' cannot be read: {reason}") from None
    return Release(manifest, tables, hierarchies)


# Writing


def _write_table(table: pa.Table, path: Path, formula_guard: bool, encoders: Executor) -> str:
    """Write a table and return its checksum."""
    if path.suffix == ".csv":
        _write_csv(table, path, formula_guard)
    else:
        write_parquet(table, path, encoders)
    return checksum(path)


def write_part(table: pa.Table, name: str, manifest: Manifest, path: Path) -> None:
    """Write rows of a table of a release as a Parquet file, such as a part of the table's folder.

    Refuses (ReleaseDamaged) columns that are not those of the table.
    """
    write_parquet(normal_form(table, manifest.table(name), manifest), path)


def write_manifest(
    manifest: Manifest,
    hierarchies: Mapping[str, Hierarchy],
    folder: Path,
    format: FileFormat = "parquet",
    formula_guard: bool = True,
    checksums: Mapping[str, str] | None = None,
) -> Manifest:
    """Write the manifest and hierarchies beside the tables, and return the manifest as written.

    `checksums` are those of the tables by name, if they are known.
    """
    entries = []
    for entry in manifest.tables:
        path = folder / f"{entry.name}.{format}"
        digest = checksum(path) if checksums is None else checksums[entry.name]
        entries.append(entry.model_copy(update={"file": path.name, "sha256": digest}))
    parameters: dict[str, Any] = {
        key: value
        for key, value in manifest.parameters.items()
        if key not in ("formula_guard", "hierarchies")
    }
    if not formula_guard:
        parameters["formula_guard"] = False
    if hierarchies:
        parameters["hierarchies"] = write_hierarchies(hierarchies, folder, formula_guard)
    manifest = manifest.model_copy(update={"tables": tuple(entries), "parameters": parameters})
    text = manifest.to_json()
    if len(text) > MAX_BYTES:
        raise ParameterError(
            f"{MANIFEST} would be larger than {MAX_BYTES >> 20} MiB; "
            "publish attributes with fewer distinct values"
        )
    try:
        Manifest.from_json(text)
    except ReleaseDamaged as error:  # such as for numbers of very many digits
        raise ParameterError(f"the release could not be read again ({error})") from None
    (folder / MANIFEST).write_bytes(text)
    return manifest


def _write_csv(table: pa.Table, path: Path, formula_guard: bool) -> None:
    with path.open("xb") as sink:
        csv_cells.write_csv(with_set_texts(table), sink, formula_guard)


def is_release(folder: Path) -> bool:
    """Return whether a folder holds a release, of any version and however damaged, and no more."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        known = {MANIFEST, HIERARCHIES, *(table["file"] for table in manifest["tables"])}
        return manifest["format"].startswith("sfumato-release/") and known.issuperset(
            entry.name for entry in folder.iterdir()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


# Reading


def _read_manifest(folder: Path) -> Manifest:
    if not folder.is_dir():
        raise ReleaseDamaged(f"'{folder}' is not the folder of a release")
    path = folder / MANIFEST
    if not path.is_file():
        raise ReleaseDamaged(f"'{folder}' is not a release: it has no {MANIFEST}")
    if path.stat().st_size > MAX_BYTES:
        raise ReleaseDamaged(f"{MANIFEST} is larger than {MAX_BYTES >> 20} MiB")
    return Manifest.from_json(path.read_bytes())


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Refuse a folder that does not hold exactly the manifest's tables, unaltered."""
    for table in manifest.tables:
        if table.file is None or table.sha256 is None:
            raise ReleaseDamaged(f"{MANIFEST}: table '{table.name}' has no file or no checksum")
    known = {MANIFEST, HIERARCHIES, *(table.file for table in manifest.tables)}
    for entry in plain_entries(folder):
        if entry.name not in known:
            raise ReleaseDamaged(f"the release holds an unexpected file {entry.name!r}; remove it")
    for table in manifest.tables:
        path = _table_path(folder, table)
        if not path.exists():
            raise ReleaseDamaged(f"the file of table '{table.name}' is missing")
        if checksum(path) != table.sha256:
            raise ReleaseDamaged(f"table '{table.name}' was altered: its checksum differs")


def _read_table(folder: Path, entry: TableEntry, manifest: Manifest, guarded: bool) -> pa.Table:
    path = _table_path(folder, entry)
    try:
        if path.suffix == ".csv":
            table = _typed(csv_cells.read_csv(path, guarded), entry, manifest)
        else:
            paths = parts(path) if path.is_dir() else [path]
            table = pa.concat_tables([_read_parquet(part, manifest) for part in paths])
        table.validate(full=True)
    except MemoryError:  # which Arrow's own lack of memory is, too
        raise
    except (pa.ArrowException, ValueError, OSError):  # the message may hold a cell
        raise ReleaseDamaged(f"the file of table '{entry.name}' does not read as a table") from None
    return table


_FIELD_NUMBER = {b"PARQUET:field_id"}  # Arrow's own


def _read_parquet(path: Path, manifest: Manifest) -> pa.Table:
    # Not `read_table`, which takes folder names such as `year=2026` for columns.
    with pq.ParquetFile(path) as file:
        if file.metadata.num_rows > manifest.rows:
            raise ReleaseDamaged(f"the file '{path.name}' has more rows than there are records")
        refuse_unfolding(file.metadata.num_rows, file.schema_arrow)
        table = _read_sets(file, manifest) if manifest.layout == "sets" else file.read()
    notes = [table.schema.metadata, *(field.metadata for field in table.schema)]
    if any(set(note or {}) - _FIELD_NUMBER for note in notes):
        raise ReleaseDamaged(f"the file '{path.name}' carries metadata beside its table")
    return table


def _read_sets(file: pq.ParquetFile, manifest: Manifest) -> pa.Table:
    """Return the table with sets coded batch by batch: as plain values they fill the memory."""
    names = {entry.name for entry in manifest.attributes}
    batches = []
    for batch in file.iter_batches():
        table = pa.Table.from_batches([batch])
        for position, field in enumerate(table.schema):
            if is_list(field.type) and field.name in names:
                coded = normal_sets(table[position], manifest.attribute(field.name))
                table = table.set_column(position, field.name, coded)
        batches.append(table)
    return pa.concat_tables(batches) if batches else file.read()


def _typed(texts: pa.Table, entry: TableEntry, manifest: Manifest) -> pa.Table:
    """Return a table of texts with the types that the manifest gives, where the texts allow."""
    sets = manifest.parameters.get("sets")
    set_names = sets.keys() if manifest.layout == "sets" and isinstance(sets, dict) else ()
    columns = []
    for name, column in zip(texts.column_names, texts.columns, strict=True):
        dtype = manifest.attribute(name).dtype if name in entry.attributes else NUMBER
        if name in (entry.pseudonyms or ()):
            dtype = pa.string()
        if name == entry.weight:
            dtype = pa.float64()
        if name in set_names:
            columns.append(sets_from_texts(column.cast(pa.string()).combine_chunks(), dtype))
        else:
            columns.append(csv_cells.restored(column, dtype))
    return pa.Table.from_arrays(columns, names=texts.column_names)


# Paths


def _table_path(folder: Path, entry: TableEntry) -> Path:
    assert entry.file is not None
    return folder / entry.file
