"""What the published files show by themselves: how large groups are, what became of each column."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from sfumato.release import AttributeEntry, Release
from sfumato.release.cells import Exact, Node, Null, Range, Star, ValueSet, parse
from sfumato.release.households import counts_households
from sfumato.release.microaggregated import microaggregated
from sfumato.release.set_columns import is_list
from sfumato.release.transitions import read_transitions
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.utility.distortion import counted_cells, values_below

Ints = npt.NDArray[np.int64]

UNITS = "units"
# Beyond so many different sizes, sizes are taken together.
MOST_BARS = 14
# The words for what a cell is.
EXACT, RANGE, LABEL, SET, WITHHELD = "exact", "range", "label", "one of several", "withheld (*)"
MISSING, BUCKET, RANDOM, MEAN, REPLACED = (
    "missing",
    "dealt in a bucket",
    "random set",
    "mean of a group",
    "replaced at random",
)


@dataclass(frozen=True, slots=True)
class Bar:
    """How many groups have sizes from `low` to `high`, and how much of everything they hold."""

    low: int
    high: int
    groups: int
    held: int

    @property
    def label(self) -> str:
        """The sizes in words."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the groups of a release are, or the buckets or sets of an attribute.

    `of` is what they hold (records, people, households, values), `smallest` and `largest` the
    extreme sizes, `median` that of the middle one.
    """

    what: str
    of: str
    attribute: str | None
    count: int
    smallest: int
    median: float
    largest: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One published attribute: where it stands, and how many of its cells are of which form."""

    name: str
    role: str
    kind: str
    table: str
    block: int | None
    cells: tuple[tuple[str, int], ...]
    different: int

    @property
    def total(self) -> int:
        """The number of its cells."""
        return sum(count for _, count in self.cells)

    def count(self, form: str) -> int:
        """Return how many cells have this form."""
        return dict(self.cells).get(form, 0)


def sizes_of(release: Release) -> tuple[Sizes, ...]:
    """Return the sizes of groups, then of the buckets and sets of each attribute that has any."""
    found = []
    groups = _group_sizes(release)
    if groups is not None and len(groups[0]):
        found.append(_sizes("groups", groups[1], None, groups[0]))
    for entry in release.manifest.attributes:
        column = release.tables[table_of(release, entry.name)][entry.name]
        if is_list(column.type):
            lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
            found.append(_sizes("sets", "values", entry.name, lengths.astype(np.int64)))
            continue
        buckets = entry.name + RESERVED_SUFFIX
        table = release.tables[table_of(release, entry.name)]
        if buckets in table.column_names:
            ids = table[buckets].drop_null().to_numpy().astype(np.int64)
            own = np.bincount(ids)
            if len(ids):
                found.append(_sizes("buckets", "records", entry.name, own[own > 0]))
    return tuple(found)


def columns_of(release: Release) -> tuple[Column, ...]:
    """Return what became of each published attribute."""
    blocks = release.manifest.parameters.get("columns")
    block_of = {}
    if release.manifest.layout == "sliced" and isinstance(blocks, list):
        block_of = {
            name: number
            for number, names in enumerate(blocks, start=1)
            if isinstance(names, list)
            for name in names
        }
    return tuple(
        _column(release, entry, block_of.get(entry.name)) for entry in release.manifest.attributes
    )


def table_of(release: Release, name: str) -> str:
    """Return the first table that has an attribute."""
    return next(entry.name for entry in release.manifest.tables if name in entry.attributes)


def _group_sizes(release: Release) -> tuple[Ints, str] | None:
    """Return the size of each group and what is counted; None where there are no groups."""
    stated = [entry.name for entry in release.manifest.tables if entry.group]
    if not stated:
        return None
    of = "records"
    if UNITS in stated:
        of = "households" if counts_households(release.manifest) else "people"
    table = release.tables[UNITS if UNITS in stated else stated[0]]
    ids = table["group"].to_numpy().astype(np.int64)
    counts = table["count"].to_numpy() if "count" in table.column_names else None
    sizes = np.bincount(ids, counts).astype(np.int64)
    return sizes[sizes > 0], of


def _sizes(what: str, of: str, attribute: str | None, sizes: Ints) -> Sizes:
    if not len(sizes):
        return Sizes(what, of, attribute, 0, 0, 0.0, 0, ())
    return Sizes(
        what,
        of,
        attribute,
        len(sizes),
        int(sizes.min()),
        float(np.median(sizes)),
        int(sizes.max()),
        bars_of(sizes),
    )


def bars_of(sizes: Ints) -> tuple[Bar, ...]:
    """Return a bar a size, or a bar a range of sizes where there are many.

    >>> [(bar.label, bar.groups, bar.held) for bar in bars_of(np.array([3, 3, 5]))]
    [('3', 2, 6), ('4', 0, 0), ('5', 1, 5)]
    """
    low, high = int(sizes.min()), int(sizes.max())
    starts = list(range(low, high + 1))
    if len(starts) > MOST_BARS:
        # ranges that grow with the sizes: one group of thousands must not hide the small ones
        edges = np.geomspace(low or 1, high + 1, MOST_BARS + 1)
        starts = sorted({low, *np.ceil(edges[:-1]).astype(int).tolist()})
    ends = [start - 1 for start in starts[1:]] + [high]
    bars = []
    for first, last in zip(starts, ends, strict=True):
        chosen = sizes[(sizes >= first) & (sizes <= last)]
        bars.append(Bar(first, last, len(chosen), int(chosen.sum())))
    return tuple(bars)


def _column(release: Release, entry: AttributeEntry, block: int | None) -> Column:
    name = entry.name
    place = table_of(release, name)
    column = release.tables[place][name]
    forms: Counter[str] = Counter()
    different = 0
    if is_list(column.type):
        forms[RANDOM] = len(column)
    else:
        texts, counts = counted_cells(release, name)
        different = int(np.count_nonzero(counts[:-1]))
        forms = _forms(release, entry, texts, counts)
        buckets = name + RESERVED_SUFFIX
        if buckets in release.tables[place].column_names:
            dealt = release.tables[place][buckets]
            forms[BUCKET] += len(dealt) - dealt.null_count
    cells = tuple((form, count) for form, count in forms.items() if count)
    return Column(name, str(entry.role), str(entry.kind), place, block, cells, different)


def _forms(release: Release, entry: AttributeEntry, texts: list[str], counts: Ints) -> Counter[str]:
    """Return how many cells are of which form."""
    manifest = release.manifest
    forms: Counter[str] = Counter()
    if entry.name in read_transitions(manifest):
        return Counter({REPLACED: int(counts.sum())})
    exact = MEAN if entry.name in microaggregated(manifest) else EXACT
    labels = frozenset(values_below(release.hierarchies.get(entry.name), entry.dtype)) - {"*"}
    for text, count in zip(texts, counts[: len(texts)].tolist(), strict=True):
        match parse(text, labels):
            case Exact():
                forms[exact] += count
            case Range():
                forms[RANGE] += count
            case ValueSet():
                forms[SET] += count
            case Node():
                forms[LABEL] += count
            case Star():
                forms[WITHHELD] += count
            case Null():
                forms[MISSING] += count
    rest = counts[len(texts) :]
    if len(rest):  # cells whose type is that of values, and the missing ones, which come last
        forms[exact] += int(rest[:-1].sum())
        forms[MISSING] += int(rest[-1])
    return forms


def pseudonyms_of(release: Release) -> tuple[str, ...]:
    """Return the columns of tokens that stand for people."""
    return tuple(
        dict.fromkeys(name for entry in release.manifest.tables for name in entry.pseudonyms or ())
    )
