"""The benchmark of answers runs, and its page shows the committed numbers."""

from __future__ import annotations

import json

import pytest

from benchmarks.answers import (
    QUERIES,
    RESULTS,
    ROOT,
    adult,
    adult_methods,
    markdown,
    matched,
    speed,
)


def test_bounds_contain_the_truth_on_adult(shared):
    """A tenth of what the benchmark asks, of every layout."""
    found = adult(shared / "data", QUERIES // 10)
    assert set(found) == set(adult_methods())
    for each in found.values():
        assert each["queries"] == each["bounded"] == QUERIES // 10
        assert each["missed"] == 0
        assert all(part["trivial"] < 0.05 for part in each["parts"])


def test_a_quick_run_measures_every_layout():
    found = speed(3_000, 12)
    assert len(found) == 5
    assert all(each["seconds"] > 0 for each in found.values())
    assert all(0 <= each["within_2_se"] <= 1 for each in matched(2_000, 20).values())


@pytest.fixture(scope="module")
def results():
    return json.loads(RESULTS.read_text("utf-8"))


def test_the_committed_bounds_hold(results):
    for each in results["adult"].values():
        assert each["queries"] == each["bounded"] == QUERIES
        assert each["missed"] == 0
    for each in results["matched"].values():
        assert 0.9 <= each["within_2_se"] <= 0.99


def test_the_page_shows_the_committed_numbers(results):
    page = (ROOT / "docs" / "answers.md").read_text("utf-8")
    assert markdown(results).strip() in page
    for each in results["speed"].values():
        assert f"| {each['processor_seconds']:.1f} |" in page
