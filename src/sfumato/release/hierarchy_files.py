"""Published hierarchies: `hierarchies/<attribute>.csv`, a line `value;level 1;…;*` a value.

A file is named after its attribute, percent-encoded where the name has anything but plain letters,
digits and `-`, `_`, `.`, `~`. Fields are guarded against spreadsheets like those of the tables.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote as percent_encoded

import pyarrow as pa

from sfumato.errors import HierarchyError, ReleaseDamaged
from sfumato.release.contents import checksum, plain_entries
from sfumato.release.csv_cells import guard
from sfumato.release.manifest import Manifest
from sfumato.schema.hierarchy import Hierarchy

HIERARCHIES = "hierarchies"
_MARKS = frozenset(';"\r\n')


def write_hierarchies(
    hierarchies: Mapping[str, Hierarchy], release: Path, formula_guard: bool
) -> dict[str, str]:
    """Write the hierarchies into a release's folder; return the checksum of each by attribute."""
    folder = release / HIERARCHIES
    folder.mkdir()
    for name, hierarchy in hierarchies.items():
        rows = hierarchy.rows()
        with (folder / file_name(name)).open("x", encoding="utf-8", newline="") as sink:
            sink.write(hierarchy_text(_guarded(rows) if formula_guard else rows))
    return {name: checksum(folder / file_name(name)) for name in sorted(hierarchies)}


def read_hierarchies(release: Path, manifest: Manifest, guarded: bool) -> dict[str, Hierarchy]:
    """Return the hierarchies in a release's folder by attribute.

    Refuses (ReleaseDamaged) files of no attribute, files other than those whose checksums the
    manifest gives, and malformed ones.
    """
    folder = release / HIERARCHIES
    paths = {path.name: path for path in plain_entries(folder)} if folder.exists() else {}
    names = {file_name(entry.name): entry.name for entry in manifest.attributes}
    if not paths.keys() <= names.keys():
        raise ReleaseDamaged("a hierarchy file belongs to no attribute in the manifest")
    found = {names[file]: path for file, path in paths.items()}
    stated = manifest.parameters.get("hierarchies")
    if stated is not None and stated != {name: checksum(path) for name, path in found.items()}:
        raise ReleaseDamaged("the hierarchy files are not those that the manifest lists")
    return {name: _read(path, name, guarded) for name, path in found.items()}


def file_name(attribute: str) -> str:
    """Return the file name of an attribute's hierarchy: plain ASCII, and never a hidden file.

    >>> file_name("marital-status"), file_name("../größe")
    ('marital-status.csv', '%2E.%2Fgr%C3%B6%C3%9Fe.csv')
    """
    encoded = percent_encoded(attribute, safe="")
    return ("%2E" + encoded[1:] if encoded.startswith(".") else encoded) + ".csv"


def _read(path: Path, name: str, guarded: bool) -> Hierarchy:
    try:
        text = io.StringIO(path.read_bytes().decode("utf-8"), newline="")
        rows = list(csv.reader(text, delimiter=";", strict=True))
        if guarded:
            rows = [[field.removeprefix("'") for field in row] for row in rows]
        return Hierarchy.from_rows(rows, name)
    except (ValueError, csv.Error, HierarchyError):
        raise ReleaseDamaged(f"the hierarchy of '{name}' does not read as one") from None


def hierarchy_text(rows: Iterable[tuple[str, ...]]) -> str:
    """Return the text of a hierarchy's file."""
    return "".join(map(_line, rows))


def _line(row: tuple[str, ...]) -> str:
    # Not the writer of the csv module: with these line ends it leaves a carriage return bare.
    fields = (f'"{x.replace(chr(34), chr(34) * 2)}"' if _MARKS & set(x) else x for x in row)
    return ";".join(fields) + "\n"


def _guarded(rows: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    levels = (guard(pa.array(level, pa.string())).to_pylist() for level in zip(*rows, strict=True))
    return zip(*levels, strict=True)
