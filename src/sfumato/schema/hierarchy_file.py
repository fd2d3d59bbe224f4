"""Reading the fields of a hierarchy file, with the line each row stands on."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from sfumato.errors import HierarchyError

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def read_rows(path: Path) -> tuple[list[list[str]], list[int]]:
    """Return the rows of a file without header, separated by `;`, tabs or `,`, and their lines.

    Refuses (HierarchyError): a file that is missing, unreadable, not UTF-8, empty, not proper CSV,
    or that has a single field a line.
    """
    text = _read_text(path)
    separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 1
    try:
        for row in reader:
            if any(row):  # a spreadsheet writes blank lines as separators only
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error:
        raise HierarchyError(
            f"hierarchy '{path.name}': line {line} is not proper CSV; "
            "check its quotes (a quote inside a quoted field is written twice)"
        ) from None
    if not rows:
        raise HierarchyError(
            f"hierarchy '{path.name}': the file is empty; "
            "give a line `value;level 1;...;*` for every value"
        )
    if all(len(row) == 1 for row in rows):
        raise HierarchyError(
            f"hierarchy '{path.name}': every line has a single field; "
            "separate the levels `value;level 1;...;*` by `;`, tabs or `,`"
        )
    return rows, lines


def _read_text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise HierarchyError(
            f"hierarchy '{path.name}': no such file; check the path in the policy"
        ) from None
    except OSError as error:
        raise HierarchyError(
            f"hierarchy '{path.name}': the file cannot be read ({error.strerror}); "
            "check the path and its permissions"
        ) from None
    except ValueError:  # a zero byte, or half a character
        raise HierarchyError("a hierarchy has a name that no file can have") from None
    # A zero byte is valid UTF-8 but in a text file it means UTF-16 or no text at all.
    bad = raw.find(b"\0")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text, bad = "", error.start
    if bad >= 0:
        line = raw.count(b"\n", 0, bad) + 1
        raise HierarchyError(
            f"hierarchy '{path.name}': line {line} is not UTF-8 text; save the file as UTF-8"
        )
    return text


def _separator(text: str) -> str:
    """Return the separator of the file: the first of `;`, tab and `,` outside quotes in line 1.

    In this order, since the labels of intervals hold commas: `[15, 20[`.
    """
    bare = _QUOTED.sub("", text).strip("\r\n ")
    first_line = bare.splitlines()[0] if bare else ""
    return next((mark for mark in (";", "\t") if mark in first_line), ",")
