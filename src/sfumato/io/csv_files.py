"""CSV files as Arrow tables: cells as texts first, then each column in the type that it spells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sfumato.errors import InputError
from sfumato.io.cell_types import typed
from sfumato.io.csv_text import Dialect, dialect_of, first_bad_quote, ragged_rows
from sfumato.short_memory import is_memory_short

_TEXTS = pa.dictionary(pa.int32(), pa.string())
_BLOCK = 8 * 2**20  # a row must fit into one


def join_csv(parts: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of tables of texts one after the other, each column in its type.

    Types are those that all cells of a column spell, in all parts.
    """
    texts = pa.concat_tables(parts)
    columns = [typed(column) for column in texts.unify_dictionaries().columns]
    return pa.table(columns, names=texts.column_names)


def read_csv(path: Path) -> pa.Table:
    """Return the cells of a CSV file as texts; a field that is empty and not quoted is missing.

    Refuses (InputError) what is not UTF-8 text, ragged rows, quotes that are never closed, and
    headers with empty or repeated names.
    """
    dialect = dialect_of(path)
    try:
        # Without a handler of invalid rows: Arrow calls it on its own threads, and one that is
        # still at it when the interpreter ends aborts the whole process.
        table = csv.read_csv(
            path,
            # One thread where memory is short: with several, Arrow ends the process over a block.
            read_options=csv.ReadOptions(block_size=_BLOCK, use_threads=not is_memory_short()),
            parse_options=csv.ParseOptions(
                delimiter=dialect.separator,
                newlines_in_values=dialect.has_quotes,
                # in a single column an empty line is a row whose value is missing
                ignore_empty_lines=len(dialect.names) > 1,
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(dialect.names, _TEXTS),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except MemoryError:  # which Arrow's own lack of memory is, too
        raise
    except pa.ArrowException as error:  # its message quotes the row
        if type(error) is pa.ArrowException:  # the system refused it a thread, not the file
            raise MemoryError from None
        _refuse_bad_quotes(path, dialect)
        _refuse_ragged(path, dialect)
        if is_memory_short():
            raise MemoryError from None
        raise InputError(f"{path}: the file does not read as CSV; check its quotes") from None
    if dialect.has_quotes and _has_line_breaks(table):
        _refuse_bad_quotes(path, dialect)
    if table.column_names != list(dialect.names):
        raise InputError(f"{path}: the header is not proper CSV; check its quotes")
    return table


def _has_line_breaks(table: pa.Table) -> bool:
    return any(
        pc.any(pc.match_substring_regex(chunk.dictionary, r"[\r\n]")).as_py()
        for column in table.columns
        for chunk in column.chunks
    )


def _refuse_bad_quotes(path: Path, dialect: Dialect) -> None:
    line = first_bad_quote(path, dialect.separator)
    if line is not None:
        raise InputError(
            f"{path}: the quotes in the row that starts on line {line} are not proper CSV; close "
            "every quoted field, and write a quote inside one twice"
        ) from None


def _refuse_ragged(path: Path, dialect: Dialect) -> None:
    count, line = ragged_rows(path, dialect)
    if count:
        some = "row has" if count == 1 else "rows have"
        raise InputError(
            f"{path}: {count} {some} more or fewer fields than the {len(dialect.names)} of the "
            f"header, the first on line {line}; give every row as many fields, and quote cells "
            "that contain the separator"
        ) from None
