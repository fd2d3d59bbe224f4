"""DuckDB files: one process writes, or several read; a transaction is all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.databases.address import Address
from sfumato.databases.failures import in_our_words
from sfumato.databases.names import literal, quoted
from sfumato.databases.session import Holdings, refuse_odd_columns
from sfumato.databases.source import Source
from sfumato.errors import InputError
from sfumato.extras import reader

_ARRIVING = "arriving rows"
_FAILED = "the database refused or failed"
# A query sees the tables of the file alone: no other files, nothing of this program.
_CLOSED = {"enable_external_access": "false", "python_enable_replacements": "false"}
# It would be printed into the output of a command.
_SILENT = "SET enable_progress_bar = false"
_WORDS = {
    "ParserException": "this is not valid SQL; give one SELECT",
    "CatalogException": "there is no such table, schema or function",
    "BinderException": "the query names a column that does not exist, or does not fit its tables",
    "ConversionException": "a value does not fit what the query computes with it",
    "OutOfRangeException": "a value does not fit what the query computes with it",
    "DependencyException": "other objects, such as views, rest on the old release; drop them first",
    "PermissionException": "a query reads tables of the database alone",
    "OutOfMemoryException": "there is not enough memory or disk for this query",
}


def _connected(address: Address, *, writing: bool) -> Any:
    duckdb = reader("duckdb", "duckdb", "DuckDB files")
    path = Path(address.place)
    if not writing and not path.is_file():
        raise InputError(f"{address}: there is no such file")
    if not path.parent.is_dir():
        raise InputError(f"'{path.parent}' is not a folder; create it first")
    try:
        connection = duckdb.connect(str(path), read_only=not writing, config=_CLOSED)
        connection.execute(_SILENT)
        return connection
    except duckdb.Error as error:
        in_use = "lock" in str(error).lower() or "already open" in str(error).lower()
        words = "another program has it open" if in_use else "this is not a DuckDB file"
        also = "; wait until it is closed" if in_use else ", or one of another version, or damaged"
        raise InputError(f"{address}: {words}{also}") from None


@contextmanager
def _refusing(place: object) -> Iterator[None]:
    import duckdb

    with in_our_words(place, (), _FAILED):
        try:
            yield
        except duckdb.Error as error:
            words = _WORDS.get(type(error).__name__, _FAILED)
            raise InputError(f"{place}: {words}") from None


def read_duckdb(source: Source) -> pa.Table:
    """Return the rows; see `read_source`."""
    connection = _connected(source.address, writing=False)
    try:
        with _refusing(source):
            if source.table is not None:
                schema, name = source.table
                named = (name,) if schema is None else (_catalog(connection), schema, name)
                asked = f"SELECT * FROM {quoted(*named)}"
            else:
                asked = _one_select(source)
            found = connection.sql(asked)
            refuse_odd_columns(found.columns, source)
            return pa.RecordBatchReader.from_stream(found).read_all()
    finally:
        connection.close()


def _catalog(connection: Any) -> str:
    """Return what DuckDB calls the file: a schema of that name is told from it by both names."""
    name: str = connection.execute("SELECT current_database()").fetchall()[0][0]
    return name


def _one_select(source: Source) -> str:
    import duckdb

    statements = duckdb.extract_statements(source.query or "")
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise InputError(f"{source}: this is not one SELECT; sources are read by one statement")
    query: str = statements[0].query
    return query


@contextmanager
def duckdb_session(address: Address, *, writing: bool) -> Iterator[DuckdbSession]:
    """Yield a transaction; one that writes is committed if the block ends well."""
    connection = _connected(address, writing=writing)
    try:
        with _refusing(address):
            connection.execute("BEGIN TRANSACTION")
            session = DuckdbSession(address, connection, _catalog(connection))
        yield session
        if writing:
            with _refusing(address):
                connection.execute("COMMIT")
    finally:
        with suppress(Exception):  # what is not committed is undone
            connection.execute("ROLLBACK")
        connection.close()


class DuckdbSession:
    """One transaction."""

    keeps_zero_bytes = True

    def __init__(self, address: Address, connection: Any, catalog: str) -> None:
        self._address, self._connection, self._catalog = address, connection, catalog

    def holdings(self, schema: str) -> Holdings | None:
        """Return what a schema holds; upper and lower case are the same in DuckDB."""
        named = (
            f"lower(schema_name) = lower({literal(schema)}) AND database_name = current_database()"
        )
        if not self._ask(f"SELECT 1 FROM duckdb_schemas() WHERE {named}"):
            return None
        tables = self._ask(f"SELECT table_name FROM duckdb_tables() WHERE {named}")
        others = [
            self._ask(f"SELECT count(*) FROM {kind}() WHERE {named} AND NOT internal")[0][0]
            for kind in ("duckdb_views", "duckdb_functions", "duckdb_types")
        ]
        sequences = self._ask(f"SELECT count(*) FROM duckdb_sequences() WHERE {named}")[0][0]
        return Holdings(frozenset(name for (name,) in tables), sum(others) + sequences)

    def hold_still(self, schema: str, table: str) -> None:
        """Do nothing: nobody writes into a file that is being read."""

    def rows(self, schema: str, table: str) -> Iterator[pa.Table]:
        """Yield the rows of a table in pieces."""
        with _refusing(self._address):
            found = self._connection.sql(f"SELECT * FROM {self._named(schema, table)}")
            batches = pa.RecordBatchReader.from_stream(found)
            # without rows there would be no batch, and nobody would know the columns
            yield batches.schema.empty_table()
            for batch in batches:
                yield pa.Table.from_batches([batch])

    def hold(self, schema: str) -> None:
        """Do nothing: only one program at a time can write into the file."""

    def refuse_names(self, names: Sequence[str]) -> None:
        """Refuse names that differ in upper and lower case alone: they are the same in DuckDB."""
        folded = [name.casefold() for name in names]
        for name in names:
            if folded.count(name.casefold()) > 1:
                raise InputError(
                    f"the name '{name}' differs from another in upper and lower case alone, which "
                    "are the same in DuckDB; rename it, or write the release to a folder"
                )
            if "\0" in name:
                raise InputError(f"a column cannot be called '{name}' in DuckDB; rename it")

    def make_schema(self, schema: str) -> None:
        """Create a schema."""
        self._run(f"CREATE SCHEMA {self._named(schema)}")

    def write(
        self,
        schema: str,
        table: str,
        columns: Mapping[str, str],
        pieces: Iterable[pa.RecordBatch],
        form: pa.Schema,
    ) -> None:
        """Create a table and fill it."""
        listed = ", ".join(f"{quoted(name)} {sql}" for name, sql in columns.items())
        self._run(f"CREATE TABLE {self._named(schema, table)} ({listed})")
        with _refusing(self._address):
            for piece in pieces:
                self._connection.register(_ARRIVING, pa.Table.from_batches([piece], form))
                self._connection.execute(
                    f"INSERT INTO {self._named(schema, table)} SELECT * FROM {quoted(_ARRIVING)}"
                )
                self._connection.unregister(_ARRIVING)

    def replace(self, schema: str, old: Sequence[str], new: Mapping[str, str]) -> None:
        """Put new tables into the place of old ones."""
        for name in old:
            self._run(f"DROP TABLE {self._named(schema, name)}")
        for first, last in new.items():
            self._run(f"ALTER TABLE {self._named(schema, first)} RENAME TO {quoted(last)}")

    def _named(self, *names: str) -> str:
        return quoted(self._catalog, *names)

    def _run(self, statement: str) -> None:
        with _refusing(self._address):
            self._connection.execute(statement)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        with _refusing(self._address):
            rows: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
            return rows
