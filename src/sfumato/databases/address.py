"""The address of a database, or of a schema in one, as one text without a password.

    postgresql://user@host:port/database/schema?sslmode=require
    clinic.duckdb/schema       duckdb:clinic.duckdb/schema
    clinic.sqlite, clinic.db   sqlite:clinic.db

The schema may be left out. A password in an address would stand in process lists and in the
shell's history, so such an address is refused; messages never repeat a text that did not read as
an address, since there may be one in it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from sfumato.errors import InputError

Engine = Literal["postgresql", "duckdb", "sqlite"]

_SUFFIXES: dict[str, Engine] = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}
_SERVER = re.compile(r"postgres(ql)?:", re.IGNORECASE)
_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[^:@/?#,\[\]]*)(?::[0-9]*)?"
# Strict, so that no password in an odd place is taken for something else and shown.
_PARTS = re.compile(
    rf"postgres(?:ql)?://(?:(?P<user>[^:@/?#]*)@)?(?P<host>{_HOST}(?:,{_HOST})*)"
    r"(?:/(?P<database>[^@/?#]*)(?:/(?P<schema>[^@/?#]*))?/?)?(?:\?(?P<options>[^#@]*))?",
    re.IGNORECASE,
)
_IN_FILE = re.compile(r"(?P<engine>duckdb|sqlite):(?P<rest>(?!//).+)", re.IGNORECASE | re.DOTALL)
_SECRET = re.compile(r"password|secret", re.IGNORECASE)
# Options of a connection that hold no secret; any other may.
_OPTIONS = re.compile(
    r"application_name|channel_binding|client_encoding|connect_timeout|dbname|gssencmode|host|"
    r"hostaddr|keepalives\w*|krbsrvname|load_balance_hosts|options|port|require_auth|ssl(?!pass)\w+|"
    r"target_session_attrs|tcp_user_timeout|user",
    re.IGNORECASE,
)
# How other programs write addresses: `mysql://…`, `postgresql+driver://…`, `jdbc:…`; and how one of
# ours is mistyped.
_OTHERS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*://|jdbc:|postgres(?:ql)?//)", re.IGNORECASE)
_LIBPQ = re.compile(r"(?:^|\s)(?:ssl)?password\s*=|:[^/\s]*@", re.IGNORECASE)
_NO_PASSWORD = (
    "an address of a database holds no password, which everybody could read in the list of "
    "processes: leave it out, and put it into the variable PGPASSWORD or the file ~/.pgpass"
)
_HOW = "write postgresql://user@host:port/database/schema (a password is never part of it)"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is: `place` is a text for the driver, or a path; and a schema in it."""

    engine: Engine
    place: str
    schema: str | None = None

    @classmethod
    def of(cls, text: str | os.PathLike[str]) -> Address | None:
        """Return the address that a text is, None where it is none, such as that of a file.

        >>> Address.of("postgresql://ann@db.example/clinic/may")
        Address(engine='postgresql', place='postgresql://ann@db.example/clinic', schema='may')
        >>> Address.of("clinic.duckdb/may")
        Address(engine='duckdb', place='clinic.duckdb', schema='may')
        >>> Address.of("patients.csv") is None
        True

        Refuses (InputError) addresses that are malformed or hold a password.
        """
        if isinstance(text, Address):
            return text
        text = os.fspath(text)
        if _SERVER.match(text):
            return _on_server(text)
        if not os.path.lexists(text):
            # none of ours, and a message about a file of this name would show its password
            if _OTHERS.match(text):
                raise InputError(f"unknown kind of database: {_HOW}, or export the table to a file")
            if _LIBPQ.search(text):
                raise InputError(_NO_PASSWORD)
        stated = _IN_FILE.fullmatch(text)
        return _in_file(stated["rest"], stated["engine"]) if stated else _in_file(text, None)

    @classmethod
    def with_rest(cls, text: str) -> tuple[Address | None, str]:
        """Return the address before a `#`, and what follows it."""
        place, _, rest = (text, "", "") if os.path.lexists(text) else text.partition("#")
        if _SERVER.match(text) and place.count("/") < 3 and "@" in rest:
            raise InputError(_NO_PASSWORD)  # the # was in it
        return cls.of(place), rest

    def __fspath__(self) -> str:
        """The text of the address: it is handed around like a path."""
        return str(self)

    def __str__(self) -> str:
        """The address as one types it."""
        if self.engine != "postgresql":
            return f"{self.engine}:{self.place}" + (f"/{self.schema}" if self.schema else "")
        if self.schema is None:
            return self.place
        start, sign, options = self.place.partition("?")
        base = start if start.count("/") > 2 else f"{start}/"
        return f"{base}/{quote(self.schema, safe='')}{sign}{options}"

    @property
    def file(self) -> Path | None:
        """The file that holds the database, None where a server does."""
        return None if self.engine == "postgresql" else Path(self.place)

    def absolute(self) -> Address:
        """Return the address with a path that does not depend on where the program runs."""
        if self.file is None:
            return self
        return replace(self, place=os.path.realpath(self.place))


def _on_server(text: str) -> Address:
    found = _PARTS.fullmatch(text)
    if found is None:
        before = text.rpartition("@")[0]
        raise InputError(_NO_PASSWORD if ":" in before[11:] else f"not an address: {_HOW}")
    options = found["options"]
    if options and _SECRET.search(unquote(options)):
        raise InputError(_NO_PASSWORD)
    names = [unquote(option).partition("=")[0] for option in (options or "").split("&") if option]
    if not all(map(_OPTIONS.fullmatch, names)):
        raise InputError(f"an option of the address is not one that is passed on: {_HOW}")
    place = "postgresql://"
    place += f"{found['user']}@" if found["user"] else ""
    place += found["host"]
    place += f"/{found['database']}" if found["database"] else ""
    place += f"?{options}" if options else ""
    return Address("postgresql", place, unquote(found["schema"]) if found["schema"] else None)


def _in_file(text: str, stated: str | None) -> Address | None:
    """Return the address of a file by its name; folders are none, whatever they are called."""
    steps = text.split("/")
    for end in range(1, len(steps) + 1):
        place, rest = "/".join(steps[:end]), [step for step in steps[end:] if step]
        engine = _SUFFIXES.get(Path(place).suffix.lower()) if steps[end - 1] else None
        if engine is not None and not Path(place).is_dir():
            if len(rest) > 1:
                return None
            engine = _engine_inside(Path(place)) or engine
            return Address(_stated(stated) or engine, place, rest[0] if rest else None)
    if stated is None:
        return None
    parent, _, last = text.rpartition("/")
    if parent and Path(parent).is_file():
        return Address(_stated(stated) or "duckdb", parent, last)
    return Address(_stated(stated) or "duckdb", text)


def _stated(engine: str | None) -> Engine | None:
    return None if engine is None else "sqlite" if engine.lower() == "sqlite" else "duckdb"


def _engine_inside(path: Path) -> Engine | None:
    """Return whose file it is by its first bytes: `.db` is said of both kinds."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return None
    if start == b"SQLite format 3\0":
        return "sqlite"
    return "duckdb" if start[8:12] == b"DUCK" else None
