"""Group division: as unique as it can be, else as even; beta and delta are kept."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.associated import associated
from arbitrary.coded import partition
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.models import exact
from oracles.refining import eligible, known_values

from sfumato.errors import Infeasible
from sfumato.randomness import Randomness, repeatable
from sfumato.rows.divide import divide, divide_unique, fewest_values, is_eligible
from sfumato.schema import Schema
from sfumato.table import Groups, Table, encode

SHARES = (0.05, 0.1, 0.2, 0.25, 0.3, 0.3334, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)


def rng(seed: int = 0) -> np.random.Generator:
    return Randomness.test(seed).generator("divide")


def of_counts(*counts: int, missing: int = 0) -> tuple[Table, list[str | None]]:
    """Return rows with so many of each value, in no order."""
    values = [f"v{i}" for i, count in enumerate(counts) for _ in range(count)]
    cells = [*values, *[None] * missing]
    cells = [cells[i] for i in repeatable(5).permutation(len(cells))]
    data = pa.table({"age": range(len(cells)), "illness": pa.array(cells, pa.string())})
    return encode(data, Schema.of(age="quasi-identifier", illness="sensitive")), cells


def values_of(groups: Groups, values: list) -> list[list]:
    """Return the known values of every group."""
    return [known_values([values[row] for row in group]) for group in partition(groups)]


def keeps(group: list, everywhere: list, beta: float, delta: float) -> bool:
    """Whether a group's known values keep equations 5 and 8."""
    whole = known_values(everywhere)
    shares = {v: Fraction(group.count(v), len(group)) for v in set(whole)}
    return max(shares.values()) <= exact(beta) and all(
        abs(share - Fraction(whole.count(v), len(whole))) <= exact(delta)
        for v, share in shares.items()
    )


# --- how many values ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beta", "delta", "least"),
    [
        (0.5, 0.5, 2),
        (0.5, 0.05, 20),
        (0.05, 0.5, 20),
        (0.1, 1.0, 10),
        (0.3, 0.3, 4),
        (0.3333, 1.0, 4),
        (1 / 3, 1.0, 4),
        (0.34, 1.0, 3),
        (0.07, 1.0, 15),
        (0.01, 0.001, 1000),
        (1.0, 1.0, 1),
        (1e-5, 1.0, 10**5),
    ],
)
def test_so_many_values_make_a_group(beta, delta, least):
    """The larger of 1/beta and 1/delta, rounded up; a tenth is a tenth."""
    assert fewest_values(beta, delta) == least


@given(st.integers(1, 10**6), st.integers(1, 6))
def test_so_many_different_values_keep_beta(number, digits):
    beta = min(number / 10**digits, 1.0)
    least = fewest_values(beta, 1.0)
    assert Fraction(1, least) <= exact(beta)
    assert least == 1 or Fraction(1, least - 1) > exact(beta)


# --- unique division ------------------------------------------------------------------------------


@settings(max_examples=120)
@given(associated(max_rows=24), st.integers(0, 3), st.data())
def test_unique_division_whenever_the_values_are_eligible(case, seed, data):
    values = [row["illness"] for row in case.rows]
    possible = [least for least in range(1, 9) if eligible(values, least)]
    assert possible == [n for n in range(1, 9) if is_eligible(case.table["illness"], n)]
    assume(possible)
    least = data.draw(st.sampled_from(possible))
    groups = divide_unique(case.table, ["illness"], least, rng=rng(seed))
    assert len(groups.ids) == len(values)
    for group in values_of(groups, values):
        assert len(set(group)) == len(group) >= least


@pytest.mark.parametrize(
    ("counts", "least"),
    [
        # smallest first, the rare values are used up on each other and the common one is stranded
        ((4, 1, 1, 1, 1), 2),
        ((50, 10, 10, 10, 10, 10), 2),
        ((30, 30, 30), 3),
        ((10, *[1] * 20), 3),
        ((20, *[1] * 20), 2),
        ((7, 7, 6, 1), 3),
    ],
)
def test_the_commonest_value_is_not_stranded(counts, least):
    """Just eligible, or nearly: the paper's order alone leaves rows of the largest bucket over."""
    for seed in range(5):
        table, values = of_counts(*counts)
        groups = divide_unique(table, ["illness"], least, rng=rng(seed))
        for group in values_of(groups, values):
            assert len(set(group)) == len(group) >= least


def test_the_papers_order_where_it_succeeds():
    """Three rows of each value, for pairs: three groups of two values, and the third joins them.

    Largest first there would be four pairs, one of them with a third row.
    """
    table, values = of_counts(3, 3, 3)
    groups = divide_unique(table, ["illness"], 2, rng=rng())
    assert Counter(map(frozenset, values_of(groups, values))) == {frozenset(["v0", "v1", "v2"]): 3}


def test_rows_without_a_value_are_spread_evenly():
    table, values = of_counts(10, 10, missing=15)
    groups = divide_unique(table, ["illness"], 2, rng=rng())
    missing = [sum(values[row] is None for row in group) for group in partition(groups)]
    assert sum(missing) == 15 and max(missing) - min(missing) <= 1


