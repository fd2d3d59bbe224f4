"""Names of tables and columns in SQL: always quoted, so that any name is only a name."""

from __future__ import annotations

import re

from sfumato.errors import InputError

_PART = r'"(?:[^"]|"")+"|[^."]+'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})", re.DOTALL)


def quoted(*names: str) -> str:
    """Return names as one SQL identifier.

    >>> print(quoted("may", 'a "good" table'))
    "may"."a ""good"" table"
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def literal(text: str) -> str:
    """Return a text as an SQL literal.

    >>> print(literal("O'Hara"))
    'O''Hara'
    """
    return "'" + text.replace("'", "''") + "'"


def parts_of(name: str) -> tuple[str | None, str]:
    """Return the schema, if one is named, and the table of `table` or `schema.table`.

    A part in double quotes may hold anything. Upper and lower case are as they stand.

    >>> parts_of("clinic.Patients"), parts_of('"a.b"')
    (('clinic', 'Patients'), (None, 'a.b'))

    Refuses (InputError) what has no such form.
    """
    found = _NAME.fullmatch(name)
    if found is None or "\0" in name:
        raise InputError(
            "a table is named as table or schema.table, with a part in double quotes where it "
            "holds dots or quotes itself"
        )
    return None if found[1] is None else _bare(found[1]), _bare(found[2])


def _bare(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
