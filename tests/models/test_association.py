"""(alpha, beta, gamma, delta) against its literal definitions, at ties and beyond."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.associated import Associated, associated
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import association as oracle
from oracles.models import exact

from sfumato.errors import ParameterError
from sfumato.methods import Mondrian
from sfumato.models import AlphaBetaGammaDelta, from_claim
from sfumato.models.association import Commonest
from sfumato.models.counting import group_statistics, table_totals
from sfumato.models.statistics import GroupStatistics, Histogram, Total
from sfumato.randomness import repeatable
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Schema
from sfumato.table import Groups, encode

KEYS = oracle.KEYS
FINEST = 10**9
SMALL = (1e-300, 1e-12, 0.01, 0.05, 0.1, 0.125, 0.2, 0.25, 0.3, 0.3333, 1 / 3, 0.3334)
LARGE = (0.4, 0.5, 0.6, 2 / 3, 0.6667, 0.7, 0.75, 0.9, 0.999999999999, 1.0, 1)
LEVELS = st.sampled_from([*SMALL, *LARGE])
LEVELS_MOST = (0.6, 0.75, 1.0)


def bound(case: Associated, model: AlphaBetaGammaDelta):
    return model.bind(table_totals(case.table, [model.attribute]))


def rows_of(case: Associated, group: int) -> list[dict]:
    return [row for row, own in zip(case.rows, case.ids, strict=True) if own == group]


def model_of(parameters) -> AlphaBetaGammaDelta:
    return AlphaBetaGammaDelta("illness", *(parameters[key] for key in KEYS))


def rounded_down(parameters) -> dict[str, Fraction]:
    """Return parameters of more than nine digits without the others: there refusals may err."""
    return {
        key: Fraction(math.floor(exact(value) * FINEST), FINEST)
        for key, value in parameters.items()
    }


def compare(case: Associated, parameters) -> None:
    """Check that a model never holds where its definitions do not, and hardly errs otherwise."""
    holds = bound(case, model_of(parameters)).holds(case.statistics)
    assert len(holds) == case.groups.count
    for found, held in zip(case.reached(), holds, strict=True):
        assert oracle.within(found, parameters) or not held
        assert held or not oracle.within(found, rounded_down(parameters))


def nearby(share: Fraction) -> list[float]:
    """Return floats about a share: what it divides to, and the next ones on both sides."""
    near = float(share)
    about = [near, math.nextafter(near, 0), math.nextafter(near, 1), near * (1 - 1e-10)]
    return [number for number in about if 0 < number <= 1]


# --- any groups -----------------------------------------------------------------------------------


@settings(max_examples=150)
@given(associated(), st.fixed_dictionaries(dict.fromkeys(KEYS, LEVELS)))
def test_it_holds_where_its_definitions_do(case, parameters):
    compare(case, parameters)


@settings(max_examples=150)
@given(associated(), st.data())
def test_it_is_exact_at_what_a_group_reaches(case, data):
    """Every parameter just at, just below or just above what some group reaches."""
    known = [found for found in case.reached() if found is not None]
    assume(known)
    aim = data.draw(st.sampled_from(known))
    parameters = {
        key: data.draw(st.sampled_from([*nearby(getattr(aim, key)), 1.0])) for key in KEYS
    }
    compare(case, parameters)


@settings(max_examples=200)
@given(associated(), st.data())
def test_what_is_commonest_says_no_more_than_the_definitions(case, data):
    """Where that is enough, every group keeps all four; it is enough at what the groups reach."""
    known = case.reached()
    assume(None not in known)
    parameters = {
        key: data.draw(
            st.sampled_from([*nearby(max(getattr(f, key) for f in known)), *LEVELS_MOST])
        )
        for key in KEYS
    }
    histogram = case.statistics.histograms["illness"]
    counts = [[row["illness"] for row in rows_of(case, g)] for g in range(case.groups.count)]
    common = [max(map(has.count, (v for v in has if v is not None)), default=0) for has in counts]
    shown = Commonest(case.groups.sizes, case.repeats, histogram.present, np.array(common))
    sure = bound(case, model_of(parameters)).surely_hold(shown)
    assert not sure or all(oracle.within(found, parameters) for found in known)
    whole = [row["illness"] for row in case.rows if row["illness"] is not None]
    most = max(oracle.largest_share(whole), *(found.beta for found in known))
    if most <= rounded_down(parameters)["delta"]:
        assert sure == bound(case, model_of(parameters)).holds(case.statistics).all()


def test_groups_of_no_value_do_not_surely_hold():
    model = AlphaBetaGammaDelta("illness", 1, 1, 1, 1)
    total = Total(np.array([1, 1, 2]), 2)
    two = Commonest(np.array([2, 2]), np.array([[1, 1]]), np.array([2, 0]), np.array([1, 0]))
    one = Commonest(*(each[..., :1] for each in two))
    assert model.bind({"illness": total}).surely_hold(one)
    assert not model.bind({"illness": total}).surely_hold(two)


@pytest.mark.parametrize("seed", range(4))
def test_the_commonest_value_that_a_group_lacks_is_found_among_any_number(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        values, groups = int(rng.integers(0, 9)), int(rng.integers(1, 6))
        often = rng.integers(0, 4, values + 1)
        has = [
            np.flatnonzero(rng.random(values + 1) < rng.choice([0.3, 0.8, 1.0]))
            for _ in range(groups)
        ]
        owner = np.repeat(np.arange(groups), [len(each) for each in has])
        histogram = Histogram.count(owner, np.concatenate(has), None, groups, values)
        total = Total(often, int(often[:-1].sum()))
        model = AlphaBetaGammaDelta("illness", 1, 1, 1, 1).bind({"illness": total})
        for own, lacking in zip(has, model._seen(histogram).lacking, strict=True):
            others = sorted(set(range(values)) - set(own.tolist()), key=lambda v: (-often[v], v))
            assert lacking == next(iter(others), values)


@settings(max_examples=100)
@given(associated())
def test_what_is_reached_is_what_the_definitions_say(case):
    found = bound(case, AlphaBetaGammaDelta("illness", 1, 1, 1, 1)).reached(case.statistics)
    assert found._fields == KEYS
    for group, expected in enumerate(case.reached()):
        if expected is not None:
            reached = [float(levels[group]) for levels in found]
            assert reached == pytest.approx([float(e) for e in expected], abs=1e-12)


@settings(max_examples=100)
@given(associated(missing=False), st.fixed_dictionaries(dict.fromkeys(KEYS, LEVELS)))
def test_the_level_is_how_much_of_what_is_allowed_is_used(case, parameters):
    model = model_of(parameters)
    levels = bound(case, model).levels(case.statistics)
    used = [
        max(getattr(found, key) / exact(parameters[key]) for key in KEYS)
        for found in case.reached()
    ]
    assert levels.tolist() == pytest.approx([float(each) for each in used], rel=1e-9)
    assert bound(case, model).worst(case.statistics) == pytest.approx(float(max(used)), rel=1e-9)


@settings(max_examples=150)
@given(associated(), st.fixed_dictionaries(dict.fromkeys(KEYS, LEVELS)))
def test_a_union_keeps_all_but_gamma(case, parameters):
    """Merging keeps alpha, beta and delta: where each part holds, so does the union."""
    without_gamma = parameters | {"gamma": 1}
    model = model_of(without_gamma)
    holds = bound(case, model).holds(case.statistics)
    whole = Associated(case.rows, [0] * len(case.rows), case.divided)
    if holds.all():
        assert bound(whole, model).holds(whole.statistics).all()


def test_gamma_is_not_kept_by_unions():
    """Eight people alike in one table and eight in the other: by half in both, together."""
    rows = [{"age": -1, "job": str(i), "illness": str(i)} for i in range(8)]
    rows += [{"age": i, "job": "all", "illness": str(i)} for i in range(8)]
    parts = Associated(rows, [0] * 8 + [1] * 8, (("age",), ("job",)))
    whole = Associated(rows, [0] * 16, (("age",), ("job",)))
    assert [found.gamma for found in parts.reached()] == [Fraction(1, 64)] * 2
    assert whole.whole().gamma == Fraction(1, 32)
    model = AlphaBetaGammaDelta("illness", 1, 1, 0.02, 1)
    assert bound(parts, model).holds(parts.statistics).all()
    assert not bound(whole, model).holds(whole.statistics).any()
    assert not model.monotone


# --- ties by hand ---------------------------------------------------------------------------------


def of_values(values: str, groups: str) -> Associated:
    """Return people of different ages with these sensitive values, `-` a missing one."""
    rows = [{"age": i, "illness": None if v == "-" else v} for i, v in enumerate(values)]
    return Associated(rows, [int(group) for group in groups], (("age",),))


ALL_DIFFER = ("abcdefghij", "0" * 10)
A_TENTH_OFF = ("aaabbbbbbb" + "abbbbbbbbb", "0" * 10 + "1" * 10)


@pytest.mark.parametrize(
    ("case", "key", "at", "below"),
    [
        (ALL_DIFFER, "alpha", 0.1, 0.0999),
        (ALL_DIFFER, "alpha", 0.1, 0.09999999999999999),
        (ALL_DIFFER, "beta", 0.1, 0.09999999999999999),
        (ALL_DIFFER, "gamma", 0.01, 0.009999999999999998),
        (A_TENTH_OFF, "delta", 0.1, 0.09999999999999999),
    ],
)
def test_a_share_that_equals_the_parameter_holds_and_a_hair_less_fails(case, key, at, below):
    rows = of_values(*case)
    assert {getattr(found, key) for found in rows.reached()} == {exact(at)}
    for number, expected in [(at, True), (below, False)]:
        model = model_of(dict.fromkeys(KEYS, 1.0) | {key: number})
        assert (bound(rows, model).holds(rows.statistics) == expected).all()


@pytest.mark.parametrize("third", [0.3333, 0.333333333333, 1 / 3])
@pytest.mark.parametrize("key", ["alpha", "beta"])
def test_a_third_is_more_than_any_decimal_that_is_rounded_down(key, third):
    case = of_values("abc", "000")
    parameters = dict.fromkeys(KEYS, 1.0)
    assert not bound(case, model_of(parameters | {key: third})).holds(case.statistics)[0]
    rounded_up = {key: 0.33333334}
    assert bound(case, model_of(parameters | rounded_up)).holds(case.statistics)[0]


@pytest.mark.parametrize("people", [10**6, 10**9, 10**12])
def test_tiny_shares_are_told_apart(people):
    """One in so many, by hand: more people than any table of a test has."""
    sizes = np.array([people, people - 2], np.int64)
    histogram = Histogram(
        np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.repeat(sizes // 2, 2), sizes
    )
    total = Total(np.array([people, people, 0]), 2 * people)
    statistics = GroupStatistics(sizes, {"illness": histogram}, np.ones((2, 2), np.int64))
    one, product = 1 / people, 1 / (2 * people**2)
    assert exact(one) == Fraction(1, people)
    assert exact(product) == Fraction(1, 2 * people**2)
    for alpha, gamma, expected in [
        (one, 1, [people <= FINEST, False]),
        (one * 0.999, 1, [False, False]),
        (1, product, [True, False]),
        (1, product * 0.999, [False, False]),
        (1, product * 1.001, [True, people > 10**3]),
    ]:
        model = AlphaBetaGammaDelta("illness", alpha, 1, gamma, 1)
        assert model.bind({"illness": total}).holds(statistics).tolist() == expected


def test_tiny_differences_are_told_apart():
    """A value whose share differs from the whole table's by 5e-11: less than floats are trusted."""
    half = 10**10
    sizes = np.array([2 * half, 2 * half], np.int64)
    counts = np.array([half + 1, half - 1, half - 1, half + 1], np.int64)
    histogram = Histogram(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), counts, sizes)
    total = Total(np.array([2 * half, 2 * half, 0]), 4 * half)
    statistics = GroupStatistics(sizes, {"illness": histogram}, np.ones((1, 2), np.int64))
    for delta, expected in [(4.9e-11, False), (5.1e-11, True)]:
        model = AlphaBetaGammaDelta("illness", 1, 1, 1, delta)
        assert model.bind({"illness": total}).holds(statistics).tolist() == [expected] * 2


