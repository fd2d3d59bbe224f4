"""SLPPA as its users call it: the worked example, derived parameters, advice, any table."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.associated import associated
from arbitrary.coded import samples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import association as oracle
from oracles.consistency import anatomized_from
from oracles.models import exact
from oracles.release import Published, group_values, read_release
from oracles.transactions import ATTRIBUTES, DIVIDED, GROUPS, ROWS
from oracles.verdict import verdict

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.slppa import SLPPA, derived
from sfumato.models import AlphaBetaGammaDelta
from sfumato.models.counting import group_statistics, table_totals
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.rows.eligible_runs import largest_counts
from sfumato.rows.merge_groups import combinations
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Groups, encode

KEYS = oracle.KEYS
SHARES = (0.05, 0.1, 0.2, 0.25, 0.3, 0.3334, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
SOME = st.none() | st.sampled_from(SHARES)
TRANSACTIONS = Schema.of(
    name="identifier",
    gender="quasi-identifier",
    job="quasi-identifier",
    age="quasi-identifier",
    zipcode="quasi-identifier",
    salary="sensitive",
)


def read(release: Release, hierarchies: Any = None) -> Published:
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release", format="csv")
        return read_release(Path(home) / "release", hierarchies=hierarchies)


def claims_of(release: Release) -> dict[str, dict[str, float]]:
    """Return the four parameters that are claimed, by attribute."""
    assert {claim["model"] for claim in release.manifest.guarantees} == {oracle.MODEL}
    return {c["attribute"]: {key: c[key] for key in KEYS} for c in release.manifest.guarantees}


def check(release: Release) -> Published:
    """Check a release by the literal definitions and by the audit; return it as it was read."""
    assert release.manifest.layout == "anatomized"
    published = read(release)
    claimed = claims_of(release)
    assert list(claimed) == published.with_role("sensitive")
    for name, parameters in claimed.items():
        for found in oracle.of_release(published, name).values():
            assert oracle.within(found, parameters)
    report = audit(release)
    assert report.ok == (not release.manifest.test)
    assert all(each.holds for each in report.guarantees)
    return published


def table_attributes(release: Release, prefix: str = "qi_") -> list[tuple[str, ...]]:
    return [e.attributes for e in release.manifest.tables if e.name.startswith(prefix)]


# --- the worked example ---------------------------------------------------------------------------


def table_3(*models: AlphaBetaGammaDelta) -> Release:
    """Return the paper's Table 3 as a release: two groups of four, in three tables."""
    table = encode(pa.table(ATTRIBUTES), TRANSACTIONS)
    divided = [[table[name] for name in part] for part in DIVIDED]
    rng = Randomness.secret(b"a seed of some length, and not a test's").generator("tables")
    return assemble(
        anatomized_tables(table, Groups(np.array(GROUPS, np.int32), 2), divided, rng=rng),
        method="slppa",
        rows=8,
        models=models,
        parameters={"tables": 2},
        is_test=False,
    )


ALICE = oracle.Reached(Fraction(1, 4), Fraction(1, 2), Fraction(1, 32), Fraction(1, 4))


def test_alice_in_the_release():
    """Pr[QIs] = 1/4, Pr[SA] = 1/2, both at once 1/32, and a salary that is 1/4 more likely."""
    published = read(table_3(AlphaBetaGammaDelta("salary", 0.5, 0.5, 0.03125, 0.25)))
    by_group = oracle.of_release(published, "salary")
    alices = next(g for g, seen in group_values(published, "salary").items() if 4500 in seen)
    assert by_group[alices] == ALICE
    (other,) = (found for group, found in by_group.items() if group != alices)
    assert other == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 32), Fraction(1, 4))


