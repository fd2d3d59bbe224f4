"""The `local` layout: groups whose rows look alike, and buckets of sensitive cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import Coded, coded
from sfumato.audit.domains import Domain
from sfumato.audit.groups import check_alike, check_sizes, grouped, ones
from sfumato.audit.statistics import Evidence, SensitiveValues
from sfumato.audit.structure import check_roles, record_tables, unit_tables
from sfumato.errors import ReleaseDamaged
from sfumato.release import Release
from sfumato.release.cells import STAR
from sfumato.release.dtypes import is_text
from sfumato.schema.attribute import RESERVED_SUFFIX, Role

Ints = npt.NDArray[np.int64]

_ROLES = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE, Role.SENSITIVE, Role.INSENSITIVE)


def examine_local(release: Release) -> Evidence:
    """Return what a local release shows; ReleaseDamaged where it contradicts itself.

    Every sensitive cell is exact and in exactly one bucket, every other cell generalised; the rows
    of a group have the same cells in buckets, and all others alike.
    """
    manifest = release.manifest
    check_roles(manifest, _ROLES)
    (entry,) = record_tables(manifest)
    if unit_tables(manifest):
        raise ReleaseDamaged("a local release has one row a person, and no tables of people")
    table = release.tables[entry.name]
    alike: dict[str, Coded] = {}
    buckets: dict[str, SensitiveValues] = {}
    stars = 0
    for name in entry.attributes:
        domain = Domain.of(manifest.attribute(name), release.hierarchies.get(name))
        ids = _bucket_ids(table, name, domain.entry.role)
        cells = table[name]
        if ids is None:
            domain.check(coded(cells))
        else:
            in_bucket = ids > 0
            buckets[name] = _bucketed(domain, _part(cells, in_bucket), ids)
            outside = _part(cells, ~in_bucket)
            domain.check_generalized(outside)
            stars += _stars(outside)
        if domain.entry.role in (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE):
            alike[name] = _masked(coded(cells), ids)
    _check_withheld(manifest.parameters, stars)
    records = grouped(entry.name, table, alike)
    check_sizes([records], manifest.rows)
    check_alike(records, alike)
    return Evidence(records.sizes, records.sizes, {}, buckets=buckets)


def _bucket_ids(table: pa.Table, name: str, role: Role) -> Ints | None:
    """Return the bucket of each row, 0 for none; None for an attribute that has no buckets."""
    column = name + RESERVED_SUFFIX
    if role not in (Role.SEMI_SENSITIVE, Role.SENSITIVE):
        if column in table.column_names:
            raise ReleaseDamaged(f"attribute '{name}' is {role}, and has buckets")
        return None
    if column not in table.column_names:
        raise ReleaseDamaged(f"attribute '{name}' is {role}, and has no buckets")
    filled = table[column].combine_chunks()
    if filled.null_count and role is Role.SENSITIVE:
        raise ReleaseDamaged(f"attribute '{name}' is sensitive, and has cells without a bucket")
    ids = np.asarray(filled.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    used = ids[np.asarray(filled.is_valid().to_numpy(zero_copy_only=False))]
    dense = not len(used) or (used.min() == 1 and used.max() <= len(used))
    if not dense or not np.bincount(used, minlength=1)[1:].all():
        raise ReleaseDamaged(f"attribute '{name}': buckets do not run from 1 without a gap")
    return ids


def _part(cells: pa.ChunkedArray, rows: npt.NDArray[np.bool_]) -> Coded:
    """Return some rows' cells; a dictionary is made anew, since other rows' cells are in it."""
    found = coded(cells.filter(pa.array(rows)))
    if not pa.types.is_dictionary(cells.type):
        return found
    # by code: the texts of all rows may be more than an Arrow array holds
    used = pc.unique(pa.array(found.codes)).to_numpy()
    used = used[used < found.null_code]
    place = np.full(found.null_code + 1, len(used), dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return Coded(place[found.codes], found.cells.take(pa.array(used)))


def _stars(cells: Coded) -> int:
    """Return how many cells are `*`; in a column of exact values there are none."""
    if not is_text(cells.cells.type):
        return 0
    places = np.flatnonzero(pc.equal(cells.cells, STAR).to_numpy(zero_copy_only=False))
    return int(np.isin(cells.codes, places).sum())


def _check_withheld(parameters: Mapping[str, Any], stars: int) -> None:
    """Refuse a number of withheld cells that cannot be.

    There may be fewer than `*` cells: what was generalised to the root of its hierarchy, or with
    missing cells, looks the same.
    """
    said = parameters.get("withheld_cells", 0)
    if not isinstance(said, int) or isinstance(said, bool) or not 0 <= said <= stars:
        raise ReleaseDamaged(
            f"the manifest's `withheld_cells` is no number from 0 to {stars}, the number of `*` "
            "cells that are in no bucket"
        )


def _bucketed(domain: Domain, cells: Coded, ids: Ints) -> SensitiveValues:
    """Return the sensitive values by bucket; they must be exact."""
    used = ids[ids > 0] - 1
    return SensitiveValues.count(
        domain,
        domain.exact_values(cells),
        used,
        cells.codes,
        ones(len(used)),
        int(used.max(initial=-1)) + 1,
    )


def _masked(cells: Coded, ids: Ints | None) -> Coded:
    """Return the cells with those in buckets all alike: their group tells nothing of them."""
    if ids is None:
        return cells
    return Coded(np.where(ids > 0, cells.null_code + 1, cells.codes), cells.cells)
