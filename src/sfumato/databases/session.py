"""A session with a database: one transaction that reads a snapshot, or writes all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from sfumato.databases.address import Address
from sfumato.databases.source import Source
from sfumato.errors import InputError


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a schema holds: the names of plain tables, and how many other things."""

    tables: frozenset[str]
    others: int


class Session(Protocol):
    """What releases need of a database, within one transaction."""

    @property
    def keeps_zero_bytes(self) -> bool:
        """Whether texts may hold a zero byte."""

    def holdings(self, schema: str) -> Holdings | None:
        """Return what a schema holds, None where there is no such schema."""

    def hold_still(self, schema: str, table: str) -> None:
        """Keep others from replacing the tables of a schema while this transaction reads them.

        Called before anything is read. `table` is the one that is replaced first.
        """

    def rows(self, schema: str, table: str) -> Iterator[pa.Table]:
        """Yield the rows of a table in pieces, at least one."""

    def hold(self, schema: str) -> None:
        """Refuse (InputError) to go on where another run writes into the schema."""

    def refuse_names(self, names: Sequence[str]) -> None:
        """Refuse (InputError) column names of one table that the database would not keep."""

    def make_schema(self, schema: str) -> None:
        """Create a schema."""

    def write(
        self,
        schema: str,
        table: str,
        columns: Mapping[str, str],
        pieces: Iterable[pa.RecordBatch],
        form: pa.Schema,
    ) -> None:
        """Create a table with columns of SQL types and fill it; the pieces are of the form."""

    def replace(self, schema: str, old: Sequence[str], new: Mapping[str, str]) -> None:
        """Drop the old tables and give new ones, by their first names, their last names."""


def session(address: Address, *, writing: bool = False) -> AbstractContextManager[Session]:
    """Return a transaction in a database; one that writes is kept if the block ends well.

    Refuses (InputError) databases that cannot be reached, (EngineUnavailable) a missing driver.
    """
    if address.engine == "postgresql":
        from sfumato.databases.postgresql import postgres_session

        return postgres_session(address, writing=writing)
    if address.engine == "duckdb":
        from sfumato.databases.duckdb_file import duckdb_session

        return duckdb_session(address, writing=writing)
    raise InputError(
        f"{address}: a release lies in PostgreSQL, in a DuckDB file or in a folder; SQLite files "
        "can only be read as data"
    )


def read_source(source: Source) -> pa.Table:
    """Return the rows of a table or query, read in a transaction that cannot write.

    Refuses (InputError) what is not there, fails, writes, is not one statement, or gives columns
    without a name or with the same; (EngineUnavailable) a missing driver.
    """
    if source.address.engine == "postgresql":
        from sfumato.databases.postgresql_rows import read_postgresql

        table = read_postgresql(source)
    elif source.address.engine == "duckdb":
        from sfumato.databases.duckdb_file import read_duckdb

        table = read_duckdb(source)
    else:
        from sfumato.databases.sqlite_file import read_sqlite

        table = read_sqlite(source)
    return table.replace_schema_metadata(None)


def refuse_odd_columns(names: Sequence[str], source: Source) -> None:
    """Refuse (InputError) columns that cannot be told apart by their names."""
    if not names:
        raise InputError(f"{source}: this gives no columns; use one SELECT")
    if not all(name.strip() and name != "?column?" for name in names):
        raise InputError(f"{source}: a column has no name; name it by AS")
    if twice := {name for name in names if names.count(name) > 1}:
        raise InputError(
            f"{source}: {len(twice)} columns have the name of another, such as '{min(twice)}'; "
            "name them apart by AS"
        )