def test_alice_by_the_model():
    table = encode(pa.table(ATTRIBUTES), TRANSACTIONS)
    groups = Groups(np.array(GROUPS, np.int32), 2)
    divided = [[table[name] for name in part] for part in DIVIDED]
    repeats = largest_counts(combinations(divided, [table["salary"]]), groups)[:2]
    bound = AlphaBetaGammaDelta("salary", 1, 1, 1, 1).bind(table_totals(table, ["salary"]))
    reached = bound.reached(group_statistics(table, groups, ["salary"], repeats))
    assert [levels[0] for levels in reached] == [0.25, 0.5, 0.03125, 0.25]
    assert [levels[1] for levels in reached] == [0.5, 0.25, 0.03125, 0.25]


@pytest.mark.parametrize("key", KEYS)
def test_the_example_keeps_just_what_it_reaches(key):
    least = {"alpha": 0.5, "beta": 0.5, "gamma": 0.03125, "delta": 0.25}
    good = table_3(AlphaBetaGammaDelta("salary", **least))
    assert audit(good).exit_code == 0
    assert (
        "reaches alpha 0.5, beta 0.5, gamma 0.03125, delta 0.25" in audit(good).guarantees[0].note
    )
    stricter = table_3(AlphaBetaGammaDelta("salary", **least | {key: least[key] * 0.999}))
    assert audit(stricter).exit_code == 1
    assert not audit(stricter).guarantees[0].holds


@pytest.mark.parametrize(
    ("cap", "expected"),
    [
        ("even", {("age", "zipcode"), ("job", "gender")}),
        (None, {("age", "zipcode", "gender"), ("job",)}),
    ],
)
def test_the_example_is_divided_and_published(cap, expected):
    release = SLPPA(alpha=0.5, beta=0.5, tables=2, cap=cap).publish(
        pa.table(ATTRIBUTES), TRANSACTIONS
    )
    assert set(table_attributes(release)) == expected
    assert table_attributes(release, "sensitive_") == [("salary",)]
    assert release.manifest.parameters == {"tables": 2}
    assert claims_of(release) == {
        "salary": {"alpha": 0.5, "beta": 0.5, "gamma": 0.125, "delta": 0.5}
    }
    published = check(release)
    for values in group_values(published, "salary").values():
        assert len(set(values)) >= 2  # pairs that differ, some of them merged
    assert anatomized_from([dict(row) for row in ROWS], published)


# --- any table ------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(
    associated(max_rows=24),
    st.fixed_dictionaries(dict.fromkeys(KEYS, SOME)),
    st.sampled_from(["even", None]),
    st.data(),
)
def test_either_the_release_holds_or_it_is_refused(case, asked, cap, data):
    quasi = [name for part in case.divided for name in part]
    tables = data.draw(st.integers(1, len(quasi)))
    method = SLPPA(**asked, tables=tables, cap=cap)
    try:
        release = method.publish(case.frame, case.schema)
    except (Infeasible, ParameterError) as error:
        assert str(error)
        return
    check(release)
    claimed = claims_of(release)["illness"]
    for key, value in asked.items():
        assert value is None or claimed[key] == value
    # nothing is lost or made up
    published = read(release)
    values = [v for group in group_values(published, "illness").values() for v in group]
    assert Counter(values) == Counter(row["illness"] for row in case.rows)
    assert sorted(n for part in table_attributes(release) for n in part) == sorted(quasi)
    assert len(table_attributes(release)) == tables


@settings(max_examples=50)
@given(associated(max_rows=24), st.data())
def test_what_all_rows_keep_as_one_group_is_never_refused(case, data):
    """Beta, delta, alpha, and gamma if it is derived: at worst everything is merged."""
    whole = case.whole()
    assume(whole is not None)
    tables = len(case.divided)
    plain = SLPPA(alpha=1.0, beta=1.0, tables=tables, cap=None).publish(case.frame, case.schema)
    # as it is divided, not as the strategy did
    divided = table_attributes(plain)
    whole = oracle.of_rows(case.rows, [0] * len(case.rows), divided, "illness")[0]
    shares = [*SHARES, 0.333333334, 0.666666667]
    alpha = data.draw(st.sampled_from([s for s in shares if exact(s) >= whole.alpha]))
    beta = data.draw(st.sampled_from([s for s in shares if exact(s) >= whole.beta]))
    delta = data.draw(SOME)
    method = SLPPA(alpha=alpha, beta=beta, delta=delta, tables=tables, cap=None)
    release = method.publish(case.frame, case.schema)
    check(release)


