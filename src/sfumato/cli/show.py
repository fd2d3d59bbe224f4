"""How results are shown: one line an error, plain columns in a pipe, a table in a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from sfumato.cli.profile import running


def one_line(text: str) -> str:
    """Return the text on one line, without characters that steer a terminal.

    >>> one_line("no such file\\n  'a\\x1b[31m'")
    "no such file 'a?[31m'"
    """
    return clean(" ".join(text.split()))


def clean(text: str) -> str:
    """Return the text without characters that steer a terminal: names come from files."""
    return "".join(each if each.isprintable() else "?" for each in text)


def text_label(text: str | None) -> str:
    """Return how a value is shown: a missing one is `null`, and a text that reads so in quotes.

    >>> text_label(None), text_label("null"), text_label("Nurse")
    ('null', '"null"', 'Nurse')
    """
    if text is None:
        return "null"
    return json.dumps(text, ensure_ascii=False) if text == "null" or '"' in text[:1] else text


def show_json(fields: Any) -> None:
    """Print plain data as one JSON document, with the profile if one is asked for."""
    profile = running()
    if profile is not None and isinstance(fields, dict):
        fields = fields | {"profile": profile.to_json()}
        profile.is_told = True
    print(json.dumps(fields, ensure_ascii=False, indent=2, allow_nan=False))


def show_warnings(warnings: Iterable[str]) -> None:
    """Print warnings on stderr, a line each."""
    for warning in warnings:
        print(f"warning: {one_line(warning)}", file=sys.stderr)


def show_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under headers: by Rich in a terminal, else in plain aligned columns."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*headers)
        for row in cells:
            table.add_row(*map(Text, row))  # not markup: a name may have brackets
        Console().print(table)
        return
    for line in plain_columns(headers, cells):
        print(line)


def plain_columns(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows under headers as lines of aligned columns.

    >>> plain_columns(["stage", "seconds"], [["reading", "1.5"]])
    ['stage    seconds', 'reading  1.5']
    """
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (headers, *rows)
    ]


def claim_text(claim: dict[str, Any]) -> str:
    """Return a guarantee of a manifest in words.

    >>> claim_text({"model": "l-diversity", "attribute": "disease", "l": 3})
    "l-diversity of 'disease' (l = 3)"
    """
    details = {k: v for k, v in claim.items() if k not in ("model", "attribute")}
    attribute = f" of '{claim['attribute']}'" if "attribute" in claim else ""
    listed = ", ".join(f"{key} = {value}" for key, value in details.items())
    return f"{claim['model']}{attribute}" + (f" ({listed})" if listed else "")
