"""PostgreSQL, through its Arrow driver: COPY in both directions, all in one transaction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from sfumato.databases.address import Address
from sfumato.databases.failures import connecting, in_our_words
from sfumato.databases.names import literal, quoted
from sfumato.databases.numbers import plain_columns
from sfumato.databases.session import Holdings
from sfumato.errors import InputError
from sfumato.extras import reader

_LONGEST_NAME = 63  # bytes; PostgreSQL would cut longer ones without a word
_OF_THE_SYSTEM = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})
_SECONDS_TO_CONNECT = 15
_WAIT_FOR_READERS = "60s"
_FAILED = "the database refused or failed"
# Rows come in the order in which they lie, the same every time.
_IN_ORDER = "SET LOCAL synchronize_seqscans = off; SET LOCAL max_parallel_workers_per_gather = 0"


def connected(address: Address) -> Any:
    """Return a connection whose transactions begin by themselves; users and passwords are libpq's.

    Refuses (InputError) an address where no server answers or lets the user in.
    """
    driver = reader("adbc_driver_postgresql.dbapi", "postgres", "PostgreSQL databases")
    place, sign, options = address.place.partition("?")
    wanted = [options] if sign else []
    if "connect_timeout=" not in options and "PGCONNECT_TIMEOUT" not in os.environ:
        wanted.append(f"connect_timeout={_SECONDS_TO_CONNECT}")
    wanted.append("fallback_application_name=sfumato")
    with connecting(_database(address), driver.Error):
        return driver.connect(f"{place}?{'&'.join(wanted)}")


@contextmanager
def postgres_session(address: Address, *, writing: bool) -> Iterator[PostgresSession]:
    """Yield a transaction; one that writes is committed if the block ends well."""
    connection = connected(address)
    try:
        # a cursor that is still open when its connection goes would warn
        with connection.cursor() as cursor:
            made = PostgresSession(address, connection, cursor)
            made.begin(writing)
            yield made
        if writing:
            with made.refusing("the connection was lost: the old release or the new one is there"):
                connection.commit()
    finally:
        with suppress(Exception):  # what is not committed is undone when the connection ends
            connection.rollback()
        with suppress(Exception):
            connection.close()


class PostgresSession:
    """One transaction."""

    keeps_zero_bytes = False

    def __init__(self, address: Address, connection: Any, cursor: Any) -> None:
        self._address, self._connection, self._cursor = address, connection, cursor

    def refusing(self, otherwise: str = _FAILED) -> Any:
        """Return a block in which failures of the driver are told in our words."""
        import adbc_driver_manager

        return in_our_words(self._address, adbc_driver_manager.Error, otherwise)

    def begin(self, writing: bool) -> None:
        """State what kind of transaction it is; no snapshot is taken yet."""
        self._run(
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
            if writing
            else "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
        for each in (*_IN_ORDER.split(";"), f"SET LOCAL lock_timeout = '{_WAIT_FOR_READERS}'"):
            self._run(each)

    def holdings(self, schema: str) -> Holdings | None:
        """Return what a schema holds: whatever depends on it, be it a table or not."""
        found = self._ask(f"SELECT oid::bigint FROM pg_namespace WHERE nspname = {literal(schema)}")
        if not found:
            return None
        rows = self._ask(
            "SELECT c.relname::text, c.relkind::text FROM pg_depend d "
            "LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid "
            "WHERE d.refclassid = 'pg_namespace'::regclass AND d.deptype = 'n' "
            f"AND d.refobjid = {found[0][0]}"
        )
        tables = frozenset(name for name, kind in rows if kind == "r")
        return Holdings(tables, sum(kind != "r" for _, kind in rows))

    def hold_still(self, schema: str, table: str) -> None:
        """Lock the table that is replaced first.

        Names are looked up as of now and rows as of the snapshot, so that tables replaced in
        between would look empty. LOCK comes before the snapshot, which the first SELECT takes.
        """
        self._run(f"LOCK TABLE {quoted(schema, table)} IN ACCESS SHARE MODE")

    def rows(self, schema: str, table: str) -> Iterator[pa.Table]:
        """Yield the rows of a table in pieces."""
        with self.refusing():
            self._cursor.execute(f"SELECT * FROM {quoted(schema, table)}")
            batches = self._cursor.fetch_record_batch()
            # without rows there would be no batch, and nobody would know the columns
            yield plain_columns(pa.Table.from_batches([], batches.schema))
            for batch in batches:
                yield plain_columns(pa.Table.from_batches([batch]))

    def hold(self, schema: str) -> None:
        """Keep a lock until the end of the transaction, or refuse where another run has it."""
        key = f"hashtextextended({literal('sfumato ' + schema)}, 0)"
        if not self._ask(f"SELECT pg_try_advisory_xact_lock({key})")[0][0]:
            raise InputError(
                f"{self._address}: another run is writing there; wait until it is done"
            )

    def refuse_names(self, names: Sequence[str]) -> None:
        """Refuse names that PostgreSQL would cut off or has itself."""
        for name in names:
            size = len(name.encode())
            if size > _LONGEST_NAME:
                raise InputError(
                    f"the name '{name}' has {size} bytes, and names in PostgreSQL have at most "
                    f"{_LONGEST_NAME}; rename it, or write the release to a folder or a DuckDB file"
                )
            if name in _OF_THE_SYSTEM or "\0" in name:
                raise InputError(
                    f"a column cannot be called '{name}' in PostgreSQL; rename it, or write the "
                    "release to a folder or a DuckDB file"
                )

    def make_schema(self, schema: str) -> None:
        """Create a schema."""
        self._run(f"CREATE SCHEMA {quoted(schema)}")

    def write(
        self,
        schema: str,
        table: str,
        columns: Mapping[str, str],
        pieces: Iterable[pa.RecordBatch],
        form: pa.Schema,
    ) -> None:
        """Create a table and fill it by COPY; nobody sees it before the transaction ends."""
        listed = ", ".join(f"{quoted(name)} {sql}" for name, sql in columns.items())
        self._run(f"CREATE TABLE {quoted(schema, table)} ({listed})")
        with self.refusing():
            self._cursor.adbc_ingest(
                table,
                pa.RecordBatchReader.from_batches(form, pieces),
                mode="append",
                db_schema_name=schema,
            )

    def replace(self, schema: str, old: Sequence[str], new: Mapping[str, str]) -> None:
        """Put new tables into the place of old ones, once nobody reads these."""
        if old:
            # all at once and the first one first: see `hold_still`
            listed = ", ".join(quoted(schema, name) for name in old)
            self._run(f"LOCK TABLE {listed} IN ACCESS EXCLUSIVE MODE")
            self._run(f"DROP TABLE {listed}")
        for first, last in new.items():
            self._run(f"ALTER TABLE {quoted(schema, first)} RENAME TO {quoted(last)}")

    def _run(self, statement: str) -> None:
        with self.refusing():
            self._cursor.execute(statement)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        with self.refusing():
            self._cursor.execute(query)
            rows: list[tuple[Any, ...]] = self._cursor.fetchall()
            return rows


def _database(address: Address) -> str:
    return address.place
