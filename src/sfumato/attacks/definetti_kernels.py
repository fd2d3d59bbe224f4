"""The loops of the deFinetti attack; see `bucket_classifier.py`.

A *bucket* is where secrets are shuffled: some people, who show cells, and some values, so many of
each. In a bucket person i has value v in proportion to r_i L_iv c_v, where L is the likelihood of
the person's cells, and r and c are such that people have one value each and values have as many
people as the bucket says. Only c is kept: r follows from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.attacks.reach import MISSING
from sfumato.measures.compiled import loop

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Shown(NamedTuple):
    """The combinations of cells that groups show, of all blocks in a row.

    Block b shows of group g those from `start[b, g]` to before `start[b, g + 1]`. Their cells and
    categories of cells are numbered over all attributes; -1 is no cell, 0 a category without
    meaning. `entries` says where the buckets of each combination begin.
    """

    start: Ints
    cells: Ints
    categories: Ints
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
def _fill_likely(
    line: Ints, ratio: Reals, value: Ints, first: int, last: int, begin: int, out: Reals
) -> None:
    """Fill in, from `begin` on, how likely somebody with these categories has each of some values,
    beyond the values' shares."""
    for place in range(first, last):
        product = 1.0
        own = value[place]
        for category in line:
            product *= ratio[own, category]
        out[begin + place - first] = product


@loop
def _weigh(
    line: Ints, ratio: Reals, value: Ints, scale: Reals, first: int, last: int, out: Reals
) -> float:
    """Fill in how likely somebody with these categories has each of some values; return the sum."""
    _fill_likely(line, ratio, value, first, last, 0, out)
    total = 0.0
    for place in range(first, last):
        out[place - first] *= scale[place]
        total += out[place - first]
    return total


@loop
def balance(
    units: Ints,
    shown: Shown,
    buckets: Buckets,
    ratio: Reals,
    rounds: int,
    scale: Reals,
    sums: Reals,
    likely: Reals,
    tally: Reals,
) -> None:
    """Fill in the factors of values (`scale`, a line a block) in some buckets, and add to `tally`,
    unless it is empty, how many of their people have each value with each category.

    Factors begin as the shares of the values. `ratio` and `tally` have a line a value. `sums` has
    room for a bucket's values, and `likely` at least that; with room for those of all people of a
    bucket, products are found once for all rounds.
    """
    for unit in units:
        first, last = buckets.values[unit], buckets.values[unit + 1]
        width = last - first
        held = 0.0
        for place in range(first, last):
            held += buckets.weight[place]
        for block in range(len(scale)):
            begin, end = buckets.start[block, unit], buckets.start[block, unit + 1]
            factor = scale[block, first:last]
            for place in range(width):
                factor[place] = buckets.weight[first + place] / held
            people = 0.0
            for at in range(begin, end):
                people += buckets.people[buckets.order[at]]
            kept = (end - begin) * width <= len(likely)
            for turn in range(rounds + 1):
                for place in range(width):
                    sums[place] = 0.0
                for at in range(begin, end):
                    entry = buckets.order[at]
                    line = shown.categories[buckets.combination[entry]]
                    row = (at - begin) * width if kept else 0
                    if turn == 0 or not kept:
                        _fill_likely(line, ratio, buckets.value, first, last, row, likely)
                    total = 0.0
                    for place in range(width):
                        total += likely[row + place] * factor[place]
                    if total <= 0:
                        continue
                    share = buckets.people[entry] / total
                    if turn < rounds:
                        for place in range(width):
                            sums[place] += likely[row + place] * factor[place] * share
                    else:
                        for place in range(width):
                            had = likely[row + place] * factor[place] * share
                            own = buckets.value[first + place]
                            for category in line:
                                tally[own, category] += had
                if turn < rounds:
                    for place in range(width):
                        if sums[place] > 0:
                            wanted = buckets.weight[first + place] / held * people
                            factor[place] *= wanted / sums[place]
                if turn + 1 == rounds and not len(tally):
                    break


@loop
def _fits(ranks: Ints, cells: Ints, columns: Ints, stretches: Stretches) -> bool:
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
    start: Ints,
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

    Person i's groups are from `start[i]` on, each with so many records (`weight`) that fit. Of
    several blocks, all of whose buckets are the groups, each tells on its own: what they say
    beyond the group's shares is multiplied. `line` is a line of zeros, and is one again after.
    """
    blocks = len(scale)
    for person in range(len(start) - 1):
        for at in range(start[person], start[person + 1]):
            g = group[at]
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
                people = _add_block(
                    *(ranks[person], g, block, columns, shown, buckets, stretches),
                    *(ratio, scale, chance, line),
                )
                for place in range(first, last):
                    told = line[buckets.value[place]]
                    line[buckets.value[place]] = 0.0
                    if people > 0:
                        mixed[place - first] *= told / people * held / buckets.weight[place]
            total = 0.0
            for place in range(last - first):
                total += mixed[place]
            if total > 0:
                for place in range(first, last):
                    share = mixed[place - first] / total
                    out[person, buckets.value[place]] += weight[at] * share
