"""Files of SPSS, Stata and SAS as Arrow tables: labels applied, missing values missing.

A file is read as it is first (codes, and what it says about each column), so that the parts of a
table may be joined before labels take the place of codes.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import InputError
from sfumato.extras import reader
from sfumato.io.csv_text import refuse_nameless, refuse_repeated
from sfumato.io.value_labels import Codebook, labelled
from sfumato.io.whole import whole_numbers

COLUMN_LABEL = b"label"  # the key of a field's metadata that has the label of its column
_CODEBOOK = b"codebook"
_READERS = {
    ".sav": ("read_sav", "an SPSS file"),
    ".zsav": ("read_sav", "an SPSS file"),
    ".por": ("read_por", "a portable SPSS file"),
    ".dta": ("read_dta", "a Stata file"),
    ".sas7bdat": ("read_sas7bdat", "a SAS file"),
    ".xpt": ("read_xport", "a SAS transport file"),
}
SUFFIXES = tuple(_READERS)
_CELLS = 10_000_000  # at a time, since the reader makes an object of each
_CATALOGUE = ".sas7bcat"
_TRANSPORT_RECORD = 80  # bytes; such a file does not say how many rows it has


def read_statistical(path: Path) -> pa.Table:
    """Return the table of a file as it is coded, with its codebook in the columns' metadata.

    Values that the file declares missing are missing (SPSS' missing values and ranges, Stata's
    .a to .z, SAS' .A to .Z), and so are empty texts; blanks at the end of texts are padding.
    Value labels of a `.sas7bdat` come from a catalogue `.sas7bcat` of the same name beside it.

    Refuses (InputError) what is no such file or a damaged one, and empty or repeated column
    names; (EngineUnavailable) to work without pyreadstat.
    """
    engine = reader("pyreadstat", "stats", "files of SPSS, Stata and SAS")
    name, kind = _READERS[path.suffix.lower()]
    with path.open("rb") as file:  # one that cannot be opened is told as such
        size = file.seek(0, os.SEEK_END)
    if path.suffix.lower() == ".xpt" and size % _TRANSPORT_RECORD:
        raise InputError(f"{path}: the file ends within a record; is it cut off?")
    try:
        return _read(path, getattr(engine, name), _catalogue(path, engine))
    except (MemoryError, InputError):
        raise
    except Exception:  # its message may quote a cell
        raise InputError(
            f"{path}: this is not {kind}, or a damaged or protected one; save it again"
        ) from None


def join_statistical(parts: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of the parts one after the other, with labels in the place of codes.

    Numbers that are all whole become integers. The label of a column stands in its field's
    metadata, under `label`.

    Refuses (InputError) parts that label a value differently, or whose types differ.
    """
    columns, fields = [], []
    for name in parts[0].column_names:
        books = [_codebook(part.schema.field(name)) for part in parts]
        column = _united([part[name] for part in parts], name)
        book = Codebook.united(books, name)
        column = labelled(column, book)
        if pa.types.is_floating(column.type):
            column = whole_numbers(column)
        columns.append(column)
        metadata = {COLUMN_LABEL: book.title.encode()} if book.title else None
        fields.append(pa.field(name, column.type, metadata=metadata))
    return pa.table(columns, schema=pa.schema(fields))


def _read(
    path: Path, read: Callable[..., tuple[Any, Any]], catalogue: dict[str, dict[Any, str]]
) -> pa.Table:
    _, about = read(path, metadataonly=True, output_format="dict")
    names: list[str] = list(about.column_names)
    refuse_nameless(names, path)
    refuse_repeated(names, path)
    at_a_time = max(_CELLS // len(names), 1000)
    chunks: list[list[pa.Array]] = [[] for _ in names]
    start = 0
    while True:
        cells, _ = read(path, row_offset=start, row_limit=at_a_time, output_format="dict")
        rows = len(next(iter(cells.values()), ()))
        for name, into in zip(names, chunks, strict=True):
            into.append(_array(cells.pop(name)))
        start += rows
        if rows < at_a_time:
            break
    fields, columns = [], []
    for name, arrays in zip(names, chunks, strict=True):
        book = _book(name, about, catalogue)
        column = _one_type(arrays)
        columns.append(column)
        fields.append(pa.field(name, column.type, metadata={_CODEBOOK: book.to_json()}))
    return pa.table(columns, schema=pa.schema(fields))


def _array(cells: list[Any]) -> pa.Array:
    """Return cells of one type as an array; whole and other numbers become floats."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {int, float}:
        return pa.array(cells, pa.float64())
    if kinds == {datetime.time}:
        return pa.array(cells, pa.time64("us"))
    array = pa.array(cells, from_pandas=True)
    if pa.types.is_string(array.type):
        bare = pc.utf8_rtrim(array, " \0")
        return pc.if_else(pc.equal(bare, ""), pa.scalar(None, pa.string()), bare)
    return array


def _one_type(arrays: list[pa.Array]) -> pa.ChunkedArray:
    """Return the pieces of a column; one without any cell has the type of the others."""
    types = {array.type for array in arrays if not pa.types.is_null(array.type)}
    if not types:
        return pa.chunked_array(arrays, pa.null())
    dtype = types.pop() if len(types) == 1 else pa.float64()
    return pa.chunked_array([array.cast(dtype) for array in arrays], dtype)


def _book(name: str, about: Any, catalogue: dict[str, dict[Any, str]]) -> Codebook:
    labels = about.variable_value_labels.get(name)
    if labels is None:  # SAS: the catalogue goes by the name of the column's format
        labels = catalogue.get(str(about.variable_to_label.get(name)), {})
    measure = about.variable_measure.get(name)
    # a label of Stata's .a or SAS' .A is one of a missing value, under a letter among numbers
    kinds = {type(code) for code in labels}
    if str in kinds and kinds != {str}:
        labels = {code: label for code, label in labels.items() if not isinstance(code, str)}
    title = (about.column_names_to_labels.get(name) or "").strip()
    return Codebook(tuple(labels.items()), measure == "ordinal", measure == "scale", title)


def _catalogue(path: Path, engine: Any) -> dict[str, dict[Any, str]]:
    beside = path.with_suffix(_CATALOGUE)
    if path.suffix.lower() != ".sas7bdat" or not beside.is_file():
        return {}
    try:
        _, about = engine.read_sas7bcat(beside, output_format="dict")
    except Exception:
        raise InputError(
            f"{beside}: this is not a SAS catalogue, or a damaged one; save it again, or move it "
            "away to read codes without labels"
        ) from None
    labels: dict[str, dict[Any, str]] = about.value_labels
    return labels


def _codebook(field: pa.Field) -> Codebook:
    return Codebook.from_json(json.loads(field.metadata[_CODEBOOK]))


def _united(columns: list[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    types = {column.type for column in columns if not pa.types.is_null(column.type)}
    if types == {pa.int64(), pa.float64()}:
        types = {pa.float64()}
    if len(types) > 1:
        raise InputError(
            f"column '{name}' has types in the {len(columns)} files that do not go together; "
            "write all parts with the same types"
        )
    dtype = types.pop() if types else pa.null()
    chunks = [chunk.cast(dtype) for column in columns for chunk in column.chunks]
    return pa.chunked_array(chunks, dtype)
