"""Files that unfold to far more than they are: a few bytes can stand for any number of rows."""

from __future__ import annotations

import os

import pyarrow as pa

from sfumato.errors import InputError

# Where the memory of the machine cannot be told.
_ASSUMED = 16 * 2**30
_LEAST_WIDTH = 1  # bytes of a cell; a bit of a truth value counts as much


def refuse_unfolding(rows: int, schema: pa.Schema) -> None:
    """Refuse (InputError) a table that cannot fit into the memory of this machine, before reading.

    Counted is the least that its rows take; texts may take more, which nothing says beforehand.
    """
    least = rows * sum(_width(field.type) for field in schema)
    if least > _memory():
        raise InputError(
            f"the table unfolds to {least / 2**30:,.0f} GiB at least, more than the memory of this "
            "machine; is this the right file? If it is, publish it in parts"
        )


def _width(dtype: pa.DataType) -> int:
    try:
        return max(_LEAST_WIDTH, int(dtype.bit_width) // 8)
    except ValueError:  # texts and lists: at least the place of each
        return 4


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return _ASSUMED
