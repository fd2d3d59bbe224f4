"""Answers are about all rows: what withheld ones may be, and what is expected of them."""

from __future__ import annotations

import math
from itertools import combinations, combinations_with_replacement
from statistics import mean

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from answers.consistent import holds
from answers.every_average import tables_behind
from answers.questions import any_predicates, plain_predicates
from answers.test_bounds import tiny_releases
from answers.test_every_deal import TOGETHER, anatomized, people, sliced
from hypothesis import given, settings

import sfumato as sf
from sfumato.answers import Answerer, Average, Count, Sum
from sfumato.answers.answer import ENGINES
from sfumato.answers.randomized import corrected
from sfumato.predicates import parse

# Withheld rows may be like others, or like nobody in the release.
WITHHELD = [
    {"age": 20, "sex": "F", "pay": 3},
    {"age": 23, "sex": "M", "pay": -2},
    {"age": 99, "sex": "X", "pay": -1_000},
    {"age": -7, "sex": "F", "pay": 10_000},
    {"age": None, "sex": None, "pay": None},
]
PREDICATES = plain_predicates() | any_predicates | st.none()


def with_withheld(release: sf.Release, rows: int, by_value: bool = False, **parameters):
    changes = {
        "suppressed": rows,
        "suppressed_by_value": by_value,
        "parameters": release.manifest.parameters | parameters,
    }
    manifest = release.manifest.model_copy(update=changes)
    return sf.Release(manifest, release.tables, release.hierarchies)


def facts(rows, predicate, attribute) -> tuple[int, int, int]:
    """Return how many rows satisfy a predicate, how many of them have a number, and its sum."""
    chosen = [row for row in rows if predicate is None or holds(predicate, row)]
    numbers = [row[attribute] for row in chosen if row[attribute] is not None]
    return len(chosen), len(numbers), sum(numbers)


def check(release, predicate, attribute, rows, fakes=0) -> None:
    """Try every table behind the published rows, with any rows that were withheld."""
    names = {attribute} | (predicate.attributes if predicate else set())
    published = {
        facts(kept, predicate, attribute)
        for table in tables_behind(release, names)
        for kept in combinations(table, len(table) - fakes)
    }
    others = {
        facts(each, predicate, attribute) for each in combinations_with_replacement(WITHHELD, rows)
    }
    every = [tuple(map(sum, zip(a, b, strict=True))) for a in published for b in others]
    answerer = Answerer(with_withheld(release, rows))
    count = answerer.answer(Count(), predicate)
    counts = [each[0] for each in every]
    assert count.low <= min(counts) <= max(counts) <= count.high
    assert count.low <= count.value <= count.high
    plain = Answerer(release).answer(Count(), predicate)
    assert count.high == plain.high + rows
    assert count.low == plain.low + (rows if predicate is None else 0)
    total = answerer.answer(Sum(attribute), predicate)
    assert total.low <= min(each[2] for each in every)
    assert total.high >= max(each[2] for each in every)
    average = answerer.answer(Average(attribute), predicate)
    averages = [each[2] / each[1] for each in every if each[1]]
    if averages:
        assert average.low <= min(averages) <= max(averages) <= average.high


@settings(max_examples=60)
@given(tiny_releases(), PREDICATES, st.sampled_from(["age", "pay"]), st.integers(1, 2))
def test_bounds_hold_whatever_was_withheld_from_records(release, predicate, attribute, rows):
    check(release, predicate, attribute, rows)


@settings(max_examples=60)
@given(people(most=3), TOGETHER, PREDICATES, st.sampled_from(["age", "pay"]), st.integers(1, 2))
def test_bounds_hold_whatever_was_withheld_from_tables(
    groups, together, predicate, attribute, rows
):
    check(anatomized(groups, together), predicate, attribute, rows)


@settings(max_examples=60)
@given(people(most=3), TOGETHER, PREDICATES, st.sampled_from(["age", "pay"]), st.integers(0, 2))
def test_bounds_hold_whatever_was_withheld_and_is_fake(
    groups, together, predicate, attribute, fakes
):
    fakes = min(fakes, sum(map(len, groups)))
    check(sliced(groups, together, fakes=fakes), predicate, attribute, 1, fakes)


