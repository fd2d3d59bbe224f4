"""What the deFinetti attack knows of buckets, and says of people; see `bucket_classifier.py`.

A *bucket* is where secrets are shuffled: some people, who show cells, and some values, so many of
each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.attacks.reach import MISSING
from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Shown(NamedTuple):
    """The combinations of cells that groups show, of all blocks in a row.

    Block b shows of group g those from `start[b, g]` to before `start[b, g + 1]`. Their cells and
    categories of cells are numbered over all attributes; -1 is no cell, 0 a category without
    meaning. `entries` says where the buckets of each combination begin.
    """

    start: Ints
    cells: Codes
    categories: Codes
    entries: Ints


class Buckets(NamedTuple):
    """Who is in which bucket: `people` with a `combination`, an entry each.

    The entries of block b and bucket u are those in `order` from `start[b, u]` on. The bucket's
    values are from `values[u]` on: so many of its people (`weight`) have the `value`.
    """

    bucket: Ints
    combination: Ints
    people: Reals
    order: Ints
    start: Ints
    values: Ints
    value: Ints
    weight: Reals


class Stretches(NamedTuple):
    """What cells cover: those of cell c are from `start[c]` on; `nulls` may be missing."""

    start: Ints
    low: Ints
    high: Ints
    nulls: Bools


@loop
def _weigh(
    line: Codes, ratio: Reals, value: Ints, scale: Reals, first: int, last: int, out: Reals
) -> float:
    """Fill in how likely somebody with these categories has each of some values; return the sum."""
    total = 0.0
    for place in range(first, last):
        product = scale[place]
        own = value[place]
        for category in line:
            product *= ratio[own, category]
        out[place - first] = product
        total += product
    return total


@loop
def _fits(ranks: Ints, cells: Codes, columns: Ints, stretches: Stretches) -> bool:
    """Return whether cells cover what a person has."""
    for at in range(len(cells)):
        cell = cells[at]
        if cell < 0:
            continue
        rank = ranks[columns[at]]
        if rank == MISSING:
            if not stretches.nulls[cell]:
                return False
            continue
        covered = False
        for place in range(stretches.start[cell], stretches.start[cell + 1]):
            if stretches.low[place] <= rank <= stretches.high[place]:
                covered = True
                break
        if not covered:
            return False
    return True


@loop
def _add_block(
    ranks: Ints,
    group: int,
    block: int,
    columns: Ints,
    shown: Shown,
    buckets: Buckets,
    stretches: Stretches,
    ratio: Reals,
    scale: Reals,
    chance: Reals,
    out: Reals,
) -> float:
    """Add up the values of the people of a group who fit a person in one block; return how many
    these are."""
    people = 0.0
    for row in range(shown.start[block, group], shown.start[block, group + 1]):
        if not _fits(ranks, shown.cells[row], columns[block], stretches):
            continue
        for entry in range(shown.entries[row], shown.entries[row + 1]):
            unit = buckets.bucket[entry]
            first, last = buckets.values[unit], buckets.values[unit + 1]
            line = shown.categories[row]
            total = _weigh(line, ratio, buckets.value, scale[block], first, last, chance)
            if total > 0:
                people += buckets.people[entry]
                for place in range(first, last):
                    share = chance[place - first] / total
                    out[buckets.value[place]] += buckets.people[entry] * share
    return people


@loop
def add_sharpened(
    people: Ints,
    group: Ints,
    weight: Reals,
    ranks: Ints,
    columns: Ints,
    shown: Shown,
    buckets: Buckets,
    stretches: Stretches,
    ratio: Reals,
    scale: Reals,
    chance: Reals,
    mixed: Reals,
    line: Reals,
    out: Reals,
) -> None:
    """Add up, for every person, what the groups that they may be in tell by the classifier.

    Each of the `people` may be in a `group`, so many records (`weight`) of which fit: in the order
    of groups, since a group is far more to be fetched than a person. Of several blocks, all of
    whose buckets are the groups, each tells on its own: what they say beyond the group's shares is
    multiplied. `line` is a line of zeros, and is one again after.
    """
    blocks = len(scale)
    for at in range(len(people)):
        person, g = people[at], group[at]
        if blocks == 1:
            _add_block(
                *(ranks[person], g, 0, columns, shown, buckets, stretches),
                *(ratio, scale, chance, out[person]),
            )
            continue
        first, last = buckets.values[g], buckets.values[g + 1]
        held = 0.0
        for place in range(first, last):
            held += buckets.weight[place]
        for place in range(first, last):
            mixed[place - first] = buckets.weight[place] / held
        for block in range(blocks):
            fitting = _add_block(
                *(ranks[person], g, block, columns, shown, buckets, stretches),
                *(ratio, scale, chance, line),
            )
            for place in range(first, last):
                told = line[buckets.value[place]]
                line[buckets.value[place]] = 0.0
                if fitting > 0:
                    mixed[place - first] *= told / fitting * held / buckets.weight[place]
        total = 0.0
        for place in range(last - first):
            total += mixed[place]
        if total > 0:
            for place in range(first, last):
                share = mixed[place - first] / total
                out[person, buckets.value[place]] += weight[at] * share
