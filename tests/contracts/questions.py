"""What may be asked of any release, whatever method made it."""

from __future__ import annotations

import base64
import hashlib
import traceback
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from oracles.cells import Exact, Range, ValueSet
from oracles.points import point_of_text, point_of_value
from oracles.release import Published, text_of_json

import sfumato
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.schema.text import to_texts

# Shorter texts occur in messages and files by chance.
TELLING_LENGTH = 6


def cell_texts(data: pa.Table) -> set[str]:
    """Return the texts of all cells that are long enough to be recognised."""
    texts: set[str] = set()
    for column in data.columns:
        for chunk in column.chunks:
            plain = chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk
            if pa.types.is_null(plain.type):
                continue
            if not pa.types.is_temporal(plain.type):  # some of which Python has no form for
                texts.update(str(value) for value in plain.to_pylist() if value is not None)
            texts.update(text for text in to_texts(plain).to_pylist() if text is not None)
    return {text for text in texts if len(text.strip()) >= TELLING_LENGTH}


def cells_in(told: str, data: pa.Table) -> list[str]:
    """Return the cells of the data that stand in a text, but for words of the program itself.

    Hypothesis draws some of its texts from the literals of the modules that it finds.
    """
    return [text for text in cell_texts(data) if text in told and text not in _program()]


@cache
def _program() -> str:
    home = Path(sfumato.__file__).parent
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(home.rglob("*.py")))


def told_by(error: BaseException) -> str:
    """Return all that a log would show of an error: its message and those it came from."""
    shown = traceback.TracebackException.from_exception(error)
    lines: list[str] = []
    while shown is not None:
        lines += shown.format_exception_only()
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
    return "".join(lines)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files by their place in the folder."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def holds_text(folder: Path, text: str) -> bool:
    """Whether a text occurs in any file or file name; Parquet files must not be compressed."""
    for path in folder.rglob("*.parquet"):
        metadata = pq.read_metadata(path)
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                assert metadata.row_group(group).column(column).compression == "UNCOMPRESSED"
    needles = [text.encode(), text.encode("utf-16-le"), text.encode("utf-16-be")]
    return any(
        needle in content or text in name
        for name, content in files_of(folder).items()
        for needle in needles
    )


def spellings_of_a_seed(seed: bytes) -> list[bytes]:
    """Return what a seed, or what a generator made of it, might look like in a file."""
    keys = [seed, hashlib.sha512(seed).digest(), hashlib.sha256(seed).digest()]
    return [
        spelling
        for key in keys
        for spelling in (
            key,
            key.hex().encode(),
            base64.b64encode(key),
            str(int.from_bytes(key, "little")).encode(),
            str(int.from_bytes(key, "big")).encode(),
        )
    ]


def equal_releases(one: Release, other: Release) -> bool:
    """Whether two releases say the same, wherever and however they are stored."""

    def told(release: Release) -> Any:
        manifest = release.manifest.model_dump(exclude={"tables", "parameters"})
        entries = [e.model_dump(exclude={"file", "sha256"}) for e in release.manifest.tables]
        stored = ("hierarchies", "formula_guard")
        rest = {k: v for k, v in release.manifest.parameters.items() if k not in stored}
        trees = {name: tree.rows() for name, tree in release.hierarchies.items()}
        return manifest, entries, rest, trees

    return told(one) == told(other) and all(
        table.equals(other.tables[name]) for name, table in one.tables.items()
    )


def unexplained_domain_values(
    published: Published, schema: Schema, data: pa.Table | None = None
) -> list[str]:
    """Return the attributes whose domain names a value that no cell shows and no policy states.

    Random sets are drawn from all values that occur, and so are the values that cells are replaced
    by, so their domain may name those as well. Ranges
    that numbers were cut into follow from the ends of the domain alone (tests/audit).
    """
    found = []
    parameters = published.manifest["parameters"]
    sets = {**parameters.get("sets", {}), **parameters.get("transitions", {})}
    binned = published.manifest["parameters"].get("bins", {})
    for name, entry in published.attributes.items():
        domain = entry.get("domain")
        if not isinstance(domain, list) or name in binned:
            continue
        attribute = schema[name]
        stated = attribute.order or attribute.domain or ()
        policy = {str(value) for value in stated}
        if getattr(attribute.hierarchy, "supplied", False):
            policy |= set(attribute.hierarchy.leaves)  # type: ignore[union-attr]
        shown = set()
        for row in published.tables[published.table_of(name)["name"]]:
            shown |= _shown(row[name])
        if name in sets and data is not None:
            shown |= {point_of_value(value) for value in data[name].to_pylist()}
        for text in (text_of_json(value) for value in domain if value is not None):
            if text not in policy and point_of_text(text, entry["type"]) not in shown:
                found.append(name)
    return found


def _shown(cell: Any) -> set[Any]:
    match cell:
        case Exact(point):
            return {point}
        case Range(low, high):
            return {low, high}
        case ValueSet(members):
            return set().union(*map(_shown, members))
    return set()


def rank_correlation(one: Any, other: Any) -> float:
    """Return Spearman's rank correlation of two sequences without ties among the first."""
    import numpy as np

    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])
