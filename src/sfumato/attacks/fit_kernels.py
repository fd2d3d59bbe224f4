"""The loops that find the groups a person may be in; see `fits.py`.

Combinations of cells are bits of words. A kind of person has for each attribute a row of words:
the combinations whose cell covers the value. Where all rows of a block have a bit, the combination
fits. The words of all blocks lie in one array: `at[kind, attribute]` says where they begin. The
attributes of a block come in any order: it is quickest with those of the fewest bits first. Of the
very first, the words that have a bit are listed: `some` has their places, those of a kind from
`some_from[kind]` to before `some_to[kind]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop, trailing_zeros

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]


@loop
def mark_rows(cells: Ints, start: Ints, values: Ints, words: Words) -> None:
    """Set, for every value, the bits of the rows whose cell covers it.

    Those that cell c covers are in `values` from `start[c]` to before `start[c + 1]`. `words` has
    a line a value.
    """
    one = np.uint64(1)
    for row in range(len(cells)):
        for place in range(start[cells[row]], start[cells[row] + 1]):
            words[values[place], row >> 6] |= one << np.uint64(row & 63)


@loop
def fits_of(
    kind: int,
    words: Words,
    at: Ints,
    some: Ints,
    some_from: Ints,
    some_to: Ints,
    attributes: Ints,
    rows: Ints,
    starts: Ints,
    group: Ints,
    count: Ints,
    size: Ints,
    groups: Ints,
    weights: Reals,
) -> int:
    """Fill in the groups that a kind of person may be in and their weights; return how many.

    Block b has the attributes from `attributes[b]` to before `attributes[b + 1]`, the combinations
    from `rows[b]` on, and those of group g from `starts[b, g]` on, counted from there. `size` are
    the records of each group. `groups` and `weights` have room for all of them.
    """
    found = 0
    first, end = attributes[0], attributes[1]
    one, zero, all_bits = np.uint64(1), np.uint64(0), ~np.uint64(0)
    for spot in range(some_from[kind], some_to[kind]):
        w = some[spot]
        word = words[at[kind, first] + w]
        for a in range(first + 1, end):
            if word == zero:
                break
            word &= words[at[kind, a] + w]
        while word != zero:
            place = (w << 6) + trailing_zeros(word)
            word &= word - one
            g = group[place]
            if found == 0 or groups[found - 1] != g:
                groups[found] = g
                weights[found] = 0.0
                found += 1
            weights[found - 1] += count[place]
    for b in range(1, len(rows) - 1):
        kept = 0
        for i in range(found):
            g = groups[i]
            begin, end = starts[b, g], starts[b, g + 1]
            fitting = 0
            for w in range(begin >> 6, (end + 63) >> 6):
                word = all_bits  # without those of the groups before and after
                if w == begin >> 6:
                    word <<= np.uint64(begin & 63)
                if w == end >> 6:
                    word &= ~(all_bits << np.uint64(end & 63))
                for a in range(attributes[b], attributes[b + 1]):
                    word &= words[at[kind, a] + w]
                    if word == zero:
                        break
                while word != zero:
                    fitting += count[rows[b] + (w << 6) + trailing_zeros(word)]
                    word &= word - one
            if fitting > 0:
                groups[kept] = g
                weights[kept] = weights[i] * fitting / size[g]
                kept += 1
        found = kept
    return found


@loop
def fill_fits(
    first: int,
    last: int,
    words: Words,
    at: Ints,
    some: Ints,
    some_from: Ints,
    some_to: Ints,
    attributes: Ints,
    rows: Ints,
    starts: Ints,
    group: Ints,
    count: Ints,
    size: Ints,
    groups: Ints,
    weights: Reals,
    counts: Ints,
    out_groups: Ints,
    out_weights: Reals,
) -> int:
    """Fill in the groups of some kinds one after the other, and how many each has; return the
    first kind for whose groups there was no room."""
    filled = 0
    for kind in range(first, last):
        found = fits_of(
            *(kind, words, at, some, some_from, some_to, attributes, rows, starts, group, count),
            *(size, groups, weights),
        )
        if filled + found > len(out_groups):
            return kind
        counts[kind] = found
        for i in range(found):
            out_groups[filled + i] = groups[i]
            out_weights[filled + i] = weights[i]
        filled += found
    return last


@loop
def add_shares(
    people: Ints,
    group: Ints,
    weight: Reals,
    size: Ints,
    entries: Ints,
    value: Ints,
    held: Reals,
    out: Reals,
) -> None:
    """Add up, for every person, the values of the groups they may be in, by the groups' weights.

    Each of the `people` may be in a `group`, in the order of groups; group g's values are from
    `entries[g]` on, `held` by so many of its `size[g]` records.
    """
    for place in range(len(people)):
        person, g = people[place], group[place]
        share = weight[place] / size[g]
        for entry in range(entries[g], entries[g + 1]):
            out[person, value[entry]] += share * held[entry]


@loop
def take_largest(
    kind: Ints, start: Ints, group: Ints, weight: Reals, drawn: Reals, out: Ints
) -> None:
    """Fill in the group of each person whose weight is the largest, times a number that is drawn
    for the person and the group; of equal ones the last. Who has no group is left alone.

    Person i's groups are from `start[kind[i]]` on; `drawn` has the numbers of one person after the
    other.
    """
    at = 0
    for person in range(len(kind)):
        largest = -np.inf
        for place in range(start[kind[person]], start[kind[person] + 1]):
            own = weight[place] * drawn[at]
            at += 1
            if own >= largest:
                largest = own
                out[person] = group[place]


def scratch(groups: int) -> tuple[Any, Any]:
    """Return room for the groups of one kind."""
    return np.empty(groups, np.int64), np.empty(groups, np.float64)
