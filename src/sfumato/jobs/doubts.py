"""Warnings about a release: legal, claimed rightly, and still worth a second look.

They hold names and counts, never values.
"""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from sfumato.release import Release
from sfumato.schema import Hierarchy, Kind, Role
from sfumato.table import Table

# Numbers of a group that lie closer than this share of themselves are as good as known.
NARROW = 0.05


def narrow_groups(release: Release, table: Table) -> list[str]:
    """Return a warning for every numeric sensitive attribute that is nearly exact in some group."""
    warnings = []
    for entry in release.manifest.attributes:
        if entry.role is not Role.SENSITIVE or entry.kind is not Kind.NUMERIC:
            continue
        if pa.types.is_temporal(entry.dtype) or table[entry.name].attribute.min_width is not None:
            continue  # a date has no size of which a share could be taken
        for part in release.manifest.tables:
            if part.group and entry.name in part.attributes and not part.name.startswith("units"):
                narrow, groups = _count_narrow(release.tables[part.name], entry.name)
                if narrow:
                    warnings.append(
                        f"'{entry.name}': in {narrow} of {groups} groups the values lie within "
                        f"{NARROW:.0%} of each other, so they are nearly exact; mondrian can keep "
                        "a `min_width`"
                    )
                break
    return warnings


def wrong_intervals(table: Table) -> list[str]:
    """Return a warning for every hierarchy whose labels read as intervals without their values."""
    warnings = []
    for column in table.columns:
        hierarchy = column.attribute.hierarchy
        if isinstance(hierarchy, Hierarchy) and hierarchy.supplied:
            wrong = len(hierarchy.report(()).wrong_intervals)
            if wrong:
                warnings.append(
                    f"'{column.name}': {wrong} entries of its hierarchy lie under an interval that "
                    "does not contain them; list them with `sfumato check`"
                )
    return warnings


def _count_narrow(records: pa.Table, name: str) -> tuple[int, int]:
    """Return in how many groups the values nearly agree, and the number of groups."""
    rows = pl.DataFrame(
        [
            pl.Series("group", records["group"].to_numpy()),
            pl.from_arrow(records[name]).cast(pl.Float64).alias("value"),  # type: ignore[union-attr]
        ]
    )
    ends = rows.group_by("group").agg(
        low=pl.col("value").min(), high=pl.col("value").max(), has=pl.col("value").count() > 0
    )
    size = pl.max_horizontal(pl.col("low").abs(), pl.col("high").abs())
    span = pl.col("high") - pl.col("low")
    narrow = ends.filter(pl.col("has") & ((span < NARROW * size) | (span == 0)))
    return narrow.height, ends.height
