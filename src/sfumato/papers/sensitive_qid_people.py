"""The tables of the sensitive-QID paper's experiments: categories alone, and queries about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.methods.sensitive_qid import SetProtection
from sfumato.papers.data import Data, complete
from sfumato.randomness import repeatable
from sfumato.schema import Attribute, Kind, Role, Schema
from sfumato.table import Table, encode

BINS = 40
CENSUS_ROWS = 2_458_285  # of the paper's census, of which the file is a sample
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "census": (
        *("age", "sex", "birthplace", "marital_status", "relationship", "education"),
        *("employment", "occupation", "household_size", "salary"),
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """A table of categories, all of whose columns are sensitive quasi-identifiers."""

    rows: pa.Table

    def size(self, name: str) -> int:
        """Return the number of different values of a column."""
        return len(self.rows[name].unique())

    def chosen(self, width: int, queries: int) -> list[list[str]]:
        """Return random sets of so many columns, always the same ones."""
        rng = repeatable(100 + width)
        names = self.rows.column_names
        return [
            [names[i] for i in rng.choice(len(names), width, replace=False)] for _ in range(queries)
        ]

    def protection(self, names: Sequence[str], **asked: Any) -> dict[str, SetProtection]:
        """Return the protection of each column; an l is at most one less than it has values.

        What has two values is then published as it is, as in the paper.
        """
        if "l" not in asked:
            return {name: SetProtection(**asked) for name in names}
        most = {name: max(1, min(asked["l"], self.size(name) - 1)) for name in names}
        return {name: SetProtection(**(asked | {"l": most[name]})) for name in names}

    def coded(self, names: Sequence[str]) -> Table:
        """Return some columns as a coded table."""
        return encode(self.rows.select(list(names)), self.schema(names))

    def schema(self, names: Sequence[str]) -> Schema:
        """Return the roles."""
        return Schema(
            tuple(
                Attribute(name, Role.SENSITIVE_QUASI_IDENTIFIER, kind=Kind.CATEGORICAL)
                for name in names
            )
        )

    def counts(
        self, names: Sequence[str], values: Sequence[Sequence[Any]]
    ) -> npt.NDArray[np.float64]:
        """Return the true cross table, its axes in the order of the values."""
        codes = []
        for name, texts in zip(names, values, strict=True):
            column = pc.cast(self.rows[name], pa.string()).combine_chunks()
            codes.append(pc.index_in(column, pa.array(texts, pa.string())).to_numpy())
        shape = tuple(len(each) for each in values)
        flat = np.ravel_multi_index(tuple(codes), shape)
        return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def people(data: Data, count: int) -> People:
    """Return so many complete rows as categories, or all if there are fewer.

    Numbers are cut into at most 40 equally wide parts. The census of 1990 is resampled.
    """
    if data.about.key == "census-1990":
        return People(resampled(data.rows, count))
    names = COLUMNS.get(data.about.key, tuple(data.rows.column_names))
    rows = complete(data.rows, names)
    columns = {name: in_parts(rows[name]) for name in names}
    order = repeatable(7).permutation(rows.num_rows)[:count]
    return People(pa.table(columns).take(order))


def in_parts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column as texts; numbers of many values as those of equally wide parts."""
    if not pa.types.is_string(column.type) and not pa.types.is_dictionary(column.type):
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if is_number and len(column.unique()) > BINS:
            numbers = column.to_numpy()
            edges = np.linspace(numbers.min(), numbers.max(), BINS + 1)[1:-1]
            column = pa.chunked_array([np.digitize(numbers, edges)])
    return pc.cast(column, pa.string())


def resampled(rows: pa.Table, count: int) -> pa.Table:
    """Return so many rows drawn from these, with the columns that have more than one value."""
    chosen = pa.array(repeatable(7).integers(0, rows.num_rows, count))
    columns = {}
    for name in rows.column_names:
        column = pc.cast(rows[name], pa.string()).combine_chunks().dictionary_encode()
        if len(column.dictionary) > 1:
            columns[name] = column.take(chosen)
    return pa.table(columns)
