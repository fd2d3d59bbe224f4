"""What DATA names: files, or a table or query of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.databases.source import Source


def source(data: str, table: str | None, query: str | None) -> str | Source:
    """Return what is to be read; with a table or a query, DATA is the address of a database.

    Refuses (InputError) a table or a query of anything else.
    """
    if table is None and query is None:
        return data
    from sfumato.databases.source import Source

    return Source.of(data, table, query) or data
