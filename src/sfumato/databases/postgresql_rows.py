"""The rows of a table or query in PostgreSQL, read by one statement that cannot write."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pyarrow as pa

from sfumato.databases.failures import in_our_words
from sfumato.databases.names import quoted
from sfumato.databases.numbers import plain_columns, type_name
from sfumato.databases.postgresql import connected
from sfumato.databases.session import refuse_odd_columns
from sfumato.databases.source import Source
from sfumato.errors import InputError

# Types that the driver hands out as Arrow types; the server spells others as texts.
_KNOWN = frozenset(
    {
        *("int2", "int4", "int8", "float4", "float8", "numeric", "bool"),
        *("date", "time", "timestamp", "timestamptz", "text", "varchar", "name"),
    }
)
_FAILED = "the query failed while its rows were read; try it in the database's own tools first"


def read_postgresql(source: Source) -> pa.Table:
    """Return the rows; see `read_source`."""
    connection = connected(source.address)
    try:
        with connection.cursor() as cursor:
            return _read(cursor, source)
    finally:
        with suppress(Exception):
            connection.rollback()
        with suppress(Exception):
            connection.close()


def _read(cursor: Any, source: Source) -> pa.Table:
    import adbc_driver_manager

    if source.table is not None:
        asked = f"SELECT * FROM {quoted(*(part for part in source.table if part is not None))}"
    else:
        asked = (source.query or "").strip().rstrip(";").strip()
        if not asked or "\0" in asked:
            raise InputError(f"{source}: the query is empty; give one SELECT")
    with in_our_words(source, adbc_driver_manager.Error, _FAILED):
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # Prepared by itself first: a prepared statement is one statement, and what stands in
        # brackets below cannot leave them then.
        cursor.adbc_prepare(asked)
        within = f"({asked}\n) AS source"
        fields = cursor.adbc_execute_schema(f"SELECT * FROM {within}")
        refuse_odd_columns(fields.names, source)
        listed = ", ".join(
            quoted(field.name)
            if type_name(field) in _KNOWN
            else f"{quoted(field.name)}::text AS {quoted(field.name)}"
            for field in fields
        )
        cursor.execute(f"SELECT {listed} FROM {within}")
        table = cursor.fetch_arrow_table()
    try:
        return plain_columns(table)
    except (pa.ArrowException, ValueError):
        raise InputError(
            f"{source}: a column of numbers has one that cannot be read as such; cast it in --query"
        ) from None
