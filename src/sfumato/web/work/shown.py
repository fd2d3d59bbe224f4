"""Rows and types as pages show them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def shown_rows(table: pa.Table, count: int, longest: int) -> dict[str, Any]:
    """Return the names and first rows of a table as texts, those that are too long cut."""
    rows = table.slice(0, count)
    columns = [
        [shown_text(each, longest) for each in rows[name].to_pylist()] for name in rows.column_names
    ]
    return {
        "names": rows.column_names,
        "rows": [list(row) for row in zip(*columns, strict=True)],
    }


def shown_text(value: Any, longest: int) -> str | None:
    """Return a value as a text of so many characters at most; None stays None.

    >>> shown_text("abcdef", 4), shown_text(12, 4)
    ('abc…', '12')
    """
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def type_words(dtype: pa.DataType) -> str:
    """Return what people call a type.

    >>> type_words(pa.int16()), type_words(pa.date32())
    ('whole numbers', 'dates')
    """
    if pa.types.is_dictionary(dtype):
        return "categories" + (" in order" if dtype.ordered else "")
    if pa.types.is_boolean(dtype):
        return "yes or no"
    if pa.types.is_integer(dtype):
        return "whole numbers"
    if pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
        return "numbers"
    if pa.types.is_date(dtype):
        return "dates"
    if pa.types.is_temporal(dtype):
        return "times"
    return "text" if pa.types.is_string(dtype) or pa.types.is_large_string(dtype) else str(dtype)
