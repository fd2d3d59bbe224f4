"""A fixed share of the fuzzing: the same cases every time, and what was found once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .mutate import changed
from .targets import TARGETS

CASES = {"parquet": 60, "audit": 120}
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
