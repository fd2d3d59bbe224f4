"""Hard bounds: those of all originals that fit a tiny release, and the truth on any table."""

from __future__ import annotations

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from answers.consistent import UNHEARD_OF, bounds
from arbitrary.predicates import COLUMNS, predicates, tables
from hypothesis import given, reject, settings

from sfumato.answers import Answerer, Count, Sum
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import LGB
from sfumato.models import TCloseBuckets
from sfumato.predicates import (
    And,
    Between,
    Comparison,
    IsMissing,
    Not,
    OneOf,
    Or,
    Prefix,
    evaluate_frame,
    negation_normal_form,
)
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

AGES = st.integers(20, 23)
SEXES = st.sampled_from(["F", "M"])
PAYS = st.integers(-2, 3)

QUASI, SEMI = Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE


@st.composite
def tiny_releases(draw) -> Release:
    """Return a local release of few rows and values; `sex` may be semi-sensitive."""
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
    semi = draw(st.booleans())
    schema = Schema(
        (
            Attribute("age", QUASI),
            Attribute("sex", SEMI, flag="hide") if semi else Attribute("sex", QUASI),
            Attribute("pay", Role.SENSITIVE),
            Attribute("hide", Role.INSENSITIVE),
        )
    )
    method = LGB(
        k=draw(st.integers(1, 2)),
        l=1,
        protection={"pay": TCloseBuckets("pay", draw(st.sampled_from([0.5, 1.0])))},
        generalize=draw(st.sampled_from(["mdp", "ncp"])),
    )
    return published(method, data, schema, seed=draw(st.integers(0, 3)))


def published(method: LGB, data: pa.Table, schema: Schema, seed: int = 0) -> Release:
    try:
        return method.publish(data, schema, randomness=Randomness.test(seed))
    except Infeasible:  # such as one value alone, which no bucket can hide
        reject()


OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


def leaves(name: str) -> st.SearchStrategy:
    if name == "sex":
        words = st.sampled_from(["F", "M", UNHEARD_OF])
        return (
            st.builds(Comparison, st.just(name), st.sampled_from(["=", "!="]), words)
            | st.builds(OneOf, st.just(name), st.lists(words, min_size=1, max_size=2).map(tuple))
            | st.just(IsMissing(name))
            | st.just(Prefix(name, "F"))
        )
    numbers = st.integers(19, 24) if name == "age" else st.integers(-3, 4)
    return (
        st.builds(Comparison, st.just(name), OPERATORS, numbers)
        | st.builds(Between, st.just(name), numbers, numbers)
        | st.just(IsMissing(name))
    )


def parts(name: str) -> st.SearchStrategy:
    """Return predicates on one attribute."""
    leaf = leaves(name)
    return leaf | leaf.map(Not) | st.tuples(leaf, leaf).map(And) | st.tuples(leaf, leaf).map(Or)


@st.composite
def plain_predicates(draw):
    """Return predicates in which each attribute stands in one place."""
    names = draw(st.lists(st.sampled_from(["age", "sex", "pay"]), min_size=1, unique=True))
    several = tuple(draw(parts(name)) for name in names)
    return several[0] if len(several) == 1 else draw(st.sampled_from([And, Or]))(several)


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
    leaf = st.one_of([leaves(name) for name in ("age", "sex", "pay")])

    def grown(several):
        pairs = st.tuples(several, several)
        return several.map(Not) | pairs.map(And) | pairs.map(Or)

    predicate = data.draw(st.recursive(leaf, grown, max_leaves=4))
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


@settings(max_examples=100)
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
    predicate = data.draw(predicates)
    kept = evaluate_frame(predicate, table, schema)
    answerer = Answerer(release)
    found = answerer.answer(Count(), predicate)
    assert found.low <= kept.sum() <= found.high
    for name in ("whole", "large", "unsigned", "float", "single", "decimal"):
        chosen = table[name].filter(pa.array(kept)).drop_null().to_pylist()
        total = answerer.answer(Sum(name), predicate)
        assert total.low <= sum(chosen) <= total.high


@pytest.mark.parametrize("name", ["marital-status", "born", "seen", "flag"])
def test_only_numbers_add_up(name):
    table = pa.table({name: pa.array([None, None], COLUMNS[name][0])})
    schema = Schema.of({name: "quasi-identifier"})
    release = LGB(k=1, l=1).publish(table, schema, randomness=Randomness.test(1))
    with pytest.raises(ParameterError, match="SUM needs numbers"):
        Answerer(release).answer(Sum(name), None)
