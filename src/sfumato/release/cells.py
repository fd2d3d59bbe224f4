"""The cell grammar: how a published cell says what is known about a value.

    25                    an exact value            "Ward 3, east"        one that needs quoting
    [25, 28]              a closed range            {null, [25, 28]}      … or missing
    {Female, Male}        one of these values       {null, Female}        … or missing
    Europe                a node of a hierarchy     *                     anything (or suppressed)
    null                  missing, and said so in a generalised cell

Every cell has exactly one spelling, and `parse` refuses the others: an audit may then compare
cells as texts, and nobody can pass one value off as two, or hide a message in the order of a set.
A missing *exact* cell is not text at all (a Parquet null, an empty CSV field).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import lru_cache

from sfumato.errors import ParameterError, ReleaseDamaged

STAR = "*"
NULL = "null"

# One value inside a range or set: a JSON string, or a text without any mark of the grammar and
# without a blank at either end.
ITEM_PATTERN = (
    r'(?:"(?:[^"\\]|\\.)*"'
    r'|[^{}\[\],|" ](?:[^{}\[\],|"]*[^{}\[\],|" ])?)'
)
_ITEM = re.compile(ITEM_PATTERN, re.DOTALL)
_ITEM_OF_LIST = re.compile(rf"({ITEM_PATTERN})(?:, |\Z)", re.DOTALL)
_RANGE = re.compile(rf"\[({ITEM_PATTERN}), ({ITEM_PATTERN})\]", re.DOTALL)
_SET = re.compile(rf"\{{(null, )?({ITEM_PATTERN}(?:, {ITEM_PATTERN})*)\}}", re.DOTALL)
_RANGE_OR_NULL = re.compile(rf"\{{null, ({_RANGE.pattern})\}}", re.DOTALL)
_MARKS = frozenset('{}[],|"')


@dataclass(frozen=True, slots=True)
class Exact:
    """The value itself, as text."""

    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """Some value from `low` to `high`, both included, or (with null) a missing one."""

    low: str
    high: str
    with_null: bool = False


@dataclass(frozen=True, slots=True)
class ValueSet:
    """One of these values, or (with null) a missing one."""

    texts: tuple[str, ...]
    with_null: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """Some value below the inner hierarchy node of this label."""

    label: str


@dataclass(frozen=True, slots=True)
class Star:
    """Any value, or a missing one: the root of a hierarchy, or a suppressed cell."""


@dataclass(frozen=True, slots=True)
class Null:
    """A missing value."""


Cell = Exact | Range | ValueSet | Node | Star | Null


@lru_cache(maxsize=1 << 12)  # the ends of many ranges are few values
def quote(text: str) -> str:
    """Return the cell of an exact value: its text, or a JSON string where that could be misread.

    >>> quote("Bachelors"), quote("Ward 3, east"), quote("null")
    ('Bachelors', '"Ward 3, east"', '"null"')
    """
    return json.dumps(text, ensure_ascii=False) if _needs_quotes(text) else text


def range_cell(low: str, high: str, with_null: bool = False) -> str:
    """Return the cell of a closed range.

    >>> range_cell("25", "28"), range_cell("25", "28", with_null=True)
    ('[25, 28]', '{null, [25, 28]}')
    >>> range_cell("25", "25", with_null=True)
    '{null, 25}'
    """
    if low == high:
        return set_cell((low,), with_null)
    cell = f"[{item(low)}, {item(high)}]"
    return f"{{{NULL}, {cell}}}" if with_null else cell


def set_cell(texts: Iterable[str], with_null: bool = False) -> str:
    """Return the cell of a set of values, sorted by text; one value alone is an exact cell.

    >>> set_cell(["Male", "Female"]), set_cell(["Female"], with_null=True), set_cell(["Female"])
    ('{Female, Male}', '{null, Female}', 'Female')
    """
    ordered = sorted(set(texts))
    if not ordered:
        if with_null:
            return NULL
        raise ParameterError("a set of values needs at least one value")
    if len(ordered) == 1 and not with_null:
        return quote(ordered[0])
    items = [NULL] if with_null else []
    return f"{{{', '.join([*items, *map(item, ordered)])}}}"


def node_cell(label: str) -> str:
    """Return the cell of a hierarchy node: `*` and labels in range form stand as they are.

    >>> node_cell("*"), node_cell("[0, 17]"), node_cell("North, South"), node_cell("Europe")
    ('*', '[0, 17]', '"North, South"', 'Europe')
    """
    return label if label == STAR or _is_range(label) else quote(label)


def item(text: str) -> str:
    """Return a value as it stands inside a range or set, where an empty text would not show."""
    return quote(text) or '""'


def item_text(spelled: str) -> str:
    """Return the value that stands as `spelled` inside a range or set."""
    if not spelled.startswith('"'):
        return spelled
    text = json.loads(spelled)
    assert isinstance(text, str)
    return text


def parse(cell: str, labels: Container[str] = ()) -> Cell:
    """Return what a cell says; `labels` are the labels of the attribute's inner hierarchy nodes.

    Refuses (ReleaseDamaged) any text that the functions above would not have written.

    >>> parse("{null, [25, 28]}")
    Range(low='25', high='28', with_null=True)
    >>> parse("Europe", labels={"Europe"}), parse("Europe")
    (Node(label='Europe'), Exact(text='Europe'))
    """
    try:
        found = _read(cell, labels)
    except ValueError:  # a JSON string with an invalid escape
        found = None
    if found is None or _write(found) != cell:
        raise ReleaseDamaged("a cell does not follow the cell grammar; the file was altered")
    return found


def _read(cell: str, labels: Container[str]) -> Cell | None:
    """Return what the cell seems to say, without looking at its exact spelling."""
    if cell == STAR:
        return Star()
    if cell == NULL:
        return Null()
    if _is_range(cell) and cell in labels:
        return Node(cell)
    if match := _RANGE.fullmatch(cell):
        return Range(item_text(match[1]), item_text(match[2]))
    if match := _RANGE_OR_NULL.fullmatch(cell):
        return Range(item_text(match[2]), item_text(match[3]), with_null=True)
    if match := _SET.fullmatch(cell):
        texts = tuple(map(item_text, _ITEM_OF_LIST.findall(match[2])))
        return ValueSet(texts, with_null=match[1] is not None)
    if cell == "" or _ITEM.fullmatch(cell):
        text = item_text(cell)
        # A label in range form is written bare, so the same text in quotes is a value.
        return Node(text) if text in labels and not _is_range(text) else Exact(text)
    return None


def _write(cell: Cell) -> str:
    """Return the one spelling of a cell."""
    match cell:
        case Exact(text):
            return quote(text)
        case Range(low, high, with_null):
            return range_cell(low, high, with_null)
        case ValueSet(texts, with_null):
            return set_cell(texts, with_null)
        case Node(label):
            return node_cell(label)
        case Star():
            return STAR
        case Null():
            return NULL


def _needs_quotes(text: str) -> bool:
    return (
        text in (NULL, STAR)
        or not _MARKS.isdisjoint(text)
        or text != text.strip()
        or (not text.isprintable() and any(unicodedata.category(c) == "Cc" for c in text))
    )


def _is_range(text: str) -> bool:
    return text.startswith("[") and _RANGE.fullmatch(text) is not None
