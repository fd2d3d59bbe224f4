"""Columns that a file calls texts or times and whose cells are not: found where a table is read.

Writers of Parquet (and SQLite itself) check neither: bytes of any kind can stand in a column of
texts, and any word can be the name of a time zone. Arrow carries both along until somebody asks for
a value, far from the file that is to blame.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
import pyarrow as pa

from sfumato.databases.source import Source
from sfumato.errors import InputError
from sfumato.schema.kinds import is_known_zone

_BEYOND_ASCII = 0x80
Place = str | PathLike[str] | Source


def refuse_unknown_zones(schema: pa.Schema, place: Place) -> None:
    """Refuse (InputError) columns of times in a zone that nobody knows, by name."""
    for field in schema:
        dtype = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_timestamp(dtype) and dtype.tz is not None and not is_known_zone(dtype.tz):
            raise InputError(
                f"{place}: column '{field.name}' has times in a time zone that is unknown here; "
                "write them in UTC, or without a zone"
            )


def refuse_bad_texts(table: pa.Table, place: Place) -> None:
    """Refuse (InputError) columns of texts that are not UTF-8, by name.

    Of a column that is coded by a dictionary only the dictionary is looked at.
    """
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not all(_is_sound(chunk) for chunk in column.chunks):
            raise bad_texts(name, place)


def bad_texts(name: str, place: Place) -> InputError:
    """Return the error of a column whose texts are not UTF-8."""
    return InputError(
        f"{place}: column '{name}' has texts that are not UTF-8; write them in UTF-8, or leave the "
        "column out of the file"
    )


def _is_sound(cells: pa.Array) -> bool:
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary
    kinds = pa.types
    is_text = kinds.is_string(cells.type) or kinds.is_large_string(cells.type)
    if not is_text and not kinds.is_string_view(cells.type):
        return True
    if is_text and _is_ascii(cells):
        return True
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:  # its message may hold a cell
        return False
    return True


def _is_ascii(texts: pa.Array) -> bool:
    """Whether the bytes of all texts are ASCII, which is sound and takes next to no time to see."""
    _, places, data = texts.buffers()
    if data is None or not data.size or not len(texts):
        return True
    offsets = np.frombuffer(places, np.int64 if pa.types.is_large_string(texts.type) else np.int32)
    start, end = offsets[texts.offset], offsets[texts.offset + len(texts)]
    content = np.frombuffer(data, np.uint8)[start:end]
    return bool(content.max(initial=0) < _BEYOND_ASCII)
