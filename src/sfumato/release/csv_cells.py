"""Published tables as CSV text, and back without loss.

UTF-8, commas, a header, `\\n` line ends. A missing cell is an empty field, the empty text is `""`.

The *formula guard* puts a `'` before every text that a spreadsheet would run: one that starts
with `=`, `+`, `-` or `@` and is not a number, or with a tab or CR. Texts that start with `'`
get one too, so that removing one leading `'` from each field is its exact inverse.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from sfumato.release.dtypes import is_text
from sfumato.release.tables import TEXT, coded_texts
from sfumato.schema.text import from_texts, to_texts

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_RISKY = r"^[=+\-@\t\r']"
_NEEDS_QUOTES = r'[",\r\n]|^$'
# Rows joined at a time: large enough for speed, small enough for Arrow's 2 GiB of text an array.
_BATCH = 1 << 16


def guard(texts: pa.Array) -> pa.Array:
    """Return the texts with a `'` before those that a spreadsheet would run.

    >>> guard(pa.array(["=1+1", "-5", "'tis", "plain"])).to_pylist()
    ["'=1+1", '-5', "''tis", 'plain']
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
    header = _fields(pa.array(table.column_names, pa.string()), formula_guard)
    sink.write((",".join(header.to_pylist()) + "\n").encode())
    columns = [_field_column(column, formula_guard) for column in table.columns]
    for start in range(0, table.num_rows, _BATCH):
        parts = [pc.fill_null(part.slice(start, _BATCH).cast(pa.string()), "") for part in columns]
        parts[-1] = pc.binary_join_element_wise(parts[-1], "\n", "")
        lines = pc.binary_join_element_wise(*parts, ",")
        # The texts of an Arrow array lie end to end: written as they lie, they are the file.
        _, offsets, texts = lines.buffers()
        ends = memoryview(offsets).cast("i")
        sink.write(memoryview(texts)[ends[lines.offset] : ends[lines.offset + len(lines)]])


def read_csv(path: Path, formula_guard: bool) -> pa.Table:
    """Return the table of a file, all columns as text; ValueError where the file is malformed."""
    with path.open(encoding="utf-8", newline="") as source:
        try:
            header = next(csv.reader(source, strict=True), [])
        except csv.Error:
            raise ValueError("malformed header") from None
    if not header or len(set(header)) != len(header):
        raise ValueError("a header needs distinct column names")
    table = arrow_csv.read_csv(
        path,
        # Positions, not names, so that the file's own names cannot clash with anything.
        read_options=arrow_csv.ReadOptions(
            column_names=[str(i) for i in range(len(header))], skip_rows_after_names=1
        ),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types={str(i): TEXT for i in range(len(header))},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    if not formula_guard:
        return table.rename_columns(header)
    columns = []
    for coded in map(coded_texts, table.columns):
        columns.append(pa.DictionaryArray.from_arrays(coded.indices, unguard(coded.dictionary)))
    return pa.Table.from_arrays(columns, names=unguard(pa.array(header)).to_pylist())


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
    if not pa.types.is_dictionary(column.type):
        return _fields(to_texts(column).combine_chunks(), formula_guard)
    coded = coded_texts(column)
    fields = _fields(coded.dictionary, formula_guard)
    return pa.DictionaryArray.from_arrays(coded.indices, fields)


def _fields(texts: pa.Array, formula_guard: bool) -> pa.Array:
    """Return texts as CSV fields: guarded, then in quotes where CSV needs them."""
    texts = guard(texts) if formula_guard else texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(
        pc.match_substring_regex(texts, _NEEDS_QUOTES),
        pc.binary_join_element_wise('"', doubled, '"', ""),
        texts,
    )
