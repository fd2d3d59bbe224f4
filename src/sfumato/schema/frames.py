"""Any data frame that Arrow can read, as an Arrow table.

No data frame library is imported here: a frame either speaks the Arrow PyCapsule interface or the
data frame interchange protocol, or it belongs to a library that the caller has already loaded.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.interchange

from sfumato.errors import InputError, SfumatoError
from sfumato.schema.lazy_table import Columns, LazyTable


def as_arrow(data: Any) -> pa.Table:
    """Return the frame as an Arrow table with at least one row and distinct column names.

    Reads pandas (without its index) and Polars frames (lazy ones are collected), Arrow tables,
    batches and readers, DuckDB relations, and whatever else has `__arrow_c_stream__`,
    `__arrow_c_array__` or `__dataframe__`. The input is never changed; a reader is used up.

    Refuses (InputError) what is not a table, duplicate column names, and a table without rows.

    >>> as_arrow(pa.record_batch({"age": [33, 41]})).num_rows
    2
    """
    try:
        table = _read(data)
    except (SfumatoError, MemoryError):
        raise
    except Exception as error:
        # A conversion error quotes the cell it stumbled over, so it may neither be shown nor kept.
        kind = type(error).__name__
        raise InputError(
            f"Arrow cannot read this {type(data).__name__} ({kind}); "
            "convert its columns to plain types, one type a column"
        ) from None
    twice = [name for name, uses in Counter(table.column_names).items() if uses > 1]
    if twice:
        names = ", ".join(f"'{name}'" for name in twice)
        raise InputError(f"column names that occur more than once: {names}; rename the columns")
    if table.num_columns == 0 or table.num_rows == 0:
        raise InputError(
            f"the table is empty ({table.num_rows} rows, {table.num_columns} columns); "
            "there is nothing to publish"
        )
    # The metadata describe the frame that the table came from, down to its index.
    return table.replace_schema_metadata(None)


def as_columns(data: Any) -> Columns:
    """Return the frame as `as_arrow` does, or the lazy table that it is, which is not read.

    Refuses what `as_arrow` refuses.
    """
    return data if isinstance(data, LazyTable) else as_arrow(data)


def _read(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if _is_from(data, "pandas", "DataFrame"):
        return _read_pandas(data)
    if _is_from(data, "polars", "LazyFrame"):
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)])
    if hasattr(data, "to_arrow_table"):  # DuckDB before it spoke the PyCapsule interface
        return data.to_arrow_table()
    if hasattr(data, "__dataframe__"):
        return pyarrow.interchange.from_dataframe(data)
    raise InputError(
        f"cannot read a {type(data).__name__} as a table; pass a pandas, Polars or Arrow table, "
        "a DuckDB relation, or anything with `__arrow_c_stream__`"
    )


def _is_from(data: Any, library: str, name: str) -> bool:
    """Return whether the data is such an object; an unloaded library cannot have made one."""
    kind = getattr(sys.modules.get(library), name, None)
    return kind is not None and isinstance(data, kind)


def _read_pandas(frame: Any) -> pa.Table:
    arrays, unreadable = [], []
    names = [str(name) for name in frame.columns]
    for position, name in enumerate(names):
        try:
            array = pa.array(frame.iloc[:, position], from_pandas=True)
        except Exception:
            unreadable.append(f"'{name}'")
        else:
            arrays.append(array)
    if unreadable:
        raise InputError(
            f"columns of mixed or unsupported type: {', '.join(unreadable)}; "
            "convert each of them to one plain type"
        )
    return pa.table(arrays, names=names)
