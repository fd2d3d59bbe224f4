"""What each layout shows of its groups, once everything in it has been found consistent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.audit.coded import coded
from sfumato.audit.domains import Domain
from sfumato.audit.groups import (
    GroupedTable,
    check_alike,
    check_counted,
    check_distinct,
    check_means,
    check_sizes,
    ends_alike,
    grouped,
    of_sizes,
    smallest_crowds,
)
from sfumato.audit.local import examine_local
from sfumato.audit.recoding import check_recoding
from sfumato.audit.sets import examine_sets
from sfumato.audit.stated_method import check_method
from sfumato.audit.statistics import Evidence, SensitiveValues, WhenAsked
from sfumato.audit.structure import (
    anatomy_tables,
    attribute_blocks,
    check_roles,
    record_tables,
    unit_tables,
)
from sfumato.audit.tokens import Traces, people_in, pseudonym_of, remarks, traces
from sfumato.audit.transitions import examine_transitions
from sfumato.audit.units import stated_sizes, stated_values
from sfumato.audit.weights import check_weights
from sfumato.audit.withheld_cells import check_withheld_cells
from sfumato.errors import ReleaseDamaged
from sfumato.release import Release, TableEntry
from sfumato.release.transitions import is_randomised
from sfumato.release.weights import weight_of
from sfumato.schema.attribute import Role

Ints = npt.NDArray[np.int64]

NOTHING: Mapping[str, SensitiveValues] = MappingProxyType({})
_TABLES_AT_A_TIME = 2  # whose cells are in memory


def examine(release: Release) -> Evidence:
    """Return what the release shows; ReleaseDamaged where it contradicts itself."""
    layout = release.manifest.layout
    if layout not in LAYOUTS:
        raise ReleaseDamaged(f"layout '{layout}' cannot be audited by this version")
    pseudonym_of(release.manifest)  # refused where it has no place
    weight_of(release.manifest)  # as well
    evidence = LAYOUTS[layout](release)
    check_recoding(release)
    check_method(release.manifest)
    return evidence


def examine_joined(releases: Sequence[Release]) -> list[Evidence]:
    """Return what each of several releases shows of people who are alike in all of them.

    Refuses (ReleaseDamaged) what `examine` refuses, and releases without pseudonyms.
    """
    return [
        _generalized(release, joined)
        for release, joined in zip(releases, traces(releases), strict=True)
    ]


def _generalized(release: Release, joined: Traces | None = None) -> Evidence:
    """Rows of a group share all quasi-identifier cells, so that the group is the crowd.

    Where tokens tell whose a row is, the crowd is those whose rows lie in the same groups: of this
    release, or of all that it is `joined` with.
    """
    if is_randomised(release.manifest):
        return examine_transitions(release)
    check_roles(release.manifest)
    reader = _Reader(release)
    records = reader.read(record_tables(release.manifest)[0])
    check_sizes([records], release.manifest.rows)
    quasi = [e.name for e in release.manifest.attributes if e.role is Role.QUASI_IDENTIFIER]
    check_alike(records, quasi)
    check_means(release.manifest, records)
    check_weights(release, records)
    check_withheld_cells(release)
    evidence = reader.evidence([records])
    if pseudonym_of(release.manifest) is None:
        return evidence
    found = reader.crowds(records, evidence, joined or traces([release])[0])
    return replace(found, remarks=remarks(release.manifest))


def _anatomized(release: Release) -> Evidence:
    """Quasi-identifiers stand there as they are: a crowd is the people with one combination."""
    check_roles(release.manifest)
    reader = _Reader(release)
    # two tables at a time: while they are judged, they are written
    with ThreadPoolExecutor(_TABLES_AT_A_TIME) as threads:
        found = list(threads.map(reader.anatomized, anatomy_tables(release.manifest)))
    tables = [each.table for each in found]
    check_sizes(tables, release.manifest.rows)
    counted = {name: own for each in found for name, own in each.counted.items()}
    evidence = reader.evidence(tables, counted)
    for each in found:
        for own in each.counted.values():
            check_counted(each.table, own.histogram)
    repeats = [each.repeats for each in found if each.repeats is not None]
    fewest = [each.fewest for each in found if each.fewest is not None]
    # Where people have several rows, those of one combination may all be one person's.
    alone = [np.ones_like(evidence.sizes)] if evidence.note and fewest else fewest
    crowds = np.minimum.reduce([evidence.sizes, *alone])
    return replace(evidence, crowds=crowds, repeats=np.array(repeats) if repeats else None)


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


class _Anatomized(NamedTuple):
    """What a table of an anatomised release shows: of sensitive values if it has no others, and of
    people who share a combination, in each group the most and the fewest, if these are known."""

    table: GroupedTable
    counted: Mapping[str, SensitiveValues]
    repeats: Ints | None
    fewest: Ints | None


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

    def anatomized(self, entry: TableEntry) -> _Anatomized:
        """Return what a table of an anatomised release shows; no group lists anything twice.

        That of sensitive values alone is left to `check_counted`: they are counted in any case.
        """
        table = self.read(entry)
        is_secret = [self._is_sensitive(name) for name in table.columns]
        if is_secret == [True] and not unit_tables(self._release.manifest):
            counted = {name: self._sensitive(table, name) for name in table.columns}
            return _Anatomized(table, counted, None, None)
        check_distinct(table)
        if any(is_secret):
            return _Anatomized(table, {}, None, None)
        if not entry.name.startswith("qi_"):
            return _Anatomized(of_sizes(table), {}, None, None)
        return _Anatomized(of_sizes(table), {}, *ends_alike(table))

    def evidence(
        self, tables: Sequence[GroupedTable], counted: Mapping[str, SensitiveValues] = NOTHING
    ) -> Evidence:
        """Return what tables of the same groups show of sensitive values, in people.

        Those of some attributes may have been `counted` before.
        """
        people = tables[0].sizes
        sensitive = WhenAsked(
            {
                name: partial(self._sensitive, table, name)
                for table in tables
                for name in table.columns
                if self._is_sensitive(name)
            },
            counted,
        )
        entries = unit_tables(self._release.manifest)
        if not entries:
            return Evidence(people, people, sensitive)
        stated = [self.read(entry) for entry in entries]
        people = stated_sizes(stated[0], people)
        of_people = {}
        for table in stated[1:]:
            (name,) = table.columns
            values = self._values[table.name, name]
            of_people[name] = stated_values(table, values, sensitive[name], people)
        return Evidence(people, people, of_people, "given the stated unit counts")

    def crowds(self, records: GroupedTable, stated: Evidence, known: Traces) -> Evidence:
        """Return what records show of crowds of people, since it is known whose each record is.

        Refuses (ReleaseDamaged) numbers of people that the tokens belie.
        """
        people, groups = known.people, records.groups.astype(np.int64)
        if not np.array_equal(people_in(groups, people, len(stated.sizes)), stated.sizes):
            raise ReleaseDamaged("tokens belie the numbers of people in the groups")
        present, crowds = np.unique(known.crowds, return_inverse=True)
        sensitive = {}
        for name, values in stated.sensitive.items():
            own = self._of_people(records, name, groups, people)
            if not own.histogram.equals(values.histogram):
                raise ReleaseDamaged(f"tokens belie how many people have the values of '{name}'")
            sensitive[name] = self._of_people(records, name, crowds, people)
        sizes = people_in(crowds, people, len(present))
        return Evidence(sizes, sizes, sensitive)

    def _is_sensitive(self, name: str) -> bool:
        return self._domains[name].entry.role is Role.SENSITIVE

    def _of_people(
        self, table: GroupedTable, name: str, places: Ints, people: Ints
    ) -> SensitiveValues:
        """Return how many people have each value in each place: a group, or a crowd."""
        codes, null_code = table.columns[name].codes, table.columns[name].null_code
        count, known = int(places.max(initial=-1)) + 1, codes != null_code
        width = int(people.max(initial=0)) + 1
        # one entry a person and value, however many rows say so
        pairs = np.unique((places[known] * (null_code + 1) + codes[known]) * width + people[known])
        has_some = people_in(places[known], people[known], count)
        lacking = people_in(places, people, count) - has_some
        where = np.concatenate([pairs // width // (null_code + 1), np.arange(count)])
        which = np.concatenate([pairs // width % (null_code + 1), np.full(count, null_code)])
        often = np.concatenate([np.ones(len(pairs), dtype=np.int64), lacking])
        found = SensitiveValues.count(
            self._domains[name],
            self._values[table.name, name],
            where[often > 0],
            which[often > 0],
            often[often > 0],
            count,
        )
        return replace(found, histogram=replace(found.histogram, present=has_some))

    def _sensitive(self, table: GroupedTable, name: str) -> SensitiveValues:
        return SensitiveValues.count(
            self._domains[name],
            self._values[table.name, name],
            table.groups,
            table.columns[name].codes,
            table.counts,
            len(table.sizes),
        )
