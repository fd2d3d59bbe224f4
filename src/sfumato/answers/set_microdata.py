"""Values for the cells of a release of sets, drawn by how likely the sets make them.

By Bayes a record's own value v is as likely as pi(v) times a factor: x for the members of its set,
where x is the chance that a set holds the own value, and (1 - p) eta/d for all others; with p = 1
nothing but a member is possible. pi is what the release itself tells of how often values occur, as
`reconstruct` does by `bayes`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers import set_estimators
from sfumato.answers.choices import CellReader
from sfumato.answers.drawing import draw
from sfumato.answers.joint_parts import joints
from sfumato.answers.set_axes import OTHER_MAKERS, Axis, read_axis, records_of_sets
from sfumato.answers.set_counts import containing
from sfumato.answers.set_draw_kernels import draw_cells
from sfumato.answers.set_slots import SetDomains
from sfumato.errors import ReleaseDamaged
from sfumato.release import Manifest, Release
from sfumato.release.set_columns import is_list
from sfumato.schema.distinct import distinct

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# Combinations of values that are looked at together; their table is found in about a second.
MOST_TOGETHER = 10_000
# What a cell has at least, as a share of the mean one: what a set names stays possible.
_LEAST = 1e-6
# With fewer records a thread, a thread costs more than it saves.
_LEAST_ROWS = 1 << 14


def names_of_rows(manifest: Manifest) -> tuple[str, ...]:
    """Return the attributes that a plausible table has: the parts of joint ones in their place."""
    if manifest.layout != "sets":
        return tuple(entry.name for entry in manifest.attributes)
    parts = {joint.name: joint.parts for joint in joints(manifest)}
    names = [part for entry in manifest.attributes for part in parts.get(entry.name, (entry.name,))]
    if len(set(names)) < len(names):
        raise ReleaseDamaged("a part of a joint attribute is published twice")
    return tuple(names)


def drawn_from_sets(
    release: Release, attributes: Sequence[str], rng: np.random.Generator
) -> dict[str, pa.Array]:
    """Return values for those of the attributes whose cells are sets, a row a record.

    Attributes are drawn together where their table can be told from the sets: as many at a time, in
    the order of the manifest, as have 10,000 combinations of values and no more than there are
    records. So they go together in the rows as they do in the reconstructed table; beyond that, and
    with exact attributes, only as far as the sets themselves tell. (The table of all attributes
    would have more cells than records, and repeat the noise.) Sets that were not drawn at random
    (of the method `rating`) give each of their members equally often.

    A number that was cut into ranges is one of its range, all equally likely. Of joint attributes
    the parts can be asked for.

    Refuses (ReleaseDamaged) cells and parameters that are not those of the layout `sets`.
    """
    manifest = release.manifest
    records = records_of_sets(release)
    sets = manifest.parameters.get("sets")
    hidden: Mapping[str, object] = sets if isinstance(sets, Mapping) else {}
    domains = SetDomains(manifest)
    asked = {domains.column_of.get(name, name) for name in attributes}
    axes = [
        read_axis(release, entry.name)
        for entry in manifest.attributes
        if entry.name in asked and (entry.name in hidden or is_list(records[entry.name].type))
    ]
    is_random = manifest.method not in OTHER_MAKERS
    codes: dict[str, Codes] = {}
    for together in _blocks(axes, records.num_rows if is_random else 0):
        found = _drawn_codes(together, is_random, rng)
        codes |= {axis.name: own for axis, own in zip(together, found.T, strict=True)}
    values = {axis.name: axis.values for axis in axes}
    return {
        name: _values(domains, name, values[column], codes[column], rng)
        for name in attributes
        if (column := domains.column_of.get(name, name)) in codes
    }


def _blocks(axes: Sequence[Axis], rows: int) -> list[list[Axis]]:
    """Return the axes that are drawn together: one by one without rows."""
    blocks: list[list[Axis]] = []
    for axis in axes:
        cells = prod(each.size for each in blocks[-1]) * axis.size if blocks else 0
        if blocks and cells <= min(MOST_TOGETHER, rows):
            blocks[-1].append(axis)
        else:
            blocks.append([axis])
    return blocks


def _drawn_codes(axes: Sequence[Axis], is_random: bool, rng: np.random.Generator) -> Codes:
    """Return a value's code for each record and axis."""
    sizes = np.array([axis.size for axis in axes], np.int64)
    rows = len(axes[0].members)
    out = np.empty((rows, len(axes)), np.int32)
    if rows == 0:
        return out
    table = np.ones(tuple(sizes))
    if is_random:
        found, _, _ = set_estimators.bayes(axes, containing(axes).astype(np.float64))
        table = np.maximum(found, _LEAST * rows / found.size)
    flat = _with_sums(table).ravel()
    outsides = np.array([axis.outside for axis in axes])
    gains = np.array([axis.own - axis.outside for axis in axes])
    members = np.ascontiguousarray(np.concatenate([axis.members for axis in axes], axis=1))
    firsts = np.cumsum([0, *(axis.eta for axis in axes)])
    chances = rng.random((rows, len(axes) + 1))
    room = prod(axis.eta + 1 for axis in axes)

    def fill(first: int, end: int) -> None:
        part = slice(first, end)
        scratch = np.empty(room, np.int64), np.empty(room)
        how = firsts, sizes, gains, outsides, flat
        draw_cells(members[part], *how, chances[part], *scratch, out[part])

    threads = max(min(os.cpu_count() or 1, rows // _LEAST_ROWS), 1)
    bounds = np.linspace(0, rows, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda ends: fill(*ends), pairwise(bounds)))
    return out


def _with_sums(table: Reals) -> Reals:
    """Return the table with the sum along each axis at its end."""
    for axis in range(table.ndim):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    return np.ascontiguousarray(table)


def _values(
    domains: SetDomains, name: str, values: pa.Array, codes: Codes, rng: np.random.Generator
) -> pa.Array:
    """Return the values of an attribute, given the codes of its column's; a number for a range."""
    if not domains.is_binned(name):
        return domains.values(name, values).take(pa.array(codes))
    entry, labels = domains.ranges(name, values)
    cells = distinct(pa.chunked_array([labels]), name)
    reader = CellReader(entry, None)
    choices = reader.read(cells.values.to_pylist())
    return draw(choices, cells.codes.astype(np.int64)[codes], reader.line, rng)
