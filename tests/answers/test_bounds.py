"""Hard bounds: those of all originals that fit a tiny release, and the truth on any table."""

from __future__ import annotations

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from answers.consistent import bounds
from answers.questions import AGES, PAYS, SEXES, any_predicates, plain_predicates
from arbitrary.predicates import COLUMNS, predicates, tables
from hypothesis import assume, given, reject, settings

from sfumato.answers import Answerer, Count, Sum
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import LGB, Anatomy, Method, Mondrian, TopDown
from sfumato.models import TCloseBuckets
from sfumato.predicates import Or, evaluate_frame, negation_normal_form
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

QUASI, SEMI = Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE


@st.composite
def tiny_releases(draw) -> Release:
    """Return a release of few rows and values, generalised or local.

    In a local one `pay` is in buckets, and `sex` may be semi-sensitive.
    """
    rows = draw(
        st.lists(
            st.fixed_dictionaries(
                {
                    "age": st.none() | AGES,
                    "sex": st.none() | SEXES,
                    "pay": st.none() | PAYS,
                    "hide": st.booleans(),
                }
            ),
            min_size=2,
            max_size=4,
        )
    )
    types = {"age": pa.int64(), "sex": pa.string(), "pay": pa.int64(), "hide": pa.bool_()}
    data = pa.table({name: pa.array([row[name] for row in rows], t) for name, t in types.items()})
    plain = draw(st.booleans())
    semi = not plain and draw(st.booleans())
    schema = Schema(
        (
            Attribute("age", QUASI),
            Attribute("sex", SEMI, flag="hide") if semi else Attribute("sex", QUASI),
            Attribute("pay", Role.SENSITIVE),
            Attribute("hide", Role.INSENSITIVE),
        )
    )
    k = draw(st.integers(1, 2))
    if plain:
        return published(draw(st.sampled_from([Mondrian, TopDown]))(k=k), data, schema)
    method = LGB(
        k=k,
        l=1,
        protection={"pay": TCloseBuckets("pay", draw(st.sampled_from([0.5, 1.0])))},
        generalize=draw(st.sampled_from(["mdp", "ncp"])),
    )
    return published(method, data, schema, seed=draw(st.integers(0, 3)))


def published(method: Method, data: pa.Table, schema: Schema, seed: int = 0) -> Release:
    try:
        return method.publish(data, schema, randomness=Randomness.test(seed))
    except Infeasible:  # such as one value alone, which no bucket can hide
        reject()


def bucketed(release: Release) -> set[str]:
    columns = release.tables["records"].column_names
    return {name.removesuffix(".bucket") for name in columns if name.endswith(".bucket")}


@settings(max_examples=150)
@given(tiny_releases(), plain_predicates(), st.sampled_from([None, "age", "pay"]))
def test_bounds_hold_for_every_original_and_are_reached_in_simple_cases(release, predicate, summed):
    answer = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    low, high = bounds(release, predicate, summed)
    assert answer.low <= low <= high <= answer.high
    assert answer.low <= answer.value <= answer.high
    others = (predicate.attributes - {summed}) & bucketed(release)
    if summed is None:
        is_simple = len(others) <= 1
    else:
        is_simple = not others and not (summed in predicate.attributes and _is_or(predicate))
    if is_simple and not _may_be_a_tautology(release, predicate):
        assert (answer.low, answer.high) == (low, high)


def _is_or(predicate) -> bool:
    normal = negation_normal_form(predicate)
    return isinstance(normal, Or) and len(normal.attributes) > 1


def _may_be_a_tautology(release: Release, predicate) -> bool:
    """Whether a withheld cell of words is asked something that may hold for every word, or none."""
    withheld = "*" in release.tables["records"]["sex"].to_pylist()
    return withheld and "sex" in predicate.attributes


@settings(max_examples=100)
@given(tiny_releases(), st.data())
def test_bounds_hold_for_every_original_whatever_the_predicate(release, data):
    predicate = data.draw(any_predicates)
    summed = data.draw(st.sampled_from([None, "age", "pay"]))
    answer = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    low, high = bounds(release, predicate, summed)
    assert answer.low <= low <= high <= answer.high


def test_no_predicate_means_all_rows():
    data = pa.table({"age": [20, 21, 22, 23], "pay": [4, 1, -3, None]})
    schema = Schema.of(age="quasi-identifier", pay="sensitive")
    release = LGB(k=2, l=1).publish(data, schema, randomness=Randomness.test(0))
    answerer = Answerer(release)
    count, total = answerer.answer(Count()), answerer.answer(Sum("pay"))
    assert (count.low, count.value, count.high) == (4, 4, 4)
    assert (total.low, total.value, total.high) == (2, 2, 2)


# --- every type that a literal compares with ------------------------------------------------------

NAMES = tuple(COLUMNS)


def contains_the_truth(release: Release, table: pa.Table, schema: Schema, predicate) -> None:
    kept = evaluate_frame(predicate, table, schema)
    answerer = Answerer(release)
    found = answerer.answer(Count(), predicate)
    assert found.low <= kept.sum() <= found.high
    for name in ("whole", "large", "unsigned", "float", "single", "decimal"):
        chosen = table[name].filter(pa.array(kept)).drop_null().to_pylist()
        total = answerer.answer(Sum(name), predicate)
        assert total.low <= sum(chosen) <= total.high


@settings(max_examples=80)
@given(tables(max_rows=12), st.data())
def test_the_truth_lies_within_for_every_type(table, data):
    roles = data.draw(st.lists(st.sampled_from("qqs"), min_size=len(NAMES), max_size=len(NAMES)))
    density = data.draw(st.sampled_from([0.0, 0.5]))
    schema = Schema(
        tuple(
            Attribute(name, QUASI) if role == "q" else Attribute(name, SEMI, density=density)
            for name, role in zip(NAMES, roles, strict=True)
        )
    )
    k = data.draw(st.integers(1, min(4, table.num_rows)))
    release = published(LGB(k=k, l=1), table, schema)
    contains_the_truth(release, table, schema, data.draw(predicates))


@settings(max_examples=60)
@given(tables(max_rows=12), st.data())
def test_the_truth_lies_within_for_every_type_in_plain_layouts(table, data):
    sensitive = data.draw(st.sampled_from(NAMES))
    assume(table[sensitive].null_count < table.num_rows)  # else there is nothing to protect
    roles = {name: "sensitive" if name == sensitive else "quasi-identifier" for name in NAMES}
    number = data.draw(st.integers(1, min(3, table.num_rows)))
    method = data.draw(st.sampled_from([Mondrian(number), TopDown(number), Anatomy(number)]))
    schema = Schema.of(roles)
    release = published(method, table, schema)
    contains_the_truth(release, table, schema, data.draw(predicates))


@pytest.mark.parametrize("name", ["marital-status", "born", "seen", "flag"])
def test_only_numbers_add_up(name):
    table = pa.table({name: pa.array([None, None], COLUMNS[name][0])})
    schema = Schema.of({name: "quasi-identifier"})
    release = LGB(k=1, l=1).publish(table, schema, randomness=Randomness.test(1))
    with pytest.raises(ParameterError, match="SUM needs numbers"):
        Answerer(release).answer(Sum(name), None)