@settings(max_examples=40)
@given(samples(people=False), st.sampled_from(SHARES), st.sampled_from(SHARES), st.integers(1, 3))
def test_two_sensitive_attributes(sample, beta, other, tables):
    """Each with a table, a beta and a delta of its own; or refused."""
    method = SLPPA(
        alpha=1.0,
        beta=beta,
        tables=min(tables, len(sample.quasi)),
        attributes={"pay": {"beta": other, "delta": max(other, 0.5)}},
    )
    try:
        release = method.publish(sample.frame, sample.schema)
    except (Infeasible, ParameterError):
        return
    check(release)
    claimed = claims_of(release)
    assert (claimed["illness"]["beta"], claimed["illness"]["delta"]) == (beta, beta)
    assert (claimed["pay"]["beta"], claimed["pay"]["delta"]) == (other, max(other, 0.5))
    assert table_attributes(release, "sensitive_") == [("illness",), ("pay",)]


# --- people of some number ------------------------------------------------------------------------

SCHEMA = Schema(
    (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("zip", Role.QUASI_IDENTIFIER),
        Attribute("job", Role.QUASI_IDENTIFIER),
        Attribute("sex", Role.QUASI_IDENTIFIER),
        Attribute("illness", Role.SENSITIVE),
        Attribute("pay", Role.SENSITIVE),
        Attribute("ward", Role.INSENSITIVE, keep=True),
        Attribute("name", Role.IDENTIFIER),
    )
)
ONE_SECRET = Schema(
    tuple(Attribute("pay", Role.INSENSITIVE) if e.name == "pay" else e for e in SCHEMA)
)


def patients(rows: int = 600, missing: float = 0.0) -> pa.Table:
    rng = repeatable(4)
    ages = rng.integers(20, 80, rows)
    illness = [f"illness {i}" for i in rng.integers(0, 12, rows)]
    holes = rng.random(rows) < missing
    return pa.table(
        {
            "age": ages,
            "zip": rng.integers(10, 25, rows),
            "job": [f"job {i}" for i in rng.integers(0, 6, rows)],
            "sex": ["f" if i else "m" for i in rng.integers(0, 2, rows)],
            "illness": [None if hole else v for hole, v in zip(holes, illness, strict=True)],
            "pay": rng.integers(0, 40, rows),
            "ward": [f"ward {i}" for i in rng.integers(0, 3, rows)],
            "name": [f"person {i}" for i in range(rows)],
        }
    )