# --- estimates ------------------------------------------------------------------------------------

PEOPLE = [
    {"age": 20 + n % 4, "sex": "FM"[n % 2], "pay": pay}
    for n, pay in enumerate([3, 1, None, -2, 0, 2, 3])
]
QUESTIONS = ["sex = 'F'", "pay > 1", "sex = 'F' AND pay > 1", None]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("make", [sliced, anatomized], ids=["sliced", "anatomized"])
def test_estimates_are_right_on_average_over_all_rows_that_may_be_withheld(make, question):
    """Every two of seven rows are withheld once; with one table nothing else is open."""
    predicate = None if question is None else parse(question)
    counts, sums = [], []
    for kept in combinations(PEOPLE, 5):
        release = with_withheld(make([list(kept)], (("age", "sex", "pay"),)), 2)
        counts.append(release.count(question).value)
        sums.append(release.sum("age", question).value)
    count, _, total = facts(PEOPLE, predicate, "age")
    assert mean(counts) == pytest.approx(count)
    assert mean(sums) == pytest.approx(total)


@pytest.mark.parametrize("question", QUESTIONS)
def test_estimates_are_right_on_average_over_all_samples_of_the_others(question):
    """Of eight rows two are withheld, and of the other six three drawn, in all ways."""
    predicate = None if question is None else parse(question)
    everybody = [*PEOPLE, PEOPLE[0]]
    found = [
        with_withheld(sliced([list(drawn)], (("age", "sex", "pay"),)), 2, sample=0.5)
        for kept in combinations(everybody, 6)
        for drawn in combinations(kept, 3)
    ]
    count, _, total = facts(everybody, predicate, "age")
    answers = [release.count(question) for release in found]
    assert mean(each.value for each in answers) == pytest.approx(count)
    assert all(each.low <= count <= each.high for each in answers)
    assert mean(release.sum("age", question).value for release in found) == pytest.approx(total)


def test_estimates_of_generalised_rows_are_scaled():
    data = pa.Table.from_pylist(PEOPLE * 4)
    schema = sf.Schema.of(age="quasi-identifier", sex="quasi-identifier", pay="sensitive")
    release = sf.Mondrian(k=7).publish(data, schema)
    other = with_withheld(release, 7)
    for question in ("age < 22", "sex = 'F' AND pay > 1"):
        assert other.count(question).value == pytest.approx(release.count(question).value * 35 / 28)
        assert other.sum("pay", question).value == pytest.approx(
            release.sum("pay", question).value * 35 / 28
        )
        plain, average = release.average("age", question), other.average("age", question)
        assert average.value == pytest.approx(plain.value)
        assert (average.low, average.high) == (-math.inf, math.inf)
    assert other.count().value == other.count().low == other.count().high == 35


def test_fakes_are_nobody_to_scale_by():
    """Of eight records two are fake; three more were withheld: six stand for nine."""
    rows = [*PEOPLE, PEOPLE[0]]
    release = sliced([rows], (("age", "sex"), ("pay",)), fakes=2)
    other = with_withheld(release, 3)
    assert release.count().value == 6
    assert other.count().value == other.count().low == other.count().high == 9
    plain = release.count("sex = 'F'")
    found = other.count("sex = 'F'")
    assert found.value == pytest.approx(plain.value * 9 / 6)
    assert (found.low, found.high) == (plain.low, plain.high + 3)
    assert found.se == pytest.approx(plain.se * 9 / 6)


