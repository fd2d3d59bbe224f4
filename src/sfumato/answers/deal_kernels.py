"""Loops over the rows of tables that are dealt to each other within groups.

Rows stand group by group: those of group g are `starts[g]` to `starts[g + 1]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@loop
def look_up(codes: Codes, found: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
    """Fill `out` with what is found at each code; numpy would first widen the codes."""
    for row in range(len(codes)):
        out[row] = found[codes[row]]


@loop
def count_pattern(
    starts: Codes, counts: npt.NDArray[Any], pattern: Bytes, chosen: int, upto: Codes, out: Codes
) -> None:
    """Fill in each group's records of one pattern; `upto` is scratch, one more than rows.

    Groups are short: to add up all rows first and take differences is many times faster than to
    start anew for each.
    """
    total = np.int32(0)
    for row in range(len(pattern)):
        upto[row] = total
        total += np.int32(counts[row]) * np.int32(pattern[row] == chosen)
    upto[len(pattern)] = total
    for group in range(len(out)):
        out[group] = upto[starts[group + 1]] - upto[starts[group]]


@loop
def find_kinds(keys: Codes, number: Codes, of_group: Codes, example: Codes, groups: Codes) -> int:
    """Number the different keys as they come, and return how many there are.

    `number[key]` must be -1 at first. Fill in every group's number, and by number a group that has
    it and how many do.
    """
    count = 0
    for group in range(len(keys)):
        key = keys[group]
        if number[key] < 0:
            number[key] = count
            example[count] = group
            groups[count] = 0
            count += 1
        own = number[key]
        of_group[group] = own
        groups[own] += 1
    return count


@loop
def add_weights(starts: Codes, weights: Reals, out: Reals) -> None:
    """Add up the weights of each group's rows."""
    for group in range(len(starts) - 1):
        total = 0.0
        for row in range(starts[group], starts[group + 1]):
            total += weights[row]
        out[group] = total


@loop
def add_plain_sums(
    starts: Codes,
    order: Codes,
    counts: Codes,
    numbers: Reals,
    pattern: Bytes,
    kind_of_group: Codes,
    factors: Reals,
    is_open: Ints,
    is_sure: Ints,
    room: tuple[Codes, Codes],
    is_idle: Bools,
    out: Reals,
) -> None:
    """Do what `add_sums` does where no number is below 0 and rows have one open wish at most.

    For the greatest sum (0) count rows whose pattern is sure, and the first of the open ones for
    which there is room; for the least sum (1) rows that are sure, and the open ones that there is
    no room for to be left out. Idle kinds add nothing. There are no branches here: which pattern
    comes next is anybody's guess.
    """
    average = greatest = least = 0.0
    for group in range(len(starts) - 1):
        kind = kind_of_group[group]
        if is_idle[kind]:
            continue
        may, spare = np.int64(room[0][kind]), np.int64(room[1][kind])
        for place in range(starts[group], starts[group + 1]):
            own = pattern[order[place]]
            count, number = np.int64(counts[place]), numbers[place]
            average += count * number * factors[own, kind]
            wishing = count * is_open[0, own]
            granted = min(wishing, may)
            may -= granted
            greatest += (count * is_sure[0, own] + granted) * number
            wishing = count * is_open[1, own]
            granted = min(wishing, spare)
            spare -= granted
            least += (count * is_sure[1, own] + wishing - granted) * number
    out[0] += average
    out[1] += greatest
    out[2] += least


