"""Rings: any l neighbours on the circle have different values, for every eligible group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import refining as oracle

from sfumato.errors import ParameterError
from sfumato.randomness import Randomness
from sfumato.rows.ring import rings, windows
from sfumato.schema import Schema
from sfumato.table import Column, Groups, encode

# A fair shuffle exceeds this in one of a million tests of eleven degrees of freedom. Seeds are
# fixed, so a test that passes once always does.
CHI_SQUARE_11 = 48.9
RUNS = 1200
EXHAUSTIVE_ROWS = 12
LETTERS = "jcaliekbgdfh"  # the commonest value is not the first of the alphabet


def of_values(*groups: str) -> tuple[Column, Groups]:
    """Return the values of some groups, `-` being a missing one."""
    cells = [None if letter == "-" else f"secret {letter}" for letter in "".join(groups)]
    ids = [number for number, letters in enumerate(groups) for _ in letters]
    data = pa.table({"illness": pa.array(cells, pa.string())})
    column = encode(data, Schema.of(illness="sensitive"))["illness"]
    return column, Groups(np.array(ids, np.int32), len(groups))


def ring(column: Column, groups: Groups, ell: int, seed: int = 0) -> list[int]:
    return rings(column, groups, ell, rng=Randomness.test(seed).generator("ring")).tolist()


def counts_of(rows: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number of rows as counts of values, from the commonest on."""
    if rows == 0:
        yield ()
    for count in range(min(rows, largest), 0, -1):
        for rest in counts_of(rows - count, count):
            yield (count, *rest)


@pytest.mark.parametrize("ell", [1, 2, 3, 4, 5])
def test_every_eligible_multiset_has_a_ring(ell):
    """All of up to a dozen rows, side by side as the groups of one table."""
    texts = [
        "".join(LETTERS[value] * count for value, count in enumerate(counts))
        for rows in range(ell, EXHAUSTIVE_ROWS + 1)
        for counts in counts_of(rows, rows // ell)
    ]
    column, groups = of_values(*texts)
    letters = "".join(texts)
    found = ring(column, groups, ell)
    assert sorted(found) == list(range(len(letters)))
    for group, text in enumerate(texts):
        start = int(groups.offsets[group])
        values = "".join(letters[row] for row in found[start : start + len(text)])
        assert sorted(values) == sorted(text)
        assert oracle.is_ring(values, ell), values


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=14), min_size=1, max_size=4),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_any_l_neighbours_differ(counts, ell, seed):
    texts = []
    for each in counts:
        letters = [chr(97 + value) for value, count in enumerate(each) for _ in range(count)]
        while not oracle.eligible(letters, ell):  # fill up with values that occur once
            letters.append(chr(200 + len(letters)))
        texts.append("".join(letters))
    column, groups = of_values(*texts)
    values, found = "".join(texts), ring(column, groups, ell, seed)
    for group, rows in enumerate(groups.members(g).tolist() for g in range(groups.count)):
        here = found[groups.offsets[group] : groups.offsets[group + 1]]
        assert sorted(here) == rows
        assert oracle.is_ring([values[row] for row in here], ell)


def test_rows_of_a_value_are_in_random_order():
    """Three rows of one value between three of another: twelve rings, up to where they start."""
    column, groups = of_values("aaabbb")
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(RUNS):
        found = ring(column, groups, 2, seed)
        turn = found.index(0)
        seen[tuple(found[turn:] + found[:turn])] += 1
    expected = RUNS / 12
    assert len(seen) == 12
    assert sum((n - expected) ** 2 / expected for n in seen.values()) < CHI_SQUARE_11


def test_the_ring_does_not_depend_on_the_order_of_groups_in_the_input():
    column, _ = of_values("abcabc")
    groups = Groups(np.array([0, 1, 0, 1, 0, 1], np.int32), 2)
    found = ring(column, groups, 2)
    assert sorted(found[:3]) == [0, 2, 4] and sorted(found[3:]) == [1, 3, 5]


def test_missing_values_are_refused():
    column, groups = of_values("ab-")
    with pytest.raises(ParameterError, match=r"`illness`.*missing"):
        ring(column, groups, 1)


def test_groups_that_are_not_eligible_are_refused_without_a_value():
    column, groups = of_values("aab", "ab")
    with pytest.raises(ParameterError, match=r"1 of 2 groups.*2-eligible on `illness`") as refusal:
        ring(column, groups, 2)
    assert "secret" not in str(refusal.value)


# --- windows --------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.integers(1, 4))
def test_windows_are_the_l_places_from_each_on_and_close_the_ring(sizes, ell):
    sizes = [max(size, ell) for size in sizes]
    groups = Groups(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), len(sizes))
    expected, first = [], 0
    for size in sizes:
        expected += [[first + (i + j) % size for j in range(ell)] for i in range(size)]
        first += size
    found = windows(groups, ell)
    assert found.tolist() == expected
    # each place is in l windows, at l different steps
    assert set(Counter(found.ravel().tolist()).values()) == {ell}
    assert all(sorted(column) == list(range(first)) for column in found.T.tolist())
