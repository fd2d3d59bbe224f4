"""How many records may belong to each cell of a cross table: the w of the paper (eq. 17)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from sfumato.answers.set_axes import Axis, Codes
from sfumato.answers.set_kernels import add_products, find_complements
from sfumato.errors import ParameterError

Ints = npt.NDArray[np.int64]

# Steps of the innermost loop: about a quarter of an hour on two cores.
MOST_STEPS = 10**12
# With fewer steps a thread, a thread costs more than it saves.
_LEAST_STEPS = 1 << 20


def containing(axes: Sequence[Axis]) -> Ints:
    """Return the number of records whose product of sets contains each cell of the cross table.

    A set of more than half of the values is counted by the values that it lacks: the records that
    may have a value are all of them but those that lack it. So a record costs the product of
    min(η, d − η), not of η.

    Refuses (ParameterError) sets whose products have too many cells to go through.
    """
    lacks = [axis.size // 2 < axis.eta < axis.size for axis in axes]
    listed = [
        _complements(axis) if lack else axis.members for axis, lack in zip(axes, lacks, strict=True)
    ]
    sizes = tuple(axis.size for axis in axes)
    counts = _count(listed, sizes)
    for place, (codes, lack) in enumerate(zip(listed, lacks, strict=True)):
        if lack:
            all_of_them = counts.sum(axis=place, keepdims=True) // codes.shape[1]
            counts = all_of_them - counts
    return counts


def _complements(axis: Axis) -> Codes:
    out = np.empty((len(axis.members), axis.size - axis.eta), np.int32)
    find_complements(axis.members, axis.size, out)
    return out


def _count(listed: Sequence[Codes], sizes: tuple[int, ...]) -> Ints:
    widths = [codes.shape[1] for codes in listed]
    members = np.ascontiguousarray(np.concatenate(listed, axis=1))
    steps = len(members) * prod(widths)
    if steps > MOST_STEPS:
        raise ParameterError(
            f"the sets of {len(members)} records have {prod(widths)} combinations each, too many "
            "to count; ask for fewer attributes at a time"
        )
    firsts = np.cumsum([0, *widths])
    threads = max(min(os.cpu_count() or 1, steps // _LEAST_STEPS), 1)

    def count(first: int, end: int) -> Codes:
        own = np.zeros(prod(sizes), np.int32)
        starts = np.empty(prod(widths[:-1]), np.int64)
        add_products(members[first:end], firsts, np.array(sizes), starts, own)
        return own

    bounds = np.linspace(0, len(members), threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda ends: count(*ends), pairwise(bounds)))
    total = parts[0].astype(np.int64)
    for part in parts[1:]:
        total += part
    return total.reshape(sizes)
