"""Labels of dates are read as the days that they stand for."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pytest

import sfumato as sf

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
