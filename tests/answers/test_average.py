"""Averages: bounds hold for every original, and estimates are right on average."""

from __future__ import annotations

import math
from statistics import mean

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from answers.every_average import every_average
from answers.questions import any_predicates, plain_predicates
from answers.test_bounds import tiny_releases
from answers.test_every_deal import TOGETHER, anatomized, people, sliced
from hypothesis import given, settings

import sfumato as sf
from sfumato.answers import Answerer, Average, Count, Sum
from sfumato.errors import ParameterError
from sfumato.predicates import parse
from sfumato.randomness import Randomness

NUMBERS = st.sampled_from(["age", "pay"])


def check(release, attribute, predicate, fakes=0) -> None:
    found = Answerer(release).answer(Average(attribute), predicate)
    every = every_average(release, attribute, predicate, fakes)
    if not every:
        return  # what is said of an average that is of nothing matters to nobody
    # the exact ends lie between floats
    assert found.low <= float(min(every))
    assert float(max(every)) <= found.high
    assert math.isnan(found.value) or found.low <= found.value <= found.high


@settings(max_examples=100)
@given(tiny_releases(), plain_predicates() | any_predicates | st.none(), NUMBERS)
def test_bounds_hold_for_every_original_of_records(release, predicate, attribute):
    check(release, attribute, predicate)


@settings(max_examples=150)
@given(people(most=3), TOGETHER, any_predicates | st.none(), NUMBERS)
def test_bounds_hold_for_every_deal_of_tables(groups, together, predicate, attribute):
    check(anatomized(groups, together), attribute, predicate)


@given(people(most=3), TOGETHER, any_predicates, NUMBERS, st.integers(0, 2))
def test_bounds_hold_whichever_records_are_fake(groups, together, predicate, attribute, fakes):
    groups, fakes = groups[:1], min(fakes, len(groups[0]))
    check(sliced(groups, together, fakes=fakes), attribute, predicate, fakes)


def test_generalised_numbers_of_blocks_are_refused_as_sums_are():
    group = [{"age": 20, "sex": "F", "pay": 1}] * 2
    release = sliced([group], (("age",), ("sex", "pay")), ["[20, 21]"])
    with pytest.raises(ParameterError, match="generalised cells"):
        Answerer(release).answer(Average("age"))


def test_bounds_are_close_to_what_can_be():
    """Closer than those of the sum through those of the count."""
    group = [{"age": 20 + n, "sex": "FM"[n % 2], "pay": n} for n in range(4)]
    release = anatomized([group, group[:3]], (("age",), ("sex",), ("pay",)))
    predicate = parse("sex = 'F' AND pay < 2")
    found = Answerer(release).answer(Average("age"), predicate)
    every = every_average(release, "age", predicate)
    low, high = float(min(every)), float(max(every))
    assert low - 0.03 * (found.value - low) <= found.low <= low
    assert high <= found.high <= high + 0.03 * (high - found.value)
    answerer = Answerer(release)
    total, count = answerer.answer(Sum("age"), predicate), answerer.answer(Count(), predicate)
    assert found.value == pytest.approx(total.value / count.value)
    assert count.low < count.high
    assert total.low / count.high < found.low


def test_an_average_without_doubt_is_exact():
    data = pa.table({"age": [20, 21, 22, 23], "pay": [4, 1, None, 2]})
    schema = sf.Schema.of(age="quasi-identifier", pay="sensitive")
    release = sf.Mondrian(k=2).publish(data, schema)
    found = release.average("pay")
    assert found.low == found.value == found.high == 7 / 3
    assert release.average("pay", "pay >= 2").value == 3


def test_an_average_of_nothing_has_no_numbers():
    data = pa.table({"age": [20, 21, 22, 23], "pay": [4, 1, None, 2]})
    schema = sf.Schema.of(age="quasi-identifier", pay="sensitive")
    release = sf.Mondrian(k=2).publish(data, schema)
    for where in ("pay > 9", "pay IS NULL"):
        found = release.average("pay", where)
        assert all(map(math.isnan, (found.value, found.low, found.high)))
        assert found.se is None


def test_words_have_no_average():
    data = pa.table({"age": [20, 21], "job": ["Cook", "Nurse"]})
    release = sf.Mondrian(k=1).publish(data, sf.Schema.of(age="quasi-identifier", job="sensitive"))
    with pytest.raises(ParameterError, match=r"^column 'job' holds string; AVG needs numbers"):
        release.average("job")
    with pytest.raises(ParameterError, match="did you mean 'age'"):
        release.average("agee")


ROWS = 400
SCHEMA = sf.Schema.of(age="quasi-identifier", disease="sensitive")


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    rng = np.random.default_rng(5)
    age = rng.integers(20, 60, ROWS)
    # old people have the flu far more often: redrawn cells blur it
    disease = np.where(rng.random(ROWS) < (age - 20) / 40, "Flu", "HIV")
    return pa.table({"age": age, "disease": disease})


def test_averages_of_samples_and_redrawn_cells_are_right_on_average(patients):
    true = mean(r["age"] for r in patients.to_pylist() if r["disease"] == "Flu")
    method = sf.Hybrid(k=1, sample=0.5, perturb=0.4)
    found, counted = [], []
    for seed in range(60):
        release = method.publish(patients, SCHEMA, randomness=Randomness.test(seed))
        found.append(release.average("age", "disease = 'Flu'"))
        records = release.tables["records"].to_pylist()
        counted.append(mean(r["age"] for r in records if r["disease"] == "Flu"))
    error = np.std([each.value for each in found], ddof=1) / math.sqrt(len(found))
    assert abs(mean(each.value for each in found) - true) < 4 * error
    assert abs(mean(counted) - true) > 4 * error  # so that the line above can fail
    # nobody knows the ages of those who are not in the sample
    assert {(each.low, each.high) for each in found} == {(-math.inf, math.inf)}


def test_sums_of_redrawn_numbers_are_right_on_average():
    rng = np.random.default_rng(6)
    sex = rng.choice(["F", "M"], ROWS)
    pay = np.where(sex == "F", 10, 1) * rng.integers(1, 5, ROWS)
    data = pa.table({"sex": sex, "pay": pay})
    schema = sf.Schema.of(sex="quasi-identifier", pay="sensitive")
    method = sf.Hybrid(k=1, sample=1.0, perturb=0.4)
    releases = [method.publish(data, schema, randomness=Randomness.test(n)) for n in range(60)]
    for where, true in (("sex = 'F'", pay[sex == "F"]), ("sex = 'F' AND pay > 3", pay[pay > 9])):
        values = [release.sum("pay", where).value for release in releases]
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        assert abs(mean(values) - true.sum()) < 4 * error
