"""A table whose columns are read when they are asked for, so that it need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class LazyTable:
    """A table that holds no cell: `read` gives the named columns, and whoever asks keeps them.

    It offers what this package needs of an Arrow table to code it: names, types, the number of
    rows, columns one by one, some of its columns and some of its rows. Every read gives the same
    rows in the same order.

    >>> people = pa.table({"age": [33, 41], "sex": ["f", "m"]})
    >>> table = LazyTable(people.schema, people.num_rows, people.select)
    >>> table["age"].to_pylist(), table.filter(pa.array([False, True]))["sex"].to_pylist()
    ([33, 41], ['m'])
    """

    schema: pa.Schema
    num_rows: int
    read: Callable[[Sequence[str]], pa.Table]

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.schema.names)

    @property
    def num_columns(self) -> int:
        """The number of columns."""
        return len(self.schema)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        return self.read([name])[name]

    def select(self, names: Sequence[str]) -> LazyTable:
        """Return the table with these columns alone."""
        fields = [self.schema.field(name) for name in names]
        return LazyTable(pa.schema(fields), self.num_rows, self.read)

    def filter(self, keep: pa.Array) -> LazyTable:
        """Return the table with the rows alone that are true in `keep`."""

        def kept(names: Sequence[str]) -> pa.Table:
            return self.read(names).filter(keep)

        return LazyTable(self.schema, int(keep.true_count), kept)

    def with_changed(
        self, types: dict[str, pa.DataType], change: Callable[[str, pa.ChunkedArray], Any]
    ) -> LazyTable:
        """Return the table with some columns changed whenever they are read.

        `types` says which, and of what type they then are.
        """

        def changed(names: Sequence[str]) -> pa.Table:
            table = self.read(names)
            columns = [
                change(name, table[name]) if name in types else table[name] for name in names
            ]
            return pa.table(columns, names=list(names))

        fields = [
            pa.field(each.name, types[each.name]) if each.name in types else each
            for each in self.schema
        ]
        return LazyTable(pa.schema(fields), self.num_rows, changed)

    def to_table(self) -> pa.Table:
        """Return the whole table, in memory."""
        return self.read(self.column_names)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the whole table to whatever reads Arrow's streams."""
        return self.to_table().__arrow_c_stream__(requested_schema)


Columns = pa.Table | LazyTable
