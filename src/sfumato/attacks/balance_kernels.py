"""The loops that the deFinetti attack learns by; see `bucket_classifier.py`.

In a bucket person i has value v in proportion to r_i L_iv c_v, where L is the likelihood of the
person's cells, and r and c are such that people have one value each and values have as many people
as the bucket says. Only c is kept: r follows from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.attacks.definetti_kernels import Buckets, Shown
from sfumato.measures.compiled import inner_loop, loop

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


class Room(NamedTuple):
    """Scratch of `balance`: twice for a bucket's values; and, for some of its people at a time, for
    them, their categories, and products of a person and a value (at least one for each value)."""

    sums: Reals
    wanted: Reals
    people: Reals
    chance: Reals
    lines: Codes
    likely: Reals


class Few(NamedTuple):
    """Scratch of `_balance_few`: a column for each bucket, a line for each of its values or people.

    Value v of person i is in line `v * people + i` of `likely`; `lines` are people's categories.
    """

    factor: Reals
    wanted: Reals
    sums: Reals
    people: Reals
    chance: Reals
    likely: Reals
    lines: npt.NDArray[np.uint32]


# Sums over people keep their order, and every step of one waits for the last: so loops over people
# take four values at a time, whose sums do not wait for each other.


@inner_loop
def _fill_likely(
    begin: int, count: int, shown: Shown, buckets: Buckets, ratio: Reals, value: Ints, room: Room
) -> None:
    """Fill in some people of a bucket and how likely they have its values, a line a value."""
    people, lines, likely = room.people, room.lines, room.likely
    for i in range(count):
        entry = buckets.order[begin + i]
        people[i] = buckets.people[entry]
        combination = buckets.combination[entry]
        for at in range(lines.shape[1]):
            lines[i, at] = shown.categories[combination, at]
    fours = len(value) - len(value) % 4
    for place in range(0, fours, 4):
        a, b = ratio[value[place]], ratio[value[place + 1]]
        c, d = ratio[value[place + 2]], ratio[value[place + 3]]
        to = place * count
        for i in range(count):
            p = q = r = s = 1.0
            for at in range(lines.shape[1]):
                category = lines[i, at]
                p *= a[category]
                q *= b[category]
                r *= c[category]
                s *= d[category]
            likely[to + i] = p
            likely[to + count + i] = q
            likely[to + 2 * count + i] = r
            likely[to + 3 * count + i] = s
    for place in range(fours, len(value)):
        own, row = ratio[value[place]], likely[place * count : (place + 1) * count]
        for i in range(count):
            product = 1.0
            for at in range(lines.shape[1]):
                product *= own[lines[i, at]]
            row[i] = product


@inner_loop
def _share_out(count: int, factor: Reals, room: Room) -> None:
    """Fill in what each of some people has of every value, beyond its factor and likelihood."""
    people, chance, likely = room.people, room.chance, room.likely
    for i in range(count):
        chance[i] = 0.0
    for place in range(len(factor)):
        row, times = likely[place * count : (place + 1) * count], factor[place]
        for i in range(count):
            chance[i] += row[i] * times
    for i in range(count):
        chance[i] = people[i] / chance[i] if chance[i] > 0 else 0.0


@inner_loop
def _add_people(count: int, factor: Reals, room: Room) -> None:
    """Add up how many of some people have each value (`room.sums`)."""
    sums, chance, likely = room.sums, room.chance, room.likely
    fours = len(factor) - len(factor) % 4
    for place in range(0, fours, 4):
        to = place * count
        a, b = likely[to : to + count], likely[to + count : to + 2 * count]
        c, d = likely[to + 2 * count : to + 3 * count], likely[to + 3 * count : to + 4 * count]
        p = q = r = s = 0.0
        for i in range(count):
            own = chance[i]
            p += a[i] * own
            q += b[i] * own
            r += c[i] * own
            s += d[i] * own
        sums[place] += p * factor[place]
        sums[place + 1] += q * factor[place + 1]
        sums[place + 2] += r * factor[place + 2]
        sums[place + 3] += s * factor[place + 3]
    for place in range(fours, len(factor)):
        row = likely[place * count : (place + 1) * count]
        total = 0.0
        for i in range(count):
            total += row[i] * chance[i]
        sums[place] += total * factor[place]


@inner_loop
def _add_categories(count: int, value: Ints, factor: Reals, tally: Reals, room: Room) -> None:
    """Add to `tally` how many of some people have each value with each category."""
    chance, likely, lines = room.chance, room.likely, room.lines
    fours = len(factor) - len(factor) % 4
    for place in range(0, fours, 4):
        to = place * count
        a, b = tally[value[place]], tally[value[place + 1]]
        c, d = tally[value[place + 2]], tally[value[place + 3]]
        for i in range(count):
            own = chance[i]
            p = likely[to + i] * own * factor[place]
            q = likely[to + count + i] * own * factor[place + 1]
            r = likely[to + 2 * count + i] * own * factor[place + 2]
            s = likely[to + 3 * count + i] * own * factor[place + 3]
            for at in range(lines.shape[1]):
                category = lines[i, at]
                a[category] += p
                b[category] += q
                c[category] += r
                d[category] += s
    for place in range(fours, len(factor)):
        row, times = likely[place * count : (place + 1) * count], factor[place]
        counted = tally[value[place]]
        for i in range(count):
            had = row[i] * chance[i] * times
            for at in range(lines.shape[1]):
                counted[lines[i, at]] += had


@inner_loop
def _fill_few(
    units: Ints,
    block: int,
    wide: int,
    tall: int,
    shown: Shown,
    buckets: Buckets,
    ratio: Reals,
    few: Few,
) -> None:
    """Fill in the columns of some buckets with at most so many values and people.

    What a bucket lacks of these adds nothing to any sum: nobody has such a value, nor is such a
    person likely to have any.
    """
    for lane in range(len(units)):
        first, last = buckets.values[units[lane]], buckets.values[units[lane] + 1]
        begin, end = buckets.start[block, units[lane]], buckets.start[block, units[lane] + 1]
        held, people = 0.0, 0.0
        for place in range(first, last):
            held += buckets.weight[place]
        for i in range(tall):
            inside = begin + i < end
            entry = buckets.order[begin + i if inside else begin]
            weight = buckets.people[entry] if inside else 0.0
            people += weight
            few.people[i, lane] = weight
            line = shown.categories[buckets.combination[entry]]
            for at in range(len(line)):
                few.lines[lane, i, at] = np.uint32(line[at])
        for place in range(wide):
            inside = first + place < last
            share = buckets.weight[first + place] / held if inside else 0.0
            few.factor[place, lane] = share
            few.wanted[place, lane] = share * people
            own = ratio[buckets.value[first + place if inside else first]]
            for i in range(tall):
                product = 0.0
                if inside and begin + i < end:
                    product = 1.0
                    for at in range(few.lines.shape[2]):
                        product *= own[few.lines[lane, i, at]]
                few.likely[place * tall + i, lane] = product


@inner_loop
def _add_few(units: Ints, block: int, tall: int, buckets: Buckets, tally: Reals, few: Few) -> None:
    """Add to `tally` what `few.likely` says of the people of some buckets."""
    for lane in range(len(units)):
        first, last = buckets.values[units[lane]], buckets.values[units[lane] + 1]
        people = buckets.start[block, units[lane] + 1] - buckets.start[block, units[lane]]
        for place in range(last - first):
            counted = tally[buckets.value[first + place]]
            for i in range(people):
                had = few.likely[place * tall + i, lane]
                for at in range(few.lines.shape[2]):
                    counted[few.lines[lane, i, at]] += had


@inner_loop
def _balance_few(
    units: Ints,
    block: int,
    wide: int,
    tall: int,
    shown: Shown,
    buckets: Buckets,
    ratio: Reals,
    rounds: int,
    scale: Reals,
    tally: Reals,
    few: Few,
) -> None:
    """Do what `balance` does for some buckets with few values and people side by side: in each,
    sums keep their order."""
    _fill_few(units, block, wide, tall, shown, buckets, ratio, few)
    lanes = len(units)
    for turn in range(rounds + (1 if len(tally) else 0)):
        for i in range(tall):
            chance, people = few.chance[i], few.people[i]
            for lane in range(lanes):
                chance[lane] = 0.0
            for place in range(wide):
                row, factor = few.likely[place * tall + i], few.factor[place]
                for lane in range(lanes):
                    chance[lane] += row[lane] * factor[lane]
            for lane in range(lanes):
                chance[lane] = people[lane] / chance[lane] if chance[lane] > 0 else 0.0
        for place in range(wide):
            sums, factor, wanted = few.sums, few.factor[place], few.wanted[place]
            if turn < rounds:
                for lane in range(lanes):
                    sums[lane] = 0.0
                for i in range(tall):
                    row, chance = few.likely[place * tall + i], few.chance[i]
                    for lane in range(lanes):
                        sums[lane] += row[lane] * chance[lane]
                for lane in range(lanes):
                    had = sums[lane] * factor[lane]
                    factor[lane] *= wanted[lane] / had if had > 0 else 1.0
            else:
                for i in range(tall):
                    row, chance = few.likely[place * tall + i], few.chance[i]
                    for lane in range(lanes):
                        row[lane] = row[lane] * chance[lane] * factor[lane]
    if len(tally):
        _add_few(units, block, tall, buckets, tally, few)
    for lane in range(lanes):
        first, last = buckets.values[units[lane]], buckets.values[units[lane] + 1]
        for place in range(last - first):
            scale[block, first + place] = few.factor[place, lane]


@inner_loop
def _balance_one(
    unit: int,
    block: int,
    shown: Shown,
    buckets: Buckets,
    ratio: Reals,
    rounds: int,
    scale: Reals,
    tally: Reals,
    room: Room,
) -> None:
    """Do what `balance` does for one bucket, some of its people at a time."""
    sums, wanted = room.sums, room.wanted
    first, last = buckets.values[unit], buckets.values[unit + 1]
    weight, value, factor = (
        buckets.weight[first:last],
        buckets.value[first:last],
        scale[block, first:last],
    )
    begin, end = buckets.start[block, unit], buckets.start[block, unit + 1]
    width = last - first
    held, people = 0.0, 0.0
    for place in range(width):
        held += weight[place]
    for at in range(begin, end):
        people += buckets.people[buckets.order[at]]
    for place in range(width):
        factor[place] = weight[place] / held
        wanted[place] = factor[place] * people
    step = max(1, min(len(room.likely) // max(width, 1), len(room.lines)))
    for turn in range(rounds + (1 if len(tally) else 0)):
        for place in range(width):
            sums[place] = 0.0
        for base in range(begin, end, step):
            count = min(step, end - base)
            if turn == 0 or step < end - begin:  # else those of the last turn are there
                _fill_likely(base, count, shown, buckets, ratio, value, room)
            _share_out(count, factor, room)
            if turn < rounds:
                _add_people(count, factor, room)
            else:
                _add_categories(count, value, factor, tally, room)
        if turn < rounds:
            for place in range(width):
                if sums[place] > 0:
                    factor[place] *= wanted[place] / sums[place]


@loop
def balance(
    units: Ints,
    shown: Shown,
    buckets: Buckets,
    ratio: Reals,
    rounds: int,
    scale: Reals,
    tally: Reals,
    room: Room,
    few: Few,
) -> None:
    """Fill in the factors of values (`scale`, a line a block) in some buckets, and add to `tally`,
    unless it is empty, how many of their people have each value with each category.

    Factors begin as the shares of the values. `ratio` and `tally` have a line a value. One block is
    done after the other: caches hold its columns of `ratio` and `tally`, but not those of all.
    """
    lanes = few.likely.shape[1]
    for block in range(len(scale)):
        for at in range(0, len(units), lanes):
            some = units[at : at + lanes]
            wide, tall, least = 0, 0, 1
            for unit in some:
                values = buckets.values[unit + 1] - buckets.values[unit]
                people = buckets.start[block, unit + 1] - buckets.start[block, unit]
                wide, tall = max(wide, values), max(tall, people)
                least = min(least, values, people)
            if least > 0 and wide <= len(few.factor) and tall <= len(few.people):
                _balance_few(
                    some, block, wide, tall, shown, buckets, ratio, rounds, scale, tally, few
                )
            else:
                for unit in some:
                    _balance_one(unit, block, shown, buckets, ratio, rounds, scale, tally, room)
