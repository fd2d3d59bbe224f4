"""The shares behind a distance: labels, both sides, against counts in Python."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from answers.test_plausible import CASES, people, published

from sfumato.answers import to_microdata
from sfumato.measures.distances import l1
from sfumato.randomness import repeatable
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode
from sfumato.utility.margins import Rows, _varies, margin
from sfumato.utility.original import coded_original
from sfumato.utility.overview import overview


@pytest.mark.parametrize("case", CASES)
def test_shares_are_those_that_were_compared(case):
    release, data = published(case), people()
    found = overview(release, coded_original(data, release), queries=1, rng=repeatable(1))
    assert found.margins
    for each in found.margins:
        shares = each.shares
        assert shares is not None
        assert len(shares.labels) == len(shares.before) == len(shares.after)
        assert sum(shares.before) == pytest.approx(1)
        assert sum(shares.after) == pytest.approx(1)
        assert l1(np.array(shares.before), np.array(shares.after)) == pytest.approx(each.l1)
        values = data[each.attributes[0]].to_pylist()
        counts = Counter("missing" if value is None else str(value) for value in values)
        told = dict(zip(shares.labels, shares.before, strict=True))
        for label, count in counts.items():
            assert told[label] == pytest.approx(count / len(values))


def test_many_numbers_and_dates_stand_in_intervals():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=n) for n in range(101)]
    data = pa.table({"day": days, "wage": [1000.0 + 30 * n for n in range(101)]})
    table = encode(
        data, Schema(tuple(Attribute(n, Role.QUASI_IDENTIFIER) for n in ("day", "wage")))
    )
    sides = Rows(table, data)
    day, wage = (margin(sides, [name]).shares for name in ("day", "wage"))
    assert day is not None
    assert wage is not None
    assert day.is_line
    assert day.labels[0] == "2024-01-01 to 2024-01-11"
    assert day.labels[-2:] == ("2024-03-31 to 2024-04-10", "missing")
    assert wage.labels[:2] == ("1,000 to 1,300", "1,300 to 1,600")
    assert day.before[0] == pytest.approx(10 / 101)
    assert day.before == day.after


def test_a_plausible_table_is_the_other_side():
    release = published("generalized")
    found = overview(release, coded_original(people(), release), queries=1, rng=repeatable(1))
    drawn = to_microdata(release, repeatable(1))["sex"].to_pylist()
    shares = next(each.shares for each in found.margins if each.attributes == ("sex",))
    assert shares is not None
    after = dict(zip(shares.labels, shares.after, strict=True))
    assert after["F"] == pytest.approx(drawn.count("F") / len(drawn))


def test_equal_numbers_do_not_vary_however_their_mean_is_rounded():
    assert np.full(2_000, 0.1).std() > 0
    assert not _varies(np.full(2_000, 0.1))


@pytest.mark.parametrize("numbers", [[0.1] * 9, [1.0, 1.0 + 1e-15], [0.0, 1e-200], [1e-90, 0.0]])
def test_numbers_vary_where_their_deviation_is_not_0(numbers):
    assert _varies(np.array(numbers)) == (np.array(numbers).std() > 0)


def test_a_column_counts_its_values_and_the_missing_ones_last():
    column = encode(pa.table({"a": [3, None, 1, 3]}), Schema.of(a="sensitive"))["a"]
    assert column.counts.tolist() == [1, 2, 1]
