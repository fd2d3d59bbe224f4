"""The top-down greedy: k rows a group, nothing left to halve, and each node as the paper says."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import PLACES, Sample, partition, samples
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import Infeasible
from sfumato.randomness import Randomness, repeatable
from sfumato.rows.axes import axes_of
from sfumato.rows.scales import Scales, scales_of
from sfumato.rows.top_down import top_down
from sfumato.rows.top_down_kernel import (
    _distances,
    _smallest,
    halve,
    halve_all,
    new_sides,
)
from sfumato.rows.working import WorkingRows
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Groups, Table, encode

SMALL_K = st.integers(1, 5)


def cut(table: Table, k: int, seed: int = 0, **options) -> Groups:
    return top_down(table, k, rng=Randomness.test(seed).generator("order"), **options)


def apart(sample: Sample, one: int, other: int) -> bool:
    """Whether two rows lose anything together: a missing value does so under a hierarchy only."""
    pairs = zip(sample.quasi, sample.key(one), sample.key(other), strict=True)
    return any(a != b and (name == "place" or None not in (a, b)) for name, a, b in pairs)


# --- groups ---------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(samples(people=False), SMALL_K, st.integers(0, 3))
def test_groups_have_k_rows_and_nothing_is_left_to_halve(sample, k, seed):
    rows = len(sample.rows)
    if rows < k:
        with pytest.raises(Infeasible, match=f"use k <= {rows}$"):
            cut(sample.table, k, seed)
        return
    groups = cut(sample.table, k, seed)
    assert groups.sizes.sum() == rows
    assert groups.sizes.min() >= k
    for part in partition(groups):
        if len(part) >= 2 * k:
            assert not any(apart(sample, *pair) for pair in combinations(part, 2))


@settings(max_examples=60)
@given(samples(people=False), SMALL_K, st.integers(0, 3))
def test_the_same_seed_gives_the_same_groups(sample, k, seed):
    if len(sample.rows) >= k:
        assert cut(sample.table, k, seed).ids.tolist() == cut(sample.table, k, seed).ids.tolist()


def test_large_tables_give_the_same_groups_whatever_thread_does_what():
    rng = repeatable(5)
    table = numbers(age=rng.integers(0, 90, 4000), pay=rng.integers(0, 5000, 4000))
    assert cut(table, 5).ids.tolist() == cut(table, 5).ids.tolist()
    assert partition(cut(table, 5, seed=1)) != partition(cut(table, 5, seed=2))


@settings(max_examples=100)
@given(samples(people=False), SMALL_K, st.data())
def test_given_groups_are_refined_and_small_ones_left_whole(sample, k, data):
    rows = len(sample.rows)
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    within = Groups.of_equal([np.array(drawn)])
    groups = cut(sample.table, k, within=within)
    for part in partition(groups):
        assert len({drawn[i] for i in part}) == 1
        whole = within.sizes[within.ids[min(part)]]
        assert len(part) >= min(k, whole)
        if whole < 2 * k:
            assert len(part) == whole


def numbers(**columns) -> Table:
    """Return a coded table whose columns are all quasi-identifiers."""
    data = pa.table({name: pa.array(cells) for name, cells in columns.items()})
    return encode(data, Schema.of(dict.fromkeys(columns, "quasi-identifier")))


def test_rows_that_are_all_alike_stay_together():
    assert cut(numbers(age=[30] * 50, job=["x"] * 50), 2).count == 1
    assert cut(numbers(age=[None] * 50, job=["x", None] * 25), 2).count == 1
    assert cut(numbers(age=[30] * 50 + [31] * 50), 2).count == 2


@pytest.mark.parametrize("missing", [1, 20, 60])
def test_rows_that_miss_the_only_value_do_not_keep_others_together(missing):
    """Whichever row happens to come first: a missing value is at no distance of any other."""
    ages = [*range(100 - missing), *[None] * missing]
    for seed in range(10):
        groups = cut(numbers(age=ages), 2, seed)
        assert groups.sizes.max() <= max(3, missing + 3)
        assert groups.count >= (100 - missing) // 3 - missing


def test_clusters_are_told_apart():
    rng = repeatable(3)
    ages = np.concatenate([rng.integers(10 * c, 10 * c + 3, 20) for c in (0, 3, 6, 9)])
    groups = cut(numbers(age=ages), 20)
    assert partition(groups) == {frozenset(range(20 * c, 20 * c + 20)) for c in range(4)}


# --- one node -------------------------------------------------------------------------------------


def working(table: Table) -> tuple[WorkingRows, Scales]:
    columns = table.quasi_identifiers
    return WorkingRows.of(columns, table), scales_of(axes_of(columns))


def halved(table: Table, k: int) -> tuple[set[int], set[int]] | None:
    """Return the two sides into which the rows, in their order, are parted."""
    rows, scales = working(table)
    side = np.zeros(table.rows, np.uint8)
    middle = halve(rows.matrix, 0, table.rows, scales, k, side, new_sides(scales))
    numbered = rows.matrix[:, -1].tolist()
    assert sorted(numbered) == list(range(table.rows))
    return None if middle < 0 else (set(numbered[:middle]), set(numbered[middle:]))


class Literal:
    """Losses of groups of rows by their definition: numbers, a set of jobs, places in a tree.

    All ranges and domain sizes are powers of two, so that the product's floats are exact as well.
    """

    def __init__(self, rows: list[dict[str, Any]], paths: dict[str, tuple[str, ...]]) -> None:
        self.rows, self.paths = rows, paths

    def loss(self, group: list[int]) -> Fraction:
        """Return the loss of each row of the group, generalised together."""
        total = Fraction(0)
        ages = [self.rows[i]["age"] for i in group if self.rows[i]["age"] is not None]
        if ages:
            total += Fraction(max(ages) - min(ages), 16)
        jobs = {self.rows[i]["job"] for i in group} - {None}
        if len(jobs) > 1:
            total += Fraction(len(jobs), 4)
        places = {self.rows[i]["place"] for i in group}
        if len(places) > 1:
            paths = [self.paths[place] if place else ("*",) for place in places]
            shared = [label for label in paths[0] if all(label in path for path in paths)]
            below = [leaf for leaf, path in self.paths.items() if shared[0] in path]
            total += Fraction(len(below), 8)
        return total

    def distances(self, row: int) -> list[Fraction]:
        return [self.loss([row, i]) for i in range(len(self.rows))]

    def some_apart(self) -> int | None:
        """Return the first row that differs from the last one before it that has a value."""
        for name in ("age", "job", "place"):
            cells = [(i, row[name]) for i, row in enumerate(self.rows)]
            told = [(i, v) for i, v in cells if v is not None or name == "place"]
            for (_, before), (i, value) in pairwise(told):
                if value != before:
                    return i
        return None

    def fits(self, row: int, side: list[int]) -> bool:
        """Whether a row changes nothing of a side: within its spans, and no new job."""
        own, others = self.rows[row], [self.rows[i] for i in side]
        jobs = {other["job"] for other in others}
        ages = [other["age"] for other in others if other["age"] is not None]
        # a missing place comes after all others
        ranks = [[*self.paths, None].index(other["place"]) for other in others]
        return (
            (own["job"] is None or own["job"] in jobs)
            and (own["age"] is None or (bool(ages) and min(ages) <= own["age"] <= max(ages)))
            and min(ranks) <= [*self.paths, None].index(own["place"]) <= max(ranks)
        )

    def clearest_first(self, one: int, two: int) -> list[int]:
        """Return the rows by how much nearer they are to one seed, in at most 256 classes."""
        pairs = zip(self.distances(one), self.distances(two), strict=True)
        lead = [float(abs(a - b)) for a, b in pairs]
        scale = (min(256, len(lead)) - 1) / max(lead)
        return sorted(range(len(lead)), key=lambda i: -int(lead[i] * scale))

    def halved(self, k: int) -> tuple[set[int], set[int]] | None:
        """Return the two sides: Xu et al., Figure 3, as the kernel's own words change it."""
        count = len(self.rows)
        two = self.some_apart()
        if count < 2 * k or two is None:
            return None
        for _ in range(3):
            one = two
            losses = self.distances(one)
            two = losses.index(max(losses))
        sides: tuple[list[int], list[int]] = ([one], [two])
        for i in self.clearest_first(one, two):
            if i in (one, two):
                continue
            # what the loss of the whole side would grow by
            costs = [
                self.loss([*side, i]) * (len(side) + 1) - self.loss(side) * len(side)
                for side in sides
            ]
            chosen = 0
            if costs[1] < costs[0] or (costs[1] == costs[0] and len(sides[1]) < len(sides[0])):
                chosen = 1
            sides[chosen].append(i)
        final = set(sides[0]), set(sides[1])
        better = 0 if self.loss(sides[0]) < self.loss(sides[1]) else 1
        moving = {i for i in sides[1 - better][1:] if self.fits(i, sides[better])}
        final[better].update(moving)
        final[1 - better].difference_update(moving)
        short = 0 if len(final[0]) < len(final[1]) else 1
        lacking = max(k, count // 32) - len(final[short])
        if lacking > 0:
            cost = {i: self.loss([*sides[short], i]) for i in sorted(final[1 - short])}
            cheapest = set(sorted(cost, key=cost.__getitem__)[:lacking])
            final[short].update(cheapest)
            final[1 - short].difference_update(cheapest)
        return final


@st.composite
def exact_rows(draw) -> list[dict[str, Any]]:
    """Return rows whose losses are exact in floats: the first rows span all ranges."""
    age = st.sampled_from([0, 1, 2, 3, 7, 8, 12, 15, 16, None])
    row = st.fixed_dictionaries(
        {
            "age": age,
            "job": st.sampled_from(["a", "b", "c", "d", None]),
            "place": st.sampled_from([*PLACES, None]),
        }
    )
    rows = draw(st.lists(row, min_size=2, max_size=14))
    spanning = [
        {"age": a, "job": j, "place": PLACES[0]}
        for a, j in ((0, "a"), (16, "b"), (0, "c"), (16, "d"))
    ]
    return draw(st.permutations([*rows, *spanning]))


@settings(max_examples=200)
@given(exact_rows(), st.integers(1, 6))
def test_a_node_is_halved_as_the_paper_says(rows, k):
    paths = {p: (p, f"level {i // 4}", "*") for i, p in enumerate(PLACES)}
    hierarchy = Hierarchy.from_rows([(leaf, *path[1:]) for leaf, path in paths.items()], "place")
    data = pa.table(
        {
            "age": pa.array([row["age"] for row in rows], pa.int64()),
            "job": pa.array([row["job"] for row in rows], pa.string()),
            "place": pa.array([row["place"] for row in rows], pa.string()),
        }
    )
    attributes = (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("job", Role.QUASI_IDENTIFIER),
        Attribute("place", Role.QUASI_IDENTIFIER, hierarchy=hierarchy),
    )
    table = encode(data, Schema(attributes))
    assert halved(table, k) == Literal(rows, paths).halved(k)


@pytest.mark.parametrize("outliers", [1, 2, 5])
def test_a_few_outliers_do_not_make_the_tree_deep(outliers):
    """A side has a 32nd of the rows at least, so no path is longer than log(n) / log(32/31)."""
    rows = 3200
    ages = [i % 10 for i in range(rows - outliers)] + [10**6] * outliers
    first, second = halved(numbers(age=ages), 2)
    assert min(len(first), len(second)) == rows // 32
    lonely = first if len(first) < len(second) else second
    assert set(range(rows - outliers, rows)) <= lonely


@settings(max_examples=60)
@given(samples(people=False), SMALL_K)
def test_halving_all_is_halving_again_and_again(sample, k):
    table = sample.table
    rows, scales = working(table)
    side = np.zeros(table.rows, np.uint8)
    halve_all(rows.matrix, 0, table.rows, scales, k, side, rows.begins, new_sides(scales))

    again, _ = working(table)
    sides = new_sides(scales)

    def finish(start: int, end: int) -> set[frozenset[int]]:
        middle = halve(again.matrix, start, end, scales, k, side, sides)
        if middle < 0:
            return {frozenset(again.matrix[start:end, -1].tolist())}
        return finish(start, middle) | finish(middle, end)

    assert partition(rows.groups()) == finish(0, table.rows)


def test_distances_of_many_rows_are_those_of_each():
    rng = np.random.default_rng(1)
    work, scales = working(numbers(a=rng.integers(0, 90, 9_000), b=rng.integers(0, 5, 9_000)))
    found, alone = np.empty(8_990), np.empty(1)
    _distances(work.matrix, 10, 9_000, 700, scales, found)
    for row in (10, 700, 4_105, 4_106, 8_201, 8_202, 8_999):  # blocks begin and end between them
        _distances(work.matrix, row, row + 1, 700, scales, alone)
        assert found[row - 10] == alone[0]
    assert found[690] == 0 and found.max() > 1


@pytest.mark.parametrize("values", [1, 2, 7, 10**6])
def test_the_number_at_a_place_of_ascending_ones_is_found_without_sorting(values):
    rng = np.random.default_rng(values)
    for count in (1, 2, 3, 10, 500):
        numbers = rng.integers(0, values, count) / 7
        for ordered in (numbers, np.sort(numbers), np.sort(numbers)[::-1].copy()):
            for place in {0, count // 3, count - 1}:
                assert _smallest(ordered.copy(), place) == np.sort(numbers)[place]
