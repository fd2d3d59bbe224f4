"""Labels of dates are read as the days that they stand for."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.schema.builders import Mask

DAYS = [date(2019, 1, 1) + timedelta(days=7 * i) for i in range(100)]
PEOPLE = pa.table({"day": DAYS, "illness": ["Flu", "Cold"] * 50})
SCHEMA = sf.Schema(
    (
        sf.Attribute("day", sf.Role.QUASI_IDENTIFIER, hierarchy=sf.Dates(("month", "quarter"))),
        sf.Attribute("illness", sf.Role.SENSITIVE),
    )
)


@pytest.fixture(scope="module")
def release():
    return sf.Mondrian(k=9).publish(PEOPLE, SCHEMA)


@pytest.mark.parametrize(
    ("question", "low", "high"),
    [
        ("day > '2100-01-01'", date(2100, 1, 2), date.max),
        ("day < '2019-04-01'", date.min, date(2019, 3, 31)),
        ("day between '2019-04-01' and '2019-09-30'", date(2019, 4, 1), date(2019, 9, 30)),
        ("day = '2019-05-07'", date(2019, 5, 7), date(2019, 5, 7)),
    ],
)
def test_quarters_bound_the_days_in_them(release, question, low, high):
    cells = release.tables["records"]["day"].to_pylist()
    withheld = cells.count("*")
    assert 0 < withheld < len(cells) / 2
    found = release.count(question)
    truth = sum(low <= day <= high for day in DAYS)
    assert found.low <= truth <= found.high < len(DAYS)
    # what is withheld follows the others
    assert abs(found.value - truth) <= withheld / 2


def test_whole_quarters_are_certain(release):
    cells = release.tables["records"]["day"].to_pylist()
    found = release.count("day between '2019-04-01' and '2019-09-30'")
    assert found.low == cells.count("2019-Q2") + cells.count("2019-Q3")
    assert found.high == found.low + cells.count("*")


@pytest.mark.parametrize(
    ("type", "low", "high"),
    [
        (pa.int64(), -math.inf, math.inf),
        (pa.uint64(), 0, math.inf),
        (pa.int32(), -4 * 2**31, 4 * (2**31 - 1)),
        (pa.decimal128(30, 2), -math.inf, math.inf),
    ],
)
def test_a_number_that_nothing_is_said_of_has_the_bounds_of_its_type_if_that_has_any(
    type, low, high
):
    """Under a mask that was built from the data, `*` stands for codes that nobody lists."""
    codes = pa.array([13053, 14068, 24850, 34853]).cast(type)
    attributes = (
        sf.Attribute("code", "quasi-identifier", kind="numeric", hierarchy=Mask()),
        sf.Attribute("illness", "sensitive"),
    )
    data = pa.table({"code": codes, "illness": ["a", "b", "a", "b"]})
    made = sf.Mondrian(k=4).publish(data, sf.Schema(attributes))
    assert set(made.tables["records"]["code"].to_pylist()) == {"*"}
    found = made.sum("code")
    assert (found.low, found.high) == (low, high)
    average = made.average("code")
    assert average.low <= 21706 <= average.high


BANDS = {
    "[15, 20[": lambda low: f"[{low}, {low + 5}[",
    "[15, 20)": lambda low: f"[{low}, {low + 5})",
    "]14, 19]": lambda low: f"]{low - 1}, {low + 4}]",
    "(14, 20)": lambda low: f"({low - 1}, {low + 5})",
    "15-19": lambda low: f"{low}-{low + 4}",
}


@pytest.mark.parametrize("band", BANDS)
def test_an_interval_holds_only_the_ends_that_its_brackets_say(band):
    ages = list(range(15, 25)) * 4
    rows = [(str(age), BANDS[band](age // 5 * 5)) for age in range(10, 30)]
    schema = sf.Schema(
        (
            sf.Attribute(
                "age", sf.Role.QUASI_IDENTIFIER, hierarchy=sf.Hierarchy.from_rows(rows, "age")
            ),
            sf.Attribute("illness", sf.Role.SENSITIVE),
        )
    )
    people = pa.table({"age": ages, "illness": ["Flu", "Cold"] * 20})
    release = sf.Mondrian(k=20).publish(people, schema)
    for question in ("age < 20", "age >= 20", "age BETWEEN 15 AND 19"):
        answer = release.count(question)
        assert (answer.low, answer.value, answer.high) == (20, 20, 20)
    assert release.count("age < 15 OR age > 24").high == 0
