"""Residue in the files of a release: orders, notes and boundaries that the rows do not explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.attacks.file_sizes import file_sizes
from sfumato.attacks.leak import leak, residue
from sfumato.attacks.order import Trained
from sfumato.attacks.outcome import Outcome, Rate
from sfumato.release import AttributeEntry, Release
from sfumato.release.hierarchy_files import HIERARCHIES
from sfumato.release.manifest import MANIFEST
from sfumato.schema.attribute import Kind
from sfumato.schema.distinct import Distinct, DistinctColumns, distinct
from sfumato.schema.kinds import is_text
from sfumato.schema.text import to_texts

Ints = npt.NDArray[np.int64]
Texts = Sequence[str | None]

_NOTES = {b"ARROW:schema"}  # which types columns have: as the manifest says


def file_leaks(
    path: str | PathLike[str], release: Release, original: pa.Table, given: DistinctColumns
) -> list[Outcome]:
    """Return what the files in a release's folder tell beyond the rows in them.

    `given` are the columns of the original.

    The folder need not be one that `load` accepts: others are looked at as far as they can be read.
    """
    folder = Path(path)
    files = [file for table in release.manifest.tables for file in _parts(folder, table.name)]
    return [
        _lists(files, release, original, given),
        _notes(folder, files, release, original.num_rows),
        _bounds(folder, release, original.num_rows),
        file_sizes(folder, release, original.num_rows),
    ]


def _parts(folder: Path, table: str) -> list[Path]:
    """Return the Parquet files of a table by name; none where it is a CSV file."""
    path = folder / f"{table}.parquet"
    return sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []


def _lists(
    files: Sequence[Path], release: Release, original: pa.Table, given: DistinctColumns
) -> Outcome:
    """Return whether lists of values come in an order that only the input explains."""
    hits, tried, odd, idle = 0.0, 0, 0, 0
    orders: dict[str, dict[str, int]] = {}
    for name, listed, shown in _all_lists(files, release):
        if shown is not None:  # a dictionary
            entry = _entry(release, name)
            domain = None if entry is None or not isinstance(entry.domain, tuple) else entry.domain
            idle += len(set(listed) - set(shown) - set(domain or ()))
            explained = _is_sorted(listed) or _follows(listed, shown)
            explained |= domain is not None and _follows(listed, domain)
            odd += not explained
        if name not in original.column_names:
            continue
        if name not in orders:
            orders[name] = _in_input_order(given[name])
        own = orders[name]
        places = [own[text] for text in listed if text is not None and text in own]
        pairs = len(places) // 2
        tried += pairs
        if shown is not None and explained:
            hits += pairs / 2  # an order that says nothing of the input, however it agrees with it
            continue
        if shown is None and _is_explained_domain(release, name, listed):
            hits += pairs / 2
            continue
        hits += sum(one < other for one, other in zip(places[::2], places[1::2], strict=False))
    how = (
        "Dictionaries of Parquet files must be sorted, or in the order of the rows or of the "
        "manifest's domain, and hold no value that no row has: each other one is certain to be a "
        "residue. Lists in the manifest must be sorted, ordinal, or as the hierarchy has them. In "
        "those that are not, of two values that stand together the first is taken to come first "
        "in the input."
    )
    told = Trained(Rate(hits, tried), Rate(tried / 2, tried))
    figures = {"unexplained_dictionaries": float(odd), "values_without_rows": float(idle)}
    certain = odd + idle
    return leak("dictionary order", how, told, original.num_rows, figures=figures, certain=certain)


def _all_lists(
    files: Sequence[Path], release: Release
) -> Iterator[tuple[str, Texts, Texts | None]]:
    """Yield attributes, lists of values, and for dictionaries the values of rows as they come."""
    for file in files:
        yield from _dictionaries(file)
    for entry in release.manifest.attributes:
        if isinstance(entry.domain, tuple):
            yield entry.name, entry.domain, None


def _dictionaries(file: Path) -> Iterator[tuple[str, Texts, Texts]]:
    """Yield the dictionaries of a file's text columns as they are stored, by row group."""
    with pq.ParquetFile(file) as plain:
        schema = plain.schema_arrow
    names = [field.name for field in schema if _is_text(field.type)]
    with pq.ParquetFile(file, read_dictionary=names) as parquet:
        for group in range(parquet.num_row_groups):
            content = parquet.read_row_group(group, columns=names) if names else pa.table({})
            for name in names:
                for chunk in content[name].chunks:
                    if pa.types.is_dictionary(chunk.type):
                        rows = pc.unique(chunk.dictionary.take(pc.unique(chunk.indices)))
                        yield name, chunk.dictionary.to_pylist(), rows.drop_null().to_pylist()


def _is_text(dtype: pa.DataType) -> bool:
    return bool(is_text(dtype.value_type if pa.types.is_dictionary(dtype) else dtype))