def test_delta_counts_values_that_a_group_lacks():
    """The table has half `c`, and the first group none: 1/2, though its own values are near."""
    case = of_values("ab" + "abcccc", "00111111")
    assert [found.delta for found in case.reached()] == [Fraction(1, 2), Fraction(1, 6)]
    for delta, expected in [(0.5, True), (0.4999, False)]:
        model = AlphaBetaGammaDelta("illness", 1, 1, 1, delta)
        assert bound(case, model).holds(case.statistics)[0] == expected


def test_a_group_that_is_the_whole_table_does_not_differ_from_it():
    """Nothing is absent and no share changes: the smallest delta holds."""
    for values in ("abc", "aab", "a", "aaabb--", "abcdefgh"):
        case = of_values(values, "0" * len(values))
        assert case.whole().delta == 0
        model = AlphaBetaGammaDelta("illness", 1, 1, 1, 1e-9)
        assert bound(case, model).reached(case.statistics).delta.tolist() == [0]
        assert bound(case, model).holds(case.statistics).all()


def test_missing_values_do_not_hide_a_value():
    """Two of four people have a value, the same: beta is 1, not a half."""
    case = of_values("aa--" + "bbcd", "00001111")
    model = AlphaBetaGammaDelta("illness", 1, 0.9, 1, 1)
    assert bound(case, model).holds(case.statistics).tolist() == [False, True]
    reached = bound(case, model).reached(case.statistics)
    assert reached.beta.tolist() == [1, 0.5]
    # a quarter of the people share an age, and all that have a value share it
    assert reached.gamma.tolist() == [0.25, 0.125]
    assert reached.delta.tolist() == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize(("values", "expected"), [("--ab", [False, True]), ("----", [False] * 2)])
