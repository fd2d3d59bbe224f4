"""What drivers say, in words of our own: theirs may quote cells, queries and connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, SfumatoError

_LOST = "the connection to the server was lost; see whether it runs, and try again"
_LOGIN = (
    "the server does not let this user in; name the user in the address or in PGUSER, and put the "
    "password into PGPASSWORD or ~/.pgpass"
)
# SQLSTATEs, or the first two signs of them, as the appendix of PostgreSQL's manual lists them.
_STATES = {
    "08": _LOST,
    "0A": "the database cannot do this where it only reads; use one plain SELECT",
    "22": "a value does not fit what the query computes with it; change the query",
    "25006": "the query would write, and sources are only read; use one SELECT",
    "28": _LOGIN,
    "2BP01": "other objects, such as views, rest on the old release; drop them first",
    "3D000": "there is no such database on the server",
    "3F000": "there is no such schema",
    "40": "others used the tables at the same time; run it again",
    "42501": "the user may not do this; ask the database's owner to grant it",
    "42601": "this is not one statement of valid SQL; give one SELECT",
    "42703": "the query names a column that does not exist",
    "42P01": "there is no such table, or this user may not look into its schema",
    "42P06": "somebody else created the schema at the same time; run it again",
    "42P07": "somebody else created a table there at the same time; run it again",
    "42": "the query is not valid in this database; try it in the database's own tools first",
    "53100": "the server's disk is full",
    "53300": "the server has too many connections; try again later",
    "53": "the server is short of memory or disk",
    "54": "the table is larger than the database allows",
    "55P03": "others use the tables; run it again when they are done",
    "57014": "the server cancelled the work, as by a time limit",
    "57": "the server is shutting down or not ready; try again later",
    "58": "the server cannot read or write its own files",
}
# A connection that fails has no SQLSTATE, only a text, which may be in any language.
_CONNECTING = {
    "password": _LOGIN,
    "authentication": _LOGIN,
    "pg_hba.conf": _LOGIN,
    "role": _LOGIN,
    "user": _LOGIN,
    "database": _STATES["3D000"],
    "invalid uri": "the address has an option that PostgreSQL does not know",
    "invalid connection option": "the address has an option that PostgreSQL does not know",
    "ssl": "the server and this side do not agree on SSL; see `sslmode`",
    "too many": _STATES["53300"],
    "starting up": _STATES["57"],
}
_UNREACHABLE = "no server can be reached there; is it running, and are host and port right?"


@contextmanager
def in_our_words(place: object, errors: Any, otherwise: str) -> Iterator[None]:
    """Turn what a driver raises in the block into an InputError that says where and what.

    `errors` is the driver's class of errors, `otherwise` what is said of those without a state.
    """
    try:
        yield
    except SfumatoError:
        raise
    except (errors, pa.ArrowException, OSError) as error:
        raise InputError(f"{place}: {_words(error) or otherwise}") from None


@contextmanager
def connecting(place: object, errors: Any) -> Iterator[None]:
    """Turn a connection that fails in the block into an InputError."""
    try:
        yield
    except (errors, OSError) as error:
        text = str(error).lower()
        # the end of the text: what comes before it names the host, which may be called anything
        text = text.rpartition("failed:")[2] if "fatal" in text else text
        found = next((words for sign, words in _CONNECTING.items() if sign in text), _UNREACHABLE)
        raise InputError(f"{place}: {_words(error) or found}") from None


def _words(error: BaseException) -> str | None:
    state = getattr(error, "sqlstate", None) or ""
    return _STATES.get(state) or _STATES.get(state[:2])
