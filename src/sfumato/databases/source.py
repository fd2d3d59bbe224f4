"""What is read from a database: a table, or the rows of one query."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from sfumato.databases.address import Address
from sfumato.databases.names import parts_of, quoted
from sfumato.errors import InputError

# What begins so after `#` is a query; a table of such a name is put in double quotes.
_QUERY = re.compile(r"(select|with|values)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A table (with its schema, if one is named) or a query of a database.

    It is handed around like a path; as a text it is `ADDRESS#schema.table` or `ADDRESS#SELECT …`.
    """

    address: Address
    table: tuple[str | None, str] | None = None
    query: str | None = None

    @classmethod
    def of(
        cls, data: str | os.PathLike[str], table: str | None = None, query: str | None = None
    ) -> Source | None:
        """Return what the text names in a database; None where it is not the address of one.

        >>> Source.of("clinic.duckdb#may.patients").table
        ('may', 'patients')
        >>> Source.of("patients.csv") is None
        True

        Refuses (InputError) an address without a table or query, and one with both.
        """
        if isinstance(data, Source):
            return data
        address, named = Address.with_rest(os.fspath(data))
        if address is None:
            if table is not None or query is not None:
                raise InputError(
                    "--table and --query are for databases; DATA is not the address of one"
                )
            return None
        if [bool(named), table is not None, query is not None].count(True) != 1:
            raise InputError(
                "say what to read from the database: --table schema.table (or ADDRESS#schema.table)"
                ", or --query 'SELECT …', one of them"
            )
        if query is None and _QUERY.match(named):
            query = named
        if query is not None:
            return cls(address, query=query)
        schema, name = parts_of(named or table or "")
        return cls(address, (schema if schema is not None else address.schema, name))

    def __fspath__(self) -> str:
        """The text that says what was read, for records and as a name."""
        if self.table is None:
            return f"{self.address}#{self.query}"
        return str(self)

    def __str__(self) -> str:
        """How messages call it; queries may hold values, so they are not repeated."""
        if self.table is None:
            return f"the query of {self.address}"
        named = ".".join(
            part if part.replace("_", "a").isalnum() else quoted(part)
            for part in self.table
            if part is not None
        )
        return f"{self.address}#{named}"
