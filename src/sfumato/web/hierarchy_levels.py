"""What a hierarchy makes of the values of a column, level by level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from sfumato.jobs.check import hierarchy_report
from sfumato.jobs.policy import Policy
from sfumato.schema import Attribute, Hierarchy, HierarchyReport
from sfumato.schema.leaf_texts import spelled_as
from sfumato.web.column_values import ColumnValues

_SHOWN: Final = 12
_PATHS: Final = 20


@dataclass(frozen=True, slots=True)
class Level:
    """One level: how many labels it has, the most common of them, and rows of the rarest."""

    labels: int
    largest: tuple[tuple[str, int], ...]
    fewest_rows: int


@dataclass(frozen=True, slots=True)
class Levels:
    """All levels from the values up, and the ways of some values through them."""

    levels: tuple[Level, ...]
    paths: tuple[tuple[str, ...], ...]


def attribute_of(name: str, keys: Mapping[str, Any], folder: Path) -> Attribute:
    """Return an attribute as a policy in the folder has it.

    Refuses (SfumatoError) keys that make none, and a hierarchy file that cannot be read.
    """
    alone = {"attributes": {name: dict(keys)}, "method": {"name": "mondrian", "k": 2}}
    return Policy.of(alone, folder).schema()[name]


def lacks_of(attribute: Attribute, found: ColumnValues) -> HierarchyReport:
    """Return which values a hierarchy file has no line for, and which labels do not hold theirs."""
    if not isinstance(attribute.hierarchy, Hierarchy):
        return HierarchyReport((), ())
    return hierarchy_report(found.values, attribute.hierarchy)


def levels_of(attribute: Attribute, found: ColumnValues) -> Levels | None:
    """Return what the hierarchy makes of the values; None without one.

    Refuses (SfumatoError) what a run would refuse.
    """
    arranged = found.arranged(attribute)
    tree = arranged.tree
    if tree is None:
        return None
    counts = found.counts[arranged.order]
    levels, columns = [], []
    for level in range(int(tree.levels[-1]) + 1):
        nodes = tree.at_level(level)
        rows = np.bincount(nodes, weights=counts, minlength=len(tree.labels)).astype(np.int64)
        used = np.unique(nodes)
        first = used[np.argsort(-rows[used], kind="stable")][:_SHOWN]
        largest = tuple((tree.labels[node], int(rows[node])) for node in first)
        levels.append(Level(len(used), largest, int(rows[used].min()) if len(used) else 0))
        columns.append(nodes)
    spread = np.unique(np.linspace(0, max(len(counts) - 1, 0), _PATHS).astype(int))
    paths = tuple(
        tuple(tree.labels[nodes[code]] for nodes in columns) for code in spread if len(counts)
    )
    return Levels(tuple(levels), paths)


def built_hierarchy(attribute: Attribute, found: ColumnValues) -> Hierarchy | None:
    """Return the hierarchy as texts: the file's, or what a builder makes of the values."""
    if isinstance(attribute.hierarchy, Hierarchy):
        return spelled_as(attribute.hierarchy, found.values.type)
    return None if attribute.hierarchy is None else found.arranged(attribute).hierarchy