def test_samples_and_redrawn_cells_are_corrected_before():
    """In all 28 records are half of 56 people; four more were withheld."""
    data = pa.Table.from_pylist(PEOPLE * 4)
    schema = sf.Schema.of(age="quasi-identifier", sex="quasi-identifier", pay="sensitive")
    exact = sf.Mondrian(k=1).publish(data, schema)
    release = with_withheld(exact, 0, sample=0.5, perturb=0.25)
    other = with_withheld(exact, 4, sample=0.5, perturb=0.25)
    for question in ("sex = 'F'", "sex = 'F' AND pay > 1"):
        plain, found = release.count(question), other.count(question)
        assert found.value == pytest.approx(plain.value * 60 / 56)
        assert found.se == pytest.approx(plain.se * 60 / 56)
        assert (found.low, found.high) == (plain.low, plain.high + 4)
        total = other.sum("age", question)
        assert total.value == pytest.approx(release.sum("age", question).value * 60 / 56)
        assert (total.low, total.high, total.se) == (-math.inf, math.inf, None)
    assert other.count("pay > 1").high == 57 + 4  # 28 of 57 may have been drawn, too


def test_standard_errors_are_scaled_and_there_is_none_where_nobody_drew():
    release = anatomized([PEOPLE], (("age", "sex"), ("pay",)))
    other = with_withheld(release, 3)
    question = "sex = 'F' AND pay > 1"
    for plain, found in (
        (release.count(question), other.count(question)),
        (release.sum("age", question), other.sum("age", question)),
    ):
        assert plain.se > 0
        assert found.se == pytest.approx(plain.se * 10 / 7)
    plain, found = release.average("age", question), other.average("age", question)
    assert found.se == pytest.approx(plain.se)
    # exact for the published rows, and open for the others
    assert release.count("sex = 'F'").se == 0
    assert other.count("sex = 'F'").se is None
    assert other.average("age").se is None
    assert other.count().se == 0


def test_without_withheld_rows_the_layout_answers_by_itself():
    release = anatomized([PEOPLE], (("age", "sex"), ("pay",)))
    engine = ENGINES["anatomized"](release)
    assert corrected(engine, release.manifest) is engine
    assert corrected(engine, with_withheld(release, 1).manifest) is not engine


# --- groups and notes -----------------------------------------------------------------------------


def test_groups_are_those_of_published_rows():
    """That a withheld row may be anywhere does not list every combination there could be."""
    release = anatomized([PEOPLE], (("age", "sex", "pay"),))
    query = "SELECT age, sex, COUNT(*) GROUP BY age, sex"
    plain, found = release.query(query), with_withheld(release, 2).query(query)
    assert [row.group for row in found.rows] == [row.group for row in plain.rows]
    for before, row in zip(plain.rows, found.rows, strict=True):
        assert row.estimate.value == pytest.approx(before.estimate.value * 9 / 7)
        assert row.estimate.high == before.estimate.high + 2
    assert any("not listed: those of withheld rows alone" in note for note in found.notes)
    assert not any("not listed" in note for note in plain.notes)
    assert not any(
        "not listed" in note for note in with_withheld(release, 2).query("SELECT COUNT(*)").notes
    )


def test_groups_that_a_sample_or_redrawn_cells_may_hide_are_told():
    release = anatomized([PEOPLE], (("age", "sex", "pay"),))
    query = "SELECT sex, COUNT(*) GROUP BY sex"
    for parameters, told in (
        ({"sample": 0.5}, "people who are not in the sample"),
        ({"perturb": 0.5}, "sensitive values that were all redrawn"),
    ):
        notes = with_withheld(release, 0, **parameters).query(query).notes
        assert [told in note for note in notes if "not listed" in note] == [True]


def test_notes_say_what_was_assumed_of_withheld_rows():
    release = anatomized([PEOPLE], (("age", "sex"), ("pay",)))
    (note,) = with_withheld(release, 3).query("SELECT COUNT(*)").notes
    assert "nothing is known of 3 that were withheld" in note
    assert "estimates take them to be like the others" in note
    notes = with_withheld(release, 3, by_value=True).query("SELECT COUNT(*)").notes
    assert any("too low for the most common sensitive values" in note for note in notes)


def test_what_standard_errors_of_redrawn_cells_cover_is_told():
    release = with_withheld(anatomized([PEOPLE], (("age", "sex"), ("pay",))), 0, perturb=0.2)
    notes = release.query("SELECT COUNT(*) WHERE sex = 'F' AND pay > 1").notes
    assert any("sensitive cells as redrawn one by one" in note for note in notes)
    assert any("those of counts that read one" in note for note in notes)
