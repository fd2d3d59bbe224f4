"""A release in memory: what makers hand out and judges look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from sfumato.databases.address import Address
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release.manifest import Manifest
from sfumato.release.tables import normal_form
from sfumato.schema.hierarchy import Hierarchy

if TYPE_CHECKING:  # the room that answers knows this one, and is loaded by the methods that ask
    from sfumato.answers import Answerer, Estimate, Query, Result
    from sfumato.predicates import Predicate

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
    _kept: Answerer | None = field(default=None, init=False)

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

    def restated(self, manifest: Manifest) -> Release:
        """Return the same tables and hierarchies under a manifest that says other things of them.

        Tables are looked through again only if the manifest describes their columns otherwise.
        """
        own = self.manifest
        if (manifest.layout, manifest.attributes, manifest.tables) != (
            (own.layout, own.attributes, own.tables)
        ):
            return Release(manifest, self.tables, self.hierarchies)
        made = object.__new__(Release)
        for name, value in (
            ("manifest", manifest),
            ("tables", self.tables),
            ("hierarchies", self.hierarchies),
            ("_kept", None),
        ):
            object.__setattr__(made, name, value)
        return made

    def __repr__(self) -> str:
        """Say what it is without its cells: representations end up in tracebacks."""
        tables = ", ".join(f"{name}: {table.num_rows} rows" for name, table in self.tables.items())
        return f"Release({self.manifest.method}, {self.manifest.layout}; {tables})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was read to answer."""
        return Release, (self.manifest, self.tables, self.hierarchies)

    def save(
        self,
        path: str | PathLike[str],
        *,
        format: FileFormat = "parquet",
        force: bool = False,
        formula_guard: bool = True,
    ) -> None:
        """Write the release as a folder, or as a schema in a database.

        See `sfumato.release.files.save` and `sfumato.release.in_database.save`; in a database
        there are no formats.
        """
        with self.saving(path, format=format, force=force, formula_guard=formula_guard):
            pass

    @contextmanager
    def saving(
        self,
        path: str | PathLike[str],
        *,
        format: FileFormat = "parquet",
        force: bool = False,
        formula_guard: bool = True,
    ) -> Iterator[None]:
        """Write the release as `save` does, but let it appear only when the block ends well.

        Tables of a folder are written while the block runs, those of a database after it.
        """
        from sfumato.release import files, in_database

        if (address := Address.of(path)) is None:
            with files.saving(self, path, format=format, force=force, formula_guard=formula_guard):
                yield
            return
        yield
        in_database.save(self, address, force=force)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Release:
        """Return the release in a folder, or in a schema of a database.

        See `sfumato.release.files.load` and `sfumato.release.in_database.load`.
        """
        from sfumato.release import files, in_database

        if (address := Address.of(path)) is not None:
            return in_database.load(address)
        return files.load(path)

    def count(self, where: Predicate | str | None = None, *, weighted: bool = True) -> Estimate:
        """Return how many rows satisfy a predicate, with bounds; see `Answerer.answer`.

        Where records have weights, these are added up unless `weighted` is false.

        >>> import sfumato as sf
        >>> people = pa.table({"age": [25, 28, 41, 47], "job": ["Cook", "Nurse", "Cook", "Cook"]})
        >>> schema = sf.Schema.of(age="quasi-identifier", job="sensitive")
        >>> release = sf.Mondrian(k=2).publish(people, schema)
        >>> found = release.count("age > 30 and job = 'Cook'")
        >>> found.value, found.low, found.high
        (2.0, 2.0, 2.0)
        """
        from sfumato.answers import Count

        return self._answerer().answer(Count(), where, weighted=weighted)

    def sum(
        self, attribute: str, where: Predicate | str | None = None, *, weighted: bool = True
    ) -> Estimate:
        """Return the sum of an attribute over the rows that satisfy a predicate, with bounds."""
        from sfumato.answers import Sum

        return self._answerer().answer(Sum(attribute), where, weighted=weighted)

    def average(
        self, attribute: str, where: Predicate | str | None = None, *, weighted: bool = True
    ) -> Estimate:
        """Return the mean of an attribute over the rows that satisfy a predicate, with bounds."""
        from sfumato.answers import Average

        return self._answerer().answer(Average(attribute), where, weighted=weighted)

    def query(self, query: Query | str, *, weighted: bool = True) -> Result:
        """Return the answer to `SELECT COUNT(*) … WHERE … GROUP BY …`; see `Answerer.query`."""
        return self._answerer().query(query, weighted=weighted)

    def to_microdata(self, seed: int) -> pa.Table:
        """Return one table of rows that the release may have come from, for tools that want rows.

        For plots, and to try programs out. *Not* for evidence about any person: no row is
        anybody's. *Not* for correlations, models or tests of significance: values are drawn cell
        by cell, so that what belongs together is torn apart, and another seed gives another
        table. *Not* for counts, sums and averages: those of `query` are better, and have bounds.
        *Not* to be published as the original, or as a safer form of the release: it is neither.
        `sfumato.answers.to_microdata` says how values are drawn.

        Refuses (ParameterError) seeds below 0.
        """
        from sfumato.answers import to_microdata
        from sfumato.randomness import repeatable

        if seed < 0:
            raise ParameterError("a seed is a whole number from 0 on")
        return to_microdata(self, repeatable(seed))

    def _answerer(self) -> Answerer:
        """Return what reads the release to answer, made at the first question and kept."""
        from sfumato.answers import Answerer

        if self._kept is None:
            object.__setattr__(self, "_kept", Answerer(self))
        assert self._kept is not None
        return self._kept