def test_of_a_group_without_any_value_nothing_can_be_said(values, expected):
    case = of_values(values, "0011")
    model = AlphaBetaGammaDelta("illness", 1, 1, 1, 1)
    assert bound(case, model).holds(case.statistics).tolist() == expected


def test_many_groups_at_a_tie_are_decided_in_time():
    """A hundred thousand groups, each just at alpha, beta and gamma."""
    count = 100_000
    table = encode(
        pa.table({"age": np.arange(2 * count), "illness": np.tile([0, 1], count)}),
        Schema.of(age="quasi-identifier", illness="sensitive"),
    )
    groups = Groups(np.repeat(np.arange(count, dtype=np.int32), 2), count)
    repeats = np.ones((2, count), np.int64)
    statistics = group_statistics(table, groups, ["illness"], repeats)
    model = AlphaBetaGammaDelta("illness", 0.5, 0.5, 0.125, 0.5)
    assert model.bind(table_totals(table, ["illness"])).holds(statistics).all()


# --- parameters and claims ------------------------------------------------------------------------


@given(st.fixed_dictionaries(dict.fromkeys(KEYS, LEVELS)))
def test_a_claim_spells_out_the_model(parameters):
    model = model_of(parameters)
    claim = model.claim()
    assert claim == {"model": "alpha-beta-gamma-delta", "attribute": "illness"} | parameters
    assert from_claim(claim) == model


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "wrong", [0, -0.1, 1.0000001, 2, float("nan"), float("inf"), True, "0.5", None, [0.5], 10**400]
)
def test_a_parameter_that_is_no_share_is_refused(key, wrong):
    parameters = dict.fromkeys(KEYS, 0.5) | {key: wrong}
    with pytest.raises(ParameterError, match=f"`{key}` must be a number above 0 and at most 1"):
        model_of(parameters)


