"""Merging for alpha and gamma: unions that fit, no more of them than needed, in one pass."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from arbitrary.associated import Associated, associated
from arbitrary.coded import partition
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import association as oracle
from oracles.models import exact

from sfumato.randomness import Randomness, repeatable
from sfumato.rows.eligible_runs import Values, counts_by_group, largest_counts
from sfumato.rows.merge_groups import Limits, _ascending_order, combinations, merge_groups
from sfumato.table import Groups

SHARES = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.3334, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0])


def rng(seed: int = 0) -> np.random.Generator:
    return Randomness.test(seed).generator("merging")


def values_of(case: Associated) -> Values:
    return combinations(case.columns, [case.table[name] for name in case.sensitive])


def merged(case: Associated, alpha: float, *gammas: float, seed: int = 0) -> Groups:
    limits = Limits(alpha, np.array(gammas or [1.0] * len(case.sensitive)))
    return merge_groups(values_of(case), case.groups, limits, rng=rng(seed)).groups


def with_ids(case: Associated, ids: list[int]) -> Associated:
    return Associated(case.rows, ids, case.divided, case.sensitive)


def fits(case: Associated, ids: list[int], alpha: float, gammas: tuple[float, ...]) -> list[bool]:
    """Return by group whether it keeps alpha and each gamma; no value at all keeps any gamma."""
    kept = []
    found = [oracle.of_rows(case.rows, ids, case.divided, name).values() for name in case.sensitive]
    everyone = [row | {"nothing": 1} for row in case.rows]
    shares = oracle.of_rows(everyone, ids, case.divided, "nothing").values()
    for share, *reached in zip(shares, *found, strict=True):
        products = [each.gamma if each else Fraction(0) for each in reached]
        kept.append(
            share.alpha <= exact(alpha)
            and all(p <= exact(gamma) for p, gamma in zip(products, gammas, strict=True))
        )
    return kept


# --- what is counted ------------------------------------------------------------------------------


@given(associated(secrets=2))
def test_the_largest_counts_are_those_of_every_table(case):
    found = largest_counts(values_of(case), case.groups)
    assert found[: len(case.divided)].tolist() == case.repeats.tolist()
    for place, name in enumerate(case.sensitive, start=len(case.divided)):
        for group in range(case.groups.count):
            values = [case.rows[row][name] for row in case.groups.members(group)]
            known = [value for value in values if value is not None]
            assert found[place, group] == max((known.count(v) for v in known), default=0)


@given(associated(secrets=2), SHARES, SHARES)
def test_merged_groups_come_with_their_counts(case, alpha, gamma):
    limits = Limits(alpha, np.array([gamma] * len(case.sensitive)))
    found = merge_groups(values_of(case), case.groups, limits, rng=rng())
    largest, known = counts_by_group(values_of(case), found.groups)
    assert found.largest.tolist() == largest.tolist()
    assert found.known.tolist() == known.tolist()


def test_groups_of_many_rows_are_counted_as_small_ones_are():
    shown = np.array([[1, 2] * 50 + [0] * 3], np.int32)
    values = Values(shown, np.array([-1, 0, 0], np.int32))
    whole = Groups(np.zeros(103, np.int32), 1)
    halves = Groups((np.arange(103) >= 98).astype(np.int32), 2)
    assert [found.tolist() for found in counts_by_group(values, whole)] == [[[50]], [[100]]]
    assert [found.tolist() for found in counts_by_group(values, halves)] == [[[49, 1]], [[98, 2]]]


@given(associated(secrets=2))
def test_combinations_are_equal_where_a_table_shows_the_same(case):
    values = values_of(case)
    for t, part in enumerate(case.divided):
        shown = [tuple(row[name] for name in part) for row in case.rows]
        codes = values.of_row[t].tolist()
        assert all(code > 0 for code in codes)
        for i in range(len(shown)):
            assert [code == codes[i] for code in codes] == [each == shown[i] for each in shown]
    for s, name in enumerate(case.sensitive, start=len(case.divided)):
        for code, row in zip(values.of_row[s].tolist(), case.rows, strict=True):
            assert (code == 0) == (row[name] is None)
    for place, codes in enumerate(values.of_row):
        assert set(values.attribute[codes[codes > 0]].tolist()) <= {place}


# --- any groups -----------------------------------------------------------------------------------


@settings(max_examples=120)
@given(
    associated(max_rows=24, max_groups=8, secrets=1) | associated(max_groups=6, secrets=2),
    SHARES,
    SHARES,
    SHARES,
    st.integers(0, 3),
)
def test_merged_groups_fit_or_all_rows_are_one(case, alpha, gamma, other, seed):
    gammas = (gamma, other)[: len(case.sensitive)]
    groups = merged(case, alpha, *gammas, seed=seed)
    before, after = partition(case.groups), partition(groups)
    # each a union of given groups, and every row in one of them
    assert sum(len(group) for group in after) == len(case.rows)
    for group in before:
        assert sum(group <= union for union in after) == 1
    ids = groups.ids.tolist()
    good = fits(case, ids, alpha, gammas)
    assert all(good) or groups.count == 1
    # what fits stays as it is unless another needs it
    fitted = fits(case, case.ids, alpha, gammas)
    if all(fitted):
        assert after == before
    for union in after:
        parts = [g for g in range(case.groups.count) if set(case.groups.members(g)) <= union]
        assert len(parts) == 1 or not all(fitted[g] for g in parts)


@settings(max_examples=60)
@given(associated(max_rows=24, max_groups=8), SHARES, st.integers(0, 3))
def test_alpha_is_reached_wherever_all_rows_together_keep_it(case, alpha, seed):
    if case.whole() is not None and case.whole().alpha <= exact(alpha):
        groups = merged(case, alpha, seed=seed)
        assert all(fits(case, groups.ids.tolist(), alpha, (1.0,)))


@pytest.mark.parametrize("alpha", [1 / 3, 0.33333333])
def test_an_alpha_of_about_a_third_is_kept_exactly(alpha):
    """Groups of three that all differ have a third, which is more than 0.3333333333333333."""
    rows = [{"age": i % 3, "illness": "x"} for i in range(27)]
    rows += [{"age": 9 + i, "illness": "x"} for i in range(3)]
    ids = [i // 3 for i in range(30)]
    groups = merged(Associated(rows, ids, (("age",),)), alpha)
    case = Associated(rows, groups.ids.tolist(), (("age",),))
    assert all(found.alpha <= exact(alpha) for found in case.reached())


def test_only_as_many_groups_are_taken_in_as_are_needed():
    """One pair of twins among ten pairs of strangers: for a half, they take in one other pair."""
    rows = [{"age": 0, "illness": str(i)} for i in range(2)]
    rows += [{"age": 1 + i, "illness": str(i)} for i in range(20)]
    case = Associated(rows, [i // 2 for i in range(22)], (("age",),))
    for alpha, size in [(0.5, 4), (0.25, 8), (0.2, 10)]:
        groups = merged(case, alpha)
        assert groups.sizes[groups.ids[0]] == size
        assert all(fits(case, groups.ids.tolist(), alpha, (1.0,)))
    # strangers fit a half, and keep to themselves
    assert sorted(merged(case, 0.5).sizes.tolist()) == [2] * 9 + [4]


def test_groups_that_mend_each_other():
    """Two groups, each alike in one table only: together they are alike by half in each."""
    rows = [{"age": 0, "job": str(i), "illness": "x"} for i in range(4)]
    rows += [{"age": 1 + i, "job": "j", "illness": "x"} for i in range(4)]
    case = Associated(rows, [0] * 4 + [1] * 4, (("age",), ("job",)))
    assert merged(case, 0.5).count == 1
    assert merged(case, 1.0, 0.25).count == 2
    assert merged(case, 1.0, 0.2).count == 1


def test_gamma_may_be_lost_by_merging_for_alpha():
    """All that is left is one group, which exceeds gamma: the caller has to look."""
    rows = [{"age": -1, "job": str(i), "illness": str(i)} for i in range(8)]
    rows += [{"age": i, "job": "all", "illness": str(i)} for i in range(8)]
    case = Associated(rows, [0] * 8 + [1] * 8, (("age",), ("job",)))
    groups = merged(case, 0.5, 0.02)
    assert groups.count == 1
    assert fits(case, groups.ids.tolist(), 0.5, (0.02,)) == [False]
    assert merged(case, 1.0, 0.02).count == 2


def test_a_group_without_values_keeps_any_gamma():
    rows = [{"age": i, "illness": None if i < 2 else str(i)} for i in range(6)]
    case = Associated(rows, [0, 0, 1, 1, 2, 2], (("age",),))
    assert merged(case, 0.5, 0.25).count == 3


def test_arguments_are_left_as_they_are():
    rows = [{"age": i % 2, "illness": str(i)} for i in range(8)]
    case = Associated(rows, [i // 2 for i in range(8)], (("age",),))
    values, ids = values_of(case), case.groups.ids.copy()
    before = values.of_row.copy()
    merge_groups(values, case.groups, Limits(0.4, np.array([1.0])), rng=rng())
    assert (values.of_row == before).all() and (case.groups.ids == ids).all()


# --- large tables: minutes, were the work quadratic -----------------------------------------------

MANY = 100_000  # groups of two rows


def large(ages: np.ndarray, jobs: np.ndarray, count: int) -> tuple[Values, Groups]:
    """Return values of two tables and a sensitive one, all rows of which differ by number."""
    rows = len(ages)
    of_row = np.empty((3, rows), np.int32)
    attribute = [np.full(1, -1, np.int32)]
    first = 1
    for place, codes in enumerate((ages, jobs, np.arange(rows))):
        of_row[place] = codes + first
        attribute.append(np.full(int(codes.max()) + 1, place, np.int32))
        first += int(codes.max()) + 1
    groups = Groups((np.arange(rows) * count // rows).astype(np.int32), count)
    return Values(of_row, np.concatenate(attribute)), groups


def check(values: Values, groups: Groups, given: Groups, limits: Limits) -> None:
    """Check in whole numbers and rounded products that groups are unions that fit, or all one."""
    first = np.full(given.count, -1)
    first[given.ids] = groups.ids
    assert (first[given.ids] == groups.ids).all()  # no given group was split
    if groups.count == 1:
        return
    largest = largest_counts(values, groups)
    shares = largest[:2] / groups.sizes
    assert (shares <= limits.alpha * (1 + 1e-9)).all()
    products = shares.prod(axis=0) * largest[2] / groups.sizes
    assert (products <= limits.gammas[0] * (1 + 1e-9)).all()


@pytest.mark.parametrize("count", [MANY, 2 * MANY])
@pytest.mark.parametrize(
    ("shape", "alpha", "gamma", "least"),
    [
        ("nothing fails", 0.5, 1.0, MANY),
        ("everything fails, and pairs mend it", 0.25, 1.0, MANY // 4),
        ("everything fails, and nothing mends it", 1e-9, 1.0, 1),
        ("one table is constant", 0.5, 1.0, 1),
        ("one table is constant, for gamma", 1.0, 1e-4, 2),
        ("half are twins", 0.5, 1.0, MANY // 4),
        ("few values", 0.5, 1.0, 2),
        ("one combination of a third of all", 0.34, 1.0, 2),
        ("gamma alone", 1.0, 1e-6, 2),
    ],
)
def test_many_groups_are_merged_in_one_pass(shape, alpha, gamma, least, count):
    rows = 2 * count
    number = np.arange(rows)
    draw = repeatable(7)
    ages, jobs = number, draw.permutation(rows)
    if "constant" in shape:
        jobs = np.zeros(rows, np.int64)
    if shape == "half are twins":
        ages = np.where(number < rows // 2, number // 2, number)
    if shape == "few values":
        ages, jobs = draw.integers(0, 5, rows), draw.integers(0, 7, rows)
    if shape == "one combination of a third of all":
        ages = np.where(number % 3 == 0, 0, number)
    values, given = large(ages, jobs, count)
    limits = Limits(alpha, np.array([gamma]))
    groups = merge_groups(values, given, limits, rng=rng()).groups
    check(values, groups, given, limits)
    assert groups.count >= least
    if shape == "nothing fails":
        assert partition_is(groups, given)
    if "nothing mends" in shape or (alpha < 1 and "constant" in shape):
        assert groups.count == 1


def partition_is(one: Groups, other: Groups) -> bool:
    """Whether two partitions are the same, whatever the numbers of their groups."""
    pairs = len(np.unique(one.ids.astype(np.int64) * other.count + other.ids))
    return pairs == one.count == other.count


def test_one_bad_group_among_many_takes_in_few():
    """All others fit: a hundred thousand stay as they are."""
    ages = np.arange(2 * MANY)
    ages[:2] = 0
    values, given = large(ages, np.arange(2 * MANY), MANY)
    groups = merge_groups(values, given, Limits(0.5, np.array([1.0])), rng=rng()).groups
    assert groups.count == MANY - 1
    assert groups.sizes[groups.ids[0]] == 4


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 5_000])
@pytest.mark.parametrize("digits", [1, 3, 17])
def test_numbers_are_ordered_and_equal_ones_stay_as_they_stand(count, digits):
    numbers = np.round(np.random.default_rng(count).random(count), digits) * 10.0 ** (digits - 3)
    expected = np.argsort(numbers, kind="stable")
    assert _ascending_order(numbers).tolist() == expected.tolist()
