"""Domain ends rounded outward."""

from __future__ import annotations

import datetime
from datetime import date, time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.release.domain import round_outward

finite = {"allow_nan": False, "allow_infinity": False}
kinds = [
    st.integers(-(2**63), 2**64),
    st.floats(**finite),
    st.decimals(**finite, places=4),
    st.dates(),
    st.datetimes(),
    st.times(),
]


@settings(deadline=None)
@given(st.one_of([st.tuples(kind, kind) for kind in kinds]))
def test_ends_enclose_and_keep_their_type(ends):
    low, high = round_outward(min(ends), max(ends))
    assert low <= min(ends) <= max(ends) <= high
    assert type(low) is type(high) is type(ends[0])


@settings(deadline=None)
@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_the_range_grows_by_a_quarter_at_most(one, other):
    low, high = round_outward(min(one, other), max(one, other))
    span = abs(one - other)
    if span > 20:
        assert (high - low) <= span * 1.25


@pytest.mark.parametrize(
    ("ends", "rounded"),
    [
        ((17, 90), (15, 90)),
        ((1, 16), (1, 16)),
        ((0, 0), (0, 0)),
        ((53_211, 53_211), (50_000, 55_000)),
        ((12_285, 1_490_400), (0, 1_500_000)),
        ((-7, 93), (-10, 95)),
        ((0.13, 0.97), (0.1, 1.0)),
        ((0.5, 0.5), (0.5, 0.5)),
        ((0.51, 0.51), (0.5, 0.55)),
        ((Decimal("10.01"), Decimal("19.99")), (Decimal("10.0"), Decimal("20.0"))),
        ((date(1931, 4, 2), date(2008, 1, 1)), (date(1931, 1, 1), date(2008, 12, 31))),
        ((time(6, 30), time(17, 0)), (time(6), time(17))),
        ((time(23, 30), time(23, 30)), (time(23), time(23, 59, 59))),
    ],
)
def test_worked_by_hand(ends, rounded):
    assert round_outward(*ends) == rounded


def test_timestamps_go_to_whole_years_and_keep_their_zone():
    moment = datetime.datetime(2020, 7, 1, 12, 30, tzinfo=datetime.UTC)
    low, high = round_outward(moment, moment)
    assert low == datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    assert high == datetime.datetime(2021, 1, 1, tzinfo=datetime.UTC)
    assert round_outward(low, high) == (low, high)


def test_texts_have_no_ends():
    with pytest.raises(ParameterError, match="str"):
        round_outward("a", "b")
