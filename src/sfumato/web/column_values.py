"""The different values of a column, as the look at the data left them.

Pages build and check hierarchies on these: however many rows a table has, its columns have few
different values, or are of no use in a hierarchy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import SchemaError
from sfumato.recoding import recode, shifted_columns, steps_from_policy
from sfumato.schema import Attribute, Hierarchy
from sfumato.schema.distinct import Distinct, distinct
from sfumato.schema.kinds import comparable_type
from sfumato.schema.leaf_texts import spelled_as
from sfumato.schema.text import to_texts
from sfumato.table.order import Arrangement, arrange
from sfumato.web.runs import Run
from sfumato.web.work.names import VALUES

MOST_VALUES: Final = 100_000
_VALUE, _COUNT = "value", "count"


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The different values of a column (ordered as its type orders them), and rows of each."""

    cells: pa.ChunkedArray
    values: pa.Array
    counts: npt.NDArray[np.int64]

    @property
    def texts(self) -> list[str]:
        """The values as a hierarchy file spells them."""
        found: list[str] = to_texts(self.values).to_pylist()
        return found

    def arranged(self, attribute: Attribute) -> Arrangement:
        """Return how a run would order and generalise the values.

        Refuses (SchemaError, HierarchyError) what a run would refuse of these values.
        """
        if isinstance(attribute.hierarchy, Hierarchy):
            spelled = spelled_as(attribute.hierarchy, self.values.type)
            attribute = replace(attribute, hierarchy=spelled)
        return arrange(self.values, self.cells, attribute, self.counts)


def write_values(path: Path, found: Distinct, dtype: pa.DataType) -> None:
    """Write the different values of a column of a type, for `read_values`."""
    values, counts = found.values, found.counts[:-1]
    if pa.types.is_dictionary(dtype) and dtype.ordered:
        places = pa.array(np.arange(len(values), dtype=np.int32))
        values = pa.DictionaryArray.from_arrays(places, values, ordered=True)
    else:
        order = pa.compute.array_sort_indices(values.cast(comparable_type(values.type)))
        values, counts = values.take(order), counts[order.to_numpy()]
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        pq.write_table(pa.table({_VALUE: values, _COUNT: counts}), file)


def read_values(run: Run, number: int, keys: Mapping[str, Any], name: str) -> ColumnValues | None:
    """Return the values of a column by its number, after the steps that `keys` recode them by.

    None where it has too many of them, or of a type that cannot be published.

    Refuses (SchemaError) steps that do not fit the values, and shifted dates: which values there
    will be is drawn when a run starts.
    """
    path = run.folder / VALUES / f"{number}.parquet"
    if not path.is_file():
        return None
    # one whole file, without threads: pages are made in several threads already
    table = pq.ParquetFile(path).read(use_threads=False)
    cells, counts = table[_VALUE], table[_COUNT].to_numpy()
    given = keys.get("recode")
    if given is None:
        return ColumnValues(cells, distinct(cells, name).values, counts)
    steps = {name: steps_from_policy(given, name)}
    if shifted_columns(steps):
        raise SchemaError(
            f"column '{name}': its dates are shifted at random by `recode`, so there are no values "
            "to show yet"
        )
    changed = recode(pa.table({name: cells}), steps)[name]
    found = distinct(changed, name)
    sums = np.bincount(found.codes, weights=counts, minlength=len(found.values) + 1)
    return ColumnValues(changed, found.values, sums[:-1].astype(np.int64))
