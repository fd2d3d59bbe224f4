"""Rings published: every record generalised with the neighbours that might be behind it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.publish.assemble import Published
from sfumato.publish.records import generalized_records
from sfumato.rows.ring import windows
from sfumato.table import Groups, Table

Ints = npt.NDArray[np.int64]


def ring_records(
    table: Table,
    groups: Groups,
    ring: Ints,
    l: int,  # noqa: E741
    *,
    rng: np.random.Generator,
) -> Published:
    """Return one record a place of the rings, with cells that cover the l rows from there on.

    Which of these l rows gives its exact values (sensitive and kept ones) is the same step for a
    whole ring, drawn evenly: each row may be behind l records, each record may stem from l rows,
    all equally likely. Every record is a group of its own.
    """
    window = windows(groups, l)
    steps = rng.integers(0, l, groups.count)
    group_of_place = np.repeat(np.arange(groups.count), groups.sizes)
    chosen = ring[window[np.arange(len(ring)), steps[group_of_place]]]
    record_of_row = np.empty(len(ring), np.int32)
    record_of_row[chosen] = np.arange(len(ring), dtype=np.int32)
    each = Groups(record_of_row, len(ring))
    return generalized_records(table, each, rng=rng, covered=ring[window])