@settings(max_examples=60)
@given(associated(max_rows=20, missing=False, secrets=2), st.data())
def test_several_attributes_differ_each(case, data):
    columns = {name: [row[name] for row in case.rows] for name in case.sensitive}
    largest = max(max(Counter(values).values()) for values in columns.values())
    least = data.draw(st.integers(1, len(case.rows) // largest))
    try:
        groups = divide_unique(case.table, list(case.sensitive), least, rng=rng())
    except Infeasible:
        return
    for values in columns.values():
        for group in values_of(groups, values):
            assert len(set(group)) == len(group) >= least


def test_who_shares_a_group_is_random():
    table, _ = of_counts(50, 50)
    one, same, other = (
        partition(divide(table, {"illness": (0.5, 0.5)}, rng=rng(seed))) for seed in (1, 1, 2)
    )
    assert one == same != other


# --- any division ---------------------------------------------------------------------------------


@settings(max_examples=120)
@given(associated(max_rows=24), st.sampled_from(SHARES), st.integers(0, 3), st.data())
def test_beta_and_delta_are_kept_wherever_the_whole_table_keeps_beta(case, delta, seed, data):
    values = [row["illness"] for row in case.rows]
    known = known_values(values)
    assume(known)
    share = Fraction(max(Counter(known).values()), len(known))
    beta = data.draw(st.sampled_from([each for each in SHARES if exact(each) >= share]))
    groups = divide(case.table, {"illness": (beta, delta)}, rng=rng(seed))
    assert len(groups.ids) == len(values)
    for group in values_of(groups, values):
        assert group and keeps(group, values, beta, delta)
    least = max(math.ceil(1 / exact(beta)), math.ceil(1 / exact(delta)))
    if eligible(values, least):
        for group in values_of(groups, values):
            assert len(set(group)) == len(group) >= least


@pytest.mark.parametrize(
    ("beta", "delta"), [(0.91, 0.05), (0.95, 0.2), (0.9, 0.1), (1.0, 0.01), (0.95, 1.0)]
)
def test_one_value_of_nine_tenths_is_divided_evenly(beta, delta):
    """Too common for values that all differ: many groups, each with its share of every value."""
    table, values = of_counts(9000, 500, 300, 200, missing=77)
    groups = divide(table, {"illness": (beta, delta)}, rng=rng())
    for group in values_of(groups, values):
        assert keeps(group, values, beta, delta)
    assert groups.count > 10
    assert groups.sizes.max() - groups.sizes.min() <= 2


def test_one_group_where_no_more_can_be():
    """Nine of ten, and beta just that: no part of ten rows keeps it."""
    table, _ = of_counts(9, 1)
    assert divide(table, {"illness": (0.9, 1.0)}, rng=rng()).count == 1
    table, _ = of_counts(18, 2)
    assert divide(table, {"illness": (0.9, 0.001)}, rng=rng()).count == 2


@pytest.mark.parametrize("third", [1 / 3, 0.333334])
def test_a_beta_of_about_a_third_is_kept_exactly(third):
    """Groups of three in which a value has one would keep a third, but not 0.3333333333333333."""
    table, values = of_counts(9, 9, 9, 3)
    groups = divide(table, {"illness": (third, 1.0)}, rng=rng())
    for group in values_of(groups, values):
        assert keeps(group, values, third, 1.0)


@pytest.mark.parametrize(
    ("illness", "pay"),
    [
        (list("aaabcd") * 4, [1, 1, 1, 1, 2, 3] * 4),  # too uneven for values that all differ
        (["a", "b", None, "c"] * 5, [1, 2, 3, 4] * 5),  # with values that are missing
    ],
)
def test_several_attributes_that_cannot_all_differ_have_their_shares(illness, pay):
    data = pa.table({"age": range(len(pay)), "illness": illness, "pay": pay})
    table = encode(data, Schema.of(age="quasi-identifier", illness="sensitive", pay="sensitive"))
    asked = {"illness": (0.5, 0.5), "pay": (0.7, 0.7)}
    groups = divide(table, asked, rng=rng())
    assert groups.count > 1
    for name, values in (("illness", illness), ("pay", pay)):
        for group in values_of(groups, values):
            assert keeps(group, values, *asked[name])


# --- large tables: minutes, were the work quadratic -----------------------------------------------


@pytest.mark.parametrize(
    ("shape", "beta", "delta"),
    [
        ("two values", 0.5, 0.5),
        ("all differ", 0.05, 0.05),
        ("just eligible", 0.5, 0.5),
        ("rising counts", 0.2, 0.2),
        ("nearly all alike, many rare", 0.97, 0.1),
    ],
)
def test_large_tables_are_divided_in_time(shape, beta, delta):
    rows = 200_000
    values = {
        "two values": np.arange(rows) % 2,
        "all differ": np.arange(rows),
        "just eligible": np.where(np.arange(rows) % 2 == 0, -1, np.arange(rows)),
        "rising counts": np.sqrt(np.arange(rows)).astype(np.int64),
        "nearly all alike, many rare": np.where(np.arange(rows) % 25 > 0, -1, np.arange(rows)),
    }[shape]
    table = encode(
        pa.table({"age": np.zeros(rows, np.int8), "illness": values}),
        Schema.of(age="quasi-identifier", illness="sensitive"),
    )
    groups = divide(table, {"illness": (beta, delta)}, rng=rng())
    codes = table["illness"].codes.astype(np.int64)
    pairs, counts = np.unique(groups.ids * (codes.max() + 1) + codes, return_counts=True)
    largest = np.zeros(groups.count, np.int64)
    np.maximum.at(largest, pairs // (codes.max() + 1), counts)
    assert (largest <= beta * groups.sizes + 1e-9).all()
    assert groups.count > 1000
