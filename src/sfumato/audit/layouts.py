"""What each layout shows of its groups, once everything in it has been found consistent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from sfumato.audit.coded import coded
from sfumato.audit.domains import Domain
from sfumato.audit.groups import (
    GroupedTable,
    check_alike,
    check_distinct,
    check_sizes,
    grouped,
    smallest_crowds,
)
from sfumato.audit.local import examine_local
from sfumato.audit.sets import examine_sets
from sfumato.audit.statistics import Evidence, SensitiveValues
from sfumato.audit.structure import (
    anatomy_tables,
    attribute_blocks,
    check_roles,
    record_tables,
    unit_tables,
)
from sfumato.audit.units import stated_sizes, stated_values
from sfumato.errors import ReleaseDamaged
from sfumato.release import Release, TableEntry
from sfumato.schema.attribute import Role


def examine(release: Release) -> Evidence:
    """Return what the release shows; ReleaseDamaged where it contradicts itself."""
    layout = release.manifest.layout
    if layout not in LAYOUTS:
        raise ReleaseDamaged(f"layout '{layout}' cannot be audited by this version")
    return LAYOUTS[layout](release)


def _generalized(release: Release) -> Evidence:
    """Rows of a group share all quasi-identifier cells, so that the group is the crowd."""
    check_roles(release.manifest)
    reader = _Reader(release)
    records = reader.read(record_tables(release.manifest)[0])
    check_sizes([records], release.manifest.rows)
    quasi = [e.name for e in release.manifest.attributes if e.role is Role.QUASI_IDENTIFIER]
    check_alike(records, quasi)
    return reader.evidence([records])


def _anatomized(release: Release) -> Evidence:
    """Quasi-identifiers stand there as they are: a crowd is the people with one combination."""
    check_roles(release.manifest)
    reader = _Reader(release)
    tables = [reader.read(entry) for entry in anatomy_tables(release.manifest)]
    for table in tables:
        check_distinct(table)
    check_sizes(tables, release.manifest.rows)
    evidence = reader.evidence(tables)
    crowds = evidence.sizes.copy()
    quasi = [table for table in tables if table.name.startswith("qi_")]
    repeats = np.zeros((len(quasi), len(crowds)), dtype=np.int64)
    for i, table in enumerate(quasi):
        # Where people have several rows, those of one combination may all be one person's.
        alike = np.ones_like(table.counts) if evidence.note else table.counts
        np.minimum.at(crowds, table.groups, alike)
        np.maximum.at(repeats[i], table.groups, table.counts)
    return replace(evidence, crowds=crowds, repeats=repeats if quasi else None)


def _sliced(release: Release) -> Evidence:
    """Blocks of quasi-identifiers are permuted apart: a crowd shares the cells of one block."""
    manifest = release.manifest
    check_roles(manifest)
    (entry,) = record_tables(manifest)
    if unit_tables(manifest):
        raise ReleaseDamaged("a sliced release has one row a person, and no tables of people")
    blocks = attribute_blocks(manifest)
    reader = _Reader(release)
    records = reader.read(entry)
    check_sizes([records], manifest.rows)
    evidence = reader.evidence([records])
    crowds = evidence.sizes
    for block in blocks:
        if manifest.attribute(block[0]).role is Role.QUASI_IDENTIFIER:
            crowds = np.minimum(crowds, smallest_crowds(records, block))
    return replace(evidence, crowds=crowds)


LAYOUTS: dict[str, Callable[[Release], Evidence]] = {
    "generalized": _generalized,
    "anatomized": _anatomized,
    "sliced": _sliced,
    "local": examine_local,
    "sets": examine_sets,
}


class _Reader:
    """Reads the tables of one release, checking every cell against its attribute's domain."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._domains = {
            entry.name: Domain.of(entry, release.hierarchies.get(entry.name))
            for entry in release.manifest.attributes
        }
        self._values: dict[tuple[str, str], pa.Array] = {}

    def read(self, entry: TableEntry) -> GroupedTable:
        """Return a table by group; its cells have been checked."""
        table = self._release.tables[entry.name]
        columns = {name: coded(table[name]) for name in entry.attributes}
        for name, column in columns.items():
            self._values[entry.name, name] = self._domains[name].check(column)
        return grouped(entry.name, table, columns)

    def evidence(self, tables: Sequence[GroupedTable]) -> Evidence:
        """Return what tables of the same groups show of sensitive values, in people."""
        people = tables[0].sizes
        sensitive = {
            name: self._sensitive(table, name)
            for table in tables
            for name in table.columns
            if self._domains[name].entry.role is Role.SENSITIVE
        }
        entries = unit_tables(self._release.manifest)
        if not entries:
            return Evidence(people, people, sensitive)
        stated = [self.read(entry) for entry in entries]
        people = stated_sizes(stated[0], people)
        for table in stated[1:]:
            (name,) = table.columns
            values = self._values[table.name, name]
            sensitive[name] = stated_values(table, values, sensitive[name], people)
        return Evidence(people, people, sensitive, "given the stated unit counts")

    def _sensitive(self, table: GroupedTable, name: str) -> SensitiveValues:
        return SensitiveValues.count(
            self._domains[name],
            self._values[table.name, name],
            table.groups,
            table.columns[name].codes,
            table.counts,
            len(table.sizes),
        )
