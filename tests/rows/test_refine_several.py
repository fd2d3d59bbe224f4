"""Blocks that differ in several attributes: always found for two, by search for three and more."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.unique_blocks import differ, unique_split

from sfumato.errors import Infeasible, ParameterError
from sfumato.randomness import Randomness
from sfumato.rows.refine_several import split_unique
from sfumato.rows.unique_search import EXHAUSTIVE_ROWS

STANDARD_DEVIATIONS = 4.5
# Any two of these share a value, and each value is in half of them: no pair can be made.
ALL_ALIKE = [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]

Row = tuple[int, ...]
Set = list[Row]


def split(sets: Sequence[Set], ell: int, seed: int = 0) -> list[list[list[int]]]:
    """Return the blocks of each set as places in it, having checked that all is as it should be."""
    rows = [row for members in sets for row in members]
    width = len(rows[0]) if rows else 2
    values = np.array(rows, np.int32).reshape(-1, width).T
    offsets = np.cumsum([0, *map(len, sets)])
    ids, count = split_unique(values, offsets, ell, rng=Randomness.test(seed).generator("split"))
    assert ids.dtype == np.int32
    assert len(ids) == len(rows)
    found, first = [], 0
    for number, members in enumerate(sets):
        blocks = len(members) // ell
        mine = ids[offsets[number] : offsets[number + 1]]
        parts = [np.flatnonzero(mine == first + b).tolist() for b in range(blocks)]
        assert sum(map(len, parts)) == len(members)  # no row is in a block of another set
        for part in parts:
            assert ell <= len(part) < 2 * ell
            assert len(part) - len(members) // blocks in (0, 1)
            assert differ([members[i] for i in part])
        found.append(parts)
        first += blocks
    assert count == first
    return found


def largest_l(members: Set) -> int:
    """Return the largest l for which the set is eligible."""
    return min(
        len(members) // max(Counter(column).values()) for column in zip(*members, strict=True)
    )


def _shuffle_apart(columns: Sequence[Sequence[int]], order: random.Random) -> Set:
    return list(zip(*(order.sample(column, len(column)) for column in columns), strict=True))


@st.composite
def tight_sets(draw: st.DrawFn, ell: int) -> Set:
    """Draw a set in which at least one attribute has l values that are in every block."""
    blocks, rest = draw(st.integers(1, 9)), draw(st.integers(0, ell - 1))
    tight = [*list(range(ell)) * blocks, *range(ell, ell + rest)]
    shape = draw(st.sampled_from(["apart", "one tight", "identical", "bijection", "shifted"]))
    order = draw(st.randoms(use_true_random=False))
    if shape == "apart":
        return _shuffle_apart([tight, tight], order)
    if shape == "one tight":
        fewest = -(-len(tight) // blocks)
        values = draw(st.integers(fewest, fewest + 2 * ell))
        loose = [place % values for place in range(len(tight))]
        return _shuffle_apart([tight, loose], order)
    if shape == "identical":
        return [(value, value) for value in tight]
    renamed = order.sample(range(50), max(tight) + 1)
    if shape == "bijection":
        return [(value, renamed[value]) for value in tight]
    # each value meets two of the other attribute, in one long circle
    return list(zip(sorted(tight), [*sorted(tight)[1:], sorted(tight)[0]], strict=True))


FREE_SETS = st.tuples(st.integers(1, 12), st.integers(1, 12)).flatmap(
    lambda spans: st.lists(
        st.tuples(st.integers(0, spans[0] - 1), st.integers(0, spans[1] - 1)),
        min_size=1,
        max_size=40,
    )
)


# --- two attributes -------------------------------------------------------------------------------


@settings(max_examples=400)
@given(FREE_SETS, st.integers(0, 3), st.data())
def test_any_eligible_set_is_split_by_two_attributes(members, seed, data):
    ell = data.draw(st.integers(1, largest_l(members)))
    split([members], ell, seed)


@settings(max_examples=400)
@given(st.integers(1, 9).flatmap(lambda ell: st.tuples(st.just(ell), tight_sets(ell))), st.data())
def test_a_set_with_values_that_are_in_every_block_is_split(drawn, data):
    ell, members = drawn
    assert largest_l(members) >= ell
    split([members], ell, data.draw(st.integers(0, 3)))


@given(
    st.integers(1, 5).flatmap(
        lambda ell: st.tuples(
            st.just(ell), st.lists(st.one_of(tight_sets(ell), st.just([])), max_size=6)
        )
    )
)
def test_sets_are_split_apart_and_blocks_numbered_in_their_order(drawn):
    ell, sets = drawn
    split(sets, ell)


def test_a_set_of_fewer_than_2l_rows_is_one_block():
    (blocks,) = split([[(i, 7 - i) for i in range(7)]], 4)
    assert blocks == [[0, 1, 2, 3, 4, 5, 6]]


def test_with_l_1_every_row_is_a_block():
    (blocks,) = split([[(0, 0)] * 5], 1)
    assert sorted(blocks) == [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize(("values", "ell"), [((14, 50), 5), ((700, 900), 5), ((60, 60), 60)])
def test_large_sets_are_split(values, ell):
    order = random.Random(1)
    columns = [[place % span for place in range(6_000)] for span in values]
    split([_shuffle_apart(columns, order)], ell)


def test_large_uneven_sets_are_split():
    """The commonest values are as common as they can be, the others ever rarer."""
    order = random.Random(2)
    columns = []
    for ell in (3, 4):
        common = [value for value in range(ell - 1) for _ in range(6_000 // 4)]
        rare = [ell + int(300 * order.random() ** 3) for _ in range(6_000 - len(common))]
        columns.append([*common, *rare])
    members = _shuffle_apart(columns, order)
    split([members], min(4, largest_l(members)))


# --- three attributes and more --------------------------------------------------------------------


def _splits(members: Set, ell: int, seed: int) -> bool:
    try:
        split([members], ell, seed)
    except Infeasible:
        return False
    return True


@settings(max_examples=300)
@given(
    st.integers(3, 4).flatmap(
        lambda width: st.lists(st.tuples(*[st.integers(0, 4)] * width), min_size=1, max_size=8)
    ),
    st.integers(0, 3),
    st.data(),
)
def test_a_few_rows_are_split_whenever_that_can_be(members, seed, data):
    ell = data.draw(st.integers(1, largest_l(members)))
    assert _splits(members, ell, seed) == (unique_split(members, ell) is not None)


def test_of_few_rows_none_is_missed_where_often_there_is_no_split():
    order = random.Random(3)
    verdicts: Counter[bool] = Counter()
    while verdicts.total() < 300:
        rows, values = order.randint(4, 8), order.randint(2, 4)
        members = [tuple(order.randrange(values) for _ in range(3)) for _ in range(rows)]
        ell = largest_l(members)
        if ell > 1:
            exists = unique_split(members, ell) is not None
            assert _splits(members, ell, verdicts.total()) == exists
            verdicts[exists] += 1
    assert min(verdicts[True], verdicts[False]) > 30


@pytest.mark.parametrize("copies", [1, 2, 3, 4, 10])
def test_three_eligible_attributes_may_have_no_split(copies):
    members = ALL_ALIKE * copies
    assert largest_l(members) == 2
    if copies <= 2:
        assert unique_split(members, 2) is None
    with pytest.raises(Infeasible, match=r"found for 1 of the 2 sets.*not prove.*smaller l"):
        split([[(i, i, i) for i in range(5)], members], 2)


def test_a_search_that_keeps_failing_ends_early():
    with pytest.raises(Infeasible, match=r"100 of the 100 sets of rows tried \(of 150\)"):
        split([ALL_ALIKE] * 150, 2)


@pytest.mark.parametrize("rows", [EXHAUSTIVE_ROWS + 1, 20, 31, 90])
@pytest.mark.parametrize(("ell", "width", "spare"), [(2, 3, 1), (3, 3, 1), (5, 3, 2), (4, 4, 4)])
def test_more_rows_are_split_where_a_split_was_hidden(rows, ell, width, spare):
    order = random.Random(rows)
    blocks = rows // ell
    members = []
    for block in range(blocks):
        size = rows // blocks + (block < rows % blocks)
        span = range(-(-rows // blocks) + spare)
        members += zip(*(order.sample(span, size) for _ in range(width)), strict=True)
    order.shuffle(members)
    split([members], ell)


def test_many_sets_are_split_by_three_attributes():
    order = random.Random(4)
    columns = [[place % span for place in range(30)] for span in (5, 6, 7)]
    split([_shuffle_apart(columns, order)[: order.choice([10, 30])] for _ in range(200)], 2)


@pytest.mark.parametrize("coarse", [0, 1, 2])
def test_attributes_that_determine_another_cost_nothing(coarse):
    """So tight a set is not split by search; but rows that differ in region differ in town."""
    order = random.Random(5)
    region, trade = ([place % 5 for place in range(1_000)] for _ in range(2))
    members = []
    for here, other in _shuffle_apart([region, trade], order):
        town = 3 * here + order.randrange(3)
        row = [here, other]
        row.insert(coarse, town)
        members.append((*row, 10 * town + order.randrange(10)))
    split([members], 5)


# --- chance ---------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_blocks_and_others_differ():
    for members in (
        [(i % 4, i % 5) for i in range(40)],
        [(i % 4, i % 5, i % 7) for i in range(40)],
    ):
        assert split([members], 3, 1) == split([members], 3, 1)
        found = {str(sorted(split([members], 3, seed)[0])) for seed in range(20)}
        assert len(found) == 20


@pytest.mark.parametrize(
    ("kinds", "copies", "ell"),
    [
        ([(0, 0), (1, 1)], 4, 2),
        ([(0, 0), (0, 1), (1, 2), (2, 0)], 3, 2),
        ([(0, 0), (0, 1), (1, 0), (1, 1)], 2, 2),
        ([(0, 0, 0), (0, 1, 1), (1, 2, 2), (2, 0, 2)], 2, 2),  # all splits are tried
        ([(0, 0, 0), (0, 1, 1), (1, 2, 2), (2, 0, 2), (3, 3, 3)], 3, 2),  # a search
    ],
)
def test_rows_with_the_same_values_are_dealt_as_if_they_had_no_place_in_the_input(
    kinds, copies, ell
):
    """Whoever knows the order of the input learns nothing from who shares a block."""
    members = [kind for kind in kinds for _ in range(copies)]
    tries = 1_500
    together: Counter[int] = Counter()
    for seed in range(tries):
        for block in split([members], ell, seed)[0]:
            if 0 in block:
                together.update(block)
    compared = 0
    for kind in range(1, len(kinds)):
        met = [together[kind * copies + copy] for copy in range(copies)]
        share = sum(met) / copies
        assert max(abs(count - share) for count in met) <= STANDARD_DEVIATIONS * share**0.5
        compared += share > 0
    assert compared > 0


# --- what is refused ------------------------------------------------------------------------------


def refused(values: Sequence[Sequence[int]], offsets: Sequence[int], ell: int, why: str) -> None:
    rng = Randomness.test(0).generator("split")
    with pytest.raises(ParameterError, match=why):
        split_unique(np.array(values, np.int32), np.array(offsets), ell, rng=rng)


def test_sets_that_are_not_eligible_are_the_callers_mistake():
    refused([[0, 0, 0, 1, 0, 1], [0, 1, 2, 3, 0, 1]], [0, 4, 6], 2, "in 1 of 2 sets")
    refused([[0, 1, 2, 3, 0, 1], [0, 0, 0, 1, 0, 0]], [0, 4, 6], 2, "in 2 of 2 sets")
    refused([[0, 1], [0, 1]], [0, 2], 3, "in 1 of 1 sets")  # fewer than l rows


def test_other_mistakes_are_refused():
    refused([[0, 1]], [0, 2], 2, "two or more")
    refused([[0, 1], [0, 1]], [0, 2], 0, "l >= 1")
    refused([[0, 1], [0, -1]], [0, 2], 2, "negative")
    for offsets in ([], [0], [1, 2], [0, 1], [0, 3], [0, 2, 1, 2]):
        refused([[0, 1], [0, 1]], offsets, 1, "every row")


def test_no_rows_make_no_blocks():
    assert split([], 3) == []
    assert split([[], []], 3) == [[], []]