@pytest.mark.parametrize("lacking", [*KEYS, "attribute"])
def test_a_claim_that_lacks_a_key_is_refused(lacking):
    claim = AlphaBetaGammaDelta("illness", 0.5, 0.5, 0.5, 0.5).claim()
    claim.pop(lacking)
    with pytest.raises(ParameterError):
        from_claim(claim)


@pytest.mark.parametrize("beta", [5e-324, 1e-300, 0.05, 1 / 3, 1])
def test_no_smaller_group_can_hold(beta):
    """Whatever number of rows is promised: fewer people than 1/beta cannot keep beta."""
    least = AlphaBetaGammaDelta("illness", 1, beta, 1, 1).minimum_rows
    assert 1 <= least <= math.ceil(1 / exact(beta))


def test_the_tables_must_be_known():
    case = of_values("ab", "00")
    model = AlphaBetaGammaDelta("illness", 1, 1, 1, 1)
    statistics = group_statistics(case.table, case.groups, ["illness"])
    with pytest.raises(ParameterError, match="tables of their own"):
        bound(case, model).holds(statistics)


def test_mondrian_refuses_it():
    model = AlphaBetaGammaDelta("illness", 1, 1, 1, 1)
    with pytest.raises(ParameterError, match="cannot keep alpha-beta-gamma-delta; use slppa"):
        Mondrian(k=2, models=(model,))
    with pytest.raises(ParameterError):
        mondrian(of_values("abcd", "0000").table, [model], rng=repeatable(1))
