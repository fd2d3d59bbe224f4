"""Whether the names of columns are names, or the first row of a table that has no header.

Such a row is somebody's: it must not be repeated in messages, and it is missing from the data.
Messages are careful: a single number among the names is enough. A column may well be called 2020,
so that warnings look at the whole header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.schema.lazy_table import Columns, LazyTable
from sfumato.schema.text import to_texts

_NUMBER = re.compile(r"\s*[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?\s*")
_DATE = re.compile(r"\s*[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}([T ][0-9:.+Z-]+)?\s*")
_MAIL = re.compile(r"\s*[^@\s]+@[^@\s]+\.[A-Za-z]+\s*")
_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-", "."})
_ROWS = 10_000  # that are looked at
_SHOWN = 5


def look_like_cells(names: Sequence[str]) -> bool:
    """Return whether names are not to be repeated, as one that is a number or a date may be data.

    Years and places that count up are names.

    >>> look_like_cells(["39", "State-gov", "Bachelors", "Male"])
    True
    >>> look_like_cells(["country", "2019", "2020", "2021"]), look_like_cells(["age", "sex"])
    (False, False)
    """
    cells = [name for name in names if _is_cell(name)]
    return bool(cells) and not _are_counted(cells)


def about_header(table: Columns) -> tuple[str, ...]:
    """Return a warning if the names seem to be the first row of the data.

    They do where no column of numbers, dates or truth values has a word for its name, and the names
    of at least half of the columns are values that stand in them, or lie among them. The warning
    tells how many and where, and none of the names.
    """
    names = table.column_names
    if isinstance(table, LazyTable):  # a Parquet file states its names
        return ()
    if _are_counted([name for name in names if _is_cell(name)]):
        return ()
    head = table.slice(0, _ROWS)
    found = [_is_own(name, column) for name, column in zip(names, head.columns, strict=True)]
    places = [place for place, own in enumerate(found, start=1) if own]
    if False in found or len(places) < 2 or 2 * len(places) < len(names):
        return ()
    listed = ", ".join(map(str, places[:_SHOWN])) + (" …" if len(places) > _SHOWN else "")
    return (
        f"the table seems to have no header: {len(places)} of {len(names)} column names look like "
        f"values of their column (columns {listed}), so that the first row stands for names, also "
        "in a policy and in a release; add a row of names",
    )


def listed_names(names: Sequence[str], header: Sequence[str], limit: int = 12) -> str:
    """Return names for a message; how many there are, where the header looks like a row of data."""
    if look_like_cells(header):
        return (
            f"{len(names)} of {len(header)} whose names look like data, which are not repeated "
            "here; does the table have a header?"
        )
    listed = ", ".join(f"'{name}'" for name in names[:limit])
    return listed if len(names) <= limit else f"{listed} and {len(names) - limit} more"


def _is_cell(name: str) -> bool:
    return any(each.fullmatch(name) for each in (_NUMBER, _DATE, _MAIL))


def _are_counted(cells: Sequence[str]) -> bool:
    """Whether these are numbers at one distance from each other, as years and places are."""
    if len(cells) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", cell) for cell in cells):
        return False
    steps = {int(other) - int(one) for one, other in pairwise(cells)}
    return len(steps) == 1 and steps != {0} and (len(cells) > 2 or steps == {1})


def _is_own(name: str, column: pa.ChunkedArray) -> bool | None:
    """Whether a name is a value of its column; None where that cannot be said.

    False, which proves that there is a header, only for words over numbers, dates and truth values.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if name.strip().lower() in _MISSING or column.null_count == len(column):
        return None
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        found = pc.any(pc.equal(column, pa.scalar(name, column.type))).as_py()
        return True if found or _is_cell(name) else None
    if not _is_cell(name):
        words = to_texts(pc.unique(column)).to_pylist() if pa.types.is_boolean(column.type) else []
        return name.strip().lower() in words
    try:
        value = pa.scalar(name.strip()).cast(column.type)
        ends = pc.min_max(column)
        return (
            bool(
                pc.and_(
                    pc.less_equal(ends["min"], value), pc.less_equal(value, ends["max"])
                ).as_py()
            )
            or None
        )
    except (pa.ArrowException, ValueError):
        return None