@loop
def add_sums(
    starts: Codes,
    order: Codes,
    counts: Codes,
    numbers: Reals,
    pattern: Bytes,
    kind_of_group: Codes,
    factors: Reals,
    is_idle: Bools,
    wishes: Ints,
    beyond: tuple[Bools, Bools],
    room: tuple[Codes, Codes],
    taken: Ints,
    out: Reals,
) -> None:
    """Add to `out` what the numbers of rows that count add up to: on average, at most, at least.

    `counts` and `numbers` stand in the `order` in which each group has its numbers by size, the
    greatest first. For the average every row counts with the factor of its pattern and its group's
    kind. `is_idle[i, kind]` says that nothing is to be added to `out[i]`.

    For the greatest sum, a row that would add something wishes to count, and one that would
    subtract wishes not to; for the least sum it is the other way round. `wishes[i, s, p]` is what
    rows of pattern p wish for from the other tables (s = 1: those that add): a number, or -1 for
    what is granted anyway, or -2 for what never is. For a union u of wishes, no more rows are
    granted what they wish than `room[i][u, kind]` and those whose wish lies beyond u. That the
    greatest numbers come first is best, as in any matroid. `taken` is scratch, a number a union.
    """
    average = 0.0
    for group in range(len(starts) - 1):
        kind = kind_of_group[group]
        start, end = starts[group], starts[group + 1]
        if not is_idle[0, kind]:
            for place in range(start, end):
                factor = factors[pattern[order[place]], kind]
                average += counts[place] * numbers[place] * factor
        for direction in range(2):
            if is_idle[1 + direction, kind]:
                continue
            sign = 1.0 - 2.0 * direction
            rooms, is_beyond = room[direction], beyond[direction]
            unions = len(rooms)
            for u in range(unions):
                taken[u] = rooms[u, kind]
            granted = 0
            total = 0.0
            for place in range(start, end):
                number = sign * numbers[place]
                count = counts[place]
                side = 1 if number > 0.0 else 0
                if side == 0:
                    total += count * number
                wish = wishes[direction, side, pattern[order[place]]]
                if wish == -2:
                    continue
                if wish >= 0:
                    most = granted + count
                    for u in range(unions):
                        if is_beyond[u, wish]:
                            taken[u] += count
                        most = min(most, taken[u])
                    count = most - granted
                    granted = most
                total += count * abs(number)
            out[1 + direction] += sign * total
    out[0] += average


@loop
def fill_covariances(counts: Codes, sizes: Codes, out: Reals) -> None:
    """Fill in the covariance of "all of these" for two records of a group, by kind of group.

    Table t has `counts[t, kind]` rows that will do. With r = -(n - c)/(c(n - 1)) the chance of both
    records is 1 + r times that of two that know nothing of each other; the product of all 1 + r,
    less 1, is added up so that nothing cancels.
    """
    for kind in range(len(sizes)):
        size = sizes[kind]
        if size < 2:
            out[kind] = 0.0
            continue
        squared, excess = 1.0, 0.0
        for table in range(len(counts)):
            count = counts[table, kind]
            if count == 0:
                squared = 0.0
                break
            squared *= (count / size) ** 2
            r = -(size - count) / (count * (size - 1.0))
            excess += r + excess * r
        out[kind] = squared * excess


@loop
def add_moments(
    starts: Codes,
    order: Codes,
    counts: Codes,
    numbers: Reals,
    pattern: Bytes,
    class_of_pattern: Ints,
    kind_of_group: Codes,
    about: float,
    chance: Reals,
    alone: Reals,
    together: Reals,
    scratch: Reals,
    out: Reals,
) -> None:
    """Add to `out` the expectation and variance of a sum of (number - about), and of its squares.

    Rows of a class (-1: they never count) count with its `chance`, by kind of group. `alone` is
    what the square of a number adds to the variance, `together` what the product of two sums of
    classes adds. `scratch` has two lines, a place a class.
    """
    classes = chance.shape[1]
    mean = variance = squares = 0.0
    for group in range(len(starts) - 1):
        kind = kind_of_group[group]
        for own in range(classes):
            scratch[0, own] = scratch[1, own] = 0.0
        for place in range(starts[group], starts[group + 1]):
            own = class_of_pattern[pattern[order[place]]]
            if own >= 0:
                number = numbers[place] - about
                scratch[0, own] += counts[place] * number
                scratch[1, own] += counts[place] * number * number
        for own in range(classes):
            total, square = scratch[0, own], scratch[1, own]
            mean += total * chance[kind, own]
            squares += square * chance[kind, own]
            variance += square * alone[kind, own]
            for other in range(classes):
                variance += total * scratch[0, other] * together[kind, own, other]
    out[0] += mean
    out[1] += variance
    out[2] += squares
