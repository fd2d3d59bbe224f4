"""Published tables as CSV text, and back without loss.

UTF-8, commas, a header, `\\n` line ends. A missing cell is an empty field, the empty text is `""`.

The *formula guard* puts a `'` before every text that a spreadsheet would run: one that starts
with `=`, `+`, `-` or `@` and is not a number, or with a tab or CR. Texts that start with `'`
get one too, so that removing one leading `'` from each field is its exact inverse.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from sfumato.release.dtypes import is_text
from sfumato.release.tables import TEXT, coded_texts
from sfumato.schema.kinds import comparable_type
from sfumato.schema.text import from_texts, to_texts

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
# The second four are the full-width forms, which some spreadsheets take for the first four.
_RISKY = r"^[=+\-@\t\r'\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
_NEEDS_QUOTES = r'[",\r\n]|^$'
# Rows joined at a time: large enough for speed, small enough for Arrow's 2 GiB of text an array.
_BATCH = 1 << 16


def guard(texts: pa.Array) -> pa.Array:
    """Return the texts with a `'` before those that a spreadsheet would run.

    >>> guard(pa.array(["=1+1", "-5", "'tis", "plain"])).to_pylist()
    ["'=1+1", '-5', "''tis", 'plain']
    >>> guard(pa.array(["\uff1d1+1", "\uff0d5"])).to_pylist()
    ["'＝1+1", "'－5"]
    """
    risky = pc.and_not(
        pc.match_substring_regex(texts, _RISKY), pc.match_substring_regex(texts, _NUMBER)
    )
    return pc.if_else(risky, pc.binary_join_element_wise("'", texts, ""), texts)


def unguard(texts: pa.Array) -> pa.Array:
    """Return the texts without the `'` that `guard` put there."""
    return pc.replace_substring_regex(texts, r"^'", "", max_replacements=1)


def write_csv(table: pa.Table, sink: BinaryIO, formula_guard: bool) -> None:
    """Write a table of texts, numbers and dates."""
    for lines in csv_lines(table, formula_guard):
        # The texts of an Arrow array lie end to end: written as they lie, they are the file.
        _, offsets, texts = lines.buffers()
        ends = memoryview(offsets).cast("i")
        sink.write(memoryview(texts)[ends[lines.offset] : ends[lines.offset + len(lines)]])


def csv_lines(table: pa.Table, formula_guard: bool) -> Iterator[pa.Array]:
    """Yield the lines of the table's file with their ends, the header first and by itself.

    >>> table = pa.table({"job": ["Cook", None], "age": [33, 41]})
    >>> [lines.to_pylist() for lines in csv_lines(table, True)]
    [['job,age\\n'], ['Cook,33\\n', ',41\\n']]
    """
    header = _fields(pa.array(table.column_names, pa.string()), formula_guard)
    yield pa.array([",".join(header.to_pylist()) + "\n"])
    columns = [_field_column(column, formula_guard) for column in table.columns]
    for start in range(0, table.num_rows, _BATCH):
        parts = [pc.fill_null(part.slice(start, _BATCH).cast(pa.string()), "") for part in columns]
        parts[-1] = pc.binary_join_element_wise(parts[-1], "\n", "")
        yield pc.binary_join_element_wise(*parts, ",")


def read_csv(path: Path, formula_guard: bool) -> pa.Table:
    """Return the table of a file, all columns as text; ValueError where the file is malformed."""
    with path.open("rb") as source:
        header = _read_header(source)
        # Positions, not names, so that the file's own names cannot clash with anything.
        types = {str(position): TEXT for position in range(len(header))}
        if source.peek(1):
            source.seek(-1, io.SEEK_CUR)
            table = _read_rows(source, types)
        else:
            table = pa.schema(types).empty_table()
    if not formula_guard:
        return table.rename_columns(header)
    columns = []
    for coded in map(coded_texts, table.columns):
        columns.append(pa.DictionaryArray.from_arrays(coded.indices, unguard(coded.dictionary)))
    return pa.Table.from_arrays(columns, names=unguard(pa.array(header)).to_pylist())


def _read_header(source: io.BufferedReader) -> list[str]:
    """Return the column names, leaving the source at the first row.

    The names may hold anything, and Arrow's reader goes astray at a zero byte. In cells of the
    grammar there is none, so it gets the rows only.
    """
    lines = [source.readline()]
    quotes = lines[0].count(b'"')
    while quotes % 2 and (line := source.readline()):  # a line end inside quotes
        lines.append(line)
        quotes += line.count(b'"')
    try:
        record = io.StringIO(b"".join(lines).decode(), newline="")
        names = next(csv.reader(record, strict=True), [])
    except csv.Error:
        raise ValueError("malformed header") from None
    if not names or len(set(names)) != len(names):
        raise ValueError("a header needs distinct column names")
    return names


def _read_rows(source: BinaryIO, types: dict[str, pa.DataType]) -> pa.Table:
    """Return the rows of a source that stands before the line end of the header.

    Arrow takes a byte order mark off the start of what it reads: it must not be a cell's.
    """
    return arrow_csv.read_csv(
        source,
        read_options=arrow_csv.ReadOptions(column_names=list(types), skip_rows=1),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def restored(column: pa.ChunkedArray, dtype: pa.DataType) -> pa.Array:
    """Return a column of texts as values of `dtype`, or as it is where a text is none.

    Only the exact text of a value counts: `007` stays a text in a column of integers.
    """
    coded = coded_texts(column)
    if is_text(dtype):
        return coded
    if coded.null_count == len(coded):
        return pa.nulls(len(coded), dtype)
    texts = coded.dictionary
    try:
        values = from_texts(texts, dtype)
        same = to_texts(values).equals(texts)
    except (ValueError, pa.ArrowException):
        return coded
    return values.take(coded.indices) if same else coded


def _field_column(column: pa.ChunkedArray, formula_guard: bool) -> pa.Array:
    is_coded = pa.types.is_dictionary(column.type)
    coded = coded_texts(column) if is_coded else _distinct_coded(column)
    fields = _fields(to_texts(coded.dictionary), formula_guard)
    return pa.DictionaryArray.from_arrays(coded.indices, fields)


def _distinct_coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    hashable = column.cast(comparable_type(column.type)).combine_chunks()
    return hashable.dictionary_encode()


def _fields(texts: pa.Array, formula_guard: bool) -> pa.Array:
    """Return texts as CSV fields: guarded, then in quotes where CSV needs them."""
    texts = guard(texts) if formula_guard else texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(
        pc.match_substring_regex(texts, _NEEDS_QUOTES),
        pc.binary_join_element_wise('"', doubled, '"', ""),
        texts,
    )
