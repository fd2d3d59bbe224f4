"""The loops that find the groups a person may be in; see `fits.py`.

Groups are found in the first block and narrowed down in the others. Combinations of cells of the
first block are bits of words: a kind of person has for each attribute a line of words, with the
combinations whose cell covers the value, and where all lines have a bit, the combination fits.
Where few combinations fit in some attribute, those are listed instead, and tried one by one.

To try a combination is to look up its cell of each attribute in a line of truth values that a kind
of person has: which cells cover their value. These lines lie in one array: `line[kind, a]` says
where that of attribute a begins. The cells of a combination follow each other, since the machine
fetches them together, and so do combinations and blocks; `column[kind, a]` is the place among them.
The attributes of a block come in any order: it is quickest with those of the fewest combinations
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import inner_loop, loop, trailing_zeros

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Cells = npt.NDArray[np.signedinteger[Any]]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]


@loop
def mark_rows(cells: Cells, column: int, start: Ints, values: Ints, words: Words) -> None:
    """Set, for every value, the bits of the rows whose cell in the column covers it.

    Those that cell c covers are in `values` from `start[c]` to before `start[c + 1]`. `words` has
    a line a value.
    """
    one = np.uint64(1)
    for row in range(len(cells)):
        cell = cells[row, column]
        for place in range(start[cell], start[cell + 1]):
            words[values[place], row >> 6] |= one << np.uint64(row & 63)


@loop
def list_rows(
    cells: Cells,
    column: int,
    start: Ints,
    values: Ints,
    second: int,
    ends: Ints,
    rows: Codes,
    other: Cells,
) -> None:
    """List, for every value, the rows whose cell in the column covers it, as in `mark_rows`, and
    their cells in the second column.

    Those of value v go from `ends[v]` on, which becomes the place after the last of them.
    """
    for row in range(len(cells)):
        cell = cells[row, column]
        for place in range(start[cell], start[cell + 1]):
            value = values[place]
            rows[ends[value]] = row
            other[ends[value]] = cells[row, second]
            ends[value] += 1


@inner_loop
def _counted_in(found: int, group: int, many: int, groups: Ints, weights: Reals) -> int:
    """Count some records for a group, which comes after all those found; return how many are."""
    if found == 0 or groups[found - 1] != group:
        groups[found] = group
        weights[found] = 0.0
        found += 1
    weights[found - 1] += many
    return found


@loop
def _of_words(
    kind: int, words: Words, at: Ints, group: Ints, count: Codes, groups: Ints, weights: Reals
) -> int:
    """Fill in the groups in whose combinations all lines of words have a bit."""
    found = 0
    one, zero = np.uint64(1), np.uint64(0)
    for w in range((len(group) + 63) >> 6):
        word = words[at[kind, 0] + w]
        for a in range(1, at.shape[1]):
            if word == zero:
                break
            word &= words[at[kind, a] + w]
        while word != zero:
            row = (w << 6) + trailing_zeros(word)
            word &= word - one
            found = _counted_in(found, group[row], count[row], groups, weights)
    return found


@loop
def _of_list(
    kind: int,
    attributes: int,
    listed: Codes,
    other: Cells,
    begin: Ints,
    end: Ints,
    covered: Bools,
    line: Ints,
    column: Ints,
    cells: Cells,
    group: Ints,
    count: Codes,
    groups: Ints,
    weights: Reals,
) -> int:
    """Fill in the groups in whose listed combinations the other attributes fit, too."""
    found = 0
    for spot in range(begin[kind], end[kind]):
        if attributes > 1 and not covered[line[kind, 1] + other[spot]]:
            continue
        row = listed[spot]
        fits = True
        for a in range(2, attributes):
            if not covered[line[kind, a] + cells[row * attributes + column[kind, a]]]:
                fits = False
                break
        if fits:
            found = _counted_in(found, group[row], count[row], groups, weights)
    return found


@loop
def _narrowed(
    kind: int,
    found: int,
    first: int,
    last: int,
    covered: Bools,
    line: Ints,
    column: Ints,
    cells: Cells,
    starts: Ints,
    count: Codes,
    size: Ints,
    groups: Ints,
    weights: Reals,
) -> int:
    """Keep the groups with a combination that fits in the attributes from the first to before the
    last, which are another block's; return how many these are."""
    kept, width = 0, last - first
    for i in range(found):
        g = groups[i]
        fitting = 0
        for row in range(starts[g], starts[g + 1]):
            fits = True
            for a in range(first, last):
                if not covered[line[kind, a] + cells[row * width + column[kind, a]]]:
                    fits = False
                    break
            if fits:
                fitting += count[row]
        if fitting > 0:
            groups[kept] = g
            weights[kept] = weights[i] * fitting / size[g]
            kept += 1
    return kept


@loop
def fill_fits(
    first: int,
    last: int,
    words: Words,
    at: Ints,
    listed: Codes,
    other: Cells,
    begin: Ints,
    end: Ints,
    covered: Bools,
    line: Ints,
    column: Ints,
    cells: Cells,
    attributes: Ints,
    rows: Ints,
    starts: Ints,
    group: Ints,
    count: Codes,
    size: Ints,
    groups: Ints,
    weights: Reals,
    counts: Ints,
    out_groups: Ints,
    out_weights: Reals,
) -> int:
    """Fill in the groups of some kinds one after the other, their weights, and how many each has;
    return the first kind for whose groups there was no room.

    Block b has the attributes from `attributes[b]` to before `attributes[b + 1]`, the combinations
    from `rows[b]` on, and those of group g from `starts[b, g]` on, counted from there. `count` has
    the records of all combinations, `group` the group of those of the first block; `size` are the
    records of each group. Where there are no words, `listed` has the combinations that fit a kind
    in its first attribute from `begin[kind]` to before `end[kind]`, and `other` their cells of its
    second. `groups` and `weights` have room for all groups.
    """
    filled = 0
    for kind in range(first, last):
        if at.shape[1] > 0:
            found = _of_words(kind, words, at, group, count, groups, weights)
        else:
            found = _of_list(
                *(kind, attributes[1], listed, other, begin, end, covered, line, column, cells),
                *(group, count, groups, weights),
            )
        block = cells
        for b in range(1, len(rows) - 1):
            block = block[(rows[b] - rows[b - 1]) * (attributes[b] - attributes[b - 1]) :]
            found = _narrowed(
                *(kind, found, attributes[b], attributes[b + 1], covered, line, column, block),
                *(starts[b], count[rows[b] :], size, groups, weights),
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