@pytest.mark.parametrize("tables", [1, 2, 3, 4])
def test_any_number_of_tables(tables):
    release = SLPPA(beta=0.2, alpha=0.6, tables=tables).publish(patients(), ONE_SECRET)
    check(release)
    parts = table_attributes(release)
    assert len(parts) == tables
    assert max(map(len, parts)) == -(-4 // tables)
    assert table_attributes(release, "kept_") == [("ward",)]


def test_several_sensitive_attributes_have_tables_and_parameters_of_their_own():
    method = SLPPA(
        alpha=0.6,
        beta=0.25,
        tables=2,
        attributes={"pay": {"beta": 0.2}, "illness": {"delta": 0.3}},
    )
    release = method.publish(patients(), SCHEMA)
    check(release)
    claimed = claims_of(release)
    assert claimed["illness"] == {"alpha": 0.6, "beta": 0.25, "gamma": 0.09, "delta": 0.3}
    assert claimed["pay"] == {"alpha": 0.6, "beta": 0.2, "gamma": 0.072, "delta": 0.2}
    published = read(release)
    for name in ("illness", "pay"):
        for values in group_values(published, name).values():
            assert len(set(values)) == len(values) >= 5


def test_missing_values_count_for_nothing_and_are_spread():
    data = patients(missing=0.4)
    release = SLPPA(beta=0.2, alpha=0.6, tables=2).publish(data, ONE_SECRET)
    published = check(release)
    groups = group_values(published, "illness").values()
    assert sum(v is None for values in groups for v in values) == data["illness"].null_count > 200
    assert all(sum(v is not None for v in values) >= 5 for values in groups)


def test_uneven_values_are_published_with_their_shares():
    """Nine in ten have one value: no values that all differ, but beta and delta can be kept."""
    data = patients(2000)
    common = [f"illness {i % 40}" if i % 10 == 0 else "none" for i in range(2000)]
    data = data.set_column(data.column_names.index("illness"), "illness", pa.array(common))
    release = SLPPA(beta=0.95, delta=0.1, alpha=0.6, tables=2).publish(data, ONE_SECRET)
    published = check(release)
    assert len(group_values(published, "illness")) > 20


def test_gamma_alone_is_searched_for():
    """A gamma far below alpha to the tables, times beta."""
    release = SLPPA(alpha=1.0, beta=0.2, gamma=0.001, tables=2).publish(patients(), ONE_SECRET)
    published = check(release)
    assert len(group_values(published, "illness")) > 1


def test_a_seeded_release_repeats_and_is_marked_a_test():
    one, same, other = (
        SLPPA(beta=0.2, alpha=0.6).publish(patients(), ONE_SECRET, randomness=Randomness.test(seed))
        for seed in (1, 1, 2)
    )
    for name in one.tables:
        assert one.tables[name].equals(same.tables[name])
        assert not one.tables[name].equals(other.tables[name])
    assert audit(one).exit_code == 1


def test_the_release_is_judged_the_same_from_its_files(tmp_path):
    release = SLPPA(beta=0.2, alpha=0.6).publish(patients(), ONE_SECRET)
    for file_format in ("parquet", "csv"):
        release.save(tmp_path / file_format, format=file_format)
        assert audit(tmp_path / file_format) == audit(release)
        assert verdict(tmp_path / file_format) == 0


# --- derived parameters ---------------------------------------------------------------------------


@settings(max_examples=200)
@given(associated(), st.data())
def test_the_derived_gamma_holds_wherever_alpha_and_beta_do(case, data):
    found = [each for each in case.reached() if each is not None]
    assume(found)
    aim = data.draw(st.sampled_from(found))
    shares = [*SHARES, 1 / 3, 2 / 3, 0.07, 0.7, 0.001, float(aim.alpha), float(aim.beta)]
    alpha, beta = (data.draw(st.sampled_from(shares)) for _ in range(2))
    asked = derived(alpha, beta, None, None, tables=len(case.divided), least_alpha=Fraction(1, 10))
    assert asked[:2] == (alpha, beta) and asked.delta == beta
    assert exact(alpha) ** len(case.divided) * exact(beta) <= exact(asked.gamma)
    for each in found:
        if each.alpha <= exact(alpha) and each.beta <= exact(beta):
            assert each.gamma <= exact(asked.gamma)


@given(st.sampled_from(SHARES), st.sampled_from(SHARES), st.integers(1, 6))
def test_the_derived_gamma_is_hardly_more_than_it_must_be(alpha, beta, tables):
    asked = derived(alpha, beta, None, None, tables=tables, least_alpha=Fraction(1, 10))
    assert asked.gamma <= min(alpha**tables * beta * 1.0011, 1)


@pytest.mark.parametrize(
    ("given", "tables", "least", "expected"),
    [
        # alpha, beta, gamma, delta
        ((0.5, 0.05, None, None), 3, 0.2, (0.5, 0.05, 0.00625, 0.05)),
        ((0.5, None, None, 0.1), 2, 0.2, (0.5, 0.1, 0.025, 0.1)),
        ((0.5, 0.2, 0.3, 0.1), 2, 0.2, (0.5, 0.2, 0.3, 0.1)),
        ((None, 0.5, 0.125, None), 2, 0.2, (0.5, 0.5, 0.125, 0.5)),
        ((None, 0.5, None, None), 1, 0.2, (1.0, 0.5, 0.5, 0.5)),
        ((None, 0.1, None, None), 1, 0.2, (0.3, 0.1, 0.03, 0.1)),
        ((None, 0.1, None, None), 1, 0.1, (0.2, 0.1, 0.02, 0.1)),
        ((None, 0.5, None, None), 1, 0.9, (1.0, 0.5, 0.5, 0.5)),
        ((0.5, None, 0.125, None), 2, 0.2, (0.5, 0.5, 0.125, 0.5)),
        ((1.0, 1.0, None, None), 5, 1.0, (1.0, 1.0, 1.0, 1.0)),
        ((None, 0.1, 0.9, None), 2, 0.2, (1.0, 0.1, 0.9, 0.1)),
    ],
)
def test_the_rest_follows_from_what_is_given(given, tables, least, expected):
    found = derived(*given, tables=tables, least_alpha=Fraction(str(least)))
    assert found == pytest.approx(expected, rel=0.0011)
    assert all(f >= e * (1 - 1e-12) for f, e in zip(found, expected, strict=True))


@given(st.fixed_dictionaries(dict.fromkeys(KEYS, SOME)), st.integers(1, 5), st.sampled_from(SHARES))
def test_what_is_given_is_never_changed_and_all_are_shares(given, tables, least):
    try:
        found = derived(
            *(given[key] for key in KEYS), tables=tables, least_alpha=Fraction(str(least))
        )
    except ParameterError:
        assert given["beta"] is None and given["delta"] is None
        either, both = given["alpha"], given["gamma"]
        assert either is None or both is None or both >= either**tables
        return
    for key, value in given.items():
        assert value is None or getattr(found, key) == value
        assert 0 < getattr(found, key) <= 1


@pytest.mark.parametrize("given", [{}, {"alpha": 0.5}, {"gamma": 0.5}])
def test_too_little_is_refused(given):
    with pytest.raises(
        ParameterError, match="needs `beta` or `delta`, or both `alpha` and `gamma`"
    ):
        SLPPA(**given).publish(patients(), ONE_SECRET)


@pytest.mark.parametrize("given", [{"delta": 0.2}, {"alpha": 0.6, "gamma": 0.072}])
def test_enough_is_published(given):
    release = SLPPA(**given, tables=2).publish(patients(), ONE_SECRET)
    check(release)
    assert claims_of(release)["illness"]["beta"] == pytest.approx(0.2)


@pytest.mark.parametrize("alpha", [1e-300, 5e-324])
def test_tiny_parameters_are_refused_as_such(alpha):
    with pytest.raises(ParameterError, match="say `beta`"):
        SLPPA(alpha=alpha, gamma=0.5, tables=2).publish(patients(), ONE_SECRET)
    for also in ({"beta": 0.5}, {"beta": 0.5, "gamma": 0.5}):
        with pytest.raises(Infeasible, match="alpha"):
            SLPPA(alpha=alpha, **also, tables=2).publish(patients(), ONE_SECRET)
    with pytest.raises(Infeasible, match="alpha"):
        SLPPA(beta=0.5, gamma=alpha, tables=2).publish(patients(), ONE_SECRET)
    with pytest.raises(Infeasible, match="beta"):
        SLPPA(beta=alpha, tables=2).publish(patients(), ONE_SECRET)


def test_a_tiny_delta_is_kept_by_the_whole_table():
    """No group but the whole table may differ so little from it."""
    data = pa.table({"age": range(5), "job": list("abcde"), "illness": list("aabbc")})
    schema = Schema.of(age="quasi-identifier", job="quasi-identifier", illness="sensitive")
    release = SLPPA(alpha=0.5, beta=0.5, delta=1e-9).publish(data, schema)
    assert len(group_values(check(release), "illness")) == 1


# --- what is infeasible ---------------------------------------------------------------------------

LEAST = re.compile(r"use (alpha|beta) >= ([0-9.e-]+)")


@settings(max_examples=40)
@given(associated(max_rows=24), st.integers(1, 3), st.sampled_from(SHARES), st.sampled_from(SHARES))
def test_advice_is_feasible_and_no_more_than_needed(case, tables, alpha, beta):
    quasi = [name for part in case.divided for name in part]
    assume(tables <= len(quasi))
    known = [row["illness"] for row in case.rows if row["illness"] is not None]
    assume(known)
    asked = {"alpha": alpha, "beta": beta, "tables": tables}
    plain = SLPPA(alpha=1.0, beta=1.0, tables=tables).publish(case.frame, case.schema)
    whole = oracle.of_rows(case.rows, [0] * len(case.rows), table_attributes(plain), "illness")[0]
    too_small = [key for key in ("alpha", "beta") if exact(asked[key]) < getattr(whole, key)]
    if not too_small:
        check(SLPPA(**asked).publish(case.frame, case.schema))
        return
    with pytest.raises(Infeasible) as refusal:
        SLPPA(**asked).publish(case.frame, case.schema)
    message = str(refusal.value)
    advice = {key: float(least) for key, least in LEAST.findall(message)}
    assert list(advice) == too_small
    for key, least in advice.items():
        share = getattr(whole, key)
        assert f"{key} = {asked[key]:g} is infeasible" in message
        assert f"{float(share):.1%}" in message
        assert share <= exact(least) <= min(share * Fraction("1.0011"), 1)
    check(SLPPA(**asked | advice).publish(case.frame, case.schema))


def test_a_refusal_names_the_attribute_and_no_value():
    data = pa.table(
        {"age": range(10), "job": ["telltale job"] * 4 + list("bcdefg"), "illness": ["secret"] * 10}
    )
    schema = Schema.of(age="quasi-identifier", job="quasi-identifier", illness="sensitive")
    with pytest.raises(Infeasible) as refusal:
        SLPPA(alpha=0.05, beta=0.05, tables=2).publish(data, schema)
    message = str(refusal.value)
    assert "alpha = 0.05 is infeasible" in message and "40.0%" in message
    assert "use alpha >= 0.4," in message
    assert "beta = 0.05 is infeasible" in message and "`illness` has 100.0%" in message
    assert "use beta >= 1" in message
    assert "telltale" not in message and "secret" not in message


def test_a_rounded_third_is_refused_with_a_number_to_use():
    """Three values of a third each, and a beta that is a hair less."""
    data = pa.table({"age": range(6), "job": list("abcdef"), "illness": list("aabbcc")})
    schema = Schema.of(age="quasi-identifier", job="quasi-identifier", illness="sensitive")
    for asked in ({"beta": 1 / 3}, {"beta": 1.0, "alpha": 1 / 6}):
        third = {"alpha": 1.0} | asked
        with pytest.raises(Infeasible) as refusal:
            SLPPA(**third, tables=2).publish(data, schema)
        found = re.findall(r"(alpha|beta) >?= (0\.\d+)", str(refusal.value))
        advice = {key: float(number) for key, number in found}
        assert advice.keys() & asked.keys()
        check(SLPPA(**third | advice, tables=2).publish(data, schema))


@pytest.mark.parametrize(
    "asked", [{"alpha": 1.0, "beta": 1 / 3, "delta": 1.0}, {"alpha": 1 / 3, "beta": 1.0}]
)
def test_a_rounded_third_is_published_where_the_whole_table_keeps_it(asked):
    """Nine of thirty share a value, or a job: 0.3 of all, though a third of some groups."""
    data = pa.table(
        {
            "age": range(30),
            "job": [*"aaaaaaaaabbbbbbbbbcccccccccddd"],
            "illness": [*"vvvvvvvvvwwwwwwwwwxxxxxxxxxyyy"],
        }
    )
    schema = Schema.of(age="quasi-identifier", job="quasi-identifier", illness="sensitive")
    for seed in range(3):
        seeded = Randomness.secret(bytes([seed]) * 32)
        check(SLPPA(**asked, tables=2).publish(data, schema, randomness=seeded))


def test_an_unreachable_gamma_is_answered_with_the_best_reached():
    with pytest.raises(Infeasible) as refusal:
        SLPPA(alpha=0.6, beta=0.2, gamma=1e-7, tables=2).publish(patients(), ONE_SECRET)
    message = str(refusal.value)
    assert "`illness`" in message
    (best,) = re.findall(r"gamma = ([0-9.e-]+)", message)
    release = SLPPA(alpha=0.6, beta=0.2, gamma=float(best), tables=2).publish(
        patients(), ONE_SECRET
    )
    check(release)


def test_a_column_without_any_value_is_refused():
    data = pa.table({"age": [1, 2], "illness": pa.nulls(2, pa.string())})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    with pytest.raises(ParameterError, match="every value of `illness` is missing"):
        SLPPA(beta=0.5, tables=1).publish(data, schema)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("wrong", [0, -1, 1.5, "0.5", True, float("nan"), [0.5]])
def test_a_parameter_that_is_no_share(key, wrong):
    with pytest.raises(ParameterError, match=f"slppa: `{key}` must be a number above 0"):
        SLPPA(**{key: wrong})


@pytest.mark.parametrize("wrong", [{"tables": 0}, {"tables": 1.5}, {"cap": 0}, {"cap": "odd"}])
def test_a_division_that_is_none(wrong):
    with pytest.raises(ParameterError, match=r"slppa: `(tables|cap)` must be"):
        SLPPA(beta=0.5, **wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pay": {"alpha": 0.5}},
        {"pay": {"gamma": 0.5}},
        {"pay": {"beta": 0}},
        {"pay": {"delta": "x"}},
        {"pay": {"bta": 0.5}},
        {"pay": 0.5},
        {"pay": None},
        ["pay"],
        "pay",
        None,
    ],
)
def test_parameters_of_an_attribute_that_are_none(wrong):
    with pytest.raises(ParameterError, match="slppa"):
        SLPPA(beta=0.5, attributes=wrong)


