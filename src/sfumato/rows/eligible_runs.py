"""Runs of rows joined with their neighbours until each can be split into l-unique blocks.

A set of rows is eligible if, for every sensitive attribute, l times its commonest value is no more
than the rows that have a value, and some have one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.measures.compiled import inner_loop, loop
from sfumato.rows.words import Words, is_tails
from sfumato.table import Column, Groups
from sfumato.table.groups import BLOCK

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]

_FEW = 32  # rows of a group, each of which is compared with every other
_SHORT = 64  # rows of a run that are counted again rather than kept
_ONE = np.ones(1, np.int64)


class Values(NamedTuple):
    """The sensitive values of rows; those of all attributes are numbered in one go, 0 missing.

    `of_row[a, i]` is the value of row i on attribute a, `attribute[v]` whose value v is. Where each
    row stands for several that are alike, `alike` has how many; else a single 1, for all.
    """

    of_row: Codes
    attribute: Codes
    alike: Ints = _ONE


class Counter(NamedTuple):
    """The values of two runs, each on its side: every one's count, and a list of those that occur.

    By side in all arrays: runs change sides by number, and nothing is moved.
    """

    counts: Ints
    found: Codes
    length: Ints  # of `found`
    known: Ints  # by attribute: rows that have a value
    largest: Ints  # by attribute: rows that share the commonest


class Pile(NamedTuple):
    """Runs that are done, one upon the other, each with its values and their counts."""

    start: Ints
    parts: Ints
    bottom: Ints  # where the run's values begin in the two lists below
    values: Codes
    counts: Ints


def values_of(columns: Sequence[Column], rows: Ints | None = None) -> Values:
    """Return the values of some rows, in the order of the rows, or of all."""
    return numbered(
        [
            (column.codes if rows is None else column.codes[rows], column.cardinality)
            for column in columns
        ]
    )


def numbered(parts: Sequence[tuple[Codes, int]]) -> Values:
    """Return columns of codes as values; each comes with its number of codes, one past it missing.

    >>> numbered([(np.array([0, 1]), 2), (np.array([1, 0]), 1)]).of_row.tolist()
    [[1, 2], [0, 3]]
    """
    of_row = np.empty((len(parts), len(parts[0][0])), np.int32)
    attribute = [np.full(1, -1, np.int32)]
    first = 1
    for a, (codes, count) in enumerate(parts):
        for start in range(0, len(codes), BLOCK):
            own, value = codes[start : start + BLOCK], of_row[a, start : start + BLOCK]
            np.add(own, first, out=value)
            value[own == count] = 0
        attribute.append(np.full(count, a, np.int32))
        first += count
    return Values(of_row, np.concatenate(attribute))


def largest_counts(values: Values, groups: Groups) -> Codes:
    """Return how many rows of each group share its commonest value, by attribute."""
    return counts_by_group(values, groups)[0]


def counts_by_group(values: Values, groups: Groups) -> tuple[Codes, Codes]:
    """Return how many rows of each group share its commonest value, and how many have one.

    Both are by attribute.
    """
    return counts_of_members(values, groups.order, groups.offsets)


def counts_of_members(values: Values, rows: Ints, offsets: Ints) -> tuple[Codes, Codes]:
    """Return the same as `counts_by_group` of groups whose rows stand one after the other."""
    count = len(offsets) - 1
    widest = int(np.diff(offsets).max(initial=0))
    # as narrow as rows can be numbered: of many groups, most of the work is memory
    largest, known = np.zeros((2, len(values.of_row), count), np.int32)
    # all of a row side by side: it is fetched from somewhere else, once
    if len(rows) < len(values.of_row[0]):
        shown, rows = np.ascontiguousarray(values.of_row[:, rows].T), np.arange(len(rows))
    else:
        shown = np.ascontiguousarray(values.of_row.T)
    step = max(-(-count // (os.cpu_count() or 1)), 1)

    def fill(first: int) -> None:
        own, ends = slice(first, first + step), offsets[first : first + step + 1]
        counts = np.zeros(len(values.attribute) if widest > _FEW else 0, np.int64)
        held = np.empty((shown.shape[1], widest), np.int32)
        _count_groups(shown, rows, ends, counts, held, largest[:, own], known[:, own])

    with ThreadPoolExecutor() as threads:
        list(threads.map(fill, range(0, count, step)))
    return largest, known


@numba.njit(cache=True, nogil=True)
def _count_groups(
    shown: Codes,
    rows: Ints,
    offsets: Ints,
    counts: Ints,
    held: Codes,
    largest: Codes,
    known: Codes,
) -> None:
    for group in range(len(offsets) - 1):
        start, size = offsets[group], offsets[group + 1] - offsets[group]
        for j in range(size):
            row = rows[start + j]
            for attribute in range(shown.shape[1]):
                held[attribute, j] = shown[row, attribute]
        for attribute in range(shown.shape[1]):
            most = some = 0
            if size <= _FEW:
                # values are compared with each other: counts of all there are do not stay at hand
                for i in range(size):
                    value, often = held[attribute, i], 1
                    for j in range(i):
                        often += held[attribute, j] == value
                    if value > 0:
                        some += 1
                        most = max(most, often)
            else:
                for j in range(size):
                    value = held[attribute, j]
                    if value > 0:
                        some += 1
                        counts[value] += 1
                        most = max(most, counts[value])
                for j in range(size):
                    counts[held[attribute, j]] = 0
            known[attribute, group] = some
            largest[attribute, group] = most


def refuse_ineligible(columns: Sequence[Column], groups: Groups, l: int) -> None:  # noqa: E741
    """Refuse (ParameterError) groups that cannot be split into l-unique blocks."""
    values = values_of(columns)
    largest, known = counts_by_group(values, groups)
    for column, most, rows in zip(columns, largest, known, strict=True):
        refuse_counts(column, most, rows, l)


def refuse_counts(
    column: Column,
    largest: npt.NDArray[np.integer[Any]],
    known: npt.NDArray[np.integer[Any]],
    l: int,  # noqa: E741
) -> None:
    """Refuse (ParameterError) groups, given their rows that share a value and that have one."""
    failing = int(np.count_nonzero((largest == 0) | (largest * np.int64(l) > known)))
    if failing:
        raise ParameterError(
            f"{failing} of {len(known)} groups are not {l}-eligible on `{column.name}`: "
            "join them with others first"
        )


def new_counter(values: Values) -> Counter:
    """Return a counter of nothing."""
    attributes = len(values.of_row)
    return Counter(
        np.zeros((2, len(values.attribute)), np.int64),
        np.empty((2, len(values.attribute)), np.int32),
        np.zeros(2, np.int64),
        np.zeros((2, attributes), np.int64),
        np.zeros((2, attributes), np.int64),
    )


def new_pile(values: Values, runs: int) -> Pile:
    """Return room for so many runs."""
    room = min(values.of_row.size, runs * len(values.attribute))
    return Pile(
        np.empty(runs, np.int64),
        np.empty(runs, np.int64),
        np.empty(runs + 1, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
    )


@inner_loop
def join_runs(
    values: Values,
    starts: Ints,
    end: int,
    l: int,  # noqa: E741
    words: Words,
    counter: Counter,
    pile: Pile,
) -> int:
    """Return how many runs are left when each is eligible; the pile has their starts and parts.

    Run i holds the rows from `starts[i]` up to the next start or `end`. From left to right, a run
    that is not eligible joins a random neighbour, the one before (with all that it has joined) or
    the one after, until it is. If all rows together are eligible, so is every run in the end. The
    counter is empty before and after. There must be two words a run: each toss joins one.

    The counts of the run at hand, and of the one on top of the pile, are at hand, so that joining
    a small run to a large one before it costs the steps of the small one. Deeper runs keep the
    counts of their values, unless they are so short that they are counted again. Runs of fewer
    than l rows, which most are, cannot be eligible, and are counted only with what they join.
    """
    runs = len(starts)
    # a row that stands for several may be enough
    fewest = l if len(values.alike) == 1 else 1
    done = 0
    pile.bottom[0] = 0
    side = 0  # where the run at hand is counted
    has_top = False  # whether the other side has the counts of the topmost run
    run = 0
    while run < runs:
        first, parts = starts[run], 1
        run += 1
        stop = starts[run] if run < runs else end
        is_counted = False
        while True:
            if stop - first >= fewest:
                if not is_counted:
                    count_rows(values, first, stop, counter, side)
                    is_counted = True
                if _eligible(counter, side, l):
                    break
            if done == 0 and run == runs:
                break  # all rows together: the caller's duty
            if done > 0 and (run == runs or is_tails(words)):
                done -= 1
                beyond, first = first, pile.start[done]
                parts += pile.parts[done]
                if has_top:
                    if is_counted:
                        _pour(values, counter, side)
                    else:
                        count_rows(values, beyond, stop, counter, 1 - side)
                    side = 1 - side
                    has_top = False
                else:
                    if not is_counted:
                        count_rows(values, beyond, stop, counter, side)
                    if beyond - first <= _SHORT:
                        count_rows(values, first, beyond, counter, side)
                    else:
                        for i in range(pile.bottom[done], pile.bottom[done + 1]):
                            add_value(values, pile.values[i], pile.counts[i], counter, side)
                is_counted = True
            else:
                run += 1
                further = starts[run] if run < runs else end
                if is_counted:
                    count_rows(values, stop, further, counter, side)
                stop = further
                parts += 1
        if has_top:
            if first - pile.start[done - 1] > _SHORT:
                _put_away(counter, 1 - side, pile, done - 1)
            else:
                pile.bottom[done] = pile.bottom[done - 1]
                empty(counter, 1 - side)
        pile.start[done] = first
        pile.parts[done] = parts
        done += 1
        side = 1 - side
        has_top = True
    empty(counter, 1 - side)
    return done


@loop
def _pour(values: Values, counter: Counter, side: int) -> None:
    """Add the counts of one side to those of the other, and empty it."""
    for i in range(counter.length[side]):
        value = counter.found[side, i]
        add_value(values, value, counter.counts[side, value], counter, 1 - side)
    empty(counter, side)


@loop
def _put_away(counter: Counter, side: int, pile: Pile, run: int) -> None:
    """Keep the counts of a run on the pile, and empty its side."""
    bottom = pile.bottom[run]
    for i in range(counter.length[side]):
        value = counter.found[side, i]
        pile.values[bottom + i] = value
        pile.counts[bottom + i] = counter.counts[side, value]
    pile.bottom[run + 1] = bottom + counter.length[side]
    empty(counter, side)


@inner_loop
def empty(counter: Counter, side: int) -> None:
    """Forget all counts of a side."""
    for i in range(counter.length[side]):
        counter.counts[side, counter.found[side, i]] = 0
    counter.length[side] = 0
    for attribute in range(counter.known.shape[1]):
        counter.known[side, attribute] = counter.largest[side, attribute] = 0


@inner_loop
def count_rows(values: Values, start: int, stop: int, counter: Counter, side: int) -> None:
    """Add the values of some rows to the counts of a side."""
    counts, found = counter.counts, counter.found
    length = counter.length[side]
    step = 0 if len(values.alike) == 1 else 1
    for attribute in range(len(values.of_row)):
        # what every row changes is kept at hand
        known, largest = counter.known[side, attribute], counter.largest[side, attribute]
        for row in range(start, stop):
            value = values.of_row[attribute, row]
            if value == 0:
                continue
            rows = values.alike[row * step]
            often = counts[side, value] + rows
            if often == rows:
                found[side, length] = value
                length += 1
            counts[side, value] = often
            known += rows
            largest = max(largest, often)
        counter.known[side, attribute], counter.largest[side, attribute] = known, largest
    counter.length[side] = length


@loop
def add_value(values: Values, value: int, rows: int, counter: Counter, side: int) -> None:
    """Add so many rows with a value to the counts of a side; a missing one counts for nothing."""
    if value == 0:
        return
    attribute = values.attribute[value]
    often = counter.counts[side, value] + rows
    if often == rows:
        counter.found[side, counter.length[side]] = value
        counter.length[side] += 1
    counter.counts[side, value] = often
    counter.known[side, attribute] += rows
    counter.largest[side, attribute] = max(counter.largest[side, attribute], often)


@numba.njit(inline="always")
def _eligible(counter: Counter, side: int, l: int) -> bool:  # noqa: E741
    for attribute in range(counter.known.shape[1]):
        largest = counter.largest[side, attribute]
        if largest == 0 or largest * l > counter.known[side, attribute]:
            return False
    return True
