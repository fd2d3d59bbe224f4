"""SQLite files as sources; they are opened read-only."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.databases.failures import in_our_words
from sfumato.databases.names import quoted
from sfumato.databases.session import refuse_odd_columns
from sfumato.databases.source import Source
from sfumato.errors import InputError
from sfumato.extras import reader

# The driver takes a column's type from as many rows: a column may have other values further on.
_LOOKED_AT = 1 << 18
_BATCH_ROWS = "adbc.sqlite.query.batch_rows"
# SQLite has no dates: by its own convention they are texts of this form.
_DATES = {
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$": pa.date32(),
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$": pa.timestamp(
        "us"
    ),
}
_FAILED = (
    "the rows cannot be read: the query fails, or a column has values of several types; CAST it in "
    "--query"
)


def read_sqlite(source: Source) -> pa.Table:
    """Return the rows; see `read_source`. Texts that are all dates become dates."""
    driver = reader("adbc_driver_sqlite.dbapi", "sqlite", "SQLite files")
    path = Path(source.address.place)
    if not path.is_file():
        raise InputError(f"{source.address}: there is no such file")
    place = f"file:{quote(str(path.resolve()))}?mode=ro"
    asked = source.query or ""
    if source.table is not None:
        asked = f"SELECT * FROM {quoted(*(part for part in source.table if part is not None))}"
    _refuse_several(place, asked, source)
    with in_our_words(source, driver.Error, _FAILED), driver.connect(place) as connection:
        options = {_BATCH_ROWS: _LOOKED_AT}
        with connection.cursor(adbc_stmt_kwargs=options) as cursor:
            cursor.execute(asked)
            table = cursor.fetch_arrow_table()
    refuse_odd_columns(table.column_names, source)
    columns = [_dated(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _refuse_several(place: str, asked: str, source: Source) -> None:
    """Refuse what is not one SELECT: the driver would run the first of several statements."""
    connection = sqlite3.connect(place, uri=True)
    try:
        connection.execute(f"EXPLAIN {asked}").close()
        is_read = asked.lstrip("( \t\r\n").lower().startswith(("select", "with", "values"))
        words = "" if is_read else "this is not one SELECT"
    except (sqlite3.Warning, sqlite3.ProgrammingError):
        words = "this is not one statement of SQL"
    except sqlite3.DatabaseError as error:
        words = "the query is not valid, or names what is not there"
        if "no such table" in str(error):
            words = "there is no such table"
        if "not a database" in str(error):
            words = "this is not a SQLite file, or a damaged one"
    finally:
        connection.close()
    if words:
        raise InputError(f"{source}: {words}")


def _dated(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type) or column.null_count == len(column):
        return column
    for pattern, dtype in _DATES.items():
        if pc.all(pc.match_substring_regex(column, pattern)).as_py():
            try:
                return column.cast(dtype)
            except pa.ArrowException:  # the 31st of February
                return column
    return column
