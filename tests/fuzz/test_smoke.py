"""A fixed share of the fuzzing: the same cases every time, and what was found once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .mutate import changed
from .structured import STRATEGIES
from .targets import TARGETS

CASES = {"parquet": 60, "audit": 120, "http": 80}
USUAL = 300


@pytest.mark.parametrize("name", TARGETS)
def test_changed_files_are_refused_or_read(name):
    target, rng = TARGETS[name], random.Random(name)
    seeds = target.seeds()
    assert any(target.try_(seed) for seed in seeds), "no seed is read"
    refused = 0
    for _ in range(CASES.get(name, USUAL)):
        refused += not target.try_(changed(rng, rng.choice(seeds)))
    assert refused


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=40)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode()))
def test_any_bytes_are_refused_or_read(name, content):
    TARGETS[name].try_(content)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=25)
@given(st.data())
def test_what_is_nearly_right_is_refused_or_read(name, data):
    TARGETS[name].try_(data.draw(STRATEGIES[name]()))


def test_every_target_has_a_share_and_a_strategy():
    assert set(STRATEGIES) == set(TARGETS)
    assert sum(target.share for target in TARGETS.values()) == pytest.approx(1)
    assert all(target.share > 0 for target in TARGETS.values())
