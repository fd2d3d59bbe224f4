"""A release in memory: what makers hand out and judges look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal

import pyarrow as pa

from sfumato.errors import ReleaseDamaged
from sfumato.release.manifest import Manifest
from sfumato.release.tables import normal_form
from sfumato.schema.hierarchy import Hierarchy

FileFormat = Literal["parquet", "csv"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release:
    """A manifest with its tables and hierarchies by name; all of it is public.

    Text cells follow the cell grammar. The tables are brought into one form (`tables.py`) here, so
    that nothing of the input rides along with the cells.

    Refuses (ReleaseDamaged) tables and hierarchies that do not fit the manifest.
    """

    manifest: Manifest
    tables: Mapping[str, pa.Table]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entries = self.manifest.tables
        if {entry.name for entry in entries} != self.tables.keys():
            raise ReleaseDamaged("the tables of the release are not those that its manifest lists")
        if not self.hierarchies.keys() <= {entry.name for entry in self.manifest.attributes}:
            raise ReleaseDamaged("a hierarchy belongs to no attribute in the manifest")
        tables = {
            entry.name: normal_form(self.tables[entry.name], entry, self.manifest)
            for entry in entries
        }
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "hierarchies", dict(self.hierarchies))

    def __repr__(self) -> str:
        """Say what it is without its cells: representations end up in tracebacks."""
        tables = ", ".join(f"{name}: {table.num_rows} rows" for name, table in self.tables.items())
        return f"Release({self.manifest.method}, {self.manifest.layout}; {tables})"

    def save(
        self,
        path: str | PathLike[str],
        *,
        format: FileFormat = "parquet",
        force: bool = False,
        formula_guard: bool = True,
    ) -> None:
        """Write the release as a folder; see `sfumato.release.files.save`."""
        from sfumato.release import files

        files.save(self, path, format=format, force=force, formula_guard=formula_guard)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Release:
        """Return the release in a folder; see `sfumato.release.files.load`."""
        from sfumato.release import files

        return files.load(path)
