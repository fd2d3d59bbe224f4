"""Warnings about a release: legal, claimed rightly, and still worth a second look.

They hold names and counts, never values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.release import Release
from sfumato.schema import Hierarchy, Kind, Role, Schema
from sfumato.schema.attribute import RESERVED_SUFFIX, SECRET_ROLES
from sfumato.schema.distinct import count_codes
from sfumato.schema.lookalikes import count_lookalikes
from sfumato.table import Table

# Numbers of a group that lie closer than this share of themselves are as good as known.
NARROW = 0.05
_WIDER_GROUPS = "mondrian can keep a `min_width`"
# l-unique buckets are made of neighbours; a deal under t takes from the whole range
_WIDER_BUCKETS = "a larger `l` makes them wider, and `t` deals each from the whole range"


# By attribute: whether buckets are meant, in how many of them values nearly agree, and how many.
NarrowPlaces = dict[str, tuple[bool, int, int]]


def narrow_groups(release: Release, table: Table) -> list[str]:
    """Return a warning for every numeric attribute whose sensitive values are nearly exact.

    They are looked at where a person is one of several: in groups, or in buckets if there are any.
    """
    return about_narrow([narrow_places(release, table)])


def narrow_places(release: Release, table: Table) -> NarrowPlaces:
    """Return in how many groups or buckets the values of numeric attributes are nearly exact."""
    found: NarrowPlaces = {}
    if release.manifest.method == "ng":
        return found  # a record is a group of its own there, and not who it may be
    in_buckets = release.manifest.layout == "local"
    for entry in release.manifest.attributes:
        roles = (Role.SENSITIVE, Role.SEMI_SENSITIVE)
        if entry.role not in roles or entry.kind is not Kind.NUMERIC:
            continue
        if pa.types.is_temporal(entry.dtype) or table[entry.name].attribute.min_width is not None:
            continue  # a date has no size of which a share could be taken
        for part in release.manifest.tables:
            if part.group and entry.name in part.attributes and not part.name.startswith("units"):
                place = entry.name + RESERVED_SUFFIX if in_buckets else "group"
                counts = _count_narrow(release.tables[part.name], entry.name, place)
                found[entry.name] = (in_buckets, *counts)
                break
    return found


def about_narrow(parts: Sequence[NarrowPlaces]) -> list[str]:
    """Return a warning for every attribute that is nearly exact somewhere in parts of a release."""
    warnings = []
    for name in dict.fromkeys(name for part in parts for name in part):
        own = [part[name] for part in parts if name in part]
        in_buckets = own[0][0]
        narrow, places = (sum(each[i] for each in own) for i in (1, 2))
        if narrow:
            warnings.append(
                f"'{name}': in {narrow} of {places} "
                f"{'buckets' if in_buckets else 'groups'} the values lie within "
                f"{NARROW:.0%} of each other, so they are nearly exact; "
                + (_WIDER_BUCKETS if in_buckets else _WIDER_GROUPS)
            )
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


def look_alike(table: Table) -> list[str]:
    """Return a warning for every secret attribute that has texts which a reader takes for one."""
    warnings = []
    for column in (c for c in table.columns if c.attribute.role in SECRET_ROLES):
        if pa.types.is_string(column.values.type):
            many = count_lookalikes(column.values.to_pylist())
            if many:
                warnings.append(
                    f"'{column.name}': {many} values look like another one of it (case, blanks, "
                    "accents, signs that are not seen), and count as values of their own; make "
                    "them one with `recode: {map: …}`, or people may be less diverse than claimed"
                )
    return warnings


def _count_narrow(records: pa.Table, name: str, place: str) -> tuple[int, int]:
    """Return in how many groups (or buckets) the values nearly agree, and their number.

    `place` is the column that numbers them; rows without a number are in none.
    """
    inside = records.select([place, name])
    if inside[place].null_count or inside[name].null_count:
        inside = inside.filter(inside[place].is_valid())
    numbers = inside[place].to_numpy()
    if not len(numbers):
        return 0, 0
    rows = numbers - numbers.min()
    places = int(rows.max()) + 1
    count = int(np.count_nonzero(count_codes(rows, places)))
    values = inside[name]
    if values.null_count:
        rows = rows[values.is_valid().to_numpy()]
        values = values.drop_null()
    if pa.types.is_dictionary(values.type):  # beside cells that are generalised
        values = values.cast(pa.string())
    if not pa.types.is_integer(values.type):  # of whole numbers, the ends alone are widened
        values = values.cast(pa.float64(), safe=False)
    shown = values.to_numpy()
    first, last = _ends(shown.dtype)
    low, high = np.full(places, last, shown.dtype), np.full(places, first, shown.dtype)
    np.minimum.at(low, rows, shown)
    np.maximum.at(high, rows, shown)
    has_value = low <= high
    low, high = (ends[has_value].astype(np.float64) for ends in (low, high))
    span, size = high - low, np.maximum(np.abs(low), np.abs(high))
    return int(np.count_nonzero((span < NARROW * size) | (span == 0))), count


def _ends(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the lowest and the highest number of a type."""
    if np.issubdtype(dtype, np.integer):
        return np.iinfo(dtype).min, np.iinfo(dtype).max
    return -np.inf, np.inf


def about_pseudonyms(schema: Schema) -> tuple[str, ...]:
    """Return what a steward must know who publishes tokens."""
    return tuple(
        f"'{attribute.name}' is published as pseudonyms: the release is pseudonymised, not "
        "anonymised; whoever has the key can name everybody, so keep it apart from the release"
        for attribute in schema.pseudonyms
    )
