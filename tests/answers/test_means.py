"""Answers from means of groups: bounds that hold for what people really have."""

from __future__ import annotations

from math import inf, isinf, isnan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.answers import Answerer, to_microdata
from sfumato.answers.estimate import Average, Count, Sum
from sfumato.errors import ParameterError
from sfumato.methods import MDAV
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

ROWS = 30


def people(seed: int = 5, rows: int = ROWS, missing: bool = False) -> pa.Table:
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 100, rows).tolist()
    if missing:
        ages[: rows // 3] = [None] * (rows // 3)
    return pa.table(
        {
            "age": pa.array(ages, pa.int16()),
            "pay": pa.array(rng.normal(3000, 900, rows).round(2)),
            "sex": [["F", "M"][i] for i in rng.integers(0, 2, rows)],
            "illness": [f"i{i}" for i in rng.integers(0, 4, rows)],
        }
    )


def published(data: pa.Table, k: int = 3, **domain: object) -> Release:
    attributes = (
        Attribute("age", Role.QUASI_IDENTIFIER, **domain),
        Attribute("pay", Role.QUASI_IDENTIFIER),
        Attribute("sex", Role.INSENSITIVE, keep=True),
        Attribute("illness", Role.SENSITIVE),
    )
    return MDAV(k=k).publish(data, Schema(attributes), randomness=Randomness.test(4))


def truth(data: pa.Table, aggregate, keep) -> float:
    rows = [row for row in data.to_pylist() if keep(row)]
    if isinstance(aggregate, Count):
        return float(len(rows))
    numbers = [row[aggregate.attribute] for row in rows if row[aggregate.attribute] is not None]
    if isinstance(aggregate, Sum):
        return float(sum(numbers))
    return sum(numbers) / len(numbers) if numbers else float("nan")


QUESTIONS = {
    None: lambda row: True,
    "sex = 'F'": lambda row: row["sex"] == "F",
    "age >= 40": lambda row: row["age"] is not None and row["age"] >= 40,
    "age < 60 and sex = 'M'": lambda row: (
        row["age"] is not None and row["age"] < 60 and row["sex"] == "M"
    ),
    "age is null": lambda row: row["age"] is None,
    "age is not null and illness <> 'i1'": lambda row: (
        row["age"] is not None and row["illness"] != "i1"
    ),
    "pay > 3000 or illness = 'i2'": lambda row: row["pay"] > 3000 or row["illness"] == "i2",
    "not (age = 50)": lambda row: row["age"] is not None and row["age"] != 50,
}
AGGREGATES = (Count(), Sum("age"), Sum("pay"), Average("age"), Average("pay"))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 999),
    missing=st.booleans(),
    stated=st.booleans(),
    where=st.sampled_from(list(QUESTIONS)),
    aggregate=st.sampled_from(AGGREGATES),
)
def test_bounds_contain_the_truth(seed, missing, stated, where, aggregate):
    data = people(seed, missing=missing)
    release = published(data, **({"domain": (0, 120)} if stated else {}))
    found = Answerer(release).answer(aggregate, where)
    true = truth(data, aggregate, QUESTIONS[where])
    if not isnan(true):  # an average of nobody is NaN
        slack = 1e-9 * max(abs(true), 1)
        assert found.low - slack <= true <= found.high + slack
        assert found.low <= found.value <= found.high or isnan(found.value)


def test_sums_of_whole_groups_survive():
    data = people()
    answerer = Answerer(published(data))
    for name in ("age", "pay"):
        found = answerer.answer(Sum(name))
        true = float(np.sum(data[name].to_pylist()))
        assert found.value == pytest.approx(true, rel=1e-12)
        assert found.high - found.low < 1e-6
        assert answerer.answer(Average(name)).value == pytest.approx(true / ROWS, rel=1e-9)


def test_a_count_by_age_is_a_guess_that_nothing_bounds():
    answerer = Answerer(published(people()))
    found = answerer.answer(Count(), "age >= 40")
    assert (found.low, found.high) == (0, ROWS) and 0 < found.value < ROWS and found.se is None
    assert answerer.answer(Count(), "sex = 'F'").se == 0


def test_an_exact_mean_is_no_exact_value():
    """Somebody may have 50 although no mean is, and nobody need have it where one is."""
    data = pa.table({"age": [49, 51, 10, 12], "illness": ["a", "b", "c", "d"]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    answerer = Answerer(MDAV(k=2).publish(data, schema))
    found = answerer.answer(Count(), "age = 50")
    assert (found.value, found.low, found.high) == (2, 0, 4)
    assert answerer.answer(Count(), "age = 49").high == 4


def test_a_stated_domain_bounds_parts_of_groups():
    data = people()
    loose, tight = (
        Answerer(published(data, **each)).answer(Sum("age"), "sex = 'F'")
        for each in ({}, {"domain": (0, 120)})
    )
    assert isinf(loose.low) and isinf(loose.high)
    true = truth(data, Sum("age"), QUESTIONS["sex = 'F'"])
    women = truth(data, Count(), QUESTIONS["sex = 'F'"])
    assert 0 <= tight.low <= true <= tight.high < 120 * women
    assert (loose.low, loose.high) == (-inf, inf)


def test_means_are_no_groups():
    answerer = Answerer(published(people()))
    with pytest.raises(ParameterError, match="group by another column"):
        answerer.query("SELECT COUNT(*), age GROUP BY age")
    result = answerer.query("SELECT SUM(pay), sex GROUP BY sex")
    assert len(result.rows) == 2 and any("means of groups" in note for note in result.notes)


def test_rows_keep_the_means():
    release = published(people())
    rows = to_microdata(release, repeatable(3))
    assert sorted(rows["age"].to_pylist()) == sorted(release.tables["records"]["age"].to_pylist())
