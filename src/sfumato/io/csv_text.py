"""What a CSV file is before its cells are read: its encoding, its separator, its header.

All that a message says of a bad file comes from here, in line numbers and counts: the readers'
own messages quote the row that they stumbled over.
"""

from __future__ import annotations

import codecs
import csv
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sfumato.errors import InputError
from sfumato.schema.headers import listed_names

SEPARATORS = (",", ";", "\t")
_CHUNK = 8 * 2**20
_SAMPLE_ROWS = 50
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file is written: its separator, its column names, and whether quotes occur at all."""

    separator: str
    names: tuple[str, ...]
    has_quotes: bool


def dialect_of(path: Path) -> Dialect:
    """Return how the file is written.

    Refuses (InputError) an empty file, text that is not UTF-8, a header with empty or repeated
    names, and one that is not proper CSV.
    """
    has_quotes = _check_text(path)
    separator = _separator(path)
    with _rows(path, separator) as rows:
        try:
            names = next(rows, [])
        except csv.Error:
            raise InputError(f"{path}: the header is not proper CSV; check its quotes") from None
    refuse_nameless(names, path)
    refuse_repeated(names, path)
    return Dialect(separator, tuple(names), has_quotes)


def first_bad_quote(path: Path, separator: str) -> int | None:
    """Return the line of the first row whose quotes are not proper CSV, None if all are.

    A quote that is never closed makes one cell of many rows, which a tolerant reader accepts.
    """
    with _rows(path, separator) as rows:
        try:
            deque(rows, maxlen=0)  # runs in C: millions of rows a second
        except csv.Error:
            return _line_of_error(path, separator)
    return None


def ragged_rows(path: Path, dialect: Dialect) -> tuple[int, int]:
    """Return how many rows have not as many fields as the header, and the line of the first.

    A Python loop over rows: it only runs to explain a file that is refused.
    """
    count = first = 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=dialect.separator, strict=True)
        line = 1
        for row in reader:
            if row and len(row) != len(dialect.names):
                first = first or line
                count += 1
            line = reader.line_num + 1
    return count, first


def _check_text(path: Path) -> bool:
    """Return whether the file has quotes; refuse what is not UTF-8 text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = lines = 0
    has_quotes = has_text = False
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if offset == 0 and chunk.startswith(_UTF16):
                raise InputError(f"{path}: the file is UTF-16, not UTF-8; save it as UTF-8")
            bad = chunk.find(b"\0")
            if bad >= 0:
                line = lines + chunk.count(b"\n", 0, bad) + 1
                raise InputError(
                    f"{path}: line {line} holds a zero byte (offset {offset + bad}), "
                    "so this is no text file; save it as UTF-8 text"
                )
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                bad = error.start - pending
                line = lines + chunk.count(b"\n", 0, max(bad, 0)) + 1
                raise InputError(
                    f"{path}: line {line} is not UTF-8 text (byte offset {offset + bad}); "
                    "save the file as UTF-8"
                ) from None
            has_quotes = has_quotes or b'"' in chunk
            has_text = has_text or bool(chunk.removeprefix(codecs.BOM_UTF8).strip())
            lines += chunk.count(b"\n")
            offset += len(chunk)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise InputError(f"{path}: the file ends within a character; is it cut off?") from None
    if not has_text:
        raise InputError(f"{path}: the file is empty; it needs a header and rows")
    return has_quotes


@contextmanager
def _rows(path: Path, separator: str) -> Iterator[Iterator[list[str]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield csv.reader(file, delimiter=separator, strict=True)


def _separator(path: Path) -> str:
    """Return the separator that cuts the first rows into equally many fields, and into most.

    Where none does, the header decides: the commonest one in it.
    """
    widths = {}
    for separator in SEPARATORS:
        with _rows(path, separator) as rows:
            try:
                found = {len(row) for row in islice(rows, _SAMPLE_ROWS) if row}
            except csv.Error:
                found = set()
        widths[separator] = min(found) if len(found) == 1 else 1
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = file.readline()
    return max(SEPARATORS, key=lambda s: (widths[s], header.count(s)))


def refuse_nameless(names: list[str], path: Path) -> None:
    """Refuse (InputError) a header without names, or with an empty one."""
    empty = [position for position, name in enumerate(names, start=1) if not name.strip()]
    if empty or not names:
        raise InputError(
            f"{path}: column {empty[0] if empty else 1} of {max(len(names), 1)} has no name in the "
            "header; give every column a name"
        )


def refuse_repeated(names: list[str], path: Path) -> None:
    """Refuse (InputError) column names that occur more than once."""
    twice = [name for name, uses in Counter(names).items() if uses > 1]
    if twice:
        listed = listed_names(twice, names, 5)
        raise InputError(
            f"{path}: column names that occur more than once: {listed}; rename the columns"
        )


def _line_of_error(path: Path, separator: str) -> int:
    """Return the line where the first malformed row starts; again only to explain a refusal."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        line = 1
        try:
            for _ in reader:
                line = reader.line_num + 1
        except csv.Error:
            pass
        return line
