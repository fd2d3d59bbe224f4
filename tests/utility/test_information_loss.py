"""SSE/SST of means of groups, without knowing who is in which group."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.methods import MDAV, Mondrian
from sfumato.randomness import Randomness, repeatable
from sfumato.rows.mdav import mdav
from sfumato.schema import Schema
from sfumato.table import encode
from sfumato.utility import distortion_ratio, ncp
from sfumato.utility.information_loss import information_loss
from sfumato.utility.overview import overview

SCHEMA = Schema.of(x="quasi-identifier", y="quasi-identifier", illness="sensitive")


def table(x, y) -> pa.Table:
    return pa.table({"x": x, "y": y, "illness": [f"i{i % 5}" for i in range(len(x))]})


@given(seed=st.integers(0, 999), k=st.integers(1, 9))
def test_it_is_the_squared_distance_to_the_means_of_groups(seed, k):
    rng = np.random.default_rng(seed)
    data = table(rng.integers(0, 50, 60), rng.normal(size=60))
    coded = encode(data, SCHEMA)
    release = MDAV(k).publish(data, SCHEMA, randomness=Randomness.test(seed))
    groups = mdav(coded, k, rng=repeatable(1))  # who is equal is equal in any group
    expected = {}
    for name in ("x", "y"):
        values = data[name].to_numpy().astype(float)
        means = np.bincount(groups.ids, values) / groups.sizes
        lost = ((values - means[groups.ids]) ** 2).sum()
        expected[name] = lost / ((values - values.mean()) ** 2).sum()
    found = information_loss(release, coded)
    assert dict(found.by_attribute) == pytest.approx(expected, abs=1e-9)
    assert found.mean == pytest.approx(np.mean(list(expected.values())), abs=1e-9)


def test_dates_constants_and_extremes():
    days = [date(2026, 1, 1) + timedelta(days=i) for i in range(6)]
    data = table(days, [7.0] * 6)
    found = information_loss(MDAV(6).publish(data, SCHEMA), encode(data, SCHEMA))
    # the mean day is rounded
    assert found.by_attribute == {"x": pytest.approx(1.0, abs=0.1), "y": 0.0}
    data = table([-1.7e308, 1.7e308, 0.0, 1.0], [1.0, 2.0, 3.0, 4.0])
    found = information_loss(MDAV(1).publish(data, SCHEMA), encode(data, SCHEMA))
    assert found.mean == pytest.approx(0.0, abs=1e-9)


def test_other_measures_do_not_apply_and_others_have_no_such_loss():
    rng = np.random.default_rng(2)
    data = table(rng.normal(size=60), rng.normal(size=60))
    coded, release = encode(data, SCHEMA), MDAV(4).publish(data, SCHEMA)
    with pytest.raises(ParameterError, match="means of groups"):
        ncp(release, coded)
    with pytest.raises(ParameterError, match="means of groups"):
        distortion_ratio(release, {})
    with pytest.raises(ParameterError, match="this release has none"):
        information_loss(Mondrian(4).publish(data, SCHEMA), coded)
    found = overview(release, coded, queries=10, rng=repeatable(4))
    assert 0 < found.metrics["information_loss"]["mean"] < 0.5
    assert "ncp" in found.undefined and found.missed == 0


def test_a_column_without_any_value_has_lost_nothing():
    data = table(pa.array([None] * 6, pa.float64()), [1, 2, 3, 7, 8, 9])
    found = information_loss(MDAV(3).publish(data, SCHEMA), encode(data, SCHEMA))
    assert found.by_attribute["x"] == 0
    assert found.by_attribute["y"] > 0
