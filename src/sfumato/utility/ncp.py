"""NCP of a release: how much certainty its generalised cells have lost.

Counted are the cells that a method may generalise: those of quasi-identifiers and, in the `local`
layout, those of semi-sensitive attributes that are in no bucket. A cell in a bucket is exact; what
it has lost is the person it belongs to, which NCP does not measure. So it is no part of the mean,
and would add nothing to the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.measures.ncp import leaves_loss, range_loss
from sfumato.release import Release
from sfumato.release.cells import Exact, Node, Null, Range, Star, ValueSet, parse
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.schema.attribute import RESERVED_SUFFIX, Role
from sfumato.schema.chunks import codes_of, one_array
from sfumato.schema.distinct import count_codes
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.text import to_texts
from sfumato.table import Column, Table
from sfumato.utility.line import Line

_LAYOUTS = ("generalized", "local")
_GENERALISED = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)


@dataclass(frozen=True, slots=True)
class Ncp:
    """The sum of all cells' NCP (as papers report it), its mean, and the mean by attribute.

    `cells` is what the mean divides by: the cells that are in no bucket. Withheld records are
    among them, each cell as one that has lost everything; `mean_published` leaves them out.
    """

    total: float
    mean: float
    by_attribute: Mapping[str, float]
    cells: int
    mean_published: float


def has_ncp(release: Release) -> bool:
    """Return whether NCP is defined: for records that are people's, with cells generalised."""
    manifest = release.manifest
    drawn = any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees)
    others = is_randomised(manifest) or microaggregated(manifest)
    return manifest.layout in _LAYOUTS and not drawn and not others


def ncp(release: Release, original: Table) -> Ncp:
    """Return the loss of a release, relative to the ranges and domains of the original table.

    The original is needed because a release rounds its domain outward. Cells that were cut for
    other data (`sfumato apply`) may reach beyond the values of the original: what they name then
    belongs to the range or domain as well, so that no cell loses more than everything. Missing
    values add nothing to a cell's loss, a withheld cell (`*`) loses everything, and so does each
    cell of a suppressed row. All attributes count alike, whatever their `loss_weight` was.
    """
    if not has_ncp(release):
        what = f"the layout {release.manifest.layout}"
        if release.manifest.layout in _LAYOUTS:
            what = "records that are drawn from noisy counts"
        if microaggregated(release.manifest):
            what = "means of groups, which are nobody's values; see the information loss"
        if is_randomised(release.manifest):
            what = "cells that were replaced at random, none of which is generalised"
        raise ParameterError(f"NCP is not defined for {what}")
    return losses(release, original).ncp


@dataclass(frozen=True, slots=True)
class Losses:
    """What cells have lost, by attribute, and how many they are; those of parts add up."""

    sums: Mapping[str, float]
    cells: Mapping[str, int]
    withheld: int

    def __add__(self, other: Losses) -> Losses:
        return Losses(
            {name: loss + other.sums[name] for name, loss in self.sums.items()},
            {name: count + other.cells[name] for name, count in self.cells.items()},
            self.withheld + other.withheld,
        )

    @property
    def ncp(self) -> Ncp:
        """The sum and the means."""
        total, count = sum(self.sums.values()), sum(self.cells.values())
        unseen = self.withheld * len(self.sums)
        return Ncp(
            total,
            total / max(count, 1),
            {name: loss / max(self.cells[name], 1) for name, loss in self.sums.items()},
            count,
            (total - unseen) / max(count - unseen, 1),
        )


def losses(release: Release, original: Table) -> Losses:
    """Return what the cells of a release, or of a part of one, have lost; see `ncp`."""
    records = release.tables["records"]
    withheld = release.manifest.suppressed
    sums, counts = {}, {}
    for entry in release.manifest.attributes:
        if entry.role in _GENERALISED:
            cells = _outside_buckets(records, entry.name)
            sums[entry.name] = withheld + _column_loss(cells, original[entry.name], entry.listed)
            counts[entry.name] = withheld + len(cells)
    return Losses(sums, counts, withheld)


def _outside_buckets(records: pa.Table, name: str) -> pa.ChunkedArray:
    """Return the attribute's cells that are in no bucket."""
    buckets = name + RESERVED_SUFFIX
    if buckets not in records.column_names:
        return records[name]
    return records[name].filter(records[buckets].is_null())


def _column_loss(cells: pa.ChunkedArray, column: Column, listed: Sequence[str]) -> float:
    """Return the summed loss of a column: each different cell is read once.

    `listed` are the values of its published domain, in their order where they have one.
    """
    if not pa.types.is_dictionary(cells.type):
        return 0.0  # typed columns hold exact values
    # by code: the texts of all rows may be more than an Arrow array holds
    coded = one_array(cells.unify_dictionaries())
    texts = coded.dictionary.to_pylist()
    codes = codes_of(coded.indices, len(texts))
    often = count_codes(codes, len(texts) + 1)[:-1]
    texts = [text for text, count in zip(texts, often, strict=True) if count]
    counts = often[often > 0].tolist()
    hierarchy = column.attribute.hierarchy
    tree = _Leaves(hierarchy) if isinstance(hierarchy, Hierarchy) else None
    told = [parse(text, tree.counts if tree else ()) for text in texts]
    line = Line.of(column, listed, [each for each in told if isinstance(each, Range)])
    named = {text for each in told if isinstance(each, ValueSet) for text in each.texts}
    size = column.cardinality
    if named:
        size = len(named.union(to_texts(column.values).to_pylist()))
    total = 0.0
    for cell, count in zip(told, counts, strict=True):
        match cell:
            case Exact() | Null():
                loss = 0.0
            case Star():
                loss = 1.0
            case Range(low, high):
                loss = range_loss(line.points[low], line.points[high], line.extent)
            case ValueSet(members):
                loss = leaves_loss(len(members), size)
            case Node(label):
                assert tree is not None
                loss = leaves_loss(tree.counts[label], tree.size)
        total += count * float(loss)
    return total


class _Leaves:
    """How many leaves each inner label of a hierarchy stands for."""

    __slots__ = ("counts", "size")

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.size = len(hierarchy.leaves)
        leaves = set(hierarchy.leaves)
        self.counts: dict[str, int] = {}
        for path in hierarchy.paths:
            for label in dict.fromkeys(path):
                if label not in leaves:
                    self.counts[label] = self.counts.get(label, 0) + 1