@pytest.mark.parametrize("name", ["age", "ward", "name", "height"])
def test_parameters_of_an_attribute_that_is_not_sensitive(name):
    with pytest.raises(ParameterError, match="not sensitive"):
        SLPPA(beta=0.5, attributes={name: {"beta": 0.5}}).publish(patients(), SCHEMA)


def test_more_tables_than_quasi_identifiers():
    with pytest.raises(ParameterError, match="use at most 4"):
        SLPPA(beta=0.5, tables=5).publish(patients(), ONE_SECRET)


@pytest.mark.parametrize(
    ("attributes", "unit", "reason"),
    [
        ({"illness": Role.SENSITIVE}, None, "quasi-identifier"),
        ({"age": Role.QUASI_IDENTIFIER}, None, "sensitive attribute"),
        (
            {"age": Role.QUASI_IDENTIFIER, "illness": Role.SENSITIVE, "person": Role.IDENTIFIER},
            "person",
            "one row a person",
        ),
        ({"age": Role.SENSITIVE_QUASI_IDENTIFIER, "illness": Role.SENSITIVE}, None, "age"),
    ],
    ids=["no quasi-identifier", "nothing sensitive", "several rows a person", "another role"],
)
def test_tables_of_another_shape_are_refused(attributes, unit, reason):
    data = pa.table({"age": [1, 2, 3], "illness": [*"abc"], "person": [1, 1, 2]})
    schema = Schema(tuple(Attribute(name, role) for name, role in attributes.items()), unit)
    with pytest.raises(ParameterError, match=reason):
        SLPPA(beta=1.0, tables=1).publish(data.select(list(attributes)), schema)
