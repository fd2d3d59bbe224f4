"""The distortion ratio of a release: how far up their hierarchies its cells were generalised.

*Source*: the Merging paper, section 5.3.1: a cell at the leaves of its attribute's taxonomy tree
has distortion 0, one generalised by one level 1/H, H being the tree's height; the ratio compares
their sum with that of a table in which every cell is generalised to the root.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import AttributeEntry, Release
from sfumato.release.cells import Cell, Exact, Node, Null, Range, Star, ValueSet, parse
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.schema.attribute import RESERVED_SUFFIX, Kind, Role
from sfumato.schema.distinct import distinct
from sfumato.schema.hierarchy import ROOT, Hierarchy
from sfumato.schema.kinds import comparable_type, is_text
from sfumato.schema.text import from_texts, readable_texts

_GENERALISED = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)


def distortion_ratio(release: Release, hierarchies: Mapping[str, Hierarchy]) -> float:
    """Return the mean over all quasi-identifier cells of level / H: 0 all exact, 1 all at the root.

    A range or set counts as the lowest node of the attribute's hierarchy that covers it; a value
    that the hierarchy does not list lies under its root only, and so does a missing one beside
    others. An exact cell and one that is surely missing have level 0. An attribute for which no
    hierarchy is given has one of height 1: a generalised cell counts 1.

    Departs from the paper: rows that were suppressed count as generalised to the root. Cells of
    fake records count like any other. In the `local` layout cells of semi-sensitive attributes
    count like those of quasi-identifiers, unless they are in a bucket: those are exact, and what
    they lost is the person they belong to, so they are left out of the sum and of the mean alike
    (as in `ncp`). `anatomized` tables and `sliced` blocks without generalised cells have ratio 0:
    it says nothing of what they lost, the links between attributes.

    Refuses (ParameterError) the layout `sets`, and a hierarchy of an attribute that is not
    published; (ReleaseDamaged) cells that do not read as what the manifest says they are.
    """
    manifest = release.manifest
    if manifest.layout == "sets":
        raise ParameterError("the distortion ratio is not defined for the layout sets")
    if microaggregated(manifest):
        raise ParameterError("the distortion ratio is not defined for means of groups")
    if is_randomised(manifest):
        raise ParameterError(
            "the distortion ratio is not defined for cells that were replaced at random"
        )
    published = [entry.name for entry in manifest.attributes]
    unknown = [name for name in hierarchies if name not in published]
    if unknown:
        raise ParameterError(f"the release has no attribute '{unknown[0]}'")
    distortion, cells = 0.0, 0
    for entry in manifest.attributes:
        if entry.role not in _GENERALISED:
            continue
        texts, counts = counted_cells(release, entry.name)
        own = release.hierarchies.get(entry.name)
        ladder = _Ladder(entry, hierarchies.get(entry.name), own)
        try:
            shares = ladder.shares(texts)
        except (ValueError, KeyError, pa.ArrowException):
            raise ReleaseDamaged(
                f"attribute '{entry.name}' has cells that do not read as values of its type"
            ) from None
        distortion += manifest.suppressed + float(shares @ counts[: len(texts)])
        cells += manifest.suppressed + int(counts.sum())
    return distortion / max(cells, 1)


def counted_cells(release: Release, name: str) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the different texts of an attribute's cells and how many records have each.

    More counts may follow: those of cells that are exact because of their type, or missing.
    """
    table = next(
        release.tables[entry.name] for entry in release.manifest.tables if name in entry.attributes
    )
    if name + RESERVED_SUFFIX in table.column_names:
        table = table.filter(table[name + RESERVED_SUFFIX].is_null())
    found = distinct(table[name], name)
    weights = table["count"].to_numpy() if "count" in table.column_names else None
    counts = np.bincount(found.codes, weights, len(found.values) + 1).astype(np.int64)
    return (found.values.to_pylist() if is_text(found.values.type) else []), counts


