"""Standard errors from separate tables and blocks: against all deals, and on random tables."""

from __future__ import annotations

from math import sqrt

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from answers.every_deal import outcomes
from answers.questions import any_predicates, nested_predicates
from answers.test_every_deal import CELLS, SUMMED, TOGETHER, anatomized, asked, people, sliced
from hypothesis import given, settings

from sfumato.answers import Answerer, Count, Sum
from sfumato.answers.answer import ENGINES
from sfumato.predicates import And, Comparison, Or
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import assemble
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.table import Groups, encode

ABOUT = 1


def check(release: Release, predicate, summed, fakes: int = 0) -> None:
    true = outcomes(release, predicate, summed, fakes, ABOUT)
    found = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    assert found.se == pytest.approx(sqrt(true.variance), abs=1e-7)
    if summed is not None:
        engine = ENGINES[release.manifest.layout](release)
        deviation = engine.deviation(summed, ABOUT, predicate)
        assert deviation == pytest.approx(sqrt(true.deviation), abs=1e-7)


@settings(max_examples=150)
@given(people(), TOGETHER, any_predicates, SUMMED)
def test_standard_errors_are_those_of_all_deals(groups, together, predicate, summed):
    check(anatomized(groups, together), predicate, summed)


@settings(max_examples=100)
@given(people(), nested_predicates(), SUMMED)
def test_standard_errors_across_three_tables(groups, predicate, summed):
    check(anatomized(groups, (("age",), ("sex",), ("pay",))), predicate, summed)


@settings(max_examples=60)
@given(people(most=3), TOGETHER, any_predicates, SUMMED, st.integers(0, 3))
def test_fakes_may_be_any_of_the_records(groups, together, predicate, summed, fakes):
    groups, fakes = groups[:1], min(fakes, len(groups[0]))
    check(sliced(groups, together, fakes=fakes), predicate, summed, fakes)


@given(people(most=5), TOGETHER, any_predicates, SUMMED)
def test_groups_add_up(groups, together, predicate, summed):
    aggregate, times = Sum(summed) if summed else Count(), 50
    one, many = (
        Answerer(anatomized(each, together)).answer(aggregate, predicate)
        for each in (groups, groups * times)
    )
    assert many.se == pytest.approx(sqrt(times) * one.se, abs=1e-6)


@settings(max_examples=60)
@given(people(most=3), TOGETHER, CELLS, any_predicates)
def test_what_a_generalised_cell_leaves_open_has_no_standard_error(
    groups, together, cells, predicate
):
    release = sliced(groups, together, cells)
    found = Answerer(release).answer(Count(), predicate)
    if found.se is not None:
        true = outcomes(release, predicate, None)
        assert found.se == pytest.approx(sqrt(true.variance), abs=1e-7)


def test_no_standard_error_where_a_cell_is_open():
    rows = [{"age": 20, "sex": "F", "pay": 1}, {"age": 22, "sex": "M", "pay": 2}]
    answerer = Answerer(sliced([rows], (("age",), ("sex", "pay")), ["[20, 21]"]))
    question = And((Comparison("age", "=", 20), Comparison("sex", "=", "F")))
    assert answerer.answer(Count(), question).se is None
    assert answerer.answer(Sum("pay"), question).se is None
    assert answerer.answer(Count(), "age < 22 and sex = 'F'").se == pytest.approx(0.5)


def test_too_many_pairs_have_no_standard_error(monkeypatch):
    rows = [{"age": 20 + i, "sex": "FM"[i % 2], "pay": i % 3} for i in range(4)]
    answerer = Answerer(anatomized([rows], (("age",), ("sex",), ("pay",))))
    question = "(age < 22 and sex = 'F') or (age = 23 and pay = 1)"
    assert answerer.answer(Count(), question).se > 0
    monkeypatch.setattr("sfumato.answers.dealt_errors._MOST_STEPS", 1)
    assert answerer.answer(Count(), question).se is None
    assert answerer.answer(Sum("pay"), question).se is None
    assert answerer.answer(Sum("pay"), question).high > 0


# --- tables whose rows were matched at random within groups ---------------------------------------

GROUPS, SIZE, QUESTIONS = 60, 20, 400
LEAST_ROWS = 20  # of fewer, errors are far from normal
LEAST_COVERAGE, MOST_COVERAGE = 0.90, 0.99
NUMBERS = {"age": 40, "height": 30, "pay": 50}


def matched_at_random(rng: np.random.Generator) -> tuple[pa.Table, Release]:
    """Return a table, and its anatomised release in three tables.

    Groups differ, so that attributes go together; within groups they do not.
    """
    group = np.repeat(np.arange(GROUPS), SIZE)
    columns = {
        name: rng.binomial(span, 0.2 + 0.6 * group / GROUPS) for name, span in NUMBERS.items()
    }
    data = pa.table(columns)
    schema = Schema.of(age="quasi-identifier", height="quasi-identifier", pay="sensitive")
    table = encode(data, schema)
    published = anatomized_tables(
        table, Groups(group.astype(np.int32), GROUPS), [[table["age"]], [table["height"]]], rng=rng
    )
    parameters = {"method": "test", "rows": table.rows, "models": [], "parameters": {}}
    return data, assemble(published, **parameters, is_test=True)


def question(rng: np.random.Generator):
    """Return a random predicate, and which rows of a table it chooses."""
    names = rng.choice(list(NUMBERS), int(rng.integers(2, 4)), replace=False).tolist()
    ends = {name: int(rng.binomial(NUMBERS[name], rng.uniform(0.2, 0.8))) for name in names}
    leaves = tuple(Comparison(name, "<", end) for name, end in ends.items())
    join, combine = [(And, np.logical_and), (Or, np.logical_or)][int(rng.integers(2))]

    def chosen(data: pa.Table) -> np.ndarray:
        return combine.reduce([data[n].to_numpy() < end for n, end in ends.items()])

    return join(leaves), chosen


def test_two_standard_errors_cover_the_truth_where_matching_is_random():
    rng = Randomness.test(11).generator("tables")
    inside, asked_for = {"count": 0, "sum": 0, "average": 0}, 0
    while asked_for < QUESTIONS:
        data, release = matched_at_random(rng)
        answerer = Answerer(release)
        engine = ENGINES["anatomized"](release)
        pay = data["pay"].to_numpy()
        for _ in range(20):
            predicate, chosen = question(rng)
            rows = chosen(data)
            count = answerer.answer(Count(), predicate)
            if count.value < LEAST_ROWS:
                continue
            asked_for += 1
            total = answerer.answer(Sum("pay"), predicate)
            mean = total.value / count.value
            error = engine.deviation("pay", mean, predicate) / count.value
            inside["count"] += abs(count.value - rows.sum()) <= 2 * count.se
            inside["sum"] += abs(total.value - pay[rows].sum()) <= 2 * total.se
            inside["average"] += abs(mean - pay[rows].mean()) <= 2 * error
    for number in inside.values():
        assert LEAST_COVERAGE <= number / asked_for <= MOST_COVERAGE


def test_one_table_alone_leaves_nothing_open():
    groups = [[{"age": 20, "sex": "F", "pay": 1}, {"age": 22, "sex": "M", "pay": 2}]]
    together = (("age", "sex"), ("pay",))
    predicate = And((Comparison("age", "=", 20), Comparison("sex", "=", "F")))
    assert asked(together, predicate, None) == 1
    assert Answerer(anatomized(groups, together)).answer(Count(), predicate).se == 0.0
    assert Answerer(anatomized(groups, together)).answer(Sum("age"), predicate).se == 0.0
