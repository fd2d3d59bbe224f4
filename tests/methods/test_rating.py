"""Rating: sets of values that other records have."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import permutations
from math import ceil, comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Rating, SetProtection
from sfumato.randomness import Randomness
from sfumato.rows.shared_sets import left_over, shared_sets
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode

# A guess is right more often than its chance by so much in one of 30,000 cases.
STANDARD_DEVIATIONS = 4.0


@settings(max_examples=80, deadline=None)
@given(
    codes=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    l=st.integers(1, 5),
    seed=st.integers(0, 50),
)
def test_sets_hold_the_own_value_and_values_that_occur(codes, l, seed):  # noqa: E741
    array = np.array(codes, np.int32)
    sets = shared_sets(array, l, 7, rng=Randomness.test(seed).generator("groups"))
    if len(set(codes)) < l:
        assert sets is None
        return
    assert sets.shape == (len(codes), l)
    assert (np.diff(sets.astype(int), axis=1) > 0).all()
    assert set(sets.ravel().tolist()) <= set(codes)
    assert (sets == array[:, None]).any(axis=1).all()


def test_groups_of_l_records_share_their_values_where_values_are_rare_enough():
    codes = np.repeat(np.arange(4, dtype=np.int32), 30)
    sets = shared_sets(codes, 3, 4, rng=Randomness.test(1).generator("groups"))
    together = Counter(map(tuple, sets.tolist()))
    assert all(count % 3 == 0 for count in together.values())
    for members, count in together.items():
        held = Counter(codes[(sets == members).all(axis=1)].tolist())
        assert held == dict.fromkeys(members, count // 3)


@pytest.mark.parametrize(
    ("counts", "l"),
    [
        ((1, 1, 1), 2),  # one joins the only group
        ((2, 2, 1), 2),
        ((2, 1, 1, 1), 2),
        ((1, 1, 1, 1), 3),
        ((1, 1, 1, 1, 1), 3),
        ((2, 2, 1, 1), 3),
    ],
)
def test_nobody_is_guessed_with_more_than_1_in_l_by_who_knows_all_but_who_is_who(counts, l):  # noqa: E741
    """One learns from half of all runs what each release says of the first person."""
    table = [value for value, count in enumerate(counts) for _ in range(count)]
    assert left_over(counts, l) == 0
    orders = sorted(set(permutations(table)))
    runs = ceil(2500 / len(orders))
    rng = Randomness.test(3).generator("groups")
    learnt: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    right = 0
    for run in range(2 * runs):
        for order in orders:
            codes = np.array(order, np.int32)
            release = tuple(shared_sets(codes, l, len(counts) + 1, rng=rng).ravel().tolist())
            if run < runs:
                learnt[release][order[0]] += 1
            elif learnt[release]:
                right += learnt[release].most_common(1)[0][0] == order[0]
            else:
                right += order[0] == release[0]  # the first member of the first set
    guesses = runs * len(orders)
    noise = STANDARD_DEVIATIONS * np.sqrt(guesses / l * (1 - 1 / l))
    assert right <= guesses / l + noise


def test_which_of_equal_values_are_grouped_is_left_to_chance():
    codes = np.arange(6, dtype=np.int32)
    rng = Randomness.test(4).generator("groups")
    seen = {tuple(shared_sets(codes, 3, 6, rng=rng)[0].tolist()) for _ in range(300)}
    assert len(seen) == comb(5, 2)  # 0 and any two others


@given(counts=st.lists(st.integers(0, 9), min_size=1, max_size=7), l=st.integers(1, 5))
def test_rows_are_left_over_where_a_value_has_more_than_1_in_l(counts, l):  # noqa: E741
    if sum(each > 0 for each in counts) < l:
        return
    outside = left_over(counts, l)
    assert (outside > 0) == (max(counts) > sum(counts) // l)
    codes = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    sets = shared_sets(codes, l, len(counts), rng=Randomness.test(1).generator("groups"))
    common = [
        value for value, n in enumerate(counts) if outside and n > (sum(counts) - outside) / l
    ]
    # who is left over has a value that all groups have
    for value in common:
        assert (sets != value).all(axis=1).sum() < l
    # by literal rounds, each of the l commonest values that are left
    left, rounds = sorted(counts, reverse=True), 0
    while left[l - 1]:
        left = sorted([each - 1 for each in left[:l]] + left[l:], reverse=True)
        rounds += 1
    assert outside == sum(max(0, count - rounds) for count in counts)


# As a method


def skewed() -> tuple[pa.Table, Schema]:
    data = pa.table({"a": ["x"] * 90 + ["y"] * 6 + ["z"] * 4, "b": ["p", "q", "r", None] * 25})
    return data, Schema.of(a="sensitive", b="sensitive-quasi-identifier")


def test_values_that_are_too_common_are_refused():
    data, schema = skewed()
    with pytest.raises(Infeasible) as refusal:
        Rating(l=2).publish(data, schema)
    assert str(refusal.value) == (
        "l = 2 is infeasible for 'a': 80 records have a value too common for groups of 2; use "
        "sensitive-qid with `t`, or `left_over: repeat`, which claims less"
    )
    thirds = pa.table({"a": ["x"] * 34 + ["y"] * 33 + ["z"] * 20 + ["w"] * 13})
    with pytest.raises(Infeasible, match=r"1 records .* use l <= 2, sensitive-qid"):
        Rating(l=3).publish(thirds, Schema.of(a="sensitive"))
    release = Rating(l=2).publish(thirds, Schema.of(a="sensitive"))
    assert [claim["model"] for claim in release.manifest.guarantees] == ["set-diversity"]
    assert Rating(l=2).doubts(encode(thirds, Schema.of(a="sensitive"))) == ()


def test_or_repeat_the_sets_of_others_with_a_warning_and_a_lesser_claim():
    data, schema = skewed()
    method = Rating(l=2, left_over="repeat", protection={"b": SetProtection(l=3)})
    release = method.publish(data, schema)
    held = Counter(map(tuple, release.tables["records"]["a"].to_pylist()))
    assert set(held) == {("x", "y"), ("x", "z")}  # nobody stands out by a set of their own
    assert release.manifest.attribute("b").domain == ("p", "q", "r", None)
    assert release.manifest.parameters["sets"] == {
        "a": {"p": 1.0, "eta": 2},
        "b": {"p": 1.0, "eta": 3},
    }
    claims = {claim["attribute"]: claim["model"] for claim in release.manifest.guarantees}
    assert claims == {"a": "set-anonymity", "b": "set-diversity"}
    (warning,) = method.doubts(encode(data, schema))
    assert warning.startswith("80 of 100 records of 'a' are left over")
    assert "above 1/2; sensitive-qid with `t`" in warning
    report = audit(release)
    assert report.ok
    # the number is the steward's: the files must not tell it
    assert [line for line in report.problems if "100 of 100 sets of 'a'" in line]
    assert "80" not in release.manifest.to_json().decode()


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        (Rating(), ParameterError, "say `l`"),
        (Rating(l=2), Infeasible, "'sex': .*sensitive-qid with `t`"),
        (Rating(l=2, protection={"age": SetProtection(l=2)}), ParameterError, "not sensitive"),
    ],
)
def test_refusals(method, error, words):
    data = pa.table({"age": [1, 2, 3], "sex": ["f", "m", "f"]})
    with pytest.raises(error, match=words):
        method.publish(data, Schema.of(age="quasi-identifier", sex="sensitive"))


@pytest.mark.parametrize(
    "parameters",
    [
        {"l": 0},
        {"l": 2.5},
        {"bins": True},
        {"left_over": "warn"},
        {"protection": {"a": SetProtection(t=0.5)}},
    ],
)
def test_impossible_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        Rating(**parameters)


def test_fewer_values_than_l_are_refused():
    data = pa.table({"a": ["x", "y"] * 5})
    schema = Schema((Attribute("a", Role.SENSITIVE, domain=("x", "y", "z", "w")),))
    with pytest.raises(Infeasible, match="'a': fewer than l = 3 of its values occur"):
        Rating(l=3).publish(data, schema)
    with pytest.raises(Infeasible, match=r"'a': sets of 4 .* largest useful `l` is 3"):
        Rating(l=4).publish(data, schema)


def test_attributes_that_go_together_are_warned_of():
    people = pa.table({"a": ["x", "y", "z"] * 20, "b": ["p", "q", "r"] * 20})
    schema = Schema.of(a="sensitive-quasi-identifier", b="sensitive")
    (doubt,) = Rating(l=2).doubts(encode(people, schema))
    assert "'a' and 'b' go together" in doubt
    apart = people.set_column(1, "b", pa.array((["p", "q", "r"] * 60)[::3]))
    assert Rating(l=2).doubts(encode(apart, schema)) == ()