class _Ladder:
    """The levels of one attribute's hierarchy, and how high each cell stands on it."""

    def __init__(
        self, entry: AttributeEntry, hierarchy: Hierarchy | None, published: Hierarchy | None
    ) -> None:
        self._entry = entry
        rows = [] if hierarchy is None else hierarchy.rows()
        self._height = len(rows[0]) - 1 if rows else 1
        # labels in numbers, a row a leaf and a column a level
        numbers: dict[str, int] = {}
        self._numbers = np.array(
            [[numbers.setdefault(label, len(numbers)) for label in row] for row in rows], np.int64
        ).reshape(len(rows), self._height + 1)
        self._row = {row[0]: number for number, row in enumerate(rows)}
        self._level: dict[str, int] = {}
        for level in range(self._height, 0, -1):
            self._level |= {row[level]: level for row in rows}
        self._below = values_below(published, entry.dtype)
        inner = self._level.keys() - self._row.keys() | self._below.keys() - self._row.keys()
        self._labels = frozenset(inner - {ROOT})
        self._listed = {}
        if isinstance(entry.domain, tuple) and entry.kind is Kind.ORDINAL:
            self._listed = {text: place for place, text in enumerate(entry.listed)}

    def shares(self, texts: list[str]) -> npt.NDArray[np.float64]:
        """Return level / height of each cell."""
        cells = [parse(text, self._labels) for text in texts]
        between = self._leaves_of_ranges([cell for cell in cells if isinstance(cell, Range)])
        return np.array([self._level_of(cell, between) / self._height for cell in cells], float)

    def _level_of(self, cell: Cell, between: Mapping[Range, list[str]]) -> int:
        match cell:
            case Exact() | Null():
                return 0
            case Star():
                return self._height
            case ValueSet(texts, with_null):
                return self._height if with_null else self._lowest(list(texts))
            case Range(with_null=with_null):
                return self._height if with_null else self._lowest(between[cell])
            case Node(label):
                if label in self._level:
                    return self._level[label]
                return self._lowest(self._below[label])

    def _lowest(self, texts: list[str]) -> int:
        """Return the level at which the values meet; the root's where one is not listed."""
        rows = [self._row.get(text, -1) for text in texts]
        if not rows or min(rows) < 0:
            return self._height
        levels = self._numbers[rows]
        # a generalised cell is no leaf, even where the hierarchy lists only one of its values
        meets = np.flatnonzero((levels == levels[0]).all(axis=0))
        return max(int(meets[0]), 1)

    def _leaves_of_ranges(self, ranges: list[Range]) -> dict[Range, list[str]]:
        """Return for each range the leaves in it, and the nearest outside where an end is none.

        Empty where the hierarchy has none on one side: only its root reaches that far.
        """
        if not self._row or not ranges:
            return {each: [] for each in ranges}
        if self._entry.kind is not Kind.NUMERIC:
            order = list(self._listed)
            place = self._listed
            return {each: order[place[each.low] : place[each.high] + 1] for each in ranges}
        dtype = self._entry.dtype
        leaves = readable_texts(tuple(self._row), dtype)
        ends = [text for each in ranges for text in (each.low, each.high)]
        values = from_texts(pa.array([*leaves, *ends], pa.string()), dtype)
        ranks = pc.rank(values.cast(comparable_type(dtype)), tiebreaker="dense").to_numpy()
        ladder = np.argsort(ranks[: len(leaves)], kind="stable")
        sorted_ranks = ranks[: len(leaves)][ladder]
        lows, highs = ranks[len(leaves) :: 2], ranks[len(leaves) + 1 :: 2]
        first = np.searchsorted(sorted_ranks, lows, side="right") - 1
        last = np.searchsorted(sorted_ranks, highs, side="left")
        found = {}
        for each, low, high in zip(ranges, first.tolist(), last.tolist(), strict=True):
            reaches = low >= 0 and high < len(leaves)
            found[each] = [leaves[i] for i in ladder[low : high + 1]] if reaches else []
        return found


def values_below(hierarchy: Hierarchy | None, dtype: pa.DataType) -> dict[str, list[str]]:
    """Return the leaves below each inner label of a published hierarchy.

    A text that is its own label may be a node whose values were not published, and counts as one;
    a number that is its own label is that number.
    """
    below: dict[str, list[str]] = {}
    for leaf, *labels in hierarchy.rows() if hierarchy is not None else []:
        for label in dict.fromkeys(labels):
            if label != leaf or is_text(dtype) or not readable_texts((leaf,), dtype):
                below.setdefault(label, []).append(leaf)
    return below
