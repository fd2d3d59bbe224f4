"""Standard errors from local releases: against all deals of the buckets, and on random tables."""

from __future__ import annotations

from math import sqrt

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from answers.consistent import aggregate, originals
from answers.every_deal import differences, spread
from answers.questions import AGES, PAYS, SEXES, any_predicates, nested_predicates, plain_predicates
from answers.test_local import local
from hypothesis import given, settings

from sfumato.answers import Answerer, Count, Sum
from sfumato.answers.answer import ENGINES
from sfumato.methods import LGB, Mondrian
from sfumato.predicates import And, Comparison, Or
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Release
from sfumato.schema import Attribute, Role, Schema

ABOUT = 1
NAMES = ("age", "sex", "pay")


def entry(name: str, type_: str) -> AttributeEntry:
    kind = "categorical" if type_ == "string" else "numeric"
    return AttributeEntry(name=name, role="semi-sensitive", kind=kind, type=type_)


ENTRIES = {
    "age": entry("age", "int64"),
    "sex": entry("sex", "string"),
    "pay": entry("pay", "int64"),
}
TYPES = {"age": pa.int64(), "sex": pa.string(), "pay": pa.int64()}
VALUES = {"age": AGES, "sex": SEXES, "pay": PAYS}


@st.composite
def bucketed_releases(draw) -> Release:
    """Return a release of few rows, whose cells are exact or in buckets that overlap at will."""
    rows = draw(st.integers(2, 4))
    cells: dict[str, pa.Array] = {"group": pa.array([1] * rows)}
    for name in NAMES:
        values = draw(st.lists(st.none() | VALUES[name], min_size=rows, max_size=rows))
        found = draw(
            st.lists(st.sampled_from([None, "a", "a", "b"]), min_size=rows, max_size=rows)
            | st.just(["a"] * rows)
        )
        number = {bucket: i for i, bucket in enumerate(sorted({b for b in found if b}), start=1)}
        cells[name] = pa.array(values, TYPES[name])
        cells[f"{name}.bucket"] = pa.array([b and number[b] for b in found], pa.int32())
    return local(cells, **ENTRIES)


def true_variances(release: Release, predicate, summed) -> tuple[float, float]:
    names = sorted(predicate.attributes | ({summed} if summed else set()))
    tables = list(originals(release, names))
    results = [aggregate(rows, predicate, summed) for rows in tables]
    apart = [differences(rows, predicate, summed, ABOUT) for rows in tables] if summed else [0]
    return float(spread(results)), float(spread(apart))


def check(release: Release, predicate, summed) -> bool:
    """Compare with all deals; return whether there was a standard error."""
    found = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    deviation = None
    if summed is not None:
        deviation = ENGINES["local"](release).deviation(summed, ABOUT, predicate)
    variance, apart = true_variances(release, predicate, summed)
    if found.se is not None:
        assert found.se == pytest.approx(sqrt(variance), abs=1e-7)
    if deviation is not None:
        assert deviation == pytest.approx(sqrt(apart), abs=1e-7)
    return found.se is not None


@settings(max_examples=80)
@given(bucketed_releases(), plain_predicates() | nested_predicates())
def test_counts_have_the_standard_error_of_all_deals(release, predicate):
    assert check(release, predicate, None)


@settings(max_examples=60)
@given(bucketed_releases(), plain_predicates(), st.sampled_from(["age", "pay"]))
def test_sums_have_the_standard_error_of_all_deals(release, predicate, summed):
    has_one = check(release, predicate, summed)
    assert has_one or (isinstance(predicate, Or) and summed in predicate.attributes)


@settings(max_examples=60)
@given(bucketed_releases(), any_predicates, st.sampled_from([None, "age", "pay"]))
def test_standard_errors_are_right_or_none_whatever_the_predicate(release, predicate, summed):
    check(release, predicate, summed)


# --- what nobody dealt ----------------------------------------------------------------------------


def test_generalised_cells_that_leave_something_open_have_no_standard_error():
    answerer = Answerer(local())
    assert answerer.answer(Count(), "age >= 22 and pay < 30").se is None
    assert answerer.answer(Sum("age"), "pay < 30").se is None
    # the ages of both groups are told here, and those of `sex` are in no bucket for some
    assert answerer.answer(Count(), "age < 24 and pay < 30").se > 0
    assert answerer.answer(Count(), "age < 24 and sex = 'F' and pay < 30").se > 0
    assert answerer.answer(Count(), "age >= 24 and sex = 'F'").se is None


def test_generalised_releases_have_none_but_for_exact_cells():
    rng = np.random.default_rng(1)
    data = pa.table({"age": rng.integers(20, 60, 40), "pay": rng.integers(0, 9, 40)})
    schema = Schema.of(age="quasi-identifier", pay="sensitive")
    answerer = Answerer(Mondrian(k=8).publish(data, schema, randomness=Randomness.test(1)))
    assert answerer.answer(Count(), "pay < 5").se == 0.0
    assert answerer.answer(Sum("pay"), "pay < 5").se == 0.0
    ages = sorted(data["age"].to_pylist())
    assert answerer.answer(Count(), Comparison("age", "<", ages[20])).se is None
    assert answerer.answer(Sum("age")).se is None


# --- buckets that were dealt at random ------------------------------------------------------------

ROWS, QUESTIONS = 1_500, 400
LEAST_COVERAGE, MOST_COVERAGE = 0.90, 0.99
LEAST_ROWS = 20
SPANS = {"age": 40, "height": 30, "pay": 50}


def test_two_standard_errors_cover_the_truth_where_attributes_are_independent():
    rng = Randomness.test(12).generator("tables")
    inside, asked = {"count": 0, "sum": 0, "average": 0}, 0
    place = Attribute("place", Role.QUASI_IDENTIFIER)
    schema = Schema((place, *(Attribute(name, Role.SENSITIVE) for name in SPANS)))
    for seed in range(QUESTIONS // 20):
        data = pa.table(
            {name: rng.binomial(span, 0.5, ROWS) for name, span in SPANS.items()}
            | {"place": ["here"] * ROWS}
        )
        release = LGB(k=1, l=4).publish(data, schema, randomness=Randomness.test(seed))
        answerer, engine = Answerer(release), ENGINES["local"](release)
        columns = {name: data[name].to_numpy() for name in SPANS}
        for _ in range(20):
            names = rng.choice(list(SPANS), int(rng.integers(2, 4)), replace=False).tolist()
            ends = {name: int(SPANS[name] * rng.uniform(0.4, 0.6)) for name in names}
            is_and = rng.random() < 0.5 or "pay" in names
            leaves = tuple(Comparison(name, "<", end) for name, end in ends.items())
            each = [columns[name] < end for name, end in ends.items()]
            predicate = And(leaves) if is_and else Or(leaves)
            rows = (np.logical_and if is_and else np.logical_or).reduce(each)
            count = answerer.answer(Count(), predicate)
            if count.value < LEAST_ROWS:
                continue
            asked += 1
            total = answerer.answer(Sum("pay"), predicate)
            mean = total.value / count.value
            error = engine.deviation("pay", mean, predicate) / count.value
            inside["count"] += abs(count.value - rows.sum()) <= 2 * count.se
            inside["sum"] += abs(total.value - columns["pay"][rows].sum()) <= 2 * total.se
            inside["average"] += abs(mean - columns["pay"][rows].mean()) <= 2 * error
    assert asked > QUESTIONS // 2
    for number in inside.values():
        assert LEAST_COVERAGE <= number / asked <= MOST_COVERAGE
