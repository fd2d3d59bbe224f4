"""Parquet files as Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import InputError
from sfumato.io.csv_text import refuse_repeated
from sfumato.schema.unfolding import refuse_unfolding


def read_parquet(path: Path) -> pa.Table:
    """Return the table in a Parquet file.

    Refuses (InputError) what is not a Parquet file, and empty or repeated column names.
    """
    try:
        # Not `read_table`, which takes folder names such as `year=2026` for columns.
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if not all(name.strip() for name in names):
                raise InputError(f"{path}: a column has no name; give every column a name")
            refuse_repeated(names, path)
            refuse_unfolding(file.metadata.num_rows, file.schema_arrow)
            return file.read()
    except MemoryError:  # which Arrow's own lack of memory is, too
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # it cannot be opened; one without a number is about what is in the file
        raise InputError(
            f"{path}: this is not a Parquet file, or a damaged one; write it again"
        ) from None


def join_parquet(parts: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of the parts one after the other.

    Refuses (InputError) columns whose types cannot be united.
    """
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException:
        name = next(n for n in parts[0].column_names if len({p.field(n).type for p in parts}) > 1)
        raise InputError(
            f"column '{name}' has types in the {len(parts)} files that do not go together; "
            "write all parts with the same types"
        ) from None
