"""One release from the releases of the parts of a table.

Group and bucket numbers of a part start after those of the parts before it; whoever unites parts
puts them into a random order, so that numbers do not tell which part is which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.release.cells import quote
from sfumato.release.domain import round_outward
from sfumato.release.dtypes import is_text
from sfumato.release.manifest import AttributeEntry, Bounds, Manifest
from sfumato.release.release import Release
from sfumato.release.tables import GROUP, TEXT, is_id
from sfumato.schema.attribute import Kind
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.text import to_texts
from sfumato.table import Table

# What parts have a share of each; any other parameter is the same for all.
_ADDED = ("fakes", "withheld_cells")


@dataclass(frozen=True, slots=True)
class PartSummary:
    """What must be known of the release of a part to unite it with others; no cell is in it.

    `numbers` has, for each table and each of its columns of group or bucket numbers, the largest;
    `texts` the columns of each table that hold texts.
    """

    manifest: Manifest
    hierarchies: Mapping[str, Hierarchy]
    numbers: Mapping[str, Mapping[str, int]]
    texts: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, release: Release) -> PartSummary:
        """Return the summary of a release."""
        return cls(
            release.manifest,
            release.hierarchies,
            {
                name: {
                    column: pc.max(table[column]).as_py() or 0
                    for column in table.column_names
                    if is_id(column)
                }
                for name, table in release.tables.items()
            },
            {
                name: frozenset(f.name for f in table.schema if _holds_texts(f.type))
                for name, table in release.tables.items()
            },
        )


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """The manifest and hierarchies of united parts, and what becomes of their tables.

    `offsets[i][table][column]` is to be added to the numbers of part i; columns in `texts[table]`
    hold texts in some part, and so must in all.
    """

    manifest: Manifest
    hierarchies: Mapping[str, Hierarchy]
    offsets: Sequence[Mapping[str, Mapping[str, int]]]
    texts: Mapping[str, frozenset[str]]

    def table(self, part: int, name: str, table: pa.Table) -> pa.Table:
        """Return a table of a part as it stands in the united release."""
        for position, column in enumerate(table.column_names):
            cells = table[column]
            if is_id(column):
                cells = pc.add(cells, pa.scalar(self.offsets[part][name][column], cells.type))
            elif column in self.texts[name] and not _holds_texts(cells.type):
                cells = _as_texts(cells)
            table = table.set_column(position, column, cells)
        return table


def unite(parts: Sequence[PartSummary], frame: Table) -> Union:
    """Return the union of parts, in the order in which they are given.

    `frame` has the dictionary of the whole table: the order of values, and hierarchies that were
    built from the data, of which the union publishes what its parts do.
    """
    first = parts[0].manifest
    same = ("method", "layout", "test", "guarantees", "format", "software")
    for key in same:
        _only([getattr(part.manifest, key) for part in parts], key)
    _only([tuple(entry.model_dump_json() for entry in p.manifest.tables) for p in parts], "tables")
    manifest = Manifest(
        method=first.method,
        layout=first.layout,
        software=first.software,
        created=max(part.manifest.created for part in parts),
        rows=sum(part.manifest.rows for part in parts),
        suppressed=sum(part.manifest.suppressed for part in parts),
        suppressed_by_value=any(part.manifest.suppressed_by_value for part in parts),
        test=first.test,
        attributes=tuple(
            _united([part.manifest.attributes[i] for part in parts], frame)
            for i in range(len(first.attributes))
        ),
        tables=first.tables,
        guarantees=first.guarantees,
        parameters=_parameters([part.manifest.parameters for part in parts]),
    )
    return Union(
        manifest,
        _hierarchies([part.hierarchies for part in parts], frame),
        _offsets([part.numbers for part in parts]),
        {name: frozenset().union(*(part.texts[name] for part in parts)) for name in parts[0].texts},
    )


def unite_releases(releases: Sequence[Release], frame: Table) -> Release:
    """Return the release of all parts, in the order in which they are given."""
    union = unite([PartSummary.of(release) for release in releases], frame)
    tables = {
        name: pa.concat_tables(
            [union.table(i, name, release.tables[name]) for i, release in enumerate(releases)]
        )
        for name in releases[0].tables
    }
    return Release(union.manifest, tables, union.hierarchies)


def _only(values: Sequence[Any], what: str) -> Any:
    """Return what all parts say; a fault of ours where they differ."""
    if any(value != values[0] for value in values):
        raise AssertionError(f"parts of a release differ in `{what}`")
    return values[0]


def _parameters(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = {}
    for key in _only([list(part) for part in parts], "parameters"):
        values = [part[key] for part in parts]
        found[key] = sum(values) if key in _ADDED else _only(values, key)
    return found


def _united(entries: Sequence[AttributeEntry], frame: Table) -> AttributeEntry:
    first = entries[0]
    _only([(e.name, e.role, e.kind, e.type) for e in entries], "attributes")
    stated = [entry.domain for entry in entries if entry.domain is not None]
    if all(domain == stated[0] for domain in stated[1:]):
        domain = stated[0] if stated else None
    elif isinstance(stated[0], Bounds):
        domain = _bounds([each for each in stated if isinstance(each, Bounds)])
    else:
        domain = _listed([each for each in stated if isinstance(each, tuple)], first, frame)
    return first.model_copy(update={"domain": domain})


def _bounds(bounds: Sequence[Bounds]) -> Bounds:
    """Return the ends of all parts, rounded outward again: those of a narrow part are exact."""
    lows: list[Any] = [each.min for each in bounds]
    highs: list[Any] = [each.max for each in bounds]
    if isinstance(lows[0], str):
        try:
            lows, highs = [*map(Decimal, lows)], [*map(Decimal, highs)]
        except ArithmeticError:  # dates and times, which are whole years and hours already
            return Bounds(min=min(lows), max=max(highs))
    elif any(isinstance(end, float) for end in (*lows, *highs)):
        lows, highs = [*map(float, lows)], [*map(float, highs)]
    low, high = round_outward(min(lows), max(highs))
    return Bounds(min=low, max=high)


def _listed(
    lists: Sequence[tuple[str | None, ...]], entry: AttributeEntry, frame: Table
) -> tuple[str | None, ...]:
    texts = {text for each in lists for text in each}
    if entry.kind is not Kind.ORDINAL:
        return tuple(sorted(texts, key=lambda text: (text is None, text or "")))
    place = {text: i for i, text in enumerate(to_texts(frame[entry.name].values).to_pylist())}
    return tuple(sorted(texts, key=lambda text: place[text]))


def _hierarchies(parts: Sequence[Mapping[str, Hierarchy]], frame: Table) -> dict[str, Hierarchy]:
    found: dict[str, Hierarchy] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        whole = frame[name].attribute.hierarchy
        assert isinstance(whole, Hierarchy)
        published = {leaf for part in parts if name in part for leaf in part[name].leaves}
        found[name] = whole if whole.supplied else whole.pruned(published)
    return found


def _offsets(
    parts: Sequence[Mapping[str, Mapping[str, int]]],
) -> list[dict[str, dict[str, int]]]:
    """Return what to add to the numbers of each part; a group has one number in all tables."""
    so_far: dict[str, dict[str, int]] = {
        name: dict.fromkeys(columns, 0) for name, columns in parts[0].items()
    }
    found = []
    for part in parts:
        found.append({name: dict(columns) for name, columns in so_far.items()})
        groups = max((columns.get(GROUP, 0) for columns in part.values()), default=0)
        for name, columns in part.items():
            for column, largest in columns.items():
                so_far[name][column] += groups if column == GROUP else largest
    return found


def _holds_texts(dtype: pa.DataType) -> bool:
    return is_text(dtype.value_type if pa.types.is_dictionary(dtype) else dtype)


def _as_texts(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return exact values as the cells of texts that they are among generalised ones."""
    coded = cells.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    spelled = [quote(text) for text in to_texts(coded.dictionary).to_pylist()]
    texts = pa.DictionaryArray.from_arrays(
        coded.indices.cast(pa.int32()), pa.array(spelled, pa.string())
    )
    return pa.chunked_array([texts], TEXT)