def _entry(release: Release, name: str) -> AttributeEntry | None:
    return next((entry for entry in release.manifest.attributes if entry.name == name), None)


def _is_explained_domain(release: Release, name: str, listed: Texts) -> bool:
    entry = release.manifest.attribute(name)
    if entry.kind is Kind.ORDINAL or _is_sorted(listed):
        return True
    hierarchy = release.hierarchies.get(name)
    return hierarchy is not None and _follows(listed, hierarchy.leaves)


def _is_sorted(listed: Texts) -> bool:
    """Return whether texts ascend, as texts or as the numbers they spell."""
    texts = [text for text in listed if text is not None]
    if texts == sorted(texts) or [t.encode() for t in texts] == sorted(t.encode() for t in texts):
        return True
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return False
    return numbers == sorted(numbers)


def _follows(listed: Texts, order: Texts) -> bool:
    """Return whether a list is in the order of another, as far as that one names its values."""
    place = {text: at for at, text in enumerate(order)}
    places = [place[text] for text in listed if text in place]
    return places == sorted(places)


def _in_input_order(found: Distinct) -> dict[str, int]:
    """Return the first row of each value of a column of the original, by text."""
    first = np.full(len(found.values) + 1, len(found.codes))
    np.minimum.at(first, found.codes, np.arange(len(found.codes)))
    return dict(zip(to_texts(found.values).to_pylist(), first.tolist(), strict=False))


def _notes(folder: Path, files: Sequence[Path], release: Release, rows: int) -> Outcome:
    """Return what lies in the folder beside the tables, and notes in files beside their rows."""
    known = {MANIFEST, HIERARCHIES}
    known |= {
        f"{table.name}.{kind}" for table in release.manifest.tables for kind in ("csv", "parquet")
    }
    extra = [entry for entry in folder.iterdir() if entry.name not in known]
    trees = folder / HIERARCHIES
    if trees.is_dir():
        extra += [e for e in trees.iterdir() if e.suffix != ".csv"]
    notes = 0
    for file in files:
        with pq.ParquetFile(file) as parquet:
            stored = parquet.metadata.metadata or {}
            schema = parquet.schema_arrow
            own = [schema.metadata or {}, *(field.metadata or {} for field in schema)]
        notes += len(set(stored) - _NOTES)
        notes += sum(len(set(note) - {b"PARQUET:field_id"} - set(stored)) for note in own)
    how = (
        "Files that the manifest does not list, and notes in Parquet files beside the types of "
        "columns, are each certain to be a residue. Times of files are shown and not judged."
    )
    times = [entry.stat().st_mtime for entry in folder.iterdir()]
    return residue(
        *("files", how, len(extra) + notes, rows),
        unlisted_files=float(len(extra)),
        notes=float(notes),
        seconds_between_files=max(times) - min(times),
    )


def _bounds(folder: Path, release: Release, rows: int) -> Outcome:
    """Return parts and row groups whose sizes, and statistics whose values, rows do not explain."""
    uneven, stated = 0, 0
    for table in release.manifest.tables:
        sizes: list[int] = []
        parts = _parts(folder, table.name)
        for file in parts:
            with pq.ParquetFile(file) as parquet:
                meta = parquet.metadata
                groups = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
                stated += _odd_statistics(parquet, release.tables[table.name])
            uneven += not _is_even(groups)
            sizes.append(sum(groups))
        uneven += not _is_even(sizes)
    how = (
        "Parts and row groups of a table must be of one size but for the last, so that where they "
        "end depends on the number of rows alone; the smallest and largest values that a Parquet "
        "file states must be cells of the table. Each exception is certain."
    )
    return residue(
        *("boundaries and statistics", how, uneven + stated, rows),
        uneven=float(uneven),
        statistics_without_rows=float(stated),
    )


def _is_even(sizes: Sequence[int]) -> bool:
    return len(sizes) < 2 or (len(set(sizes[:-1])) == 1 and sizes[-1] <= sizes[0])


def _odd_statistics(parquet: pq.ParquetFile, table: pa.Table) -> int:
    """Return how many stated ends are not ends of any cells in the table."""
    odd = 0
    known: dict[str, set[Any]] = {}
    meta = parquet.metadata
    for group in range(meta.num_row_groups):
        for place in range(meta.num_columns):
            column = meta.row_group(group).column(place)
            name, stated = column.path_in_schema, column.statistics
            if stated is None or not stated.has_min_max or name not in table.column_names:
                continue
            if pa.types.is_list(table[name].type):
                continue
            if name not in known:
                values = distinct(table[name], name).values
                known[name] = set(values.to_pylist())
            odd += sum(not _is_end(end, known[name]) for end in (stated.min, stated.max))
    return odd


def _is_end(end: Any, cells: set[Any]) -> bool:
    if isinstance(end, float) and end == 0:
        return 0.0 in cells
    return end in cells or (isinstance(end, str) and any(c.startswith(end) for c in cells))
